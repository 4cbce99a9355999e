"""`specedit bench` on a scripted engine: cases, peers, times and tables."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import Specedit

from specedit.bench import speed
from specedit.bench.cases import KINDS, Case, generated, read_cases, share_changed
from specedit.bench.peers import (
    NAMES,
    OWN_MODULE,
    PLAIN,
    PeerName,
    PeerOptions,
    PeerProcess,
    PeerRun,
    Task,
    selected,
)
from specedit.bench.peers.own import Own
from specedit.bench.speed import Measured, SpeedRow, alternate, words
from specedit.edit.backend import Plan, Progress
from specedit.errors import InputError, ModelError, UsageError
from specedit.files.source import Source
from specedit.inference.loading import load
from specedit.settings import Settings, resolve
from specedit.syntax import trees

Script = Callable[..., Path]
LONG = "def one():\n    return 'a long way to say one, and longer'\n"
RENAMED = LONG.replace("one():", "two():") + "```"


# -- cases -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_generated_file_has_its_length_and_parses(kind: str) -> None:
    for case in generated([kind], (50, 400)):
        assert case.lines == int(case.id.rpartition("-")[2])
        for text in (case.before, case.after or ""):
            source = Source.from_bytes(case.filename, text.encode())
            assert trees.errors(source.text, source.language) == []
    assert generated([kind], (50,)) == generated([kind], (50,))


def test_kinds_change_the_share_that_their_instruction_names() -> None:
    cases = {case.kind: case for case in generated(KINDS, (200,))}
    share = {kind: share_changed(c.before, c.after or "") for kind, c in cases.items()}
    assert share["copy"] == 0
    assert share["line"] * 200 == pytest.approx(1)
    assert share["rename"] * 200 == pytest.approx(11)  # the declaration, and ten uses
    assert 0.25 < share["half"] < 0.5
    assert share["new"] > 0.7
    assert "scale" not in str(cases["rename"].after)


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [("", "", 0.0), ("a\nb\n", "a\nc\n", 0.5), ("a\n", "a\nb\n", 0.5), ("a\n", "b\n", 1.0)],
    ids=["nothing", "replaced", "added", "all"],
)
def test_share_changed(before: str, after: str, share: float) -> None:
    assert share_changed(before, after) == share


def test_cases_are_read_in_order(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text("b = 1\n")
    rows = [
        {"id": "one", "instruction": "i", "before": "b", "filename": "a.py", "context": None},
        {"instruction": "i", "before": "b", "after": "c", "tests": "t", "more": 1},
        {"id": "three", "instruction": "i", "path": "b.py"},
    ]
    path = tmp_path / "cases.jsonl"
    path.write_text("\n\n".join(json.dumps(r) for r in rows) + "\n")
    assert read_cases(path, "instruction") == [
        Case("one", "a.py", "i", "b"),
        Case(f"{path}:3", "file.txt", "i", "b", "c", "t"),
        Case("three", "b.py", "i", "b = 1\n"),
    ]
    assert len(read_cases(path, first=1)) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(b"", "no case", id="empty"),
        pytest.param(b"{", "1: not JSON", id="not-json"),
        pytest.param(b"[]", "object", id="not-an-object"),
        pytest.param(b'{"before": "x"}', "instruction", id="no-instruction"),
        pytest.param(b'{"before": 3, "instruction": "x"}', "before", id="before-is-a-number"),
        pytest.param(b"\xff\xfe\n", "not UTF-8", id="not-utf-8"),
    ],
)
def test_an_error_of_a_case_names_its_line(tmp_path: Path, text: bytes, message: str) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(text)
    with pytest.raises(InputError, match=message):
        read_cases(path, "instruction")


# -- peers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("against", "count"),
    [
        pytest.param("none", 1, id="itself"),
        pytest.param("all", len(NAMES) - 1, id="all that need no draft model"),
        pytest.param("llama.cpp-lookup", 5, id="a-beginning"),
        pytest.param("transformers-lookup-10,specedit-plain", 3, id="names"),
        pytest.param("transformers,transformers-plain", 4, id="named-twice"),
        pytest.param("transformers-assisted", 2, id="assisted, by its whole name"),
    ],
)
def test_peers_are_selected_by_name_or_beginning(against: str, count: int) -> None:
    names = selected(against)
    assert names[0].name == "specedit"
    assert len(names) == len(set(names)) == count


def test_an_unknown_peer_is_refused() -> None:
    with pytest.raises(UsageError, match="no such peer"):
        selected("lama")


def test_a_peer_that_is_not_installed_says_how_to_install_it() -> None:
    absent = PeerName("x", "x", PLAIN, "a_library_that_is_not_here", "pip install x")
    process = PeerProcess(absent, PeerOptions(Settings(), 1, 64))
    assert process.line("x").skipped == "not installed: pip install x"
    assert process.call("run") is None
    process.close()


@pytest.fixture
def settings(script: Script) -> Callable[..., Settings]:
    def made(**parts: object) -> Settings:
        script(**parts)
        return resolve({}).values

    return made


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("one = 1\ntwo = 2\n", "one = 1\ntwo = 3\nmore = 4\n", id="code"),
        pytest.param("a = 1\n", 'a = """\n```\n"""\nb = 2\n', id="it-holds-the-closing-line"),
    ],
)
def test_a_dictated_answer_is_written_whatever_the_model_would_say(
    settings: Callable[..., Settings], before: str, after: str
) -> None:
    chosen = settings(answer="something else\n```")
    own, model = Own(load(chosen, Progress())), words(chosen)
    case = Case("c", "a.py", "-", before, after=after)
    task = model.task(case, chosen, own=False)
    for way in ("predicted", PLAIN):
        run = own.run(task, way)
        assert run is not None and run.tokens == task.answer
        assert way != PLAIN or run.passes == len(task.answer)
    short = own.run(model.task(case, chosen, own=False, limit=5), "predicted")
    assert short is not None and short.tokens == task.answer[:5]


