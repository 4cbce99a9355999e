"""A trace as one HTML page that needs nothing else: no network and no other file.

The template `page.html` escapes every text and makes it harmless; the page forbids itself every
request.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from specedit.decode import Chunk
from specedit.view import provenance as prov
from specedit.view.colours import LOOKS, count, seconds
from specedit.view.terminal import harmless
from specedit.view.trace import FileTrace

GENERATOR = '<meta name="generator" content="specedit">'  # how our pages are recognized
WIDTH, HEIGHT, LEFT = 1000, 84, 46  # of a plot; LEFT: room for the numbers of the vertical axis
TICK_STEPS_S = tuple(a * 10**b for b in range(-4, 5) for a in (1, 2, 5))  # seconds between ticks


def page(runs: Sequence[FileTrace]) -> str:
    """The whole page."""
    shown = list(map(_shown, runs))
    environment = Environment(
        loader=PackageLoader("specedit", "view"),
        autoescape=True,
        trim_blocks=True,
        finalize=lambda value: harmless(value) if isinstance(value, str) else value,
    )
    environment.filters |= {"seconds": seconds, "count": count}
    return environment.get_template("page.html").render(
        generator=Markup(GENERATOR),
        runs=shown,
        kinds={kind for run in shown for node in run["passes"] for kind, _ in node["pieces"]},
        looks=LOOKS,
        rest="Point at a token or a bar to see its pass.",
        **{"width": WIDTH, "height": HEIGHT, "left": LEFT},
    )


def _shown(run: FileTrace) -> dict[str, Any]:
    """The values of a run for the template."""
    total = max(run.passes[-1].at + run.passes[-1].written.chunk.seconds, 1e-6)
    scale = (WIDTH - LEFT) / total
    chunks = [pass_.written.chunk for pass_ in run.passes]
    proposed = accumulate(chunk.proposed for chunk in chunks)
    accepted = accumulate(chunk.accepted for chunk in chunks)
    passes = [
        {
            "number": number,
            "at": step.at,
            "chunk": chunk,
            "text": step.written.text,
            # A pass is named after its draft; one whose draft gave nothing was decoded freely.
            "kind": drafted if chunk.accepted else prov.FREE,
            "pieces": [
                (drafted if place < chunk.accepted else own, piece)
                for place, piece in enumerate(step.written.pieces)
            ],
            "left": LEFT + scale * step.at,
            "right": LEFT + scale * (step.at + chunk.seconds),
            "proposed_so_far": p,
            "accepted_so_far": a,
        }
        for number, (step, chunk, (drafted, own), a, p) in enumerate(
            zip(run.passes, chunks, _kinds(chunks), accepted, proposed, strict=True)
        )
    ]
    step = next((step for step in TICK_STEPS_S if total / step <= 10), TICK_STEPS_S[-1])
    ticks = ((LEFT + scale * n * step, f"{n * step:g} s") for n in range(int(total / step) + 1))
    return {
        "file": run.file,
        "begin": run.begin,
        "tokens": sum(len(chunk.tokens) for chunk in chunks),
        "seconds": sum(chunk.seconds for chunk in chunks),
        "passes": passes,
        "ticks": [(x, label) for x, label in ticks if x <= WIDTH - 30],
    }


def _kinds(chunks: Sequence[Chunk]) -> list[tuple[str, str]]:
    return [prov.kinds_of(c, following) for c, following in pairwise([*chunks, None]) if c]
