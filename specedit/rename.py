"""Renames as Jobs: tree-sitter writes the expected file, the model verifies it, the guard decides.

Knows Sources, settings and what `text` finds. Does not run models and writes nothing.
"""
