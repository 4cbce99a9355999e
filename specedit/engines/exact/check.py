"""The self-check: are passes really bit-equal with this torch on this machine?

Knows how to split and compare. Verdicts are kept per processor and torch version. The one about a
converted file is asked for by who opens an engine, to say "not exact here" where it is a no. The
one about an attention is asked for by who chooses one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import torch

from specedit.engines.exact.attention import Attention
from specedit.engines.exact.cache import TILE
from specedit.engines.exact.machine import processor
from specedit.engines.exact.model import Model
from specedit.files import atomic
from specedit.models.numbers import Config

LENGTH = 137  # over one step of attention's keys, and no multiple of anything
SPLITS = ((1, 2, 3, 7, 8, 16, 33, 64), (64, 33, 1, 1, 1, 1), (129, 7, 1))
SLICES = (1, 2, 3, 7, 11, 16, 33)  # widths at which attention alone is compared with one of WIDE
WIDE = 90
KEPT = "exact.json"
CHECK = 3  # of this file: verdicts of another check do not count


def verdict(store: Path, converted: str) -> str | None:
    """What the self-check found for a converted file: "" is exact, None is not checked yet."""
    found = _verdicts(store).get(_key(converted))
    return None if found is None else str(found)


def check(model: Model, store: Path, converted: str) -> str:
    """Run the self-check and keep its verdict: "" or what was not exact."""
    return _keep(store, converted, next(_differences(model), ""))


def attention_verdict(kind: type[Attention], config: Config, store: Path) -> str:
    """What the self-check finds for one key head of this shape: "" or what was not exact."""
    one = replace(config, heads=config.group, kv_heads=1)
    name = f"{kind.__name__} {config.group} heads of {config.head_size} to {config.window}"
    found = verdict(store, name)
    if found is None:
        with torch.inference_mode():
            found = _keep(store, name, next(_attention(kind(one), one, config.window), ""))
    return found


def _keep(store: Path, name: str, found: str) -> str:
    known = {**_verdicts(store), _key(name): found}
    atomic.whole(_place(store), json.dumps(known, indent=1).encode())
    return found


def _place(store: Path) -> Path:
    return store / "converted" / KEPT


def _key(name: str) -> str:
    return f"{name} | torch {torch.__version__} | {processor()} | {CHECK}"


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
            yield from _attention(model.attention, model.config, 0)
    finally:
        torch.set_num_threads(threads)


def _logits(model: Model, ids: list[int], split: tuple[int, ...]) -> torch.Tensor:
    cache, rows = model.new_cache(), []
    widths = iter(split)
    while len(cache.ids) < len(ids):
        at = len(cache.ids)
        hidden = model.read(ids[at : at + next(widths, len(ids))], cache)
        assert hidden is not None
        parts, factor = model.logits(hidden)
        rows.append(torch.cat([part * factor for part in parts], -1))
    return torch.cat(rows)


def _attention(attention: Attention, config: Config, far: int) -> Iterator[str]:
    """What differs in attention alone, near and as far as `far`."""
    threads, heads = torch.get_num_threads(), config.heads
    far = max(far, 3 * TILE)
    numbers = torch.Generator().manual_seed(0)
    shape = (config.kv_heads, -(-far // TILE) * TILE, config.head_size)
    keys, values = (torch.randn(shape, generator=numbers).to(attention.dtype) for _ in range(2))
    queries = torch.randn(WIDE * heads, config.head_size, generator=numbers)

    def part(start: int, at: int, stop: int) -> torch.Tensor:
        spans = attention.spans(start + at, stop - at)
        return attention.attend(queries[at * heads : stop * heads], keys, values, spans)

    try:
        for start in (0, TILE - 3, 3 * TILE - WIDE, (far // 4) | 1, far - WIDE):
            whole = part(start, 0, WIDE)
            for count in sorted({threads, 1}):
                torch.set_num_threads(count)
                for width in SLICES:
                    for at in range(0, WIDE, max(width, WIDE // 4)):
                        stop = min(at + width, WIDE)
                        if not torch.equal(part(start, at, stop), whole[at * heads : stop * heads]):
                            yield f"attention depends on the pass's width ({count} threads)"
    finally:
        torch.set_num_threads(threads)
