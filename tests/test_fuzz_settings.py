"""Whatever a pyproject.toml or a file of settings holds, it is taken, or refused with words."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from odd import damaged, scalars, target, values

from specedit.errors import SpeceditError
from specedit.hook.rules import KEYS, rules
from specedit.settings import Settings, names, resolve, trust
from specedit.settings.folder import set_user, user_file
from specedit.settings.layers import repository
from specedit.settings.table import about


@pytest.fixture(autouse=True)
def _root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield


def toml(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value) if math.isfinite(value) else "nan"
        case list():
            return f"[{', '.join(map(toml, value))}]"
        case dict():
            return "{" + ", ".join(f"{toml(str(k))} = {toml(v)}" for k, v in value.items()) + "}"
        case _:
            return json.dumps(str(value)).replace("\x7f", "\\u007f")


def table(found: Mapping[str, Any]) -> bytes:
    lines = [f"{name} = {toml(value)}" for name, value in found.items()]
    return "\n".join(["[tool.specedit]", *lines, ""]).encode("utf-8", "replace")


choices = sorted({word for name in names() for word in about(name)["choices"]})
keys = st.sampled_from([*names(), *(name.replace("_", "-") for name in names())])
anything = values | scalars | st.sampled_from(choices)
tables = st.dictionaries(keys, anything, max_size=4).map(table)
rule = st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), values, max_size=4)


def settled() -> None:
    """Settings as everybody gets them; untrusted ones leave power alone."""
    with contextlib.suppress(SpeceditError):
        found = resolve(environ={})
        assert isinstance(found.values, Settings)
        for name in names():
            if about(name)["kind"] == "power":
                assert getattr(found.values, name) == getattr(Settings(), name)
        if found.ignored:
            assert found.in_vain.isprintable() or "\n" not in found.in_vain


@target(damaged(tables) | tables | st.binary(max_size=60))
def test_any_pyproject_is_read_or_refused(data: bytes) -> None:
    Path("pyproject.toml").write_bytes(data)
    settled()


@target(tables)
def test_any_trusted_table_is_taken_or_refused_and_leads_nowhere(data: bytes) -> None:
    Path("pyproject.toml").write_bytes(data)
    with contextlib.suppress(SpeceditError):
        said = repository(Path())
        assert said is not None
        trust.say(Path(), said.digest, trusted=True)
        found = resolve(environ={}).values
        for path in (found.trace, found.prediction):
            if path not in ("", "none", "original"):
                assert Path(path).is_relative_to(Path.cwd())


@target(st.tuples(damaged(tables.map(lambda t: t.partition(b"\n")[2])), keys, anything))
def test_any_file_of_the_user_is_read_changed_or_left(given: tuple[bytes, str, Any]) -> None:
    data, key, value = given
    user_file().write_bytes(data)
    with contextlib.suppress(SpeceditError):
        resolve(environ={})
    with contextlib.suppress(SpeceditError):
        set_user(key.replace("-", "_"), value)
        resolve(environ={})


@target(st.binary(max_size=80) | damaged(st.just(b'{"/x": {"digest": "y", "trusted": true}}')))
def test_any_record_of_trust_is_read_or_counts_for_nothing(data: bytes) -> None:
    trust.record_file().write_bytes(data)
    trust.record_file().chmod(0o600)
    for word in trust.words().values():
        assert isinstance(word.digest, str) and isinstance(word.trusted, bool)


@target(st.lists(rule, max_size=3))
def test_any_rules_are_taken_or_refused(tables: list[dict[str, Any]]) -> None:
    with contextlib.suppress(SpeceditError):
        for one in rules(tables):
            one.wants("src/a.py")


@target(st.dictionaries(keys.map(str.upper), st.text(max_size=12), max_size=3))
def test_any_variables_are_taken_or_refused(found: dict[str, str]) -> None:
    with contextlib.suppress(SpeceditError):
        resolve(environ={f"SPECEDIT_{name}": text for name, text in found.items()})
