"""The output on stderr: the progress, the diff, the report; and the page of a trace."""
