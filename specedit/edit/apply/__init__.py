"""Merge a change that a model or the user wrote into a file: `specedit apply`. No model is asked.

`change` reads the forms: SEARCH/REPLACE blocks, diffs, tools' calls, snippets. `hunks` finds and
replaces lines. Of a snippet, `markers` says which lines stand for lines left out, and `definitions`
which of its definitions are the file's. `comparison` makes rows of what it shows and columns of
what the file has; `alignment` lays rows along columns by the scores of `scores`. `laying` makes the
new lines of it, and `rules` has the reasons to refuse them. `lines` compares lines. `apply_plan`
joins the parts and makes it a Job.
"""
