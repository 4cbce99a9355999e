"""A change for reading: hunks one under the other, with each line's origin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from rich.console import Console
from rich.style import Style
from rich.text import Text

from specedit.edit.report import Edit
from specedit.errors import SpeceditError
from specedit.files.source import Source
from specedit.syntax.languages import language_of
from specedit.syntax.lines import Hunk, Line, hunks
from specedit.syntax.outline import Symbol
from specedit.syntax.trees import symbols
from specedit.view import colours, terminal
from specedit.view import provenance as prov

MARGIN_CELLS = 4  # cells that show where a line came from
MAX_SHOWN_LINES = 2_000  # lines of a change that are shown


class Frame:
    """The values that all rows of one file's diff share. Code is coloured and definitions are named
    unless a text is long."""

    def __init__(
        self,
        console: Console,
        path: str,
        texts: tuple[str, str],
        provenance: prov.Provenance | None = None,
    ) -> None:
        self.console = console
        self.width = console.width
        self.tint = colours.tint(console)
        self.provenance = provenance
        self.symbols: list[Sequence[Symbol]] = [(), ()]
        theme = self.tint.code if console.color_system else None
        self._coloured: list[list[Text]] = []
        if max(map(len, texts)) <= colours.MAX_COLOURED_CHARACTERS:
            self._coloured = [colours.code_lines(text, path, theme) for text in texts]
            language = language_of(path, texts[0])
            self.symbols = [symbols(text, language) for text in texts]
        if provenance:
            placed = provenance.onto(texts[1])
            self.provenance = placed if placed.parts else None
        self.digits = len(str(max(text.count("\n") for text in texts) + 1))
        # The offset of each line of the new text, and of its end.
        self._starts = [0, *accumulate(len(line) + 1 for line in texts[1].split("\n"))]
        self._starts[-1] = len(texts[1])

    def paint(self, line: Line) -> Text:
        """A line of code in its colours."""
        if not self._coloured:
            return Text(terminal.harmless(line.text), end="")
        number = line.after or line.before
        assert number is not None
        return self._coloured[line.after is not None][number - 1].copy()

    def number(self, line: int | None) -> str:
        """The cells of a line's number in the file; blank where a side has no line."""
        shown = "" if line is None else str(line)
        return f"{shown:>{self.digits}} "

    def range(self, first: int, last: int) -> tuple[int, int]:
        """The characters of the new text's lines [first, last), from 0."""
        end = len(self._starts) - 1
        return self._starts[min(first, end)], self._starts[min(last, end)]

    def explain(self, changed: Sequence[Hunk], explained: set[str]) -> None:
        """Print what the signs in the margins of these hunks mean, and note that it is known."""
        kinds = self.kinds(changed) - explained
        if kinds:
            self.console.print(legend(self.console, kinds), soft_wrap=True)
        explained |= kinds

    def kinds(self, changed: Sequence[Hunk]) -> set[str]:
        """The kinds of origins that the margins of these hunks show."""
        lines = [line for hunk in changed for line in hunk.lines] if self.provenance else []
        return {kind for line in lines for kind in _origins(line, self) if kind}

    def print(self, hunk: Hunk) -> None:
        for row in rows(hunk, self):
            self.console.print(row, soft_wrap=True)


def title(path: str, changed: Sequence[Hunk]) -> Text:
    added, removed = sum(h.added for h in changed), sum(h.removed for h in changed)
    counts = (f"+{added}", "green"), " ", (f"-{removed}", "red")
    return Text.assemble((terminal.name(path), "bold"), "  ", *counts)


def show(
    console: Console,
    edit: Edit,
    provenance: prov.Provenance | None = None,
    explained: set[str] | None = None,
) -> None:
    """Print one file's change, if there is one, after the meaning of its signs, but for those that
    are `explained`."""
    if edit.before == edit.after or not edit.before or not edit.after:
        return
    try:
        sources = (
            Source.from_bytes(edit.path, data, any_encoding=True)
            for data in (edit.before, edit.after)
        )
        before, after = (source.text for source in sources)
    except SpeceditError:
        return
    if before == after:
        return
    frame, changed = Frame(console, edit.path, (before, after), provenance), hunks(before, after)
    console.print(title(edit.path, changed), soft_wrap=True)
    frame.explain(changed, set() if explained is None else explained)
    left = MAX_SHOWN_LINES
    for hunk in changed:
        if left > 0:
            frame.print(replace(hunk, lines=hunk.lines[:left]))
        left -= len(hunk.lines)
    if left < 0:
        more = f"{colours.count(-left, 'more line')} of this change are not shown"
        console.print(Text(more, "bright_black"), soft_wrap=True)


