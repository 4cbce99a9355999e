"""The arithmetic of measuring: the hosted bill, the bound, medians, ratios, plots' data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specedit.bench import plots
from specedit.bench.bound import Bound, Work, better
from specedit.bench.cost import Usage, bill, dollars, predicted_usage
from specedit.bench.peers import NAMES, Name, missing, wanted
from specedit.bench.peers.base import PeerRun, Spent, Task
from specedit.bench.timing import (
    Interrupted,
    Measured,
    alternate,
    best,
    geometric,
    rotated,
    speedup,
)
from specedit.bench.widths import PART
from specedit.decode.events import Chunk
from specedit.edit.plan import Plan
from specedit.errors import UsageError
from specedit.settings import Settings

TASK = Task("t", Plan(()), (1, 2, 3), (4, 5), 2)


def test_the_article_s_bill_comes_out_to_the_cent() -> None:
    """150 and 118 tokens without a prediction; 166 and 226 with, 107 of them rejected."""
    plain = Usage(prompt=150, completion=118)
    predicted = Usage(prompt=166, completion=226 - 107, accepted=49, rejected=107)
    assert predicted.billed == 226
    priced = bill(plain, predicted, Settings())
    assert round(100 * priced.plain, 4) == 0.1555
    assert round(100 * priced.predicted, 4) == 0.2675
    assert round(priced.ratio, 2) == 1.72


@pytest.mark.parametrize(
    ("usage", "cents"),
    [
        pytest.param(Usage(0, 0), 0.0, id="nothing"),
        pytest.param(Usage(1_000_000, 0), 250.0, id="prompt"),
        pytest.param(Usage(0, 1_000_000), 1000.0, id="completion"),
        pytest.param(Usage(0, 0, accepted=9), 0.0, id="accepted-are-not-billed-twice"),
        pytest.param(Usage(0, 0, rejected=1_000_000), 1000.0, id="rejected-are-completion"),
    ],
)
def test_bill(usage: Usage, cents: float) -> None:
    assert 100 * dollars(usage, Settings()) == pytest.approx(cents)


def test_prices_come_from_settings() -> None:
    dear = replace(Settings(), price_input=5.0, price_output=20.0)
    usage = Usage(100, 10)
    assert dollars(usage, dear) == 2 * dollars(usage, Settings())


def test_a_perfect_prediction_costs_nothing_more() -> None:
    assert predicted_usage(10, 7, prediction=7, appeared=7) == Usage(10, 7, accepted=7)


def test_bound_reads_prompt_and_answer_once() -> None:
    bound = Bound(Work(layers=100, output=10), peak=1000.0)
    assert bound.seconds(prompt=3, answer=0) == 0.6
    assert bound.seconds(prompt=3, answer=2) == 1.04


def test_of_two_peaks_the_higher_is_the_machine_s() -> None:
    slow, fast = (Bound(Work(layers=100, output=10), peak=peak) for peak in (400.0, 800.0))
    assert better(slow, fast) == better(fast, slow) == better(None, fast) == fast
    assert better(None, None) is None


def run(total: float, tokens: tuple[int, ...] = (4, 5)) -> PeerRun:
    return PeerRun(prefill_s=total / 4, decode_s=3 * total / 4, tokens=tokens)


def test_passes_are_told_apart_by_their_drafts() -> None:
    """Half of a pass of 1 + 9 ids went on the five that were rejected."""
    chunks = (
        Chunk((1,), 0, 0, "free", False, 0.25),
        Chunk((1, 2, 3, 4, 5), 9, 4, "prediction", False, 2.0),
        Chunk((1, 2), 1, 1, "lookup", False, 0.5),
    )
    spent = Spent()
    for chunk in chunks:
        spent = spent.after(chunk)
    assert spent == Spent(1, 0.25, drafted=2, drafted_s=2.5, rejected=5, rejected_s=1.0)


def test_medians_and_spread() -> None:
    found = Measured("t", "p", (run(4.0), run(8.0), run(5.0)))
    assert found.seconds("total_s") == 5.0
    assert found.seconds("prefill_s") == 1.25
    assert found.spread() == pytest.approx(0.8)
    assert found.tokens_per_second == pytest.approx(2 / 3.75)


def test_a_token_that_came_with_the_prompt_is_not_decoding_s() -> None:
    mine = PeerRun(prefill_s=1.0, decode_s=2.0, tokens=(4, 5, 6))
    theirs = replace(mine, ahead=1)
    rates = [Measured("t", "p", (r,)).tokens_per_second for r in (mine, theirs)]
    assert rates == [1.5, 1.0]


def test_a_speedup_is_two_measured_times() -> None:
    rows = [Measured("t", "specedit", (run(2.0),)), Measured("t", "x", (run(9.0),))]
    assert speedup(rows, "specedit", "x") == 4.5
    assert speedup(rows, "specedit", "y") is None
    assert geometric([2.0, 8.0]) == pytest.approx(4.0)


def test_best_is_the_fastest_of_its_kind() -> None:
    rows = [
        Measured("t", "llama.cpp-lookup-2", (run(3.0),)),
        Measured("t", "llama.cpp-lookup-10", (run(2.0),)),
        Measured("t", "transformers-lookup-10", (run(1.0),)),
    ]
    found = best(rows, "llama.cpp-lookup")
    assert found is not None
    assert found.peer == "llama.cpp-lookup-10"
    assert best(rows, "openvino") is None


class Player:
    """A peer that notes when it was asked."""

    def __init__(self, log: list[str], name: str, tokens: tuple[int, ...]) -> None:
        self.log, self.name, self.tokens = log, name, tokens

    def run(self, task: Task, way: str) -> PeerRun:
        self.log.append(f"{self.name}:{way}")
        return run(1.0, self.tokens)


def test_runs_alternate_and_the_order_turns() -> None:
    names, log = list(NAMES[:3]), []
    players = {n.name: Player(log, n.name, (4, 5)) for n in names}
    alternate(TASK, names, lambda n, t: players[n.name].run(t, n.way), rounds=2)
    asked = [entry.split(":")[0] for entry in log]
    assert asked[:3] == [n.name for n in names]
    assert asked[3:] == [n.name for n in rotated(names, 1)]


def test_an_own_answer_is_compared_with_its_own_plain_one() -> None:
    names = [n for n in NAMES if n.name in ("llama.cpp-plain", "llama.cpp-lookup-2", "specedit")]
    answers = {"llama.cpp-plain": (1, 2), "llama.cpp-lookup-2": (1, 3), "specedit": (1, 2)}
    log: list[str] = []
    players = {n: Player(log, n, t) for n, t in answers.items()}
    own = replace(TASK, answer=())
    same = {
        m.peer: m.same
        for m in alternate(own, names, lambda n, t: players[n.name].run(t, n.way), rounds=1)
    }
    assert same == {"llama.cpp-plain": None, "llama.cpp-lookup-2": False, "specedit": None}
    told = alternate(TASK, names, lambda n, t: players[n.name].run(t, n.way), rounds=1)
    assert {m.same for m in told} == {None}


@pytest.mark.parametrize(
    ("against", "count"),
    [
        pytest.param("none", 1, id="itself"),
        pytest.param("all", len(NAMES) - 1, id="all that need no draft model"),
        pytest.param("llama.cpp-lookup", 5, id="a-beginning"),
        pytest.param("transformers-lookup-10,specedit-plain", 3, id="names"),
        pytest.param("transformers,transformers-greedy", 4, id="named-twice"),
    ],
)
def test_peers_are_named_whole_or_by_a_beginning(against: str, count: int) -> None:
    found = wanted(against)
    assert found[0].name == "specedit"
    assert len(found) == len(set(found)) == count


def test_an_unknown_peer_is_refused() -> None:
    with pytest.raises(UsageError, match="no such peer"):
        wanted("lama")


def test_a_peer_that_is_not_installed_is_found_out_without_importing_it() -> None:
    absent = Name("other", "other", "plain", "a_library_that_is_not_here", "pip install other")
    assert missing([NAMES[0], absent]) == [absent]


def case(lines: int, changed: float, **seconds: float) -> dict[str, Any]:
    named = {k.replace("_", "-"): {"total_s": v} for k, v in seconds.items()}
    return {"lines": lines, "changed": changed, "peers": named, "bound_s": 0.5}


RESULT = {
    "model": "m",
    "date": "2026-01-01",
    "machine": {"processor": "p", "threads": 2},
    "cases": [
        case(50, 0.02, specedit=1.0, specedit_plain=4.0),
        case(50, 0.5, specedit=2.0, specedit_plain=4.0),
        case(200, 0.005, specedit=3.0, specedit_plain=30.0),
    ],
    "widths": {"exact": [{"width": 1, "ms": 50.0}, {"width": 8, "ms": 80.0}]},
}


def test_plots_are_drawn_from_ratios_and_seconds() -> None:
    assert plots.ratios(RESULT["cases"]) == {
        "specedit-plain": [(0.005, 10.0), (0.02, 4.0), (0.5, 2.0)]
    }
    found = plots.seconds(RESULT["cases"][:1] + RESULT["cases"][2:])
    assert found["specedit"] == [(50, 1.0), (200, 3.0)]
    assert found[plots.BOUND] == [(50, 0.5), (200, 0.5)]
    assert plots.middles([(0.02, 2.0), (0.03, 4.0), (0.5, 1.0)]) == [(0.025, 3.0), (0.5, 1.0)]


def test_plots_are_svg_and_png_and_the_same_again(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    first = plots.draw([RESULT], tmp_path / "a")
    again = plots.draw([RESULT], tmp_path / "b")
    assert [p.name for p in first] == [
        *("speedup.svg", "speedup.png", "seconds.svg", "seconds.png", "widths.svg", "widths.png")
    ]
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in again]
    assert all(p.stat().st_size < 200_000 for p in first)


def test_every_peer_has_a_colour_of_its_own() -> None:
    colours = [plots.COLOURS[name.name] for name in NAMES]
    assert len(set(colours)) == len(NAMES)


def test_what_is_drawn_together_is_named_together() -> None:
    elsewhere = {**RESULT, "machine": {"processor": "q", "threads": 8}}
    said = plots.caption([RESULT, RESULT, elsewhere])
    assert said.count("p · 2 threads") == 1
    assert "q · 8 threads" in said


def test_the_plot_of_small_edits_is_not_drawn_of_large_ones(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    large = {**RESULT, "cases": [case(50, 0.5, specedit=2.0, x=3.0)], "widths": {}}
    assert [p.name for p in plots.draw([large], tmp_path)] == ["speedup.svg", "speedup.png"]


def test_the_plot_of_widths_shows_whole_passes_only(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    parts = {PART + "attention": [{"width": 1, "ms": 2.0}, {"width": 8, "ms": 3.0}]}
    split = {**RESULT, "widths": {**RESULT["widths"], **parts}}
    drawn = [plots.draw([r], tmp_path / n) for r, n in ((RESULT, "a"), (split, "b"))]
    assert [p.read_bytes() for p in drawn[0]] == [p.read_bytes() for p in drawn[1]]


def test_an_interrupted_run_shows_what_was_measured() -> None:
    names = list(NAMES[:2])

    class Tired(Player):
        def run(self, task: Task, way: str) -> PeerRun:
            raise KeyboardInterrupt

    players = {names[0].name: Player([], "a", (4, 5)), names[1].name: Tired([], "b", ())}
    with pytest.raises(Interrupted) as early:
        alternate(TASK, names, lambda n, t: players[n.name].run(t, n.way), rounds=3)
    assert [m.peer for m in early.value.measured] == [names[0].name]


def test_a_peer_that_is_gone_leaves_the_others() -> None:
    names = list(NAMES[:2])
    found = alternate(TASK, names, lambda n, t: None if n == names[1] else run(1.0), rounds=2)
    assert [(m.peer, len(m.runs)) for m in found] == [(names[0].name, 2)]
