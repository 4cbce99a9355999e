"""The kernels: C sources, the library that is built from them, and passes of a model.

specedit.h is the interface, variant.h describes a variant, reference.c defines the arithmetic.
`library` finds and loads, `passes` runs a model. Nothing here imports torch or numpy.
"""

from __future__ import annotations

NO_KERNELS = "Install specedit from a wheel for this platform, or use --engine huggingface."

__all__ = ["NO_KERNELS", "why_not"]


def why_not() -> str | None:
    """Why no kernel can be used here, in words; None when one can."""
    from specedit.engines.exact.kernels.library import load

    result = load()
    return result if isinstance(result, str) else None
