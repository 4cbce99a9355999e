"""Opening an exact engine: convert where needed, map, and take the kernels or stock torch."""

from __future__ import annotations

from pathlib import Path

from specedit.engines.base import EngineInfo
from specedit.engines.exact.conversion import convert, converted_path, source_of
from specedit.engines.exact.cores import physical_cores
from specedit.engines.exact.engine import ExactEngine, Passes
from specedit.engines.exact.kernels import why_not
from specedit.engines.exact.weights import Damaged, Weights, open_weights
from specedit.models.files import ModelFiles
from specedit.models.numbers import Config


def open_engine(
    files: ModelFiles, store: Path, threads: int | None, precision: str, window: int | None
) -> ExactEngine:
    close = precision == "close"
    path, source = converted_path(files, store), source_of(files)
    for _ in convert(files, store, precision):
        pass
    try:
        weights = open_weights(path, source)
    except Damaged:
        for _ in convert(files, store, precision, force=True):
            pass
        weights = open_weights(path, source)
    reason = why_not(weights.config)
    if reason is None:
        return _on_kernels(weights, threads or physical_cores(), precision, window)
    from specedit.engines.exact.check import verdict

    passes = _on_stock(weights, store, threads, close=close)
    different = verdict(store, path.name) or ""
    note = f"not exact here: {different}" if different else f"int8, {precision}, torch: {reason}"
    info = _info(weights.config, _torch_threads(), window, note, exact=not different)
    return ExactEngine(passes, info)


def _on_kernels(weights: Weights, threads: int, precision: str, window: int | None) -> ExactEngine:
    from specedit.engines.exact.kernels.library import Library, load
    from specedit.engines.exact.kernels.passes import KernelPasses

    library = load()
    assert isinstance(library, Library)
    passes = KernelPasses(library, weights, threads, close=precision == "close")
    note = "; ".join(filter(None, (f"int8, {precision}, {library.name}", library.note)))
    return ExactEngine(passes, _info(weights.config, threads, window, note, trees=True))


def _on_stock(weights: Weights, store: Path, threads: int | None, *, close: bool) -> Passes:
    import torch

    from specedit.engines.exact.assemble import assemble
    from specedit.engines.exact.machine import keep_memory
    from specedit.engines.exact.stock import StockPasses

    if threads:
        torch.set_num_threads(threads)
    keep_memory()
    return StockPasses(assemble(weights, store, close=close))


def _torch_threads() -> int:
    import torch

    return torch.get_num_threads()


def _info(
    config: Config,
    threads: int,
    window: int | None,
    note: str,
    *,
    exact: bool = True,
    trees: bool = False,
) -> EngineInfo:
    return EngineInfo(
        name="exact",
        device="cpu",
        threads=threads,
        window=min(window or config.window, config.window),
        vocabulary=config.vocabulary,
        exact=exact,
        trees=trees,
        hidden=config.hidden,
        note=note,
    )
