"""Bytes to text and back: every byte, every newline, every mode; bad input says what it is."""

import codecs
import os
import re
import stat
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specedit.errors import InputError
from specedit.files import atomic
from specedit.files.source import MAX_FILE_BYTES, Source, read

ENCODINGS = [
    pytest.param(b"", "utf-8", id="utf-8"),
    pytest.param(codecs.BOM_UTF8, "utf-8", id="utf-8-bom"),
    pytest.param(codecs.BOM_UTF16_LE, "utf-16-le", id="utf-16-le"),
    pytest.param(codecs.BOM_UTF16_BE, "utf-16-be", id="utf-16-be"),
]
LINES = st.lists(
    st.tuples(st.text("abé𝒳\t \x0b\u2028", max_size=4), st.sampled_from(["\n", "\r\n", "\r"])),
    min_size=1,
    max_size=12,
)


def _write(seen: Source, text: str) -> None:
    atomic.replace(seen, seen.encode(text))


@pytest.mark.parametrize(("bom", "encoding"), ENCODINGS)
@given(lines=LINES, end=st.text("ab", max_size=2))
def test_an_untouched_text_is_the_same_bytes(bom, encoding, lines, end):
    data = bom + ("".join(a + b for a, b in lines) + end).encode(encoding)
    read = Source.from_bytes("a.txt", data)
    assert "\r" not in read.text
    assert read.encode(read.text) == data


ENDED = re.compile(r"([^\r\n]*)(\r\n|\r|\n)")


@given(
    lines=LINES,
    at=st.integers(0, 11),
    gone=st.integers(0, 2),
    put=st.lists(st.text("xy", max_size=4), max_size=3),
)
def test_only_the_changed_line_gets_another_ending(lines, at, gone, put):
    lines = [(f"{number}{line}", ending) for number, (line, ending) in enumerate(lines)]
    at = min(at, len(lines))
    gone = min(gone, len(lines) - at)
    read = Source.from_bytes("a.txt", "".join(a + b for a, b in lines).encode())
    rows = read.text.split("\n")
    rows[at : at + gone] = put
    text = "\n".join(rows)
    written = read.encode(text).decode()
    assert not text or Source.from_bytes("a.txt", written.encode()).text == text
    found = ENDED.findall(written)
    assert len(found) == len(rows) - 1 and ENDED.sub("", written) == ""
    assert {ending for _, ending in found} <= {ending for _, ending in lines}
    assert found[:at] == lines[:at]
    assert found[at + len(put) :] == lines[at + gone :]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r", "\r\r\n"], ids=repr)
@pytest.mark.parametrize(("bom", "encoding"), ENCODINGS)
@given(
    lines=st.lists(st.sampled_from(["", "a", "b"]), min_size=1, max_size=8),
    at=st.integers(0, 8),
    gone=st.integers(0, 3),
    put=st.lists(st.sampled_from(["", "a", "new"]), max_size=3),
)
def test_line_ends_outside_of_a_change_are_the_same_bytes(
    bom, encoding, newline, lines, at, gone, put
):
    at = min(at, len(lines))
    gone = min(gone, len(lines) - at)
    data = "".join(f"{line}{newline}" for line in lines).encode(encoding)
    read = Source.from_bytes("a.txt", bom + data)
    assert read.text == "".join(f"{line}\n" for line in lines)
    lines[at : at + gone] = put
    written = read.encode("".join(f"{line}\n" for line in lines))
    assert written == bom + "".join(f"{line}{newline}" for line in lines).encode(encoding)


