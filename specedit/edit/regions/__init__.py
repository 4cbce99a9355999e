"""The regions of an edit: which parts of a file may change, and one answer for each (`locate`)."""
