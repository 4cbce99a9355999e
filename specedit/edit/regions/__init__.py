"""The regions of a large file: which parts an instruction is about, and one answer for each.

`blocks` cuts the file, `evidence` compares the instruction with each block, and `choice` turns that
into probabilities and takes the blocks that are enough. `narrowing` makes a Job with regions of a
Job for a whole file, and asks the model where words leave it open. `targets` are the definitions
that an instruction names outright, `insertion` is the place of a new one. `assemble` asks about
each region and joins the answers.
"""
