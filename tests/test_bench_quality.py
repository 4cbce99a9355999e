"""pass@1 of edits, on a scripted engine: what passes, what is refused, and what tests may do."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specedit.bench import ask, quality, sandbox, side
from specedit.bench.cases import Case
from specedit.bench.peers.base import PeerOptions
from specedit.bench.peers.own import Own, load, open_peer
from specedit.bench.side import peers
from specedit.bench.tasks import Words, task
from specedit.bench.wanted import Wanted
from specedit.errors import ModelError
from specedit.settings import Settings, resolve

TESTS = "def check():\n    assert one() == 2\n"
CASE = Case("c", "main.py", "Return 2.", "def one():\n    return 1\n", tests=TESTS)
Script = Callable[..., Path]


@pytest.fixture
def settings(script: Script) -> Callable[..., Settings]:
    def made(**parts: object) -> Settings:
        script(**parts)
        return resolve({}).values

    return made


def judged(settings: Settings, case: Case, way: str = "predicted") -> quality.CaseResult:
    own = Own(load(settings))
    words = Words(own.loaded.tokenizer, own.loaded.prompt)
    return quality.outcome(case, words, own, way, settings)


@pytest.mark.parametrize("way", ["predicted", "plain"])
@pytest.mark.parametrize(
    ("replace", "passed", "refused"),
    [
        pytest.param([["return 1", "return 2"]], True, False, id="right"),
        pytest.param([["return 1", "return 3"]], False, False, id="wrong"),
        pytest.param([], False, False, id="unchanged"),
        pytest.param([["return 1", "return ("]], False, True, id="does-not-parse"),
    ],
)
def test_an_edit_passes_when_its_tests_do(
    settings: Callable[..., Settings], replace: object, passed: bool, refused: bool, way: str
) -> None:
    found = judged(settings(replace=replace), CASE, way)
    assert (found.passed, found.refused) == (passed, refused)


def test_a_refused_edit_leaves_the_file_and_its_answer_is_tested_too(
    settings: Callable[..., Settings],
) -> None:
    case = Case("c", "main.py", "-", "x = [1]\n", tests="def check():\n    assert x == [1]\n")
    found = judged(settings(answer="x = [1\n```"), case)
    assert found.refused
    assert found.passed
    assert not found.raw_passed


def test_predicted_and_plain_give_the_same_list(settings: Callable[..., Settings]) -> None:
    chosen = settings(replace=[["1", "2"]])
    predicted, plain = judged(chosen, CASE), judged(chosen, CASE, "plain")
    assert quality.differing([predicted], [plain]) == []
    assert predicted.passes < plain.passes
    score = quality.score("specedit", [predicted])
    assert (score.cases, score.passed, score.share) == (1, 1, 1.0)


def test_an_interrupted_judgement_shows_what_was_judged(
    settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = settings(replace=[["return 1", "return 2"]])
    loaded = load(chosen)
    real = quality.outcome

    def until(case: Case, *others: Any) -> quality.CaseResult:
        if case.id == "second":
            raise KeyboardInterrupt
        return real(case, *others)

    monkeypatch.setattr(side, "outcome", until)
    words = Words(loaded.tokenizer, loaded.prompt)
    cases = [replace(CASE, id=name) for name in ("first", "second", "third")]
    found = list(side.judged(cases, words, chosen, "none", lambda text: None))
    ((name, outcomes),) = [item for item in found if isinstance(item, tuple)]
    assert (name.name, [one.id for one in outcomes]) == ("specedit", ["first"])


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
    own = Own(load(chosen))
    words = Words(own.loaded.tokenizer, own.loaded.prompt)
    case = Case("c", "a.py", "-", before, after=after)
    told = task(case, words, chosen, own=False)
    for way in ("predicted", "plain"):
        assert own.run(told, way).tokens == told.answer
    assert own.run(told, "plain").passes == len(told.answer)
    short = task(case, words, chosen, own=False, limit=5)
    assert own.run(short, "predicted").tokens == told.answer[:5]


WRITES = """
import os
for number in range(64):
    try:
        os.write(number, b"passed 86 0 ok True " * 4)
    except OSError:
        pass
os._exit(0)
"""
STAYS = """
import os, time
if os.fork() == 0:
    os.setsid()
    for number in range(1000):
        time.sleep(0.01)
        with open({path!r}, "a") as file:
            file.write("x")
while not os.path.exists({path!r}):
    time.sleep(0.01)
