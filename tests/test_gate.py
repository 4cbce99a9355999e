"""The gate for meaning: what an edit did, by kind and language, and what is not its business."""

from __future__ import annotations

import pytest
from gate_cases import PYTHON, TABLE, TEXTS
from hypothesis import given
from hypothesis import strategies as st

from specedit.gate.findings import findings
from specedit.gate.kinds import DEFAULT, NOTE, OFF, REFUSE, parsed, verdicts
from specedit.syntax import trees
from specedit.syntax.languages import BY_NAME, LANGUAGES


@pytest.mark.parametrize(
    ("kind", "language", "old", "new", "instruction"),
    TABLE,
    ids=[f"{row[0] or 'fine'}-{row[1]}-{at}" for at, row in enumerate(TABLE)],
)
def test_each_kind_is_found_where_it_is_and_nowhere_else(
    kind: str, language: str, old: str, new: str, instruction: str
) -> None:
    before = TEXTS[language]
    assert old in before
    after = before.replace(old, new)
    assert not trees.errors(after, BY_NAME[language]), "a case parses"
    everything = {**DEFAULT, "callers": NOTE}
    found = findings(before, after, BY_NAME[language], instruction, everything)
    kinds = {one.kind for one in found}
    assert kinds >= {kind} if kind else not kinds, found
    lines = after.split("\n")
    assert all(one.line and 1 <= one.line <= len(lines) for one in found)


@pytest.mark.parametrize("language", TEXTS)
def test_the_texts_of_the_cases_have_nothing_to_be_said_of(language: str) -> None:
    assert findings("", TEXTS[language], BY_NAME[language]) == []


@pytest.mark.parametrize(
    ("after", "kind"),
    [
        (PYTHON.replace("\n\n\n", "\n\n"), "whitespace"),
        (PYTHON.replace("# net first", "# the net comes first"), "nothing"),
        (PYTHON.replace("len(cart)", "os.getpids()"), "library"),
        (PYTHON.replace("sum(cart)", "sum(os.listdir(folder='.'))"), "library"),
        (PYTHON.replace("[2]", "[3]"), ""),
    ],
)
def test_what_needs_no_language_table(after: str, kind: str) -> None:
    assert [one.kind for one in findings(PYTHON, after, BY_NAME["python"])][:1] == [kind] * bool(
        kind
    )


def test_the_table_says_what_becomes_of_a_kind() -> None:
    table = parsed("undefined=note, unreachable=off")
    assert table == {"undefined": NOTE, "unreachable": OFF}
    assert verdicts(table)["undefined"] == NOTE
    strict = verdicts(table, strict=True)
    assert (strict["undefined"], strict["unreachable"]) == (REFUSE, OFF)
    assert (strict["comments"], strict["nothing"]) == (REFUSE, NOTE)
    assert verdicts({}, strict=True, allowed=["comments"])["comments"] == NOTE
    assert set(DEFAULT.values()) == {NOTE, OFF, REFUSE}


