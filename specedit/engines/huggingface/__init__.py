"""The generic engine: any causal language model that transformers can run, on CPU, CUDA or MPS.

`loading` makes the model, `modules` and `fused` compute logits, `passes` gives them static shapes
and chooses on the device, `engine` is the engine interface. Its logits are not bit-equal at any
chunking: passes of different widths may round differently. It takes chains, no trees.
"""