"""


def test_what_a_program_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    if "--pid" not in (sandbox.apart() or ()):
        pytest.skip("this system lets a user take no processes away")
    path = tmp_path / "alive"
    sandbox.run(STAYS.format(path=str(path)))
    size = path.stat().st_size
    time.sleep(0.2)  # as long as 20 signs of life
    assert path.stat().st_size == size


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("x = 1", "", id="ends-well"),
        pytest.param("assert 1 == 2, 'odd'", "AssertionError: odd", id="fails"),
        pytest.param("import time\ntime.sleep(60)", "took more than 1 s", id="takes-too-long"),
        pytest.param("x = 'a' * (3 << 30)", "MemoryError", id="takes-too-much"),
        pytest.param("open('big', 'wb').write(b'0' * (1 << 25))", "OSError", id="writes-too-much"),
        pytest.param("raise SystemExit(3)", "exit code 3", id="says-nothing"),
        pytest.param("raise SystemExit(0)", "ended early", id="leaves-before-its-tests"),
        pytest.param("import os\nos._exit(0)", "ended early", id="leaves-at-once"),
        pytest.param("raise SystemExit(86)", "exit code 86", id="says-what-was-the-verdict-once"),
        pytest.param("import os\nos._exit(86)", "exit code 86", id="leaves-with-it"),
        pytest.param(WRITES, "0 ok True", id="writes-into-everything-that-is-open"),
    ],
)
def test_a_program_runs_within_limits(text: str, said: str) -> None:
    found = sandbox.run(text, seconds=1 if "sleep" in text else 60, memory=2 << 30)
    assert found.passed == (not said)
    assert said in found.why


def test_a_program_finds_neither_our_folder_nor_our_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OUR_SECRET", "x")
    here = str(Path.cwd())
    assert sandbox.run(f"import os\nassert os.getcwd() != {here!r}").passed
    assert sandbox.run("import os\nassert 'OUR_SECRET' not in os.environ").passed


@pytest.fixture
def listener() -> Iterator[str]:
    """A program that connects to this process."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"import socket\nsocket.create_connection(('127.0.0.1', {server.getsockname()[1]}))"


@pytest.fixture
def anew() -> Iterator[None]:
    """What this machine can take away is looked up again, before and after."""
    sandbox.apart.cache_clear()
    yield
    sandbox.apart.cache_clear()


@pytest.mark.skipif(sandbox.apart() is None, reason="unshare takes no network away here")
def test_a_program_has_no_network(listener: str) -> None:
    assert sandbox.caution() == ""
    verdict = sandbox.run(listener)
    assert not verdict.passed and "Network is unreachable" in verdict.why


