"""The self-check: are passes really bit-equal with this torch on this machine?

Knows how to split and compare. The verdict is kept per processor, torch version and converted
file; who opens an engine asks for it and says "not exact here" where it is a no.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import torch

from specedit.engines.exact.attention import TILE, attend
from specedit.engines.exact.cache import Cache
from specedit.engines.exact.machine import processor
from specedit.engines.exact.model import Model
from specedit.models.store import write_whole

LENGTH = 137  # over one step of attention's keys, and no multiple of anything
SPLITS = ((1, 2, 3, 7, 8, 16, 33, 64), (64, 33, 1, 1, 1, 1), (129, 7, 1))
REACH = 3 * TILE  # how far attention alone is checked
KEY = "exact.json"


def verdict(store: Path, converted: str) -> str | None:
    """What the self-check found for a converted file: "" is exact, None is not checked yet."""
    found = _verdicts(store).get(_key(converted))
    return None if found is None else str(found)


def check(model: Model, store: Path, converted: str) -> str:
    """Run the self-check and keep its verdict: "" or what was not exact."""
    found = next(_differences(model), "")
    known = {**_verdicts(store), _key(converted): found}
    write_whole(_place(store), json.dumps(known, indent=1).encode())
    return found


def _place(store: Path) -> Path:
    return store / "converted" / KEY


def _key(converted: str) -> str:
    return f"{converted} | torch {torch.__version__} | {processor()}"


def _verdicts(store: Path) -> dict[str, str]:
    try:
        found = json.loads(_place(store).read_text("utf-8"))
        return found if isinstance(found, dict) else {}
    except (OSError, ValueError):
        return {}


def _differences(model: Model) -> Iterator[str]:
    """What differs, in words; the most telling first."""
    threads = torch.get_num_threads()
    vocabulary = model.config.vocabulary
    ids = [(7919 * i * i + 104729 * i) % vocabulary for i in range(LENGTH)]
    try:
        with torch.inference_mode():
            expected = _logits(model, ids, (LENGTH,))
            for count in (threads, 1):
                torch.set_num_threads(count)
                for split in SPLITS:
                    if not torch.equal(_logits(model, ids, split), expected):
                        yield f"logits depend on the pass's width (widths {split}, {count} threads)"
            yield from _attention(model, threads)
    finally:
        torch.set_num_threads(threads)


def _logits(model: Model, ids: list[int], split: tuple[int, ...]) -> torch.Tensor:
    cache, rows = Cache(model.config), []
    widths = iter(split)
    while len(cache.ids) < len(ids):
        at = len(cache.ids)
        hidden = model.read(ids[at : at + next(widths, len(ids))], cache)
        assert hidden is not None
        parts, factor = model.logits(hidden)
        rows.append(torch.cat([part * factor for part in parts], -1))
    return torch.cat(rows)


def _attention(model: Model, threads: int) -> Iterator[str]:
    config = model.config
    numbers = torch.Generator().manual_seed(0)
    shape = (config.kv_heads, REACH, config.head_size)
    keys, values = (torch.randn(shape, generator=numbers) for _ in range(2))
    heads = config.heads
    queries = torch.randn(REACH * heads, config.head_size, generator=numbers)
    for count in {threads, 1}:
        torch.set_num_threads(count)
        for start in (0, TILE - 3, REACH - 90):
            end = start + 90
            spans = model.layout.spans(start, 90)
            whole = attend(queries[start * heads : end * heads], keys, values, spans)
            for at in range(start, end, 11):
                stop = min(at + 11, end)
                spans = model.layout.spans(at, stop - at)
                part = attend(queries[at * heads : stop * heads], keys, values, spans)
                if not torch.equal(part, whole[(at - start) * heads : (stop - start) * heads]):
                    yield f"attention depends on the pass's width ({count} threads)"
