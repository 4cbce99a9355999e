"""`specedit bench`: speed on this machine, beside the installed peers.

`cases` and `generated` are what is edited. `peers` are specedit and what people use instead, each
in a process of its own (`process`). `speed` measures; `result` and `plots` show.
Experiments on quality are in the repository's `benchmarks/`, not in this package.
"""
