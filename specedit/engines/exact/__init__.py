"""The exact engine: weights of 8, 6 or 4 bits on the CPU, logits bit-equal at any chunking.

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


def available(
    files: ModelFiles | None = None, store: Path | None = None, weights: str = "auto"
) -> str | None:
    """Why the exact engine cannot run here (or not this model), in words; None when it can.

    A model that was converted to `store` can, so its own header need not be read (0.4 s).
    """
    from specedit.engines.exact.kernels import why_not

    if (reason := why_not()) is not None or files is None:
        return reason
    if store is not None:
        from specedit.engines.exact.conversion import is_converted

        if is_converted(files, store, weights):
            return None
    from specedit.engines.exact.checkpoint import unsupported

    return unsupported(files)


def open_exact(
    files: ModelFiles,
    *,
    store: Path,
    threads: int | None = None,
    precision: str = "balanced",
    weights: str = "auto",
) -> ExactEngine:
    """An engine over the converted weights of `files`, which are made where they are missing."""
    from specedit.engines.base import EngineInfo
    from specedit.engines.cores import default_threads
    from specedit.engines.exact.conversion import (
        convert,
        converted_path,
        kind_of,
        source_of,
        unwritable,
    )
    from specedit.engines.exact.engine import ExactEngine, FixedPrefixes
    from specedit.engines.exact.geometry import needed_memory
    from specedit.engines.exact.kernels import NO_KERNELS
    from specedit.engines.exact.kernels.library import load
    from specedit.engines.exact.kernels.passes import KernelPasses
    from specedit.engines.exact.weights import Damaged, open_weights
    from specedit.models.catalogue import require_memory

    library = load()
    if isinstance(library, str):
        raise UsageError(f"The exact engine cannot run here: {library}.", hint=NO_KERNELS)
    path, source = converted_path(files, store, weights), source_of(files)
    convert(files, store, weights)
    try:
        mapped = open_weights(path, source)
    except Damaged as error:  # deleted meanwhile, or not enough memory to map it
        raise unwritable(files, path, error) from error
    threads = threads or default_threads().number
    config = mapped.config
    size = sum(entry["nbytes"] for entry in mapped.entries.values())
    kind = kind_of(files, weights)
    scarce = require_memory(files.name, needed_memory(config, size), kind == "int4")
    about = f"{kind}, {precision}, {library.name}"
    fitted = kind == "int4" and weights == "auto"
    why = "int8 takes more than three quarters of this machine's memory" if fitted else ""
    info = EngineInfo(
        name="exact",
        device="cpu",
        threads=threads,
        window=config.window,
        vocabulary=config.vocabulary,
        exact=True,
        trees=True,
        hidden=config.hidden,
        note="; ".join(filter(None, (about, why, library.note, scarce))),
        weights=kind,
    )
    passes = KernelPasses(library, mapped, threads, close=precision == "close")
    if not scarce:
        mapped.map_pages()
    return ExactEngine(passes, info, FixedPrefixes(path.parent, passes))
