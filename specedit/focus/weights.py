"""The fitted numbers of `chances` and `choice`, in the order of `evidence.FEATURES`.

From the even half of 203 cases (36 commits on files of 400 to 3,000 lines, the 98 longest of 260
other commits, 69 instructions on files of up to 6,400 lines), 2026-11-21; the odd half confirmed.
`specedit bench --focus CASES` measures what they are worth.
"""

UNASKED = (1.4, 2.3, 3.1, 0.3, 0.5, 3.0, 1.2, 1.5, 1.5, 0.0, 0.0)
ASKED = (1.4, 2.3, 3.1, 0.3, 0.5, 3.0, 1.2, 1.5, 1.5, 5.0, 3.0)

SURE = 0.8  # chance that the places taken must have together
SURE_ASKED = 0.7
MOST = 0.5  # share of the file's lines beyond which all of it is edited
