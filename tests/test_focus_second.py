"""What becomes of an answer for places that is refused, and what a second round may change."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from scripted_backend import Scripted

from specedit.edit.answering import perform
from specedit.edit.job import plan_edit
from specedit.engines.scripted import fenced
from specedit.files.source import Source
from specedit.focus.blocks import blocks
from specedit.focus.neighbours import Placed, drawn
from specedit.focus.pertinence import pertinent
from specedit.report import Edit
from specedit.settings import Settings
from specedit.syntax.trees import language_of


def text(functions: int = 90) -> str:
    parts = [
        f"def weigh_{n}(items):\n    total = {n}\n    for item in items:\n"
        f"        total += item.grams * {n}\n    return total\n"
        for n in range(functions)
    ]
    return "\n\n".join(['"""What is weighed."""\n\nimport os\n', *parts])


NAMED = "Let weigh_4 start at 99"


def model(
    places: Callable[[str], str],
    wider: Callable[[str], str] = str,
    second: Callable[[str], str] = str,
) -> Callable[[str], str]:
    """What it writes for a place, for a wider one, and for what is looked at again."""

    def said(prompt: str) -> str:
        block, closing = fenced(prompt.encode())
        given = block.decode()
        if "Elsewhere in the file this is done already" in prompt:
            return second(given) + closing.decode()
        alone = given.count("def ") == 1
        return (places if alone else wider)(given) + closing.decode()

    return said


def performed(
    said: Callable[[str], str], instruction: str = NAMED, before: str = "", **chosen: object
) -> tuple[Edit, Scripted]:
    settings = Settings(**chosen)  # type: ignore[arg-type]
    backend = Scripted(said)
    source = Source.from_bytes("a.py", (before or text()).encode())
    *_, edit = perform(plan_edit(source, instruction, settings), backend, settings)
    assert isinstance(edit, Edit)
    return edit, backend


def right(given: str) -> str:
    return given.replace("total = 4\n", "total = 99\n")


def broken(given: str) -> str:
    return given.replace("(items):", "(items:", 1)


def test_a_place_whose_answer_is_refused_is_asked_about_with_more_around_it() -> None:
    edit, backend = performed(model(broken, right))
    assert edit.status == "would-edit"
    assert edit.after == right(text()).encode()
    assert [one.kind for one in edit.findings] == ["focused", "focused"]
    assert "weigh_4" in edit.findings[1].text
    assert "does not parse" in edit.findings[1].text
    (region,) = edit.figures.regions
    first, last = region.lines
    lines = text().splitlines()
    assert "def weigh_4(items):" in lines[first + 20 : last - 20]
    assert last - first < 120
    at_once, _ = performed(model(right, right))
    assert edit.figures.completion > 4 * at_once.figures.completion  # both answers count
    assert len(backend.plans) == 2


@pytest.mark.parametrize(
    ("places", "chosen"),
    [(right, {}), (str, {}), (broken, {"max_tokens": 5}), (broken, {"whole": True})],
    ids=["it is right", "nothing changed", "cut off", "--whole"],
)
def test_nothing_is_asked_again_else(
    places: Callable[[str], str], chosen: dict[str, object]
) -> None:
    _, backend = performed(model(places, str), **chosen)  # type: ignore[arg-type]
    assert len(backend.plans) == 1


def test_what_is_refused_again_is_refused() -> None:
    edit, backend = performed(model(broken, broken))
    assert edit.status == "refused"
    assert len(backend.plans) == 2


def test_what_a_person_named_is_not_made_wider() -> None:
    settings = Settings()
    source = Source.from_bytes("a.py", text().encode())
    backend = Scripted(model(broken, right))
    *_, edit = perform(plan_edit(source, NAMED, settings, symbol="weigh_4"), backend, settings)
    assert isinstance(edit, Edit)
    assert edit.status == "refused"
    assert len(backend.plans) == 1


def floor(given: str) -> str:
    return given.replace("total = 4\n", "total = math.floor(4)\n")


def test_a_second_round_changes_what_it_is_for_and_nothing_else() -> None:
    def again(given: str) -> str:
        return "import math\nimport os\n"  # and the doc string is gone

    edit, _ = performed(model(floor, second=again), "Let weigh_4 floor its start")
    assert (
        edit.after == floor(text()).replace("import os\n", "import math\nimport os\n", 1).encode()
    )
    assert [one.round for one in edit.figures.regions] == [1, 2]


def test_what_does_not_parse_asks_for_nothing() -> None:
    edit, backend = performed(
        model(lambda given: broken(floor(given)), broken), "Let weigh_4 floor its start"
    )
    assert edit.status == "refused"
    assert len(backend.plans) == 2  # the place, and a wider one


@pytest.mark.parametrize(
    ("before", "after", "name", "expected"),
    [
        ("a\nb\n", "a\nimport x\nb\n", "x", "a\nimport x\nb\n"),
        ("a\nb\n", "a\nb\n", "x", "a\nb\n"),
        ("a\nb\n", "A\nb\nimport x\n", "x", "a\nb\nimport x\n"),
        ("from a import b\n", "from a import b, x\n", "x", "from a import b, x\n"),
        ("a\nb\nc\n", "import x\n", "x", "a\nb\nc\nimport x\n"),
        (
            "#include <a>\n",
            "#include <a>\n#include <b.h>\n",
            "strlen",
            "#include <a>\n#include <b.h>\n",
        ),
        ("y = f(1)\nz\n", "y = f(1, 2)\nZ\n", "f", "y = f(1, 2)\nZ\n"),
        ("y = f(1)\nq\nz\n", "y = f(1, 2)\nq\nZ\n", "f", "y = f(1, 2)\nq\nz\n"),
        ("y = f(1)\nz\n", "z\n", "f", "z\n"),
        ("a\n", "a\nprefix\n", "fix", "a\n"),
        ("a\n", "b\n", "", "b\n"),
        ("a\n", "a\nimport x", "x", "a\nimport x\n"),
    ],
)
def test_what_holds_the_name_is_kept(before: str, after: str, name: str, expected: str) -> None:
    assert pertinent(before, after, name, imports=True) == expected


def test_an_import_without_the_name_is_kept_where_imports_name_nothing() -> None:
    include, other = "#include <b>\nz\n", "import q\nz\n"
    assert pertinent("z\n", include, "f", imports=True) == include
    assert pertinent("z\n", include, "f") == "z\n"
    assert pertinent("z\n", other, "f", imports=True) == "z\n"


def test_a_method_that_is_added_brings_its_own_name() -> None:
    before = "import x from 'x'\n\nclass A {\n  get body () {\n    return x()\n  }\n}\n"
    found = blocks(before, language_of("a.js"))
    one = next(block for block in found if block.name == "A.body")
    old = "  get body () {\n    return x()\n  }\n"
    for more, asked in (("return 1", []), ("return other(1)", [""])):
        new = f"{old}\n  get empty () {{\n    {more}\n  }}\n"
        assert [d.block.name for d in drawn(before, found, [Placed((one,), old, new)])] == asked
