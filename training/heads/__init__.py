"""Training of heads: small additions to a model that guess its next ids.

`run` trains heads and measures them: `texts` are read and requests about them answered, their
last rows are stored (`reading`), and a `network` learns from them (`learning`).
"""
