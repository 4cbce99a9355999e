"""Editing: what to ask, what the answer becomes, and the run over files."""
