"""Checks of an answer: what may be written, and what the user should know of an edit.

`answer` runs every check over the text before and the text after; `finding` has the table that says
which findings refuse the edit; `external` runs a program that the user named.

A check reports only what the edit brought about, and nothing where the file alone cannot tell:
names come from other files, macros and templates.
"""
