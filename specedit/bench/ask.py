"""One run of `specedit bench`: what was asked, measured in order, ready to be shown.

Knows the questions (`right`, `fast`); knows no flags and no terminal.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from specedit.bench import fast, right
from specedit.bench.found import Found
from specedit.bench.results import Results, results_json
from specedit.bench.side import Said, threads_of
from specedit.bench.tasks import Words, words_of
from specedit.bench.wanted import Wanted
from specedit.errors import InputError
from specedit.settings import Settings


def run(wanted: Wanted, settings: Settings, said: Said, *, verbose: bool = False) -> Found:
    """Measure what is wanted and draw it."""
    if wanted.drawn_from:
        return _drawn([_read(path) for path in wanted.drawn_from], wanted.plots)
    results = Results(settings.model, threads_of(settings))
    found = Found()
    if wanted.quality is not None:
        right.quality(wanted, words(settings), settings, results, found, said)
    elif wanted.gate:
        right.gate(wanted, settings, results, found)
    elif wanted.renames:
        right.renames(wanted, settings, results, found, said)
    elif wanted.agreement:
        right.agreement(wanted, settings, results, found, said)
    elif wanted.focus:
        right.focus(wanted, settings, results, found, said)
    elif wanted.engine_table:
        fast.widths(settings, results, found, said)
    elif wanted.drafters:
        fast.drafters(wanted, settings, results, found, said)
    elif wanted.serve:
        fast.load(wanted, settings, results, found, said)
    else:
        fast.speed(wanted, words(settings), settings, results, found, said, verbose)
    found.json = results_json(results)
    if wanted.plots is not None:
        drawn = _drawn([found.json], wanted.plots)
        found.line = "\n".join(t for t in (found.line, drawn.line) if t)
    return found


def words(settings: Settings) -> Words:
    if settings.engine == "scripted":
        from specedit.bench.peers.own import load

        loaded = load(settings)
        return Words(loaded.tokenizer, loaded.prompt)
    from specedit.models.resolve import present

    return words_of(present(settings.model))


def _read(path: Path) -> dict[str, Any]:
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
        if found["command"] != "bench":
            raise KeyError
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(
            f"{path} is not a result of specedit bench --json", hint="specedit bench --json > FILE"
        ) from None
    return dict(found)


def _drawn(results: list[dict[str, Any]], folder: Path | None) -> Found:
    from specedit.bench.plots import draw

    written = draw(results, folder or Path())
    line = f"drew {', '.join(str(p) for p in written)}" if written else "nothing to draw"
    return Found(json={"plots": [str(p) for p in written]}, line=line)
