"""Tables of cases in TOML files: whole source texts, as they are, without Python's quotes."""

import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]


@cache
def read_file(file: str) -> dict[str, Any]:
    """What a TOML file below tests/ says."""
    return tomllib.loads((TESTS / file).read_bytes().decode())


def read_texts(file: str) -> dict[str, str]:
    """The texts of a file by name: sources that several cases begin from."""
    return read_file(file).get("texts", {})


def read_cases(file: str, table: str) -> dict[str, dict[str, Any]]:
    """The cases of a table by name; a value that names one of the file's `texts` is that text."""
    texts = read_texts(file)

    def resolved(value: Any) -> Any:
        return texts.get(value, value) if isinstance(value, str) else value

    return {
        name: {field: resolved(value) for field, value in case.items()}
        for name, case in read_file(file)[table].items()
    }


def cases(file: str, table: str) -> pytest.MarkDecorator:
    """Run a test for each case of a table; a field that a case leaves out is None."""
    found = read_cases(file, table)
    fields = list(dict.fromkeys(field for case in found.values() for field in case))
    rows = [tuple(case.get(field) for field in fields) for case in found.values()]
    return pytest.mark.parametrize(fields, rows, ids=list(found))


def rows(fields: str) -> Callable[[Any], Any]:
    """Run a test for each row of the table that has the test's name, in the TOML file that has its
    module's: a list of rows, or rows by name."""

    def with_rows(test: Any) -> Any:
        path = Path(test.__code__.co_filename)
        file = path.relative_to(TESTS).with_name(f"{path.stem.removeprefix('test_')}.toml")
        found = read_file(str(file))[test.__name__.removeprefix("test_")]
        names, ids = fields.split(), list(found) if isinstance(found, dict) else None
        values = list(found.values()) if isinstance(found, dict) else found
        return pytest.mark.parametrize(names if names[1:] else fields, values, ids=ids)(test)

    return with_rows


def changed(text: str, *pairs: Sequence[str]) -> str:
    """The text with each old part replaced by its new one."""
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text
