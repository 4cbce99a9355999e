"""Speed on this machine, with the installed peers: `python -m benchmarks.speed`.

`cases` are what is edited. `peers` are specedit and what people use instead, each in a process of
its own. `compare` measures; `result` shows tables and JSON.
"""
