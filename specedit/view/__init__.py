"""What people see, on stderr: the wait, the diff, the report; and the page of a trace.

Pygments is loaded when the first line is coloured.
"""
