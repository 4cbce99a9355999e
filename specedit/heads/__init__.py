"""Training of heads: small additions to a model that guess its next ids.

`train` runs it: `texts` are read and `requests` answered (`reading`), their last rows are stored
(`rows`), and a `network` learns from them (`training`). `choose_heads` loads those that an open
model uses.
"""
