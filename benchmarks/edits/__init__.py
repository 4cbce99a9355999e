"""Single-instruction edits on real files: cases, and what judges an answer."""
