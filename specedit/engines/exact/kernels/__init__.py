"""Kernels of our own: the C sources, the library that is built from them, passes that stand on it.

specedit.h is what Python calls, variant.h what a variant is, reference.c what its numbers mean.
`library` finds and loads, `passes` runs a model. Nothing here imports torch or numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specedit.models.numbers import Config

__all__ = ["why_not"]


def why_not(config: Config | None = None) -> str | None:
    """Why no kernel serves here (or not this model), in words; None when one does."""
    from specedit.engines.exact.geometry import MOST_HALF
    from specedit.engines.exact.kernels.library import load

    found = load()
    if isinstance(found, str):
        return found
    if config is not None and config.head_size > 2 * MOST_HALF:
        return f"the kernels take heads of up to {2 * MOST_HALF}, and these have {config.head_size}"
    if config is not None and config.head_size % 2:
        return f"the kernels take heads of an even size, and these have {config.head_size}"
    return None
