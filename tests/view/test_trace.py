"""A trace is one JSON line per pass, and nothing of a run is lost in it."""

import json
import os
import stat
import sys
from contextlib import closing
from pathlib import Path

import pytest
from events import feed
from hypothesis import given
from hypothesis import strategies as st

from specedit.decode import Chunk
from specedit.edit.backend import Answer, Event, ModelInfo, Ready, Written
from specedit.engines.base import Prefill
from specedit.errors import InputError
from specedit.view.trace import TraceWriter, page, read

MODEL = ModelInfo("tiny", "ab12", "exact", "cpu", 2, True)
READY = Ready(MODEL, 0.5)
PREFILL = Prefill(12, 12, 3, 0.25)
ANSWER = Answer("text", "stop", True, 12, 3, 4, 0.25, 0.3)


def passed(*pieces: str, accepted: int = 0, seconds: float = 0.125) -> Written:
    return Written(Chunk(tuple(range(len(pieces))), 3, accepted, "lookup", True, seconds), pieces)


def trace(path: Path, *events: Event, file: str = "a.py") -> Path:
    with closing(TraceWriter(path)) as writer:
        feed(writer, file, *events)
    return path


def test_one_line_per_pass_with_the_fields_of_the_contract(tmp_path):
    path = trace(tmp_path / "t", READY, PREFILL, passed("a", "b", accepted=1), passed("c"), ANSWER)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    fields = {"width", "proposed", "accepted", "source", "seconds", "tokens"}
    assert [{k: line[k] for k in fields} for line in lines] == [
        {
            **{"width": 4, "proposed": 3, "accepted": 1, "source": "lookup"},
            **{"seconds": 0.125, "tokens": [0, 1]},
        },
        {
            **{"width": 4, "proposed": 3, "accepted": 0, "source": "lookup"},
            **{"seconds": 0.125, "tokens": [0]},
        },
    ]
    assert lines[0]["begin"]["prompt"] == 13  # as the answer counts it
    assert lines[1]["end"]["reason"] == "stop"


def test_what_was_written_is_read(tmp_path):
    events = [passed("a", "b", accepted=1), passed("c")]
    (run,) = read(trace(tmp_path / "t", READY, PREFILL, *events, ANSWER))
    assert [p.written for p in run.passes] == events
    assert [p.at for p in run.passes] == [0.0, 0.125]
    assert run.begin["model"]["name"] == "tiny"
    assert run.end["completion"] == 4


@given(st.lists(st.text(max_size=6), min_size=1, max_size=5))
def test_any_text_survives(tmp_path_factory, pieces):
    event = passed(*pieces)
    path = trace(tmp_path_factory.mktemp("t") / "t", event, ANSWER)
    (run,) = read(path)
    assert run.passes[0].written == event
    assert len(path.read_text(encoding="utf-8").split("\n")) == 2
    assert json.loads(path.read_text(encoding="utf-8"))["pieces"] == pieces


@pytest.mark.parametrize(
    ("content", "where"),
    [
        pytest.param(b"", "no passes", id="empty"),
        pytest.param(b"hello\n", "line 1", id="prose"),
        pytest.param(b"{}\n", "line 1", id="an object that is no pass"),
        pytest.param(b"[1]\n", "line 1", id="a list"),
        pytest.param(b"[" * 200_000, "not a pass", id="nested without end"),
        pytest.param(b"\xff\xfe\x00", "line 1", id="not text"),
        pytest.param(
            b'{"file":"a","proposed":0,"accepted":0,"source":"free","seconds":1,"tokens":[1]}\n{"',
            "line 2",
            id="cut off",
        ),
    ],
)
def test_what_is_no_trace_is_refused_with_the_line(tmp_path, content, where):
    (tmp_path / "t").write_bytes(content)
    with pytest.raises(InputError, match=where):
        read(tmp_path / "t")


@pytest.mark.parametrize("seconds", [1e9, 1e300])
def test_the_page_of_a_trace_that_took_for_ever_is_no_larger(tmp_path, seconds):
    path = trace(tmp_path / "t", passed("a", seconds=seconds), passed("b", seconds=seconds))
    assert len(page(read(path))) < 50_000


