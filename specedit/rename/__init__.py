"""Renaming: the places of a name, what is written there, and the Jobs of a rename.

Runs no model and writes nothing.

* `planning`: a file and two names become a Job; `asking`: the mentions that the model decides
* `places`: the places in one file, and its new text; `choosing`: which of a name's meanings
* `tree`, `tree_rename`, `resolution`: a whole work tree, renamed at once; `declared`: its messages
* `new_name`: keywords, taken names, captures; `guess`: the text at each place
* `mentions`: names outside of parsed code; `derived_names`: of a tree, and in prose
* `follow_imports`: files that move, and the imports of the others
"""
