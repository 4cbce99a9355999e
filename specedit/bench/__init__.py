"""`specedit bench`: speed on this machine, beside the installed peers.

`cases` are what is edited. `peers` are specedit and what people use instead, each in a process of
its own. `speed` measures; `result` shows tables, JSON and plots.
Experiments on quality are in the repository's `benchmarks/`, not in this package.
"""
