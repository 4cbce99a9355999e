"""Pages in a real browser: a trace shows its run, hostile text stays text."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path

import pytest
from events import feed

from specedit.decode import FREE, Chunk
from specedit.edit.backend import Answer, ModelInfo, Ready, Written
from specedit.view.trace import TraceWriter, page, read

pytestmark = pytest.mark.tools

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
HOSTILE = [
    "</pre></script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "<!--<script>",
    "&lt;b&gt; &amp; \"quoted\" 'single' `tick`",
    "\x1b[31m\x00\x07 \u202e reversed \u2028",
    "]]>{{7*7}}${7*7}",
    "<link rel=stylesheet href=//example.org/x.css>",
]


def passed(
    *pieces: str, source: str = "prediction", accepted: int = 0, found: bool = False
) -> Written:
    proposed = 0 if source == FREE else max(accepted, 4)
    chunk = Chunk(tuple(range(len(pieces))), proposed, accepted, source, found, 0.05)
    return Written(chunk, pieces)


RUN = [
    passed("class", " User", ":\n", "    ", accepted=3),
    passed("email", source=FREE),
    passed(" =", " None", "\n", accepted=2, found=True),
    passed("    seen", " =", "\n", source="lookup", accepted=2),
]


def trace(path: Path, events: list[Written], file: str = "user.py") -> Path:
    with closing(TraceWriter(path)) as writer:
        ready = Ready(ModelInfo("tiny<b>", "ab", "exact", "cpu", 2), 0.1)
        feed(writer, file, ready, *events, Answer("", "stop", True, 9, 0, 9))
    return path


class Tags(HTMLParser):
    """Every tag and attribute of a page, as a parser sees them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


NEEDED = ["chromium"] if os.environ.get("CI", "").lower() == "true" else []
FOUND = [name for name in BROWSERS if shutil.which(name)][:1] or NEEDED
in_a_browser = pytest.mark.parametrize("browser", FOUND)


@pytest.fixture
def opened(browser: str, tmp_path: Path) -> Callable[[Path], str]:
    """A page's document after its script has run."""

    def open_(path: Path) -> str:
        done = subprocess.run(
            [
                *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
                *(f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=2000"),
                path.as_uri(),
            ],
            capture_output=True,
            timeout=120,
            check=False,
        )
        return done.stdout.decode("utf-8")

    return open_


@in_a_browser
def test_a_browser_shows_tokens_by_origin_and_passes_on_a_time_line(opened, tmp_path):
    target = tmp_path / "run.html"
    target.write_text(page(read(trace(tmp_path / "t", RUN))), encoding="utf-8")
    document = opened(target)
    spans = re.findall(r'<span class="k-(\w+)[^"]*" data-pass="(\d)"[^>]*>([^<]*)</span>', document)
    assert ("free", "1", "email") in spans
    assert ("copied", "0", " User") in spans
    assert ("found", "2", " None") in spans
    assert ("looked", "3", "    seen") in spans
    assert "".join(text for _, _, text in spans) == "".join(e.text for e in RUN)
    assert document.count("<figure>") == 3
    for number in range(len(RUN)):
        assert re.search(rf'<rect [^>]*data-pass="{number}"', document)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_makes_no_tags(tmp_path, text):
    """Whatever a token, a name or a source is called, the page's tags are those of a tame one."""
    tame = trace(tmp_path / "tame", [passed("x", source="s")], file="x")
    wild = trace(tmp_path / "wild", [passed(text, source=text[:30])], file=text)
    assert Tags(page(read(wild))).tags == Tags(page(read(tame))).tags


def test_a_page_asks_for_nothing(tmp_path):
    text = page(read(trace(tmp_path / "t", RUN)))
    result = Tags(text)
    assert not {"link", "img", "iframe", "object", "base", "form"} & set(result.tags)
    assert not {"src", "href", "action", "srcset"} & {name for name, _ in result.attributes}
    assert "default-src 'none'" in text
    assert "://" not in text and "@import" not in text and "url(" not in text


def test_view_writes_the_page_beside_the_trace_and_prints_its_path(specedit, tmp_path):
    source = trace(tmp_path / "run.jsonl", RUN)
    for _ in range(2):  # the second time it replaces the page
        done = specedit("view", "run.jsonl", cwd=tmp_path)
        assert (done.returncode, done.stdout.decode().strip()) == (0, "run.html")
    assert source.exists()
    assert (tmp_path / "run.html").read_text(encoding="utf-8") == page(read(source))
    done = specedit("view", "run.jsonl", "-o", "-", cwd=tmp_path)
    assert done.stdout.decode() == page(read(source))


@pytest.mark.parametrize("words", [["t.jsonl", "-o", "t.jsonl"], ["t.html"]], ids=str)
def test_view_does_not_overwrite_the_trace_it_reads(specedit, tmp_path, words):
    place = trace(tmp_path / words[0], RUN)
    before = place.read_bytes()
    done = specedit("view", *words, cwd=tmp_path)
    assert done.returncode == 2 and b"was not made by specedit" in done.stderr
    assert place.read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="makes a named pipe")
def test_view_replaces_no_file_that_is_named_but_its_own_pages(specedit, tmp_path):
    trace(tmp_path / "run.jsonl", RUN)
    (tmp_path / "mine.py").write_text("x = 1\n", encoding="utf-8")
    os.mkfifo(tmp_path / "pipe")
    for name in ("mine.py", "pipe"):
        assert specedit("view", "run.jsonl", "-o", name, cwd=tmp_path).returncode == 2
    assert (tmp_path / "mine.py").read_text("utf-8") == "x = 1\n"
    assert (tmp_path / "pipe").is_fifo()


def test_view_overwrites_no_page_that_is_not_its_own(specedit, tmp_path):
    trace(tmp_path / "run.jsonl", RUN)
    (tmp_path / "run.html").write_text("<p>mine</p>", encoding="utf-8")
    done = specedit("view", "run.jsonl", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"was not made by specedit" in done.stderr
    assert (tmp_path / "run.html").read_text(encoding="utf-8") == "<p>mine</p>"
    assert specedit("view", "missing.jsonl", cwd=tmp_path).returncode == 2
