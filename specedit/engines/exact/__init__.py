"""The exact engine: int8 on the CPU, logits bit-equal at any chunking.

checkpoint -> conversion -> weights (the mapped file, in panels) -> kernels (C, and passes on them)
-> engine. Nothing here imports torch, and only conversion and sampling import numpy.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from specedit.errors import UsageError

if TYPE_CHECKING:
    from specedit.engines.exact.engine import ExactEngine
    from specedit.models.store import ModelFiles

PRECISIONS = ("balanced", "close")

__all__ = ["PRECISIONS", "available", "open_exact"]


def available(files: ModelFiles | None = None, store: Path | None = None) -> str | None:
    """Why the exact engine cannot run here (or not this model), in words; None when it can.

    A model that was converted to `store` can, so its own header need not be read (0.4 s).
    """
    from specedit.engines.exact.kernels import why_not

    if (reason := why_not()) is not None or files is None:
        return reason
    if store is not None:
        from specedit.engines.exact.conversion import is_converted

        if is_converted(files, store):
            return None
    from specedit.engines.exact.checkpoint import unsupported

    return unsupported(files)


def open_exact(
    files: ModelFiles,
    *,
    store: Path,
    threads: int | None = None,
    precision: str = "balanced",
    window: int | None = None,
) -> ExactEngine:
    """An engine over the converted weights of `files`, which are made where they are missing."""
    if precision not in PRECISIONS:
        raise UsageError(
            f"There is no precision {precision!r}.", hint="Use " + " or ".join(PRECISIONS) + "."
        )
    from specedit.engines.exact.opening import open_engine

    return open_engine(files, store, threads, precision, window)
