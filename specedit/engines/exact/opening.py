"""Opening an exact engine: convert where needed, map the file, and run it on the kernels."""

from __future__ import annotations

from pathlib import Path

from specedit.engines.base import EngineInfo
from specedit.engines.exact.conversion import convert, converted_path, source_of
from specedit.engines.exact.cores import physical_cores
from specedit.engines.exact.engine import ExactEngine
from specedit.engines.exact.kernels import NO_KERNELS
from specedit.engines.exact.kernels.library import load
from specedit.engines.exact.kernels.passes import KernelPasses
from specedit.engines.exact.weights import Damaged, open_weights
from specedit.errors import UsageError
from specedit.models.store import ModelFiles


def open_engine(
    files: ModelFiles, store: Path, threads: int | None, precision: str, window: int | None
) -> ExactEngine:
    library = load()
    if isinstance(library, str):
        raise UsageError(f"The exact engine cannot run here: {library}.", hint=NO_KERNELS)
    path, source = converted_path(files, store), source_of(files)
    for _ in convert(files, store):
        pass
    try:
        weights = open_weights(path, source)
    except Damaged:
        for _ in convert(files, store, force=True):
            pass
        weights = open_weights(path, source)
    threads = threads or physical_cores()
    config = weights.config
    info = EngineInfo(
        name="exact",
        device="cpu",
        threads=threads,
        window=min(window or config.window, config.window),
        vocabulary=config.vocabulary,
        exact=True,
        trees=True,
        hidden=config.hidden,
        note="; ".join(filter(None, (f"int8, {precision}, {library.name}", library.note))),
    )
    return ExactEngine(KernelPasses(library, weights, threads, close=precision == "close"), info)
