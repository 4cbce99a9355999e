"""The regions of an edit: which parts of a file may change, and one answer for each.

`targets` are the parts that exact evidence points at: names and quoted texts of the instruction.
Where there are none, `blocks` cuts the file, `evidence` compares the instruction with each block,
and `choice` turns that into probabilities and takes the blocks that are enough. `locate` makes a
Job with regions of a Job for a whole file, and asks the model where this leaves it open.
`assemble` asks about each region and joins the answers.
"""
