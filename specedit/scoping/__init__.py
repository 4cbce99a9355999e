"""The meaning of names: tables of rules, scopes, types and the uses of a name, in one file.

`project` knows the files of a work tree, and the languages where one leads to another.
"""
