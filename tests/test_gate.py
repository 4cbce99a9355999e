"""The gate for meaning: what an edit did, by kind and language, and what is not its business."""

from __future__ import annotations

from specedit.gate.findings import findings
from specedit.gate.kinds import DEFAULT, NOTE, OFF, REFUSE, parsed, verdicts
from specedit.syntax.languages import BY_NAME


def kinds(before: str, after: str, language: str = "python", instruction: str = "") -> list[str]:
    return [one.kind for one in findings(before, after, BY_NAME[language], instruction)]


def test_a_name_that_nothing_defines_is_refused_at_its_line() -> None:
    (one,) = findings(
        "def f(a):\n    return a\n", "def f(a):\n    return a + b\n", BY_NAME["python"]
    )
    assert (one.kind, one.line, one.verdict, one.gate) == ("undefined", 2, "refuse", True)
    assert "`b`" in one.text


def test_the_table_says_what_becomes_of_a_kind() -> None:
    table = parsed("undefined=note, unreachable=off")
    assert table == {"undefined": NOTE, "unreachable": OFF}
    assert verdicts(table)["undefined"] == NOTE
    strict = verdicts(table, strict=True)
    assert (strict["undefined"], strict["unreachable"]) == (REFUSE, OFF)
    assert verdicts({}, allowed=["undefined"])["undefined"] == NOTE
    assert set(DEFAULT.values()) <= {NOTE, OFF, REFUSE}
