"""Drafting without a model: the command, its contract, and what our own edits cost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from replaying import WordTokenizer
from typer.testing import CliRunner

from specedit.bench.cases import read_cases
from specedit.cli.bench import CURVES, curve_of
from specedit.cli.bench import replay as command
from specedit.decode.replay import replay
from specedit.engines.scripted import END
from specedit.errors import InputError, UsageError

FIXTURES = sorted((Path(__file__).parent.parent / "fixtures").glob("*/case.toml"))


def said(*arguments: str) -> str:
    """What the command writes to stdout."""
    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def cases(path: Path) -> Path:
    """Our own fixtures as a file of cases."""
    lines = []
    for case in FIXTURES:
        before = next(case.parent.glob("before.*"), None)
        after = next(case.parent.glob("after.*"), None)
        if before and after:
            texts = [p.read_bytes().decode("utf-8", "replace") for p in (before, after)]
            lines.append({"id": case.parent.name, "before": texts[0], "after": texts[1]})
    assert lines
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("curve", CURVES)
def test_the_contract_of_a_line(
    curve: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECEDIT_SCRIPT", "unused")
    path = cases(tmp_path / "cases.jsonl")
    out = said(str(path), "--curve", curve, "--engine", "scripted", "--json", "-q").splitlines()
    wanted = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [json.loads(line)["id"] for line in out] == [case["id"] for case in wanted]
    for text, case in zip(out, wanted, strict=True):
        line = json.loads(text)
        assert line["tokens"] == len(case["after"].encode()) + 1
        assert sum(accepted + 1 for _, accepted in line["passes"]) == line["tokens"]
        assert all(0 <= accepted <= proposed for proposed, accepted in line["passes"][:-1])
        assert line["bound"] > 0


def test_people_get_a_table_of_three_machines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECEDIT_SCRIPT", "unused")
    out = said(str(cases(tmp_path / "cases.jsonl")), "--limit", "2", "--engine", "scripted")
    assert all(name in out for name in CURVES)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"before": "x"}', '{"before": "x", "after": null}']
)
def test_a_file_that_holds_no_cases_is_an_error(text: str, tmp_path: Path) -> None:
    (tmp_path / "cases").write_text(text)
    with pytest.raises(InputError):
        read_cases(tmp_path / "cases", "after")


def test_a_curve_is_written_a_plus_b_w() -> None:
    assert curve_of("70+6w").seconds(11) == pytest.approx(0.136)
    with pytest.raises(UsageError):
        curve_of("fast")


def test_the_bound_is_the_issue_s() -> None:
    """before 4 ids, after 5: two aligned, and the end, one block: 4 x 76 + 2 x 6 + 70."""
    played = replay([1, 2, 3, 4], [1, 2, 7, 8, 9], 0)
    assert (played.tokens, played.copied, played.blocks) == (6, 2, 1)
    assert 1000 * played.bound(curve_of("70+6w")) == pytest.approx(4 * 76 + 2 * 6 + 70)


CODE = "".join(
    f"def handler_{n}(request, username):\n"
    f"    account = find_account(username, limit={n})\n"
    f"    if account is None:\n        raise NotFound(username)\n"
    f"    return render(request, account, title='page {n}')\n\n\n"
    for n in range(30)
)
OWN = {
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


@pytest.mark.parametrize("after", OWN.values(), ids=OWN.keys())
@pytest.mark.parametrize("curve", CURVES)
def test_our_own_edits_are_cheap_on_every_curve(after: str, curve: str) -> None:
    codec = WordTokenizer()
    on = curve_of(curve)
    played = replay(codec.encode(CODE), codec.encode(after), END, codec=codec, curve=on)
    assert played.seconds(on) <= 1.15 * played.bound(on) + 12 * on.seconds(1)
    assert played.seconds(on) <= played.plain(on)
