"""A trace as one HTML page that needs nothing else: no network and no other file.

Text of a file or a model is escaped here, once, by `_safe`; the page forbids itself every request,
and embeds its trace, so that it can be made again.
"""

from __future__ import annotations

import html
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.resources import files
from itertools import pairwise

from specedit.decode.events import Chunk
from specedit.view import plots
from specedit.view import provenance as prov
from specedit.view.colours import LOOKS, count, seconds
from specedit.view.terminal import harmless
from specedit.view.trace import EMBEDDED, FileTrace, Pass, lines_of

GENERATOR = '<meta name="generator" content="specedit">'
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
REST = "Point at a token or a bar to see its pass."
OWN, LOOKED_UP, ORIGINAL = "its own", "looked up", "original"  # where a try's tokens come from
PALETTE = ("#0969da", "#bf3989", "#1a7f37", "#9a6700", "#8250df", "#cf222e", "#0550ae", "#953800")


def page(runs: Sequence[FileTrace]) -> str:
    """The whole page."""
    names = ", ".join(dict.fromkeys(run.file for run in runs))
    kinds = {kind for run in runs for pair in _kinds(run) for kind in pair}
    sections = "".join(_tries(*group) for group in groups(runs))
    sections += "".join(_section(number, run) for number, run in enumerate(runs))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">{GENERATOR}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>specedit: {_safe(names)}</title><style>{_asset('page.css')}{_colours()}</style>"
        "</head>\n<body><h1>specedit trace</h1>"
        '<div class="dim">Each pass is one call of the model: it checks a draft, keeps what it '
        "would have written itself, and adds one token of its own.</div>"
        f"{_legend(kinds)}{sections}"
        f'<div id="about" data-rest="{REST}">{REST}</div>'
        f"{EMBEDDED}{_data(runs)}</script>\n<script>{_asset('page.js')}</script></body></html>\n"
    )


def _section(number: int, run: FileTrace) -> str:
    kinds = _kinds(run)
    # A pass is named after its draft; one whose draft gave nothing was decoded freely.
    main = [
        drafted if one.written.chunk.accepted else prov.FREE
        for one, (drafted, _) in zip(run.passes, kinds, strict=True)
    ]
    figures = "".join(f"<li><b>{value}</b>{name}</li>" for name, value in _figures(run))
    drafted = any(p.written.chunk.proposed for p in run.passes)
    return (
        f'<section data-run="{number}"><h2>{_safe(run.file)}</h2>'
        f'<div class="dim">{_safe(_about(run))}</div><ul class="figures">{figures}</ul>'
        f"{plots.timeline(run.passes, main)}{plots.widths(run.passes)}"
        f"{plots.acceptance(run.passes) if drafted else ''}"
        f'<pre class="text">{"".join(_tokens(run, kinds))}</pre>'
        f"<details><summary>all {count(len(run.passes), 'pass', 'passes')}</summary><table><tr>"
        "<th>pass</th><th>at</th><th>took</th><th>width</th><th>accepted</th><th>tokens</th>"
        f"<th>source</th><th>text</th></tr>{''.join(_rows(run))}</table></details></section>\n"
    )


def _kinds(run: FileTrace) -> list[tuple[str, str]]:
    chunks: list[Chunk | None] = [p.written.chunk for p in run.passes]
    return [prov.kinds_of(c, following) for c, following in pairwise([*chunks, None]) if c]


def _tokens(run: FileTrace, kinds: Sequence[tuple[str, str]]) -> Iterator[str]:
    for number, (one, (drafted, own)) in enumerate(zip(run.passes, kinds, strict=True)):
        for place, piece in enumerate(one.written.pieces):
            if piece:
                kind = drafted if place < one.written.chunk.accepted else own
                first = " first" if place == 0 else ""
                yield f'<span class="k-{kind}{first}" data-pass="{number}">{_safe(piece)}</span>'


def _rows(run: FileTrace) -> Iterator[str]:
    for number, one in enumerate(run.passes):
        c = one.written.chunk
        source = c.source + (" (found again)" if c.resynced else "")
        cells = [str(number), seconds(one.at), seconds(c.seconds), str(c.width)]
        cells += [f"{c.accepted} of {c.proposed}", str(len(c.tokens))]
        yield (
            f'<tr data-pass="{number}" data-about="{_safe(_summary(number, one))}">'
            + "".join(f"<td>{cell}</td>" for cell in cells)
            + f'<td class="source">{_safe(source)}</td><td>{_safe(one.written.text)}</td></tr>'
        )


def _summary(number: int, one: Pass) -> str:
    c = one.written.chunk
    again = ", found again after a divergence" if c.resynced else ""
    return (
        f"pass {number} · at {seconds(one.at)} · took {seconds(c.seconds)} · width {c.width} · "
        f"{c.accepted} of {c.proposed} accepted · {count(len(c.tokens), 'token')} · "
        f"{c.source}{again}"
    )


