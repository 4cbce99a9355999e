"""Merge a change that a model or the user wrote into a file: `specedit apply`.

`change` reads the forms: SEARCH/REPLACE blocks, diffs, fenced blocks with file names, snippets.
`part_places` finds the lines that a hunk replaces, `snippet` and `definition_matches` read a lazy
snippet, and `alignment` lays its lines along the file's by the scores of `scoring`. `merging` joins
the parts to the new text, or says which part has more than one place, or none. `apply_plan` makes
it a Job.
"""

from specedit.edit.apply.change import ChangeHunk, FileChange, Snippet, read_change
from specedit.edit.apply.merged import Ambiguity, Merged, MergedPart
from specedit.edit.apply.merging import merge

__all__ = [
    "Ambiguity",
    "ChangeHunk",
    "FileChange",
    "Merged",
    "MergedPart",
    "Snippet",
    "merge",
    "read_change",
]
