"""The gate for meaning: what an edit did, beside parsing, and what of it a person must know.

`facts` (one text, read once) <- a module for each kind of thing that can go wrong <- `findings`
(all of them, with the verdicts of `kinds`). `checker` runs a program that the user named.
Knows texts before and after, and the instruction. Knows no model, no settings, no file of the user.
When unsure, there is no finding: names come from other files, macros and templates.
"""
