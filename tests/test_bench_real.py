"""Every peer that is installed writes the dictated answer, with the real 0.5B model."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from specedit.bench.peers import NAMES, Name, missing
from specedit.bench.peers.base import PeerOptions
from specedit.bench.tasks import task, words_of
from specedit.bench.workloads import workload
from specedit.models.resolve import local
from specedit.settings import resolve

SMALL = "qwen2.5-coder-0.5b"
LIMIT = 24
ABSENT = missing(NAMES)
TOLD = [n for n in NAMES if not n.family.startswith("openvino") and n not in ABSENT]


@pytest.mark.real
@pytest.mark.parametrize("name", TOLD, ids=lambda n: n.name)
def test_a_peer_writes_the_dictated_answer(name: Name, real_home: Path) -> None:
    files = local(SMALL)
    assert files is not None
    made = task(
        workload("line", 50, "python"), words_of(files), resolve({}).values, own=False, limit=LIMIT
    )
    values = replace(resolve({}).values, model=SMALL, draft_model=SMALL)
    options = PeerOptions(values, 2, 1024)
    peer = import_module(f"specedit.bench.peers.{name.family}").open_peer(options)
    run = peer.run(made, name.way)
    assert run.tokens == made.answer
    assert run.prefill_s > 0
    assert 0 < run.passes <= LIMIT + 1
    if name.plain:
        assert run.passes >= LIMIT - 1
