"""The diff on a terminal: every line of the change, harmless, at any width, with its origin."""

import re

import pytest
from command_line import Terminal
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from specedit.decode import Chunk
from specedit.edit.backend import Written
from specedit.edit.report import Edit
from specedit.view import diff_view, terminal
from specedit.view import provenance as prov
from specedit.view.terminal import show_patch

BEFORE = "class User:\n    def username(self):\n        return self._username\n"
AFTER = BEFORE.replace("username", "email")


def shown(
    before: str,
    after: str,
    width: int = 80,
    colours: str | None = None,
    provenance: prov.Provenance | None = None,
    path: str = "user.py",
) -> str:
    to = Console(
        file=Terminal(),
        width=width,
        force_terminal=colours is not None,
        color_system=colours,  # type: ignore[arg-type]
        markup=False,
        emoji=False,
        highlight=False,
    )
    edit = Edit(path, "edited", before.encode(), after.encode())
    kinds = diff_view.show(to, edit, provenance)
    if kinds:
        to.print(diff_view.legend(to, kinds))
    return to.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def provenance() -> prov.Provenance:
    head, rest = AFTER.split("email", 1)
    first = Written(Chunk((1, 2), 1, 1, "prediction", False, 0.5), (head, "email"))
    second = Written(Chunk((3, 4), 3, 1, "prediction", True, 0.25), (rest, ""))
    return prov.of([first, second])


def test_the_margin_says_where_each_line_came_from_and_the_legend_what_it_means():
    text = shown(BEFORE, AFTER, 100, provenance=provenance())
    assert re.search(r"·●●» \+     def email", text)
    assert re.search(r"»»»» \+         return", text)
    assert "· copied from the prediction" in text
    assert "» found again after a divergence" in text
    assert "● decoded freely" in text
    assert "looked up" not in text


def test_without_colours_changed_words_are_still_marked(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    text = shown(BEFORE, AFTER, colours="truecolor")
    assert not re.search(r"\x1b\[[0-9;]*(3[0-7]|38;|48;)", text)
    assert "\x1b[1;4memail\x1b[0m" in text


HOSTILE = "\x1b]0;owned\x07\x1b[2J\r\x08\x9b31m\u202e\u2066 [bold]x[/] :smile:"


@pytest.mark.parametrize("width", [60, 150])
@pytest.mark.parametrize("colours", [None, "truecolor"])
def test_text_cannot_drive_the_terminal(width, colours):
    path = "evil\x1b[2J\n.py"
    text = plain(shown(f"a\n{HOSTILE}\n", f"b\n{HOSTILE}!\n", width, colours, path=path))
    assert not set(text) & set("\x1b\x07\x08\r\x9b\u202e\u2066")
    assert "[bold]x[/] :smile:" in text


@pytest.mark.parametrize("character", ["\u200b", "\u2060", "\ufeff", "\u00ad", "\U000e0041"])
def test_a_character_that_is_not_seen_is_shown(character):
    text = shown("admin = 1\n", f"ad{character}min = 1\n")
    assert re.search("- admin", text) and re.search("\\+ ad\ufffdmin", text)


def test_a_patch_on_a_terminal_is_coloured_and_cannot_drive_it(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stdout", shown := Terminal())
    show_patch(f"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{HOSTILE}\n+--- new\n")
    text = shown.getvalue()
    assert "\x1b[32m+--- new\x1b[0m" in text and "\x1b[1m--- a/x\x1b[0m" in text
    assert not set(plain(text)) & set("\x1b\x07\x08\r\x9b\u202e\u2066")


LINES = st.lists(
    st.text(st.sampled_from("abc \t{}\"'é漢🎉\u0301\x1b"), max_size=60), min_size=1, max_size=8
)


def bare(text: str) -> str:
    """A line as it can be compared: tabs and folds only make blanks."""
    return re.sub(r"\s", "", terminal.harmless(text))


def read(sides: list[str], digits: int, numbers: int) -> tuple[dict[int, str], dict[int, str]]:
    """The old and the new lines that rows show, by their number, their folds put together."""
    old: dict[int, str] = {}
    new: dict[int, str] = {}
    gutter, last = (digits + 1) * numbers, None
    for row in (s.rstrip("\n") for s in sides):
        if row.startswith("── ") or row[gutter:].startswith("\\ no newline"[: len(row) - gutter]):
            continue
        if row[:gutter].strip():
            last = {"-": old, "+": new}.get(row[gutter : gutter + 1]), int(row[:gutter].split()[-1])
        if last and last[0] is not None:
            last[0][last[1]] = last[0].get(last[1], "") + bare(row[gutter + 2 :])
    return old, new


@examples(60)
@given(LINES, LINES, st.integers(0, 20), st.sampled_from([12, 40, 79, 140, 200]))
def test_no_row_is_wider_than_the_terminal_and_no_line_is_lost(before, after, alike, width):
    common = [f"common {number}" for number in range(alike)]
    before = [before[0], *common, *before[1:]]
    after = [after[0], *common, *after[1:]]
    texts = "\n".join(before), "\n".join(after)
    title, *rows = shown(*texts, width).removesuffix("\n").split("\n")
    if texts[0] == texts[1] or "" in texts:  # nothing to compare
        assert not title and not rows
        return
    assert all(cell_len(row) <= width for row in rows)
    digits = len(str(max(len(before), len(after))))
    old, new = read(rows, digits, 2 if width >= 60 else 1)
    assert title == f"user.py  +{len(new)} -{len(old)}"
    assert old == {number: bare(before[number - 1]) for number in old}
    assert new == {number: bare(after[number - 1]) for number in new}
    assert kept(texts[0], old) == kept(texts[1], new)


def kept(text: str, changed: dict[int, str]) -> list[str]:
    """The lines that a diff does not name: of the old text and of the new one they are the same."""
    return [n for number, n in enumerate(text.split("\n"), 1) if number not in changed and n]


def test_a_line_of_many_characters_is_cut_with_a_word_about_it():
    long = "x" * 50_000
    text = shown(f"a\n{long}\n", f"b\n{long}\n")
    assert "…and 48,000 more characters" in text
    assert len(text) < 20_000


def test_each_hunk_says_which_definition_it_is_in():
    before = (
        "x = 1\n\n\nclass User:\n    def name(self):\n        return 1\n" + "\n" * 9 + "y = 2\n"
    )
    after = before.replace("return 1", "return 2").replace("y = 2", "y = 3")
    text = shown(before, after)
    assert "line 6 in User.name ─" in text and "line 16 ─" in text
