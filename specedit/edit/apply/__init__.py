"""Merge a change that a model or the user wrote into a file: `specedit apply`. No model is asked.

`change` reads the forms. `hunks` finds and replaces lines. Of a snippet, `markers` says which lines
stand for lines left out, `definitions` which of its definitions are the file's, `comparison` makes
rows of it and columns of the file, `alignment` lays rows along columns by the scores of `scores`,
`laying` makes the new lines, and `rules` has the reasons to refuse them. `apply_plan` makes a Job.
"""
