"""The exact engine: weights of 8, 6 or 4 bits on the CPU, logits bit-equal at any chunking.

checkpoint -> conversion -> weights (the mapped file, in panels) -> kernels (C, and passes on them)
-> engine. Nothing here imports torch, and only conversion and sampling import numpy.
"""
