"""The fitted numbers of `chances` and `choice`, in the order of `evidence.FEATURES`.

From the even half of 197 cases (36 commits on files of 400 to 3,000 lines, the 91 longest files of
other commits, 70 instructions on files of up to 6,400 lines), 2026-11-21, each with the model's
answer to the question about its outline. Set by hand, where too few cases tell: "quoted", and what
a name that is spelled as code is worth before the model is asked (fitted: 1.9).
Features and thresholds were chosen while looking at both halves.
`specedit bench --focus CASES` measures what they are worth.
"""

UNASKED = (3.0, 2.2, 2.6, 0.2, 0.5, 3.3, 1.0, 1.0, 1.5, 0.0, 0.0)
ASKED = (1.1, 2.1, 2.6, 0.0, 0.5, 3.0, 1.3, 0.7, 1.4, 1.7, 0.3)

# The chance that the places taken must have together, and the share of the file's lines that they
# may have: by words alone they must be sure and few, or the model is asked; with its answer, or
# all of the file is edited.
CLEAR, FEW = 0.95, 0.2
SURE, MOST = 0.8, 0.4
# A definition that the instruction names outright is taken alone when words do not speak against
# it: from 0.05 to 0.5 the cases come out the same.
OUTRIGHT = 0.2