def test_a_trace_that_cannot_be_written_is_reported_at_once(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        TraceWriter(tmp_path / "missing" / "t")


@pytest.mark.parametrize("compare", [False, True], ids=["alone", "compared"])
def test_a_trace_adds_up_to_the_report(specedit, script, tmp_path, compare):
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("username = 1\nprint(username)\n" * 3)
    script(replace=[["username", "email"]])
    flags = ["--json", "--check", "--trace", "run.jsonl", *(["--compare"] if compare else [])]
    done = specedit("edit", "Rename it.", "a.py", "b.py", *flags, cwd=tmp_path)
    assert done.returncode == 1, done.stderr.decode()
    lines = [json.loads(t) for t in (tmp_path / "run.jsonl").read_text().splitlines()]
    for reported in json.loads(done.stdout)["files"]:
        own = [line for line in lines if line["file"] == reported["path"]]
        assert len(own) == reported["passes"]
        assert sum(len(line["tokens"]) for line in own) == reported["tokens"]["completion"]
        drafted = [line for line in own if line["source"] == "prediction"]
        for key in ("proposed", "accepted"):
            assert sum(line[key] for line in drafted) == reported["prediction"][key]


SOURCE = b"username = 1\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        pytest.param(["a.py", "--trace", "a.py"], "a.py: is a file to work on", id="the input"),
        pytest.param(["a.py", "--trace", "link"], "link: is a file to work on", id="linked"),
        pytest.param(
            ["a.py", "b.py", "--check", "--trace", "./b.py"], "is a file to work on", id="another"
        ),
        pytest.param(["a.py", "--trace", "notes"], "exists, and is not a trace", id="foreign"),
    ],
)
def test_a_trace_takes_the_place_of_no_other_file(specedit, script, tmp_path, words, says):
    held = {"a.py": SOURCE, "b.py": SOURCE, "notes": b"mine\n"}
    for name, data in held.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "link").symlink_to("a.py")
    script(replace=[["username", "email"]])
    done = specedit("edit", "Rename it.", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr.decode()
    assert {name: (tmp_path / name).read_bytes() for name in held} == held


def test_an_older_trace_goes_when_there_is_a_newer_one(specedit, script, tmp_path):
    older = trace(tmp_path / "t", passed("a"), ANSWER, file="old.py").read_bytes()
    (tmp_path / "a.py").write_bytes(SOURCE)
    script(replace=[["username", "email"]])
    specedit("edit", "x", "missing.py", "--trace", "t", cwd=tmp_path)
    assert (tmp_path / "t").read_bytes() == older
    assert specedit("edit", "x", "a.py", "--trace", "t", cwd=tmp_path).returncode == 0
    assert [run.file for run in read(tmp_path / "t")] == ["a.py"]


@pytest.mark.skipif(sys.platform == "win32", reason="makes a named pipe")
def test_a_pipe_that_nothing_reads_is_not_waited_for(process, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a.py").write_text("x = 1\n")
    words = ("edit", "Change 'x = 1' to 'x = 2'", "a.py", "--check", "--trace", "pipe")
    done = process(*words, cwd=tmp_path, timeout=20)
    assert done.returncode == 2 and b"the trace cannot be written" in done.stderr


def test_a_trace_may_go_into_a_device(specedit, script, tmp_path):
    (tmp_path / "a.py").write_bytes(SOURCE)
    script(replace=[["username", "email"]])
    done = specedit("edit", "x", "a.py", "--trace", "/dev/null", cwd=tmp_path)
    assert (done.returncode, (tmp_path / "a.py").read_bytes()) == (0, b"email = 1\n")
    done = specedit("edit", "x", "a.py", "--trace", "/dev/stdout", cwd=tmp_path)
    assert json.loads(done.stdout.splitlines()[0])["file"] == "a.py"


@pytest.mark.skipif(sys.platform == "win32", reason="modes are Unix's")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644], ids=oct)
def test_a_trace_and_its_page_are_as_closed_as_the_file_they_are_about(
    specedit, script, tmp_path, mode
):
    source = tmp_path / "a.py"
    source.write_text("username = 1\n")
    source.chmod(mode)
    script(replace=[["username", "email"]])
    assert (
        specedit("edit", "Say email.", source, "--trace", "t.jsonl", cwd=tmp_path).returncode == 0
    )
    assert specedit("view", "t.jsonl", cwd=tmp_path).returncode == 0
    for name in ("t.jsonl", "t.html"):
        assert oct(stat.S_IMODE((tmp_path / name).stat().st_mode)) == oct(mode)


@pytest.mark.parametrize("where", ["link", "folder/t", "./sub/../link", ".git/hooks/t"])
def test_no_link_of_a_repository_says_where_a_trace_goes(monkeypatch, tmp_path, where):
    outside, root = tmp_path / "home", tmp_path / "clone"
    outside.mkdir()
    (root / ".git" / "hooks").mkdir(parents=True)
    (root / "link").symlink_to(outside / "profile")
    (root / "folder").symlink_to(outside)
    monkeypatch.chdir(root)
    with pytest.raises(InputError, match="link out of this folder"):
        TraceWriter(where)
    assert list(outside.iterdir()) == []
    TraceWriter(outside / "t").close()
    TraceWriter("t").close()
