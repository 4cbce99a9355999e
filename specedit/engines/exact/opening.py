"""Opening an exact engine: convert where needed, map, pack, check the promise."""

from __future__ import annotations

from pathlib import Path

import torch

from specedit.engines.base import EngineInfo
from specedit.engines.exact.assemble import load
from specedit.engines.exact.check import verdict
from specedit.engines.exact.conversion import convert, converted_path, source_of
from specedit.engines.exact.engine import ExactEngine
from specedit.engines.exact.machine import keep_memory
from specedit.engines.exact.weights import Damaged
from specedit.models.files import ModelFiles


def open_engine(
    files: ModelFiles, store: Path, threads: int | None, precision: str, window: int | None
) -> ExactEngine:
    if threads:
        torch.set_num_threads(threads)
    keep_memory()
    close = precision == "close"
    path, source = converted_path(files, store), source_of(files)
    for _ in convert(files, store, precision):
        pass
    try:
        model = load(path, source, store, close=close)
    except Damaged:
        for _ in convert(files, store, precision, force=True):
            pass
        model = load(path, source, store, close=close)
    config = model.config
    different = verdict(store, path.name) or ""
    info = EngineInfo(
        name="exact",
        device="cpu",
        threads=torch.get_num_threads(),
        window=min(window or config.window, config.window),
        vocabulary=config.vocabulary,
        exact=not different,
        note=f"not exact here: {different}" if different else f"int8, {precision}",
    )
    return ExactEngine(model, info)
