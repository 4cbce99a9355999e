"""Merge a change that a model or the user wrote into a file: `specedit apply`.

`change` reads the forms: SEARCH/REPLACE blocks, diffs, fenced blocks with file names, snippets.
`part_places` compares lines and finds those that a hunk replaces. `markers` says which lines of a
snippet stand for lines left out, and `structure` which of its definitions are the file's. `laying`
merges definition by definition; within one, `alignment` lays the lines along the file's by the
scores of `scoring`. `merging` joins the parts to the new text, or says which part has more than one
place, or none; `model_merge` has the model decide between the readings of a snippet. `apply_plan`
makes it a Job.
"""
