"""Every line of the manual's page on trust has tests, and they are there."""

import ast
import re
from pathlib import Path

import pytest
from case_files import read_file

from specedit import manual

TESTS = Path(__file__).parent
LINE = re.compile(r"^- \*\*(.+?)\*\*", re.MULTILINE)

PROOFS = read_file("threats.toml")


def lines() -> list[str]:
    return LINE.findall(manual.page("trust"))


def test_every_line_has_its_proof_and_every_proof_its_line():
    assert lines() == list(PROOFS)
    assert len(lines()) == manual.page("trust").count("\n- ")


@pytest.mark.parametrize("line", PROOFS)
def test_the_tests_of_a_line_are_there(line):
    assert PROOFS[line]
    for proof in PROOFS[line]:
        file, _, name = proof.partition("::")
        assert name in functions_in(next(TESTS.rglob(file))), proof


def functions_in(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return {node.name for node in functions if node.name.startswith("test")}


def test_the_page_names_the_open_settings():
    from specedit.settings import names
    from specedit.settings.table import is_restricted

    (said,) = re.findall(r"^- \*\*Open settings\*\*(.*?)^- ", manual.page("trust"), re.S | re.M)
    named = set(re.findall(r"`(\w+)`", said))
    open_settings = {name for name in names() if not is_restricted(name)}
    assert named == open_settings - {"hook"}