def legend(console: Console, kinds: Iterable[str]) -> Text:
    """The legend of the margin's signs; only those that occur."""
    shown = (
        Text.assemble((colours.sign(kind, console), look.style), " ", (look.meaning, "dim"))
        for kind, look in colours.LOOKS.items()
        if kind in set(kinds)
    )
    return Text("   ").join(shown)


def rows(hunk: Hunk, frame: Frame) -> Iterator[Text]:
    """One hunk: a caption with its place, then its lines: old number, new number, origin, sign,
    text."""
    yield _caption(hunk, frame)
    numbers = 2 if frame.width >= 60 else 1
    for line in hunk.lines:
        gutter = Text(end="")
        shown = (line.before, line.after) if numbers == 2 else (line.after or line.before,)
        for number in shown:
            gutter.append(frame.number(number), "bright_black")
        if frame.provenance:
            gutter.append_text(_margin(line, frame))
        yield from _cells(line, gutter, frame, frame.width)


def _caption(hunk: Hunk, frame: Frame) -> Text:
    rule = "─" if colours.unicode(frame.console) else "-"
    text = Text(f"{rule * 2} line {hunk.first_line} ", "bright_black")
    if name := _name(hunk, frame):
        text.append("in ").append(name, "bold").append(" ")
    text.append(rule * max(0, min(frame.width, 100) - text.cell_len), "bright_black")
    text.truncate(frame.width)
    return text


def _name(hunk: Hunk, frame: Frame) -> str:
    """The innermost definition around the first changed line; "" outside of all."""
    (old, new), line = frame.symbols, hunk.first_line
    changed = [part for part in hunk.lines if part.kind != " "]
    around = [symbol for symbol in old if symbol.first_line <= line <= symbol.last_line]
    if changed and changed[0].after is not None:  # only added: what they are in, or define
        line = next((x.after for x in changed if x.after and x.text.strip()), changed[0].after)
        around = [symbol for symbol in new if symbol.first_line <= line <= symbol.last_line]
    around = [symbol for symbol in around if symbol.kind != "value"]  # its line shows the name
    return terminal.name(max(around, key=lambda symbol: symbol.depth).qualified) if around else ""


def _cells(line: Line, gutter: Text, frame: Frame, width: int) -> Iterator[Text]:
    """One line of code after its gutter, wrapped, on its background."""
    back, word, sign = {
        "-": (frame.tint.old, frame.tint.old_word, ("-", "red")),
        "+": (frame.tint.new, frame.tint.new_word, ("+", "green")),
        " ": (Style(), Style(), (" ", "")),
    }[line.kind]
    text = frame.paint(line)
    for start, end in line.spans:
        text.stylize(word, start, min(end, len(text)))
    for number, piece in enumerate(colours.folded(text, max(2, width - gutter.cell_len - 2))):
        head = gutter if number == 0 else Text(" " * gutter.cell_len, end="")
        body = Text.assemble((sign[0] if number == 0 else " ", sign[1]), " ", piece, end="")
        if line.kind != " " and back:
            body.pad_right(max(0, width - gutter.cell_len - body.cell_len))
            body.stylize_before(back)
        yield Text.assemble(head, body)
    if not line.ends:
        note = Text(" " * gutter.cell_len + "\\ no newline at the end of the file", "dim")
        note.truncate(width)
        yield note


def _margin(line: Line, frame: Frame) -> Text:
    """The origin of each quarter of a line, in a cell each."""
    text = Text(end="")
    for kind in _origins(line, frame):
        sign = colours.sign(kind, frame.console) if kind else " "
        text.append(sign, colours.LOOKS[kind].style if kind else "")
    return text.append(" ")


def _origins(line: Line, frame: Frame) -> list[str]:
    """The kind of each cell of a line's margin; "" in all of them, or in none."""
    cells: list[str] = []
    start, end = frame.range(line.after - 1, line.after) if line.after else (0, 0)
    end = max(start, end - 1)  # the newline itself says little
    for cell in range(MARGIN_CELLS if frame.provenance and line.after else 0):
        a = start + (end - start) * cell // MARGIN_CELLS
        b = start + (end - start) * (cell + 1) // MARGIN_CELLS
        kinds = frame.provenance.kinds(a, max(b, a + 1)) if frame.provenance else set()
        # freely decoded text, the last of LOOKS, is never hidden
        cells.append(max(kinds, key=list(colours.LOOKS).index, default=""))
    # An indentation that the model was not shown, and lines that it was not asked about
    known = next(filter(None, cells), prov.COPIED if line.kind == " " and line.after else "")
    return [(known := cell or known) for cell in cells or [""] * MARGIN_CELLS]