def test_a_peer_whose_process_ends_leaves_the_others(
    settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, names = PeerProcess.call, (NAMES[0], PeerName("other", OWN_MODULE, PLAIN, lookup=True))

    def call(self: PeerProcess, method: str, *arguments: Any) -> Any:
        if arguments[1:] == (PLAIN,) and not self.problem:
            os.kill(self.pid, signal.SIGKILL)
        return real(self, method, *arguments)

    monkeypatch.setattr(PeerProcess, "call", call)
    chosen = settings(answer="x\n```")
    speeds = speed.measure(generated(["line"], [20]), names, chosen, lambda text: None, rounds=1)
    assert [m.peer for m in speeds.rows[0].measured] == ["specedit"]
    assert [bool(line.skipped) for line in speeds.peers] == [False, True]
    assert "its process ended" in speeds.peers[1].skipped


def test_when_no_peer_opens_the_reason_is_reported(settings: Callable[..., Settings]) -> None:
    names = [PeerName("specedit", "no_such_module", PLAIN)]
    with pytest.raises(ModelError, match=r"specedit: .*no_such_module"):
        speed.measure([], names, settings(answer="x"), lambda text: None)


# -- arithmetic ------------------------------------------------------------------------------------

TASK = Task("t", Plan(()), (1, 2, 3), (4, 5), 2)


def run(seconds: float, tokens: tuple[int, ...] = (4, 5), **more: Any) -> PeerRun:
    return PeerRun(seconds / 4, 3 * seconds / 4, tokens, **more)


class Player:
    """Processes of peers that note when they were called."""

    def __init__(self, answers: dict[str, tuple[int, ...] | None]) -> None:
        self.answers, self.called = answers, list[str]()

    def __getitem__(self, process: tuple[str, bool]) -> Player:
        return self

    def call(self, method: str, task: Task, way: str) -> PeerRun | None:
        self.called.append(way)
        tokens = self.answers.get(way, (4, 5))
        return None if tokens is None else run(1.0, tokens)


def played(player: Any, ways: list[str], task: Task = TASK, rounds: int = 1) -> list[Measured]:
    names = [PeerName(way, "m", way) for way in ways]
    return list(alternate(task, names, player, rounds, lambda text: None))


def test_runs_alternate_and_each_round_begins_with_another_peer() -> None:
    player = Player({"c": None})
    measured = played(player, ["a", "b", "c"], rounds=2)
    assert player.called == ["a", "b", "c", "b", "c", "a"]
    assert [(m.peer, len(m.runs)) for m in measured] == [("a", 2), ("b", 2)]


def test_an_own_answer_is_compared_with_the_peers_own_plain_one() -> None:
    answers: dict[str, tuple[int, ...] | None] = {PLAIN: (1, 2), "2": (1, 3), "5": (1, 2)}
    ways = [PLAIN, "2", "5"]
    own = played(Player(answers), ways, replace(TASK, answer=()))
    assert [m.same for m in own] == [None, False, True]
    assert {m.same for m in played(Player(answers), ways)} == {None}


def test_medians_rates_and_ratios() -> None:
    measured = Measured("p", (run(4.0), run(8.0), run(5.0)))
    assert (measured.seconds(), measured.seconds("prefill_s")) == (5.0, 1.25)
    assert measured.tokens_per_second == pytest.approx(2 / 3.75)
    early = Measured("p", (run(4.0, early=1),))
    assert early.tokens_per_second == pytest.approx(1 / 3)  # one token came with the prompt's time
    row = SpeedRow(Case("c", "a", "i", "b"), TASK, (Measured("specedit", (run(2.0),)), measured))
    assert row.times("p") == 2.5
    assert row.times("absent") is None


# -- the command -----------------------------------------------------------------------------------


def test_one_command_measures_and_prints_one_object(inside: Specedit, script: Script) -> None:
    script(answer="x\n```")
    done = inside(
        *("bench", "--against", "specedit-plain", "--kinds", "line", "--lines", "50"),
        *("--rounds", "1", "--cost", "--json"),
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    (case,) = result["cases"]
    own, plain = case["peers"]["specedit"], case["peers"]["specedit-plain"]
    assert own["tokens"] == plain["tokens"] == plain["passes"] == case["tokens"]["answer"]
    assert own["passes"] < plain["passes"]
    assert result["cost"]["predicted_dollars"] >= result["cost"]["plain_dollars"] > 0
    assert b"specedit, end to end, 1 case:" in done.stderr


def test_drafters_write_the_same_in_one_table(
    inside: Specedit, script: Script, tmp_path: Path
) -> None:
    script(answer=RENAMED)
    draft, cases = tmp_path / "draft.json", tmp_path / "cases.jsonl"
    draft.write_text(json.dumps({"answer": RENAMED, "sure": 0.9}))
    case = {"id": "c", "instruction": "Call it two.", "filename": "m.py", "before": LONG}
    cases.write_text(json.dumps(case))
    words = ("bench", cases, "--drafters", "--own", "--rounds", "1", "--draft-model", draft)
    done = inside(*words, "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["drafter"]: row for row in json.loads(done.stdout)["drafters"]}
    assert set(rows) == {
        *("none", "prediction", "lookup", "prediction,lookup", "model", "candidates", "auto")
    }
    assert all(row["same_as_plain"] for row in rows.values())
    assert len({row["tokens"] for row in rows.values()}) == 1
    assert rows["none"]["tokens_per_pass"] == rows["none"]["times_plain"] == 1.0
    assert rows["prediction"]["tokens_per_pass"] > 2
    shown = inside(*words).stdout.decode()
    assert "times plain" in shown and "not available here: chained" in shown


def test_the_engine_table_has_a_pass_by_its_width(inside: Specedit, script: Script) -> None:
    script(answer="x\n```")
    result = json.loads(inside("bench", "--engine-table", "--json").stdout)
    assert [point["width"] for point in result["widths"]["scripted"]][:3] == [1, 2, 4]
    assert b"ms at width" in inside("bench", "--engine-table").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["FILE", "--engine-table"], b"measures no edits", id="unused-cases"),
        pytest.param(["--drafters", "--cost"], b"--cost belongs", id="unused-cost"),
        pytest.param(["--lines", "0"], b"at least one line", id="no-lines"),
        pytest.param(["--lines", "many"], b"not a list of numbers", id="lines-are-words"),
        pytest.param(["--kinds", "cobol"], b"Known: copy", id="unknown-kind"),
        pytest.param(["ABSENT"], b"No such file", id="no-file"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    inside: Specedit, script: Script, tmp_path: Path, arguments: list[str], message: bytes
) -> None:
    script(answer="x\n```")
    (tmp_path / "FILE").write_text('{"instruction": "x", "before": "a = 1\\n"}\n')
    files = {name: str(tmp_path / name) for name in ("FILE", "ABSENT")}
    done = inside("bench", "--against", "none", *(files.get(a, a) for a in arguments))
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr and b"Traceback" not in done.stderr


def test_an_interrupted_run_shows_the_cases_that_were_done(
    settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = speed.alternate

    def once(task: Task, *others: Any) -> Any:
        if task.id != "line-20":
            raise KeyboardInterrupt
        return real(task, *others)

    monkeypatch.setattr(speed, "alternate", once)
    cases = generated(["line"], [20, 30])
    chosen = settings(answer="x\n```")
    speeds = speed.measure(cases, NAMES[:1], chosen, lambda text: None, rounds=1)
    assert speeds.interrupted and [row.case.id for row in speeds.rows] == ["line-20"]
