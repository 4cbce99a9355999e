"""Text: bytes to text and back, syntax trees, hunks as data, and what an edit may touch.

Knows files and languages. Knows no model, no decoding, no terminal.
"""
