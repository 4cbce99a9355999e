"""Checks of an answer: what may be written, and what the user should know of an edit. They report
only what the edit brought about, and nothing where the file alone cannot tell.
"""