def test_where_the_network_cannot_be_taken_away_bench_says_so(
    listener: str,
    anew: None,
    settings: Callable[..., Settings],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # there is no unshare in it
    assert sandbox.run(listener).passed
    cases = tmp_path / "cases.jsonl"
    row = {"id": "c", "instruction": "Return 2.", "before": CASE.before, "tests": TESTS}
    cases.write_text(json.dumps({**row, "filename": "main.py"}))
    wanted = Wanted("none", ("line",), (50,), ("python",), 1, "all", quality=cases)
    found = ask.run(wanted, settings(replace=[["1", "2"]]), lambda text: None)
    assert any("with this machine's network" in note for note in found.notes)


def test_code_stands_where_its_context_says() -> None:
    assert sandbox.program("x = 1", "T", "a\n{{Code}}\nb") == "a\nx = 1\nb\n\nT\n\ncheck()\n"
    assert sandbox.program("x = 1", "T") == "\nx = 1\n\nT\n\ncheck()\n"


def test_a_peer_that_is_not_installed_is_skipped_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import specedit.bench.peers as names

    monkeypatch.setattr(names, "find_spec", lambda name: None)
    found, lines = peers("all")
    assert {n.family for n in found} == {"own", "transformers"}
    skipped = {line.name: line.skipped for line in lines}
    assert skipped["llama.cpp-plain"] == "not installed: pip install llama-cpp-python"
    assert skipped["openvino-lookup"] == "not installed: pip install openvino-genai"


Command = Callable[..., subprocess.CompletedProcess[bytes]]


def test_one_command_measures_and_prints_one_object(specedit: Command, script: Script) -> None:
    script(answer="x\n```")
    done = specedit(
        *("bench", "--against", "specedit-plain", "--kinds", "line", "--lines", "50"),
        *("--rounds", "1", "--cost", "--json"),
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["command"] == "bench"
    (case,) = found["cases"]
    own, plain = case["peers"]["specedit"], case["peers"]["specedit-plain"]
    assert own["tokens"] == plain["tokens"] == plain["passes"] == case["tokens"]["answer"]
    assert own["passes"] < plain["passes"]
    spent = own["spent"]
    assert spent["free"] + spent["drafted"] == own["passes"]
    assert spent["rejected"] == own["proposed"] - own["accepted"]
    assert plain["spent"]["free"] == plain["passes"]
    assert found["cost"]["predicted_dollars"] >= found["cost"]["plain_dollars"]
    assert b"specedit, end to end, 1 case:" in done.stderr


def test_one_command_judges_and_says_one_line(
    specedit: Command, script: Script, tmp_path: Path
) -> None:
    script(replace=[["return 1", "return 2"]])
    cases = tmp_path / "cases.jsonl"
    row = {"id": "c", "instruction": "Return 2.", "before": CASE.before, "tests": TESTS}
    cases.write_text(json.dumps({**row, "filename": "main.py"}) + "\n")
    done = specedit("bench", "--quality", cases, "--against", "specedit-plain")
    assert done.returncode == 0, done.stderr
    line = b"specedit: 1 of 1 pass (100.0 %); specedit-plain: 1 of 1 pass (100.0 %)"
    assert line in done.stderr
    assert b"pass@1" in done.stdout


def test_results_can_be_drawn_again_and_other_files_are_refused(
    inside: Command, script: Script, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    script(answer="x\n```")
    result = tmp_path / "r.json"
    result.write_bytes(inside("bench", "--engine-table", "--json", "--against", "none").stdout)
    done = inside("bench", "--from", result, "--plots", tmp_path / "plots")
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in (tmp_path / "plots").iterdir()) == ["widths.png", "widths.svg"]
    (tmp_path / "other.json").write_text("{}")
    refused = inside("bench", "--from", tmp_path / "other.json")
    assert refused.returncode == 2
    assert b"is not a result" in refused.stderr


CASES = '{"id": "c", "filename": "a.py", "instruction": "x", "before": "a = 1\\n"}\n'


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["--quality", "FILE", "--rename", "FILE"], b"separate runs", id="two-runs"),
        pytest.param(["FILE", "--engine-table"], b"CASES means nothing", id="unused-cases"),
        pytest.param(["FILE", "--cases", "FILE"], b"the same thing", id="cases-twice"),
        pytest.param(["--rename", "FILE", "--cost"], b"--cost means nothing", id="unused-cost"),
        pytest.param(["--lines", "0"], b"a line at least", id="no-lines"),
        pytest.param(["--kinds", ""], b"nothing to measure", id="no-kinds"),
        pytest.param(["FILE", "--half", "third"], b"no such half", id="unknown-half"),
        pytest.param(["FILE", "--half", "odd"], b"No case is left", id="empty-half"),
        pytest.param(["BYTES"], b"not UTF-8", id="not-utf-8"),
        pytest.param(["--rename", "BYTES"], b"not UTF-8", id="renames-not-utf-8"),
        pytest.param(["--quality", "EMPTY"], b"holds no case", id="empty"),
        pytest.param(["--rename", "EMPTY"], b"holds no case", id="no-renames"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_words(
    inside: Command, script: Script, tmp_path: Path, arguments: list[str], said: bytes
) -> None:
    script(answer="x\n```")
    files = {"FILE": CASES.encode(), "BYTES": b"\xff\xfe\n", "EMPTY": b"\n"}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    given = [str(tmp_path / a) if a in files else a for a in arguments]
    done = inside("bench", "--against", "none", *given)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_peer_whose_process_ends_leaves_the_scores_of_the_others(
    settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = settings(replace=[["return 1", "return 2"]])
    loaded = load(chosen)
    real = quality.outcome

    def until(case: Case, words: Words, runner: Any, way: str, *others: Any) -> quality.CaseResult:
        if way == "plain":
            runner._process.kill()
        return real(case, words, runner, way, *others)

    monkeypatch.setattr(side, "outcome", until)
    words = Words(loaded.tokenizer, loaded.prompt)
    found = list(side.judged([CASE], words, chosen, "specedit-plain", lambda text: None))
    scores = {i[0].name: len(i[1]) for i in found if isinstance(i, tuple)}
    assert scores == {"specedit": 1, "specedit-plain": 0}
    lost = [i.skipped for i in found if isinstance(i, side.PeerLine) and i.skipped]
    assert lost and "ended with exit code" in lost[0]


def test_when_no_peer_opens_the_reason_is_said(
    settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = settings(answer="x")
    loaded = load(chosen)

    def closed(family: str, options: Any) -> Any:
        raise ModelError("own: the file is damaged")

    monkeypatch.setattr(side, "PeerProcess", closed)
    words = Words(loaded.tokenizer, loaded.prompt)
    asked = side.Measuring("none", 1, own=False, limit=0)
    with pytest.raises(ModelError, match="damaged"):
        list(side.side_by_side([CASE], words, chosen, asked, lambda text: None))


def test_specedit_is_measured_with_the_settings_that_were_given(
    settings: Callable[..., Settings],
) -> None:
    chosen = replace(settings(answer="x"), precision="close")
    options = PeerOptions(chosen, threads=1, window=64)
    assert (options.model, options.settings.precision) == (chosen.model, "close")
    assert open_peer(options).loaded.line.engine == "scripted"
