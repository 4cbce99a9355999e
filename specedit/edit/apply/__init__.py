"""Merge a change that a model or the user wrote into a file: `specedit apply`.

`change` reads the forms: SEARCH/REPLACE blocks, diffs, fenced blocks with file names, snippets.
`part_places` compares lines, and `patching` finds and replaces those of a hunk. Of a snippet,
`markers` says which lines stand for lines left out, and `structure` which of its definitions are
the file's. `comparison` makes rows of what it shows and columns of what the file has; `alignment`
lays rows along columns by the scores of `scoring`, `segments` from one certain row to the next.
`laying` makes the new lines of it; `losses` says what they would take away unsaid, and `doubts`
what could be meant otherwise. `merging` joins the parts to the new text; `model_merge` has the
model decide between the readings of a snippet. `apply_plan` makes it a Job.
"""
