"""Hunks as data, and patches that git takes to the last byte."""

import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from case_files import rows
from effort import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from specedit.edit.hunk_choice import applied, part_of
from specedit.syntax import lines
from specedit.syntax.lines import Hunk, hunks, moved_patch, patch, word_spans

TEXT = st.lists(st.sampled_from(["a", "b", "", "x y", "  z", "é"]), max_size=14).map("\n".join)
BYTES = st.lists(
    st.sampled_from(
        [b"a\n", b"b\r\n", b"\n", b"x \n", b"\xef\xbb\xbfc\n", b"d\0\n", b"\r", b"end"]
    ),
    max_size=14,
).map(b"".join)


def apply(before: str, after: str, chosen: list[Hunk]) -> str:
    return applied(before, [part_of(hunk) for hunk in chosen])


@given(TEXT, TEXT)
def test_all_hunks_applied_are_the_new_text_and_none_the_old(before, after):
    result = hunks(before, after)
    assert apply(before, after, result) == after
    assert apply(before, after, []) == before
    assert bool(result) == (before != after)


def test_words_that_changed_are_marked_in_both_lines():
    assert word_spans("return self.username", "return self.email") == (((12, 20),), ((12, 17),))
    assert word_spans("same", "same") == ((), ())
    (hunk,) = hunks("a\nold name\n", "a\nnew name\n")
    assert [(line.text, line.spans) for line in hunk.lines if line.kind != " "] == [
        ("old name", ((0, 3),)),
        ("new name", ((0, 3),)),
    ]


def test_a_missing_final_newline_is_a_change():
    (hunk,) = hunks("a\n", "a")
    assert [(line.kind, line.ends) for line in hunk.lines] == [("-", True), ("+", False)]


def _git_takes(folder: Path, name: str, before: bytes, after: bytes, to: str = "") -> bytes:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(before)
    change = patch(name, before, after)
    subprocess.run(
        ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-"],
        input=moved_patch(name, to, change.decode()).encode() if to else change,
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return (folder / (to or name)).read_bytes()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder


@examples(60, suppress_health_check=[HealthCheck.too_slow])
@given(before=BYTES.filter(bool), after=BYTES.filter(bool))
def test_git_takes_every_patch(repository, before, after):
    if before != after:
        assert _git_takes(repository, "a.txt", before, after) == after


@rows("name")
def test_git_takes_every_name(repository, name):
    assert _git_takes(repository, name, b"one\ntwo\n", b"one\n2") == b"one\n2"
    assert _git_takes(repository, name, b"one\n", b"2\n", "there/" + name) == b"2\n"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_git_takes_a_patch_of_any_encoding(repository, encoding):
    before, after = "één\ntwee\n".encode(encoding), "één\nzwei\n".encode(encoding)
    assert _git_takes(repository, "a.txt", before, after) == after


def test_no_change_is_no_patch():
    assert patch("a", b"x", b"x") == b""


@examples(200)
@given(
    before=st.lists(st.sampled_from("\nabcdefgh"), max_size=30),
    after=st.lists(st.sampled_from("\nabcdefgh"), max_size=30),
    careful=st.sampled_from([0, 20, 1_000_000]),
)
def test_opcodes_alternate_and_make_one_text_of_the_other(before, after, careful):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "CAREFUL", careful)
        codes = lines.opcodes(before, after)
    made = [before[a:b] if tag == "equal" else after[c:d] for tag, a, b, c, d in codes]
    assert [line for part in made for line in part] == after
    assert [end for _, _, end, _, _ in codes[-1:]] == [len(before)][: len(codes)]
    for (tag, _, b, _, d), (following, a, _, c, _) in pairwise(codes):
        assert (b, d) == (a, c) and (tag == "equal") != (following == "equal")
    for tag, a, b, c, d in codes:
        assert (tag == "equal") == (before[a:b] == after[c:d])
        assert tag != "insert" or a == b
        assert tag != "delete" or c == d


@pytest.mark.parametrize(
    ("text", "offsets", "expected"),
    [
        ("ab\nc\n", [0, 1, 3, 5], [(1, 1), (1, 2), (2, 1), (3, 1)]),
        ("a\n\nb", [3, 0], [(3, 1), (1, 1)]),
        (b"a\nb", [1, 2], [(1, 2), (2, 1)]),
        ("", [0], [(1, 1)]),
    ],
)
def test_places_have_the_line_and_column_that_an_editor_shows(text, offsets, expected):
    assert list(lines.places_of(text, offsets)) == expected
