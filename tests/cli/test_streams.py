"""Closed, full and broken standard streams: what is written stays, the exit code stays true."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from case_files import rows

Script = Callable[..., Path]


@pytest.fixture
def file(tmp_path: Path, script: Script) -> Path:
    script(replace=[["name", "email"]])
    place = tmp_path / "user.py"
    place.write_bytes(b"name = 1\n")
    return place


def redirected(words: Sequence[str], how: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """The command line as a shell starts it with these redirections."""
    line = ["sh", "-c", f'"$@" {how}', "sh", sys.executable, "-m", "specedit", *words]
    return subprocess.run(line, cwd=cwd, capture_output=True, timeout=120)


@pytest.mark.parametrize("how", [">&-", "<&-", "2>&-", "<&- >&- 2>&-"])
def test_an_edit_needs_no_streams(file, how):
    done = redirected(["edit", "x", "user.py"], how, file.parent)
    assert (done.returncode, file.read_bytes()) == (0, b"email = 1\n")


@rows("words how")
def test_what_belongs_on_a_stream_and_cannot_is_an_error_in_words(file, words, how):
    done = redirected(words, how, file.parent)
    message = done.stderr.decode()
    assert (done.returncode, file.read_bytes()) == (2, b"name = 1\n")
    assert "specedit: std" in message
    assert "Traceback" not in message and "Exception ignored" not in message


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process")
@pytest.mark.parametrize(
    ("words", "printed", "message"),
    [
        (["edit", "x", "-", "--stdin-filename", "a.py"], 20_000_000, b"too large"),
        (["apply", "user.py"], 0, b"the limit is 2 million"),
    ],
    ids=str,
)
def test_a_stream_without_an_end_is_refused_before_memory_is_full(file, words, printed, message):
    line = 'ulimit -v 3000000; yes | "$@" | head -c 20000000 | wc -c'
    command = ["sh", "-c", line, "sh", sys.executable, "-m", "specedit", *words]
    done = subprocess.run(command, cwd=file.parent, capture_output=True, timeout=120)
    assert int(done.stdout) == printed and message in done.stderr, done.stderr


@pytest.mark.parametrize("words", [["config"], ["edit", "x", "user.py", "--diff"]], ids=" ".join)
def test_a_reader_that_is_gone_is_no_would_change(file, words):
    out, into = os.pipe()
    os.close(out)
    with os.fdopen(into, "wb") as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "specedit", *words],
            cwd=file.parent,
            stdout=pipe,
            stderr=subprocess.PIPE,
            timeout=120,
        )
    assert done.returncode == 2
    assert b"pipe" not in done.stderr.lower()


@pytest.mark.parametrize("words", ["config", "view run.jsonl"])
def test_a_folder_whose_name_is_no_utf_8_is_printed_as_it_is(process, tmp_path, words):
    folder = tmp_path / "bad\udcff"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("[tool.specedit]\nthreads = 7\n")
    one = {"file": "a", "proposed": 0, "accepted": 0, "source": "free", "seconds": 1, "tokens": [1]}
    (folder / "run.jsonl").write_text(json.dumps(one))
    words = words.replace("run", str(folder / "run"))
    done = process(*words.split(" "), cwd=folder, env={"COLUMNS": "400"})
    assert done.returncode == 0 and b"bad\xff" in done.stdout, done.stderr


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "latin-1"])
def test_a_page_is_printed_in_any_encoding(process, encoding):
    done = process("help", "edit", env={"PYTHONIOENCODING": encoding})
    assert done.returncode == 0 and b"\\u25cf" in done.stdout, done.stderr


def test_an_answer_that_is_no_text_asks_again(file, process):
    env = {"PYTHONIOENCODING": "utf-8:strict"}  # as a desktop's terminal has it
    done = process("edit", "x", "user.py", "--ask", stdin=b"\xff\ny\n", cwd=file.parent, env=env)
    assert (done.returncode, file.read_bytes()) == (0, b"email = 1\n"), done.stderr


def test_the_unexpected_is_2_and_a_bug_report(process, tmp_path):
    (tmp_path / "rich").mkdir()
    (tmp_path / "rich" / "__init__.py").write_text("")
    (tmp_path / "rich" / "console.py").write_text("raise LookupError('broken')\n")
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = process("config", env={"PYTHONPATH": os.pathsep.join(paths)})
    message = done.stderr.decode()
    assert (done.returncode, done.stdout) == (2, b"")
    assert "Traceback" in message and "LookupError: broken" in message
    assert message.splitlines()[-1].startswith("specedit: this is a bug in specedit")


def test_what_is_registered_for_the_end_runs_and_threads_are_waited_for(tmp_path):
    code = (
        "import atexit, sys, threading, time\n"
        "atexit.register(print, 'registered')\n"
        "if sys.argv.pop(1) == 'thread':\n"
        "    later = lambda: (time.sleep(0.3), print('thread'))\n"
        "    threading.Thread(target=later).start()\n"
        "from specedit.__main__ import main\n"
        "main()\n"
    )
    for how, last in (("none", "registered"), ("thread", "thread\nregistered")):
        command = [sys.executable, "-c", code, how, "config", "--nonsense"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert (done.returncode, done.stdout.strip()) == (2, last), done.stderr


def test_a_reader_of_messages_that_is_gone_stops_nothing(tmp_path, monkeypatch):
    """`specedit … 2>&1 | head`: the exit code says what was done."""
    names = [f"{n}.py" for n in range(3)]
    for name in names:
        (tmp_path / name).write_text("def username():\n    return 1\n")
    out, into = os.pipe()
    os.close(out)
    with os.fdopen(into, "wb") as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "specedit", "rename", "username", "email", *names, "--no-model"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=pipe,
            timeout=120,
        )
    assert done.returncode == 0
    assert all("email" in (tmp_path / name).read_text() for name in names)
