"""Ids in, chunks out: the loop, its drafters, where it resyncs and how wide a pass is.

Token ids only: no text, no models, no torch. Engines are known by their interface,
`specedit.engines.base`.
"""
