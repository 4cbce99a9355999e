"""`specedit.import_time`: its values are frozen dataclasses, its patterns are those of `re`."""

from __future__ import annotations

import re
from dataclasses import asdict, field, replace
from importlib import import_module
from pathlib import Path

import pytest

import specedit
from specedit.import_time import frozen, regex


@frozen
class Place:
    line: int
    names: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False, repr=False)


@frozen
class Named(Place):
    """One with a field more."""

    of: Place | None = None


def test_values_are_equal_by_the_fields_that_are_compared() -> None:
    assert Place(1, ("a",), 2.0) == Place(1, ("a",), 3.0) != Place(2, ("a",))
    assert {Place(1), Place(1, (), 5.0), Place(2)} == {Place(2), Place(1)}
    assert Place(1) != Named(1) and Named(1, of=Place(2)) != Named(1)
    assert len({Named(1, of=Place(2)), Named(1, of=Place(2)), Named(1)}) == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(Place(1, ["a"]))  # type: ignore[arg-type]


def test_values_are_dataclasses_and_show_their_fields() -> None:
    one = replace(Named(1, of=Place(2, ("a",))), line=3)
    assert repr(one) == "Named(line=3, names=(), of=Place(line=2, names=('a',)))"
    assert asdict(one)["of"] == {"line": 2, "names": ("a",), "seconds": 0.0}
    assert (Place.__doc__, Named.__doc__) == ("Place", "One with a field more.")
    match one:
        case Named(line, _, _, of):
            assert (line, of) == (3, Place(2, ("a",)))


def test_a_pattern_is_compiled_when_it_is_used() -> None:
    broken = regex("(")
    with pytest.raises(re.error):
        broken.search("")
    word = regex(r"(?P<first>\w)\w*", re.ASCII)
    assert [one["first"] for one in word.finditer("ab é cd")] == ["a", "c"]
    assert (word.sub("", "ab é"), word.groups, word.pattern) == (" é", 1, r"(?P<first>\w)\w*")
    assert regex(rb"\w").findall(b"ab") == [b"a", b"b"]


def test_every_pattern_of_the_package_can_be_compiled() -> None:
    package = Path(specedit.__file__).parent
    users = [path for path in package.rglob("*.py") if "= regex(" in path.read_text("utf-8")]
    names = [".".join(path.relative_to(package.parent).with_suffix("").parts) for path in users]
    assert len(names) > 20
    for name in names:
        for item in vars(import_module(name)).values():
            for one in item if isinstance(item, tuple | list) else (item,):
                if isinstance(one, type(regex(""))):
                    assert one.pattern
