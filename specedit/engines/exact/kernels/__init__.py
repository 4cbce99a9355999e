"""The kernels: C sources, the library that is built from them, and passes of a model.

specedit.h is the interface, variant.h describes a variant, reference.c defines the arithmetic.
`library` finds and loads, `passes` runs a model. Nothing here imports torch or numpy.
"""
