"""Renaming: find the places of a name, decide each, ask the model about the rest, write.

Runs no model and writes nothing. From top to bottom:

* `follow_imports`: files that move, and the imports of the others
* `tree`: the Jobs of a rename, of one file or of a git work tree
* `tree_rename`: what becomes of each file of a tree, and what is reported
* `places`: one file: which places are renamed if it is alone, and the new text
* `new_name`: keywords, taken names, captures
* `mentions`: comments, strings, names built from the old one, macros, prose
* `resolution`: what each place in the code of a tree means: renamed, something else, undecided
* `questions`: the predicted text, which mentions the model is asked about, what its answer decides
"""
