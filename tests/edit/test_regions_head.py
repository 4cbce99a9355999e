"""The comment that a file begins with, a licence most often, is a place of its own."""

from collections.abc import Callable

import pytest
from scripted_backend import Scripted, perform
from scripted_engine import fenced

from specedit.edit.job import plan_edit
from specedit.edit.regions.blocks import MAX_BLOCK_LINES, blocks_of
from specedit.edit.regions.choice import grouped
from specedit.edit.regions.evidence import evidence_of
from specedit.edit.report import Edit
from specedit.files.source import Source
from specedit.settings import Settings
from specedit.syntax.languages import language_of

LICENCE = "Use of total and count\n{0} is granted to all who weigh fruit.\n{0} No limit."


def heads(text: str, name: str) -> list[tuple[int, int, str]]:
    found = blocks_of(text, language_of(name))
    return [(one.first, one.last, one.kind) for one in found[:2]]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.py", "#!/bin/x\n# L\n\nimport os\n", [(1, 3, "comment"), (4, 4, "imports")]),
        ("a.py", "import os\n# L\n", [(1, 2, "imports")]),
        ("a.py", '"""What."""\n\nimport os\n', [(1, 3, "imports")]),
        ("a.py", "# all of it\n# is one\n", [(1, 2, "lines")]),
        ("a.py", "# L\n\n# about f\ndef f():\n    pass\n", [(1, 2, "comment"), (3, 5, "function")]),
        ("a.py", "# about f\ndef f():\n    pass\n", [(1, 3, "function")]),
        ("a.h", "/* L\n   M */\n#include <a>\n", [(1, 2, "comment"), (3, 3, "imports")]),
        ("a.h", "/* L */ int x;\n/* M */\n#include <a>\n", [(1, 3, "imports")]),
        ("a.h", "#pragma once\n// L\n\n#include <a>\n", [(1, 4, "imports")]),
        ("a.go", "// L\n\n// Package a is.\npackage a\n", [(1, 3, "comment"), (4, 4, "imports")]),
        ("a.ts", "/*\n L\n*/\n\nimport a from 'a'\n", [(1, 4, "comment"), (5, 5, "imports")]),
        ("a.rs", "#![no_std]\nuse a::b;\n", [(1, 2, "imports")]),
    ],
)
def test_the_comment_at_the_head_is_a_block(name, text, expected):
    assert heads(text, name) == expected


def test_a_long_one_is_cut_and_nothing_of_it_is_lost():
    text = "".join(f"# {n}\n" for n in range(3 * MAX_BLOCK_LINES)) + "import os\n"
    found = blocks_of(text, language_of("a.py"))
    assert max(one.lines for one in found) <= MAX_BLOCK_LINES
    assert [n for one in found for n in range(one.first, one.last + 1)] == list(
        range(1, 3 * MAX_BLOCK_LINES + 2)
    )
    assert {one.kind for one in found[:-1]} == {"comment"}


def file(comment: str = "#") -> str:
    licence = f"{comment} " + LICENCE.format(comment)
    rest = "\n\n".join(
        f"def weigh_{n}(basket):\n    return LIMIT + basket.fruit[{n}]\n" for n in range(200)
    )
    return f"{licence}\n\nimport os\nimport sys\n\nLOWEST = 10\nLIMIT = 10\n\n\n{rest}"


@pytest.mark.parametrize(
    ("instruction", "counts"),
    [
        ("Weigh the total of all fruit without limit", False),
        ('Say "who weigh fruit." less often', True),
        ("Mention the total of fruit in the licence", True),
        ("Change the year of the copyright", False),  # none of its words are there
    ],
)
def test_its_words_count_where_the_instruction_is_about_it(instruction, counts):
    found = blocks_of(file(), language_of("a.py"))
    head = evidence_of(file(), found, instruction)[0]
    assert head.block.kind == "comment"
    assert head.any == counts


def test_it_is_no_part_of_the_region_behind_it():
    found = blocks_of(file(), language_of("a.py"))
    assert [len(held) for held in grouped(found[:2], MAX_BLOCK_LINES)] == [1, 1]


def dropping(prompt: str) -> str:
    """A model that writes what is at the head anew, and leaves out its comments."""
    if "Which parts will be changed?" in prompt:
        return "imports 5-10\n```"
    block, closing = fenced(prompt.encode())
    kept = [one for one in block.decode().splitlines(True) if not one.startswith("#")]
    return "".join(kept).replace("LOWEST = 10", "LOWEST = 7000") + closing.decode()


def edited(said: Callable[[str], str], instruction: str) -> Edit:
    job = plan_edit(Source.from_bytes("a.py", file().encode()), instruction, Settings())
    edit = perform(job, Scripted(said), Settings())
    assert isinstance(edit, Edit)
    return edit


def test_a_licence_outlives_an_edit_of_the_imports():
    edit = edited(dropping, "Let `LOWEST` be 7000")
    assert edit.figures.regions
    assert edit.after == file().replace("LOWEST = 10", "LOWEST = 7000").encode()
