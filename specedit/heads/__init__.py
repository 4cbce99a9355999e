"""Heads: small trained additions to a model that guess ids further ahead, and how they are trained.

`kinds` says what a head is, `file` what lies on disk, `shelf` where. `making` chooses texts
(`corpus`), has the model read them (`reading`), keeps what it made of them (`rows`), begins with
the best linear guess (`start`) and learns (`network`, `training`; those three have torch). `kept`
are answers whose drafts were rejected. Drafting with heads is `decode.drafters.heads`, their
arithmetic is `engines.exact.guessing`. Nothing here knows settings or the command line.
"""
