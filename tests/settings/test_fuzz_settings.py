"""Whatever a pyproject.toml or a file of settings holds, it is taken, or refused with words."""

import contextlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from odd import Odd, target

from specedit.errors import SpeceditError
from specedit.integrations.hook.hook_rules import VALUES, rules
from specedit.settings import Settings, layers, names, resolve
from specedit.settings.layers import repository, set_user, user_file
from specedit.settings.table import entries, is_restricted


@pytest.fixture(autouse=True)
def _root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def toml(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return hex(value) if value > 10**40 else str(value)
        case float():
            return repr(value) if math.isfinite(value) else "nan"
        case list():
            return f"[{', '.join(map(toml, value))}]"
        case dict():
            return "{" + ", ".join(f"{toml(str(k))} = {toml(v)}" for k, v in value.items()) + "}"
        case _:
            return json.dumps(str(value)).replace("\x7f", "\\u007f")


CHOICES = sorted({word for name in names() for word in entries()[name]["choices"]})
SPELLED = [*names(), *(name.replace("_", "-") for name in names())]


def lines(odd: Odd) -> bytes:
    """A table of settings, most of them of the right kind."""

    def value() -> Any:
        chance = odd.random()
        if chance < 0.3:
            return odd.choice(CHOICES)
        return odd.word() if chance < 0.5 else odd.value(2)

    return _lines(odd.some(SPELLED, value))


def _lines(found: Mapping[str, Any]) -> bytes:
    return "".join(f"{n} = {toml(v)}\n" for n, v in found.items()).encode("utf-8", "replace")


def pyproject(odd: Odd) -> bytes:
    data = b"[tool.specedit]\n" + lines(odd)
    return odd.damaged(data) if odd.random() < 0.6 else data


@target(pyproject)
def test_any_pyproject_is_read_or_refused_and_none_has_power(data):
    Path("pyproject.toml").write_bytes(data)
    with contextlib.suppress(SpeceditError):
        found = resolve(environ={})
        for name in filter(is_restricted, names()):
            assert getattr(found.values, name) == getattr(Settings(), name)
        assert not found.ignored or "ignored" in found.ignored_note


@target(lambda odd: b"[tool.specedit]\n" + lines(odd))
def test_any_trusted_table_is_taken_or_refused_and_leads_nowhere(data):
    Path("pyproject.toml").write_bytes(data)
    with contextlib.suppress(SpeceditError):
        said = repository(Path())
        assert said is not None
        layers.decide(Path(), said.digest, trusted=True)
        found = resolve(environ={}).values
        for path in (found.trace, found.prediction):
            if path not in ("", "none", "original"):
                assert Path(path).is_relative_to(Path.cwd())


@target(lambda odd: (odd.damaged(lines(odd)), odd.choice(names()), odd.value(1)))
def test_any_file_of_the_user_is_read_changed_or_left(given):
    data, name, value = given
    user_file().write_bytes(data)
    with contextlib.suppress(SpeceditError):
        resolve(environ={})
    with contextlib.suppress(SpeceditError):
        set_user(name, value)
        resolve(environ={})


@target(lambda odd: odd.damaged(b'{"/x": {"digest": "y", "trusted": true}}'))
def test_any_record_of_trust_is_read_or_counts_for_nothing(data):
    layers.trusted_file().write_bytes(data)
    layers.trusted_file().chmod(0o600)
    for word in layers.decisions().values():
        assert isinstance(word.digest, str) and isinstance(word.trusted, bool)


def glob(odd: Odd) -> str:
    return "".join(odd.choices("ab*?[]!^-/\\.&~|{}()+$ \n", k=odd.randrange(12)))


def rule_tables(odd: Odd) -> list[dict[str, Any]]:
    if odd.random() < 0.5:
        return [{"instruction": "x", "files": [glob(odd)], "exclude": glob(odd)}]
    return [odd.some([*VALUES, odd.word()], odd.value) for _ in range(odd.randrange(3))]


@target(rule_tables)
def test_any_rules_are_taken_or_refused(tables):
    with contextlib.suppress(SpeceditError):
        for one in rules(tables):
            one.wants("src/a.py")


@target(lambda odd: odd.some([n.upper() for n in [*names(), "x", ""]], odd.word))
def test_any_variables_are_taken_or_refused(found):
    with contextlib.suppress(SpeceditError):
        resolve(environ={f"SPECEDIT_{name}": text for name, text in found.items()})