@pytest.mark.parametrize(
    ("instruction", "after", "said"),
    [
        ("Make items a generator.", "def items():\n    return [2]\n", "a generator"),
        ("Make items a generator.", "def items():\n    yield 2\n", ""),
        ("Do not make it a generator.", "def items():\n    return [2]\n", ""),
        ("Add a parameter for the start.", "def items():\n    return [2]\n", "a parameter"),
        ("Add a parameter for the start.", "def items(start):\n    return [start]\n", ""),
        ("Convert it into a class.", "def items():\n    return [2]\n", "a class"),
        ("Make the class abstract.", "def items():\n    return [2]\n", ""),
        ("Raise ValueError when empty.", "def items():\n    return [2]\n", "an error"),
        ("Return a dictionary of counts.", "def items():\n    return [2]\n", "a dictionary"),
        ("Return a dictionary of counts.", "def items():\n    return {2: 1}\n", ""),
        ("Return a dictionary of counts.", "def items():\n    return max([2])\n", ""),
        ("Return a tuple.", "def items():\n    a = sum([1])\n    return 3 - sum([a])\n", "a tuple"),
        ("Sort them, ignoring case.", "def items():\n    return sorted([2])\n", "ignores case"),
        ("Add an optional parameter n.", "def items(n):\n    return [n]\n", "go on working"),
        ("Add an optional parameter n.", "def items(n=1):\n    return [n]\n", ""),
    ],
)
def test_what_the_instruction_asks_for_in_so_many_words(
    instruction: str, after: str, said: str
) -> None:
    found = findings("def items():\n    return [1]\n", after, BY_NAME["python"], instruction)
    assert [one.kind for one in found] == (["missing"] if said else [])
    assert not said or said in found[0].text


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        # a word inside of another takes no name away
        ("def total(a):\n    return a\n", "def sums(a):\n    return a + 1\n", "renamed"),
        # another way of writing the same
        (
            "def f(a):\n    b = list()\n    return a, b\n",
            "def f(a):\n    c = []\n    return a, c\n",
            "nothing",
        ),
        (
            "def f(a):\n    b = list()\n    return a, b\n",
            "def f(a):\n    a = []\n    return a, a\n",
            "",
        ),
        (
            "def f(a):\n    return not a in f\n",
            "def f(a: int):\n    return a not in f\n",
            "nothing",
        ),
        ("def f(a):\n    return not a in f\n", "def f(b):\n    return b not in f\n", ""),
        # what a string says beside its escapes is no comment
        ('print("no such thing: %s\\n" % a)\n', 'print("unknown: %s\\n" % a)\n', ""),
        # Python's own types, classes and modules
        (
            "def f(a):\n    return a\n",
            "def f(a):\n    b = []\n    b.add(a)\n    return b\n",
            "library",
        ),
        (
            "def f(a):\n    return a\n",
            "def f(a):\n    a.get(1, 0).append(2)\n    return a\n",
            "library",
        ),
        ("def f(a):\n    return a\n", "def f(a):\n    a.get(1, []).append(2)\n    return a\n", ""),
        (
            "def f(a):\n    return a\n",
            "from math import root\n\ndef f(a):\n    return root(a)\n",
            "library",
        ),
        (
            "def f(a):\n    return a\n",
            "from math import sqrt\n\ndef f(a):\n    return sqrt(a)\n",
            "",
        ),
        ("x = difflib\n", "x = difflib.unified_diff([], [], encoding=1)\n", "library"),
        ("x = difflib\n", "x = difflib.unified_diff([], [], n=1)\n", ""),
        # ways through a function
        (
            "def f(a):\n    return a\n",
            "def f(a):\n    if a:\n        return a\n    print(a)\n",
            "paths",
        ),
        (
            "def f(a):\n    return a\n",
            "def f(a):\n    if a:\n        return a\n    else:\n        raise ValueError(a)\n",
            "",
        ),
        (
            "def f(a):\n    return a\n",
            "def f(a):\n    try:\n        return g(a)\n    except E:\n        return a\n",
            "",
        ),
        (
            "def f(a):\n    return a\n",
            "def f(a):\n    while a:\n        print(1)\n    return a\n",
            "paths",
        ),
        (
            "def f(a):\n    return a\n",
            "def f(a):\n    while a:\n        a -= 1\n    return a\n",
            "",
        ),
        (
            "def f(a):\n    return a\n",
            "def f(a):\n    while a:\n        a.pop()\n    return a\n",
            "",
        ),
        (
            "def f(a):\n    return a\n",
            "def f(a):\n    for b in a:\n        print(b)\n    return b\n",
            "paths",
        ),
        (
            "def f(a):\n    return a\n",
            "def f(a):\n    b = 0\n    for b in a:\n        print(b)\n    return b\n",
            "",
        ),
        (
            "def f(a):\n    return a\n",
            "def f(a):\n    if a:\n        b = 1\n    else:\n        return 2\n    return b\n",
            "",
        ),
    ],
)
def test_what_python_alone_tells(before: str, after: str, kind: str) -> None:
    found = findings(before, after, BY_NAME["python"], "Return what it has to")
    kinds = [one.kind for one in found if one.kind != "undefined"]
    assert kinds == [kind] * bool(kind), found


def test_a_text_that_is_too_deep_to_be_read_has_no_form() -> None:
    before = "x = " + "+".join("1" * 2_000) + "\n"
    assert findings(before, before + "y = 2\n", BY_NAME["python"], "Say it once more") == []


@given(text=st.text(), language=st.sampled_from(LANGUAGES))
def test_an_edit_that_changes_nothing_has_no_finding(text: str, language: object) -> None:
    assert findings(text, text, language) == []  # type: ignore[arg-type]
