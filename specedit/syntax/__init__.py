"""Syntax: what grammars know of a text."""
