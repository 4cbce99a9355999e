"""`benchmarks.speed` and `benchmarks.replay`, small: the scripted engine and word tokenizers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from effort import ends
from replaying import TOKENIZER, WORDS
from scripted_engine import END, WordTokenizer
from typer.testing import CliRunner, Result

from benchmarks import replay
from benchmarks.replay import CURVES, curve_of
from benchmarks.speed import __main__ as speed
from benchmarks.speed import compare
from benchmarks.speed.cases import KINDS, generated
from benchmarks.speed.peers import PLAIN
from benchmarks.speed.peers.own import Own
from specedit.edit.backend import unreported
from specedit.files.source import Source
from specedit.inference.loading import load
from specedit.settings import Settings
from specedit.syntax import trees

LONG = "def one():\n    return 'a long way to say one, and longer'\n"
RENAMED = LONG.replace("one():", "two():") + "```"


@pytest.fixture(autouse=True)
def _scripted(script: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The model says RENAMED, and its ids are bytes."""
    script(answer=RENAMED)
    monkeypatch.setattr(compare, "words", lambda settings: WORDS)
    monkeypatch.setattr(replay, "tokenizer_of", lambda settings: TOKENIZER)


def run(module: Any, *words: str | Path) -> Result:
    return CliRunner().invoke(module.app, [str(word) for word in words])


@pytest.fixture
def case(tmp_path: Path) -> Path:
    path = tmp_path / "cases.jsonl"
    record = {"id": "c", "instruction": "Call it two.", "filename": "m.py", "before": LONG}
    path.write_text(json.dumps({**record, "after": RENAMED.removesuffix("```")}))
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_a_generated_file_has_its_length_and_parses(kind):
    for case in generated([kind], (50, 400)):
        assert case.lines == int(case.id.rpartition("-")[2])
        for text in (case.before, case.after or ""):
            source = Source.from_bytes(case.filename, text.encode())
            assert trees.errors(source.text, source.language) == []


def test_a_dictated_answer_is_written_whatever_the_model_would_say():
    own, model = Own(load(Settings(), unreported)), WORDS
    (case,) = generated(["line"], [30])
    task = model.task(case, Settings(), own=False)
    for way in ("predicted", PLAIN):
        played = own.run(task, way)
        assert played is not None and played.tokens == task.answer
        assert way != PLAIN or played.passes == len(task.answer)


def test_specedit_is_compared_with_its_plain_decoding(case):
    words = (case, "--against", "specedit-plain", "--rounds", "1", "--cost", "--json")
    result = json.loads(run(speed, *words).stdout)
    peers = result["cases"][0]["peers"]
    own, plain = peers["specedit"], peers["specedit-plain"]
    assert own["tokens"] == plain["tokens"] == plain["passes"] > own["passes"]
    assert result["cost"]["predicted_dollars"] >= result["cost"]["plain_dollars"] > 0


def test_drafters_write_the_same(case, tmp_path):
    draft = tmp_path / "draft.json"
    draft.write_text(json.dumps({"answer": RENAMED, "sure": 0.9}))
    words = (case, "--drafters", "--own", "--rounds", "1", "--draft-model", draft)
    rows = {
        row["drafter"]: row for row in json.loads(run(speed, *words, "--json").stdout)["drafters"]
    }
    assert {"none", "prediction", "lookup", "model", "candidates", "auto"} <= set(rows)
    assert all(row["same_as_plain"] for row in rows.values())
    assert rows["none"]["tokens_per_pass"] == 1.0 < rows["prediction"]["tokens_per_pass"]


def test_the_engine_table_has_a_pass_by_its_width():
    result = json.loads(run(speed, "--engine-table", "--json").stdout)
    assert [point["width"] for point in result["widths"]["scripted"]][:3] == [1, 2, 4]


@pytest.mark.parametrize("curve", CURVES)
def test_the_contract_of_a_line_of_replay(curve, case):
    (line,) = map(
        json.loads, run(replay, case, "--curve", curve, "--json", "-q").stdout.split("\n")[:1]
    )
    assert line["tokens"] == len(RENAMED.removesuffix("```").encode()) + 1
    assert sum(accepted + 1 for _, accepted in line["passes"]) == line["tokens"]
    assert all(0 <= accepted <= proposed for proposed, accepted in line["passes"][:-1])
    assert line["id"] == "c" and line["bound"] > 0
    assert all(name in run(replay, case).stdout for name in CURVES)


def test_the_bound_is_the_cost_of_new_ids_blocks_and_copies():
    """before 4 ids, after 5: two aligned, and the end, one block: 4 x 76 + 2 x 6 + 70."""
    played = replay.replay([1, 2, 3, 4], [1, 2, 7, 8, 9], 0)
    assert (played.tokens, played.copied, played.blocks) == (6, 2, 1)
    assert 1000 * played.bound(curve_of("70+6w")) == pytest.approx(4 * 76 + 2 * 6 + 70)


CODE = "".join(
    f"def handler_{n}(request, username):\n"
    f"    account = find_account(username, limit={n})\n"
    f"    if account is None:\n        raise NotFound(username)\n"
    f"    return render(request, account, title='page {n}')\n\n\n"
    for n in range(30)
)
EDITED = {
    "unchanged": CODE,
    "renamed everywhere": CODE.replace("username", "email"),
    "one line": CODE.replace("limit=17", "limit=170"),
    "same insertion everywhere": CODE.replace("account is None:", "account is None or locked:"),
    "a function inserted": CODE.replace(
        "def handler_9", "def extra(request):\n    return None\n\n\ndef handler_9"
    ),
    "a function deleted": CODE[: CODE.index("def handler_9")]
    + CODE[CODE.index("def handler_10") :],
}


@pytest.mark.parametrize("after", EDITED.values(), ids=EDITED.keys())
@pytest.mark.parametrize("curve", ends(CURVES))
def test_usual_edits_are_cheap_on_every_curve(after, curve):
    codec = WordTokenizer()
    on = curve_of(curve)
    played = replay.replay(codec.encode(CODE), codec.encode(after), END, codec=codec, curve=on)
    assert played.seconds(on) <= 1.15 * played.bound(on) + 12 * on.seconds(1)
    assert played.seconds(on) <= played.plain(on)
