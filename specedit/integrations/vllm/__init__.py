"""Predicted Outputs inside vLLM, through vLLM's own extension points.

`middleware` takes a request's prediction, `scheduler` offers drafts of it, which `drafting` makes,
`launch` starts vLLM with both. Only `scheduler`, and `launch` as a program, import vLLM.
"""
