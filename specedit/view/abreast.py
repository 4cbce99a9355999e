"""The tries of a file side by side on a trace's page, and what each of them took from which.

A token is a try's own (the model's choice), looked up, or accepted from a prediction: the original
or an earlier try, which the trace names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from specedit.view.colours import count, seconds
from specedit.view.trace import FileTrace

OWN, LOOKED_UP, ORIGINAL = "its own", "looked up", "original"
PALETTE = ("#0969da", "#bf3989", "#1a7f37", "#9a6700", "#8250df", "#cf222e", "#0550ae", "#953800")
CSS = (
    ".abreast{display:grid;grid-auto-flow:column;grid-auto-columns:minmax(320px,1fr);gap:10px;"
    "overflow-x:auto}.abreast figure{margin:0}.abreast pre{white-space:pre;overflow-x:auto}"
    ".abreast .o-own{font-weight:600;text-decoration:underline}"
    + "".join(f".abreast .o-{n}{{background:{c}2e}}" for n, c in enumerate(PALETTE))
)
Safe = Callable[[str], str]


def groups(runs: Sequence[FileTrace]) -> Iterator[tuple[str, list[FileTrace]]]:
    """Each file that was tried more than once, with its tries in order."""
    held: dict[str, list[FileTrace]] = {}
    for run in runs:
        held.setdefault(run.file, []).append(run)
    for file, result in held.items():
        if len(result) > 1 and any("try" in run.begin for run in result):
            yield file, result


def section(file: str, runs: Sequence[FileTrace], safe: Safe) -> str:
    """The tries of one file as columns."""
    columns = "".join(_column(number, run, safe) for number, run in enumerate(runs, 1))
    return (
        f"<section><h2>{safe(file)}: {count(len(runs), 'try', 'tries')}</h2>"
        '<div class="dim">What each took from the original and from earlier tries; underlined is '
        f'its own.</div><div class="abreast">{columns}</div></section>\n'
    )


def _column(number: int, run: FileTrace, safe: Safe) -> str:
    taken = Counter(origin for origin, piece in origins(run) for _ in range(bool(piece)))
    parts = ", ".join(f"{name} {tokens:,}" for name, tokens in taken.most_common())
    spent = seconds(sum(one.written.chunk.seconds for one in run.passes))
    head = f"{_name(number, run)} · {count(len(run.passes), 'pass', 'passes')} · {spent}"
    text = run.end.get("verdict")
    verdict = f"<br>{safe(str(text))}" if text else ""
    spans = "".join(
        f'<span class="{_class(origin)}" title="{safe(origin)}">{safe(piece)}</span>'
        for origin, piece in origins(run)
        if piece
    )
    return (
        f"<figure><figcaption>{safe(head)}{verdict}<br>{safe(parts)}</figcaption>"
        f'<pre class="text">{spans}</pre></figure>'
    )


def origins(run: FileTrace) -> Iterator[tuple[str, str]]:
    """Each token's origin and text."""
    item = run.begin.get("predictions")
    names = [str(name) for name in item] if isinstance(item, list) else []
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
    drawn = (
        f"temperature {way['temperature']:g}, seed {way['seed']}" if way.get("temperature") else ""
    )
    words = [
        f"try {way.get('number', number)}",
        drawn,
        "with feedback" if way.get("with_feedback") else "",
    ]
    return ", ".join(word for word in words if word)


def _class(origin: str) -> str:
    if origin in (OWN, LOOKED_UP):
        return "o-own" if origin == OWN else "o-looked"
    number = origin.rpartition(" ")[2]
    return f"o-{int(number) % len(PALETTE) if number.isdigit() else 0}"
