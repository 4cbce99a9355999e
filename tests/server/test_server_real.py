"""The real 0.5B model behind a server: bit for bit as in this process, and warm at second sight."""

import argparse
import inspect
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from events import events as events_of
from warm_server import listening, process

from specedit.connect import LocalBackend
from specedit.edit.backend import Answer, Plan, Written, unreported
from specedit.edit.job import plan_edit
from specedit.files.source import Source
from specedit.server import runtime
from specedit.server.client import ServerBackend
from specedit.settings import Settings

pytestmark = pytest.mark.real
SETTINGS = Settings(model="qwen2.5-coder-0.5b", engine="exact")
LINES = inspect.getsource(argparse).splitlines(keepends=True)[600:1000]


@pytest.fixture
def server(
    real_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ServerBackend]:
    monkeypatch.setenv("SPECEDIT_RUNTIME", str(tmp_path))
    place = runtime.runtime_folder()
    with process("--socket-only", "--engine", "exact", "--model", SETTINGS.model, env={}):
        yield ServerBackend(listening(place))


def plan(instruction: str, lines: int = 400, tokens: int = 8) -> Plan:
    source = Source.from_bytes("parser.py", "".join(LINES[:lines]).encode())
    return replace(plan_edit(source, instruction, SETTINGS).plan, audit=True, max_tokens=tokens)


def answer(backend: ServerBackend | LocalBackend, asked: Plan) -> Answer:
    return backend.run(asked, unreported)


def test_a_second_instruction_reads_the_file_from_the_cache(server):
    first = answer(server, plan("Shorten every docstring to one line."))
    part = plan("Say what an empty file is for.", lines=20)  # begins as the long one does
    other = answer(server, part)
    second = plan("Give every function a docstring.")
    warm = answer(server, second)
    assert 0 < other.reused < other.prompt
    assert answer(server, replace(part, fresh=True)).logits_digest == other.logits_digest
    assert warm.prompt - warm.reused <= 0.15 * (first.prompt - first.reused)
    fresh = answer(server, replace(second, fresh=True))
    assert fresh.reused == 0
    assert (warm.text, warm.logits_digest) == (fresh.text, fresh.logits_digest)


def test_the_server_answers_as_this_process_does(server):
    asked = plan("Shorten every docstring to one line.", lines=12, tokens=60)
    there, local = answer(server, asked), LocalBackend(SETTINGS)
    here = answer(local, asked)
    local.close()
    assert (there.text, there.logits_digest) == (here.text, here.logits_digest)


def test_the_first_text_comes_with_the_first_pass(server):
    events = events_of(server, plan("Shorten every docstring to one line.", lines=12))
    first = next(e for e in events if isinstance(e, Written))
    assert first.pieces and len(first.pieces) == len(first.chunk.tokens)
