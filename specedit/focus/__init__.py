"""Which places of a large file an instruction is about, before any of it is read by a model.

`blocks` cuts the file into places, `evidence` says what speaks for each, `chances` what that is
worth, `choice` which are enough; `surroundings` is what a place is shown with, and `neighbours`
what an edit of one asks of others. Knows texts, outlines and words. Knows no model, no prompt, no
file on disk: what a model thinks of the outline (`listing`) comes in as evidence like any other.
"""
