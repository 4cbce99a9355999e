"""Predicted Outputs inside vLLM, by vLLM's own seams: a scheduler class, a middleware, a proposer.

* `middleware` takes `prediction` out of a chat request and hands its ids to the engine.
* `counted` writes OpenAI's figures into the answer's usage.
* `scheduler` offers drafts: it sees every request with its ids and what it has written.
* `drafting` is one request's drafts; it is the loop's drafters and widths, and knows no vLLM.
* `steps` is what the server's steps cost, measured while it serves.
* `proposer` proposes nothing, so that vLLM sets its verification up.
* `launch` knows the flags that put these into `vllm serve`, and which versions are tested.
* `start` is vLLM's own `serve` for a build whose command cannot start.
* `manifest` is what a cluster is told to run.

Nothing here patches vLLM, and nothing but `scheduler` and `start` imports it.
"""
