"""Every peer that is installed writes the dictated answer, with the real 0.5B model."""

from dataclasses import replace
from importlib import import_module

import pytest

from benchmarks.speed.cases import generated
from benchmarks.speed.compare import words
from benchmarks.speed.peers import NAMES, PLAIN, PeerOptions
from specedit.settings import resolve

LIMIT = 24


@pytest.mark.real
@pytest.mark.parametrize("name", [n for n in NAMES if not n.missing], ids=lambda n: n.name)
def test_a_peer_writes_the_dictated_answer(name, real_home):
    settings = resolve({}).values
    settings = replace(settings, draft_model=settings.model)
    (case,) = generated(["line"], [50])
    task = words(settings).task(case, settings, own=False, limit=LIMIT)
    peer = import_module(name.module).open_peer(PeerOptions(settings, 2, 1024, name.lookup))
    run = peer.run(task, name.way)
    assert run.tokens == task.answer
    assert run.prefill_s > 0
    assert 0 < run.passes <= LIMIT + 1
    if name.way == PLAIN:
        assert run.passes >= LIMIT - 1
