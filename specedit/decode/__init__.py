"""Ids in, chunks out: the loop, its drafters, where it resyncs and how wide a pass is.

No text files, no models, no torch. Imports only `specedit.engines.base` (the seam) and
`specedit.errors`.
"""
