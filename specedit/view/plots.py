"""The plots of a trace's page, as SVG: when each pass ran, how wide it was, what was accepted.

Every text in the SVG is made here, of digits and fixed words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from specedit.view.trace import Pass

WIDTH = 1000
LEFT = 46  # for the numbers of the vertical axis
HEIGHT = 84


def timeline(passes: Sequence[Pass], kinds: Sequence[str]) -> str:
    """One bar per pass: as long as it took, as high as the tokens it settled."""
    most = max(len(p.written.chunk.tokens) for p in passes)
    bars = "".join(
        _bar(passes, number, len(one.written.chunk.tokens) / most, f"k-{kind}")
        for number, (one, kind) in enumerate(zip(passes, kinds, strict=True))
    )
    return _framed("tokens settled by each pass", bars, most, passes)


def widths(passes: Sequence[Pass]) -> str:
    """One bar per pass: how wide it was, and how much of that was kept."""
    most = max(p.written.chunk.width for p in passes)
    bars = "".join(
        _bar(passes, n, p.written.chunk.width / most, "offered")
        + _bar(passes, n, len(p.written.chunk.tokens) / most, "kept")
        for n, p in enumerate(passes)
    )
    return _framed("width of each pass; filled: tokens kept", bars, most, passes)


def acceptance(passes: Sequence[Pass]) -> str:
    """Each drafted pass as a dot, all passes so far as a line."""
    chunks = [p.written.chunk for p in passes]
    total = _total(passes)
    dots = "".join(
        f'<circle cx="{_x(p.at + c.seconds / 2, total):.1f}" '
        f'cy="{_y(c.accepted / c.proposed):.1f}" r="3" class="dot" data-pass="{n}"/>'
        for n, (p, c) in enumerate(zip(passes, chunks, strict=True))
        if c.proposed
    )
    offered = accumulate(c.proposed for c in chunks)
    taken = accumulate(c.accepted for c in chunks)
    points = " ".join(
        f"{_x(p.at + p.written.chunk.seconds, total):.1f},{_y(a / b):.1f}"
        for p, a, b in zip(passes, taken, offered, strict=True)
        if b
    )
    line = f'<polyline points="{points}" class="sofar"/>' if points else ""
    return _framed("share of the draft accepted; line: so far", line + dots, 100, passes, "%")


def _bar(passes: Sequence[Pass], number: int, share: float, style: str) -> str:
    one, total = passes[number], _total(passes)
    left, right = _x(one.at, total), _x(one.at + one.written.chunk.seconds, total)
    top = _y(share)
    return (
        f'<rect x="{left:.2f}" y="{top:.2f}" width="{max(0.5, right - left - 0.4):.2f}" '
        f'height="{HEIGHT - top:.2f}" class="{style}" data-pass="{number}"/>'
    )


def _framed(title: str, body: str, most: float, passes: Sequence[Pass], unit: str = "") -> str:
    ticks = "".join(_ticks(_total(passes)))
    return (
        f'<figure><figcaption>{title}</figcaption><svg viewBox="0 -8 {WIDTH} {HEIGHT + 28}" '
        f'role="img" aria-label="{title}">'
        f'<line x1="{LEFT}" x2="{WIDTH}" y1="{HEIGHT}" y2="{HEIGHT}" class="axis"/>'
        f'<text x="{LEFT - 6}" y="6" class="end">{most:g}{unit}</text>'
        f'<text x="{LEFT - 6}" y="{HEIGHT}" class="end">0</text>{ticks}{body}</svg></figure>'
    )


def _ticks(total: float) -> Iterator[str]:
    step = next((s for s in _STEPS if total / s <= 10), _STEPS[-1])
    for n in range(int(total / step) + 1):
        x = _x(n * step, total)
        if x > WIDTH - 30:
            break
        yield (
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{HEIGHT}" class="tick"/>'
            f'<text x="{x:.1f}" y="{HEIGHT + 14}">{n * step:g} s</text>'
        )


_STEPS = tuple(a * 10**b for b in range(-4, 5) for a in (1, 2, 5))


def _total(passes: Sequence[Pass]) -> float:
    return max(passes[-1].at + passes[-1].written.chunk.seconds, 1e-6)


def _x(seconds: float, total: float) -> float:
    return LEFT + (WIDTH - LEFT) * seconds / total


def _y(share: float) -> float:
    return HEIGHT * (1 - max(0.0, min(1.0, share)))
