"""Renaming: which places mean what a name means, what to write there, and the Jobs of a rename.

Runs no model and writes nothing.

* `planning`: a file and two names become a Job; an answer becomes what is written
* `places`: where a name means what, and the file that predicts, as a `guess`
* `choosing`: which of a name's meanings; `rewrite`: what to write; `captures`: what would be taken
* `mentions`, `macros`, `keywords`: names outside of parsed code, and words that are none
* `modules`: whether what an import names is the project's own
* `guard`: keeps an answer to the scope
* `project/`: a whole work tree, renamed at once
"""
