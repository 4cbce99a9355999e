"""Generated edits: deterministic, of the length asked for, and what their instruction says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specedit.bench.cases import Case, part, read_cases
from specedit.bench.templates import TEMPLATES
from specedit.bench.workloads import KINDS, LINES, share_changed, workload, workloads
from specedit.errors import InputError, UsageError
from specedit.files.source import Source
from specedit.syntax import trees as syntax


@pytest.mark.parametrize("language", TEMPLATES)
@pytest.mark.parametrize("lines", LINES)
def test_a_file_has_the_lines_asked_for(language: str, lines: int) -> None:
    assert workload("copy", lines, language).lines == lines


@pytest.mark.parametrize("language", TEMPLATES)
@pytest.mark.parametrize("kind", KINDS)
def test_before_and_after_parse(kind: str, language: str) -> None:
    made = workload(kind, 50, language)
    for text in (made.before, made.after or ""):
        source = Source.from_bytes(made.filename, text.encode())
        assert syntax.errors(source.text, source.language) == []


@pytest.mark.parametrize("language", TEMPLATES)
def test_kinds_change_what_they_say(language: str) -> None:
    made = {kind: workload(kind, 200, language) for kind in KINDS}
    share = {kind: share_changed(c.before, c.after or "") for kind, c in made.items()}
    assert share["copy"] == 0
    assert share["line"] * 200 == pytest.approx(1)
    assert share["rename"] * 200 == pytest.approx(11)  # the declaration, and ten uses
    assert share["scattered"] * 200 == pytest.approx(5)
    assert share["insert"] < 0.06
    assert 0.25 < share["half"] < 0.5
    assert share["new"] > 0.7


def test_a_rename_leaves_no_old_name() -> None:
    made = workload("rename", 800, "java")
    assert made.after is not None
    assert "scale" not in made.after
    assert made.after.count("factor") == made.before.count("scale") == 11


def test_the_same_everywhere() -> None:
    assert workload("half", 200, "go") == workload("half", 200, "go")
    ids = [c.id for c in workloads(KINDS, LINES, TEMPLATES)]
    assert len(ids) == len(set(ids)) == 7 * 4 * 6


@pytest.mark.parametrize(
    ("kind", "language"),
    [pytest.param("lines", "go", id="kind"), pytest.param("line", "cobol", id="language")],
)
def test_what_is_not_made_is_refused(kind: str, language: str) -> None:
    with pytest.raises(UsageError, match="Known"):
        workload(kind, 50, language)


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [
        pytest.param("", "", 0.0, id="nothing"),
        pytest.param("a\nb\n", "a\nb\n", 0.0, id="same"),
        pytest.param("a\nb\n", "a\nc\n", 0.5, id="replaced"),
        pytest.param("a\n", "a\nb\n", 0.5, id="added"),
        pytest.param("a\nb\n", "b\n", 0.5, id="gone"),
        pytest.param("a\n", "b\n", 1.0, id="all"),
    ],
)
def test_share_changed(before: str, after: str, share: float) -> None:
    assert share_changed(before, after) == share


def test_cases_are_read_in_order(tmp_path: Path) -> None:
    rows = [
        {"id": "one", "instruction": "i", "before": "b", "filename": "a.py", "context": None},
        {"instruction": "i", "before": "b", "after": "c", "tests": "t", "more": 1},
    ]
    path = tmp_path / "cases.jsonl"
    path.write_text("\n\n".join(json.dumps(r) for r in rows) + "\n")
    assert read_cases(path) == [
        Case("one", "a.py", "i", "b"),
        Case(f"{path}:3", "file.txt", "i", "b", "c", "t"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("", "no case", id="empty"),
        pytest.param("{", "1: not JSON", id="not-json"),
        pytest.param("[]", "object", id="not-an-object"),
        pytest.param('{"before": "x"}', "instruction", id="no-instruction"),
        pytest.param('{"instruction": "x", "before": 3}', "before", id="before-is-no-text"),
    ],
)
def test_a_bad_case_says_where(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        read_cases(path)


def test_halves_are_apart_and_whole() -> None:
    cases = [Case(str(n), "a", "i", "b") for n in range(5)]
    assert [c.id for c in part(cases, "even")] == ["0", "2", "4"]
    assert [c.id for c in part(cases, "odd")] == ["1", "3"]
    assert part(cases, "all") == cases