def _figures(run: FileTrace) -> Iterator[tuple[str, str]]:
    chunks = [p.written.chunk for p in run.passes]
    spent, tokens = sum(c.seconds for c in chunks), sum(len(c.tokens) for c in chunks)
    proposed, accepted = sum(c.proposed for c in chunks), sum(c.accepted for c in chunks)
    yield "tokens", f"{tokens:,}"
    yield "passes", f"{len(chunks):,}"
    yield "decoding", seconds(spent)
    if spent:
        yield "tokens per second", f"{tokens / spent:.1f}"
    if proposed:
        yield f"of {proposed:,} drafted accepted", f"{accepted / proposed:.0%}"
    yield "widest pass", str(max(c.width for c in chunks))
    for key, name in (("prompt", "prompt tokens"), ("reused", "of them reused")):
        if isinstance(run.begin.get(key), int):
            yield name, f"{run.begin[key]:,}"
    if isinstance(run.begin.get("prefill_s"), int | float):
        yield "prefill", seconds(run.begin["prefill_s"])


def _about(run: FileTrace) -> str:
    model, way = run.begin.get("model"), run.begin.get("try")
    parts = [f"try {way.get('number')}"] if isinstance(way, dict) else []
    if isinstance(model, dict):
        parts += [str(model.get(key) or "") for key in ("name", "engine", "device")]
    return " · ".join(filter(None, parts))


def groups(runs: Sequence[FileTrace]) -> Iterator[tuple[str, list[FileTrace]]]:
    """Each file that was tried more than once, with its tries in order."""
    by_file: dict[str, list[FileTrace]] = {}
    for run in runs:
        by_file.setdefault(run.file, []).append(run)
    for file, tries in by_file.items():
        if len(tries) > 1 and any("try" in run.begin for run in tries):
            yield file, tries


def _tries(file: str, runs: Sequence[FileTrace]) -> str:
    """The tries of one file side by side."""
    columns = "".join(_column(number, run) for number, run in enumerate(runs, 1))
    return (
        f"<section><h2>{_safe(file)}: {count(len(runs), 'try', 'tries')}</h2>"
        '<div class="dim">What each took from the original and from earlier tries; underlined is '
        f'its own.</div><div class="abreast">{columns}</div></section>\n'
    )


def _column(number: int, run: FileTrace) -> str:
    pieces = [(origin, piece) for origin, piece in origins(run) if piece]
    taken = Counter(origin for origin, _ in pieces)
    parts = ", ".join(f"{name} {tokens:,}" for name, tokens in taken.most_common())
    spent = seconds(sum(one.written.chunk.seconds for one in run.passes))
    head = f"{_name(number, run)} · {count(len(run.passes), 'pass', 'passes')} · {spent}"
    spans = "".join(
        f'<span class="{_class(origin)}" title="{_safe(origin)}">{_safe(piece)}</span>'
        for origin, piece in pieces
    )
    return (
        f"<figure><figcaption>{_safe(head)}<br>{_safe(parts)}</figcaption>"
        f'<pre class="text">{spans}</pre></figure>'
    )


def origins(run: FileTrace) -> Iterator[tuple[str, str]]:
    """Each token's origin and text: the try's own choice, looked up, or accepted from a prediction
    (the original or an earlier try, which the trace names)."""
    predictions = run.begin.get("predictions")
    names = [str(name) for name in predictions] if isinstance(predictions, list) else []
    for one in run.passes:
        chunk = one.written.chunk
        drafted = LOOKED_UP
        if chunk.source == "prediction":
            drafted = names[chunk.which] if chunk.which < len(names) else ORIGINAL
        for place, piece in enumerate(one.written.pieces):
            yield drafted if place < chunk.accepted else OWN, piece


def _name(number: int, run: FileTrace) -> str:
    way = run.begin.get("try")
    if not isinstance(way, dict):
        return f"try {number}"
    name = f"try {way.get('number', number)}"
    if way.get("temperature"):
        name += f", temperature {way['temperature']:g}, seed {way['seed']}"
    return name + (", with feedback" if way.get("with_feedback") else "")


def _class(origin: str) -> str:
    if origin in (OWN, LOOKED_UP):
        return "o-own" if origin == OWN else "o-looked"
    number = origin.rpartition(" ")[2]
    return f"o-{int(number) % len(PALETTE) if number.isdigit() else 0}"


def _legend(kinds: set[str]) -> str:
    items = "".join(
        f'<li><span class="k-{kind}">&nbsp;ab&nbsp;</span> {look.meaning}</li>'
        for kind, look in LOOKS.items()
        if kind in kinds
    )
    return f'<ul class="legend">{items}</ul>'


def _colours() -> str:
    kinds = "".join(
        f"span.k-{kind}{{background:{look.page}{'26' if kind == prov.COPIED else '55'}}}"
        f"rect.k-{kind}{{fill:{look.page}}}"
        for kind, look in LOOKS.items()
    )
    tries = (f".abreast .o-{n}{{background:{colour}2e}}" for n, colour in enumerate(PALETTE))
    return kinds + "".join(tries)


def _safe(text: str) -> str:
    """Text that stays text, in an element and in an attribute."""
    return html.escape(harmless(text), quote=True)


def _data(runs: Sequence[FileTrace]) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(lines_of(runs), separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _asset(name: str) -> str:
    return files("specedit.view").joinpath(name).read_text(encoding="utf-8")
