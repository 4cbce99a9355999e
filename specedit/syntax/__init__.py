"""Syntax: what grammars know of a text. Knows no model and no file."""
