"""What an editor makes of the language server's edits is what the command line makes of the same
bytes, whatever the line ends, the characters and the changes before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st
from lsp_client import LINE_ENDS_OF_PYTHON, Editor, Position, Process, spans, units_of

Call = Callable[..., CompletedProcess[bytes]]

ENDS = st.sampled_from(["\n", "\r\n", "\r"])
CHARACTERS = st.sampled_from("ab =\t🙂𝒳é漢\u0301\u200d" + LINE_ENDS_OF_PYTHON)
FILLER = st.text(CHARACTERS, max_size=8)
WORDS = st.lists(st.one_of(FILLER, st.just("old"), ENDS), max_size=12).map("".join)
PLACES = st.tuples(st.integers(0, 6), st.just(0) | st.integers(0, 8))  # also past the ends
CHANGES = st.lists(st.tuples(PLACES, PLACES, ENDS | WORDS), max_size=5)
PROPERTY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


class Desk:
    """An editor and the command line, on the same bytes."""

    def __init__(
        self, root: Path, server: Process, inside: Call, play: Callable[..., Path]
    ) -> None:
        self.editor, self.root, self.server = server.editor, root, server
        self.inside, self.play = inside, play
        self._files = 0

    def script(self, **parts: object) -> None:
        self.server.play(**parts)
        self.play(**parts)

    def open(self, name: str, text: str) -> tuple[Editor, str]:
        self._files += 1
        self.path = self.root / f"{self._files}" / name
        self.path.parent.mkdir()
        self.editor.close_all()
        return self.editor, self.editor.open_file(self.path, text)

    def cli(self, text: str, *arguments: str) -> str:
        """What the command line makes of the text."""
        self.path.write_bytes(text.encode())
        done = self.inside(*(self.path if word == "FILE" else word for word in arguments))
        note(done.stderr.decode())
        return self.path.read_bytes().decode()


@pytest.fixture
def desk(
    tmp_path: Path, editor: Editor, language_server: Process, inside: Call, script: Any
) -> Desk:
    return Desk(tmp_path, language_server, inside, script)


def whole(text: str, position: Position) -> Position:
    """A position that is not inside a surrogate pair."""
    units, (line, column) = units_of(text), position
    if line < len(spans(units)):
        start, end = spans(units)[line]
        at = start + column
        if at < end and 0xDC00 <= ord(units[at]) < 0xE000:
            return line, column - 1
    return position


def typed(editor: Editor, uri: str, changes: list[tuple[Position, Position, str]]) -> None:
    for start, end, new in changes:
        now = editor.texts[uri]
        start, end = sorted((whole(now, start), whole(now, end)))
        editor.change(uri, start, end, new)


@PROPERTY
@given(text=WORDS, changes=CHANGES, first=st.integers(1, 6), count=st.integers(0, 4))
def test_an_edit_is_the_command_lines(desk, text, changes, first, count):
    desk.script(replace=[["old", "new\u2028🙂"], ["a", "a\nb"]])
    editor, uri = desk.open("notes.txt", text)
    typed(editor, uri, changes)
    before, last = editor.texts[uri], first + count
    assume("\r\r\n" not in before)  # one line end to the command, two to an editor
    note(repr(before))
    answer = editor.wait(editor.command("specedit.edit", uri, [first, last], "Replace old."))
    note(str(answer))
    assert all(fits for fits, _ in editor.edits)
    lines = f"{first}:{last}"
    assert editor.texts[uri] == desk.cli(before, "edit", "Replace old.", "FILE", "--lines", lines)


CODE = (
    "def outer(count, other):",
    "    other = '🙂 %s' + str(count)  # 𝒳 count %s",
    "    return count + other  # %s",
)


@PROPERTY
@given(
    comments=st.lists(st.tuples(FILLER, ENDS), min_size=1, max_size=4),
    code=st.tuples(*[st.tuples(FILLER, ENDS)] * len(CODE)),
    changes=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), FILLER, ENDS), max_size=4),
    which=st.integers(0, 2),
)
def test_a_rename_is_the_command_lines(desk, comments, code, changes, which):
    head = "".join(f"# {filler}{end}" for filler, end in comments)
    filled = (
        line.replace("%s", filler) + end for line, (filler, end) in zip(CODE, code, strict=True)
    )
    editor, uri = desk.open("module.py", head + "".join(filled))
    for line, column, filler, end in changes:  # in comments, or a comment more
        line, now = line % len(comments), editor.texts[uri]
        start = whole(now, (line, column + 1))
        editor.change(uri, start, whole(now, (line, start[1] + column)), filler)
        editor.change(uri, (line, 0), (line, 0), f"# {filler}{end}")
    before = editor.texts[uri]
    note(repr(before))
    units = units_of(before)
    lines = spans(units)
    line = len(lines) - 1 - len(CODE) + which
    column = units.index("count", lines[line][0]) - lines[line][0] + 2
    answer = editor.wait(editor.rename(uri, (line, column), "total"))
    assert editor.apply(answer["result"])
    desk.script(replace=[["count", "total"]])
    wanted = desk.cli(before, "rename", "count", "total", "FILE", "--line", str(line + 1))
    assert editor.texts[uri] == wanted == before.replace("count", "total")