def test_an_empty_line_behind_a_carriage_return_is_a_line():
    read = Source.from_bytes("a", b"a\nb\nc\rd\n")
    assert read.encode("a\nb\nc\n\n") == b"a\nb\nc\r\r"
    assert Source.from_bytes("a", read.encode("a\nb\nc\n\n")).text == "a\nb\nc\n\n"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(b"", "empty", id="empty"),
        pytest.param(codecs.BOM_UTF8, "empty", id="only-a-bom"),
        pytest.param(b"\x7fELF\x00\x01\x02\xff", "binary", id="binary"),
        pytest.param(b"a\0b", "binary", id="nul"),
        pytest.param(b"one\ncaf\xe9\n", "not UTF-8: byte 0xe9 at offset 7, line 2", id="latin-1"),
        pytest.param(codecs.BOM_UTF16_LE + b"a", "not UTF-16", id="odd-utf-16"),
        pytest.param("é".encode("utf-32"), "UTF-32", id="utf-32"),
        pytest.param(b"x" * (MAX_FILE_BYTES + 1), "too large", id="too-large"),
    ],
)
def test_what_is_no_text_says_what_it_is(data, said):
    with pytest.raises(InputError, match=said):
        Source.from_bytes("file.x", data)


def test_paths_that_are_no_files_say_so(tmp_path):
    (tmp_path / "User.cs").write_text("x")
    with pytest.raises(InputError, match="no such file") as caught:
        read(tmp_path / "Usr.cs")
    assert "User.cs" in caught.value.hint
    with pytest.raises(InputError, match="a directory"):
        read(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        read("a\0b")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="not a regular file"):
        read(tmp_path / "pipe")


def test_a_huge_file_is_refused_by_its_size_alone(tmp_path):
    huge = tmp_path / "huge.js"
    with huge.open("wb") as file:
        file.truncate(200_000_000_000)  # sparse: reading it would take minutes
    with pytest.raises(InputError, match="too large"):
        read(huge)


def test_writing_replaces_the_whole_file_and_keeps_its_mode(tmp_path):
    path = tmp_path / "a b\n'c.py"
    path.write_bytes(b"one\r\n")
    path.chmod(0o4751)
    _write(read(path), "two\n")
    assert path.read_bytes() == b"two\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o4751
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_a_symlink_stays_and_its_target_is_written(tmp_path):
    target, link = tmp_path / "target.py", tmp_path / "link.py"
    target.write_text("one\n")
    link.symlink_to(target)
    _write(read(link), "two\n")
    assert link.is_symlink()
    assert target.read_text() == "two\n"


def test_hard_links_stay_one_file(tmp_path):
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_text("one\n")
    second.hardlink_to(first)
    _write(read(first), "three\n")
    assert second.read_text() == "three\n"
    assert first.samefile(second)


def test_extended_attributes_are_kept(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("one\n")
    try:
        os.setxattr(path, "user.note", b"mine")
    except (AttributeError, OSError):
        pytest.skip("this file system has none to keep")
    _write(read(path), "two\n")
    assert os.getxattr(path, "user.note") == b"mine"


def test_guarantee_3_a_file_that_changed_meanwhile_is_never_overwritten(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("one\n")
    seen = read(path)
    path.write_text("somebody else's\n")
    with pytest.raises(InputError, match="changed on disk"):
        _write(seen, "two\n")
    assert path.read_text() == "somebody else's\n"
    path.unlink()
    with pytest.raises(InputError, match="deleted"):
        _write(seen, "two\n")


def test_a_read_only_file_is_refused(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("one\n")
    path.chmod(0o444)
    with pytest.raises(InputError, match="read-only"):
        atomic.check_writable(read(path))
    with pytest.raises(InputError, match="read-only"):
        _write(read(path), "two\n")
    assert path.read_text() == "one\n"


FULL = """\
import resource, signal, sys
from specedit.files import atomic
from specedit.files.source import read
seen = read(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (5, 5))
atomic.replace(seen, seen.encode("twenty\\n"))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on a file's size")
def test_guarantee_3_a_file_that_cannot_grow_stays_as_it_was(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("one\n")
    for links in (1, 2):
        done = subprocess.run([sys.executable, "-c", FULL, path], capture_output=True, check=False)
        assert b"InputError" in done.stderr and b"not written: File too large" in done.stderr
        assert path.read_text() == "one\n"
        assert len(list(tmp_path.iterdir())) == links
        (tmp_path / "b.py").hardlink_to(path) if links == 1 else None


def test_what_came_from_stdin_has_no_file_to_write():
    with pytest.raises(InputError, match="stdin"):
        _write(Source.from_bytes("a.py", b"x\n"), "y\n")
