"""Predicted Outputs inside vLLM, through vLLM's own extension points.

* `middleware` removes `prediction` from a chat request, passes its ids to the engine, and adds
  OpenAI's figures to the answer's usage.
* `scheduler` offers drafts: it sees every request with its ids and its answer so far.
* `drafting` is one request's drafts, with the drafters and widths of `decode`, and measures the
  server's steps while it serves.
* `launch` has the flags that put these into `vllm serve`, the tested versions, a proposer without
  proposals, so that vLLM sets its verification up, and vLLM's `serve` for a build whose command
  cannot start.

vLLM is not patched. Only `scheduler`, and `launch` as a program, import it.
"""
