"""Engines: `base` is the interface, `exact` and `huggingface` run models."""
