"""The fitted numbers of `chances` and `choice`, in the order of `evidence.FEATURES`.

From the even half of 197 cases (36 commits on files of 400 to 3,000 lines, the 91 longest files of
other commits, 70 instructions on files of up to 6,400 lines), 2026-11-21, each with the model's
answer to the question about its outline. Set by hand, where too few cases tell: "quoted", and what
a name that is spelled as code is worth before the model is asked (fitted: 1.9).
Features and thresholds were chosen while looking at both halves.
"""

UNASKED = (3.0, 2.2, 2.6, 0.2, 0.5, 3.3, 1.0, 1.0, 1.5, 0.0, 0.0)
ASKED = (1.1, 2.1, 2.6, 0.0, 0.5, 3.0, 1.3, 0.7, 1.4, 1.7, 0.3)

# The part of a block's chance that is handed on, once the model has been asked: to each block that
# uses what it defines, and to the block behind it.
USED, BEHIND = 0.3, 0.3

# The share of the file's lines that places may have, and the chance that they must have together:
# by words alone CLEAR, or the model is asked; with its answer they are taken until they have SURE,
# and if they have not MORE, all of the file is edited. Of 61 commits each (even, odd half) 80 and
# 79 % were covered at 61 and 63 % of the tokens on average when they needed SURE in two fifths of
# the lines and nothing was handed on; so it is 87 and 84 % at 62 and 63 %.
FEW = 0.2
CLEAR = 0.95
SURE, MORE = 0.8, 0.575
MOST = 0.4  # of the lines, in what is named outright or was changed before
# A definition that the instruction names outright is taken alone when words do not speak against
# it: from 0.05 to 0.5 the cases come out the same.
OUTRIGHT = 0.2
