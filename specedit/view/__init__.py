"""What people see, on stderr: the wait, the diff, the report; and the page of a trace.

Knows rich, colours and widths. Does not know engines or files, and decides nothing.
Pygments is loaded when the first line is coloured.
"""
