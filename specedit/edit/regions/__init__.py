"""The regions of an edit: which parts of a file may change, and one answer for each.

`locate` makes a Job with regions of a Job for a whole file. `blocks` cuts the file, and finds the
parts that exact evidence points at: names and quoted texts of the instruction. Where there are
none, `choice` compares the instruction with each block, turns that into probabilities and takes the
blocks that are enough; where this leaves it open, the model is asked. `together` shows the model
several regions in one question, and divides its answer.
"""
