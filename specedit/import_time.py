"""Values and patterns that take little time to import.

An edit imports 180 modules of this package. Most of that time would go into `dataclass`, which
compiles six functions for each class (0.35 ms), and into regular expressions (0.2 ms each), most of
which the edit never uses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, AnyStr, TypeVar, cast, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """`@dataclass(frozen=True)`, of which only `__init__` is compiled. Equality, hash and text are
    functions of all classes. That no field is assigned to is checked by mypy alone."""
    cls.__doc__ = cls.__doc__ or cls.__name__  # else `dataclass` makes one of the signature
    made: Any = dataclass(eq=False, repr=False)(cls)
    made._compared = attrgetter(*(name.name for name in fields(made) if name.compare))
    made.__eq__, made.__hash__, made.__repr__ = _equal, _hash, _text
    return cls


def _equal(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self._compared(self) == self._compared(other)


def _hash(self: Any) -> int:
    return hash(self._compared(self))


@recursive_repr()
def _text(self: Any) -> str:
    shown = [f"{name.name}={getattr(self, name.name)!r}" for name in fields(self) if name.repr]
    return f"{type(self).__qualname__}({', '.join(shown)})"


def regex(expression: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """`re.compile`, done when the pattern is first used."""
    return cast("re.Pattern[AnyStr]", _Pattern(expression, flags))


class _Pattern:
    def __init__(self, *arguments: Any) -> None:
        self._arguments = arguments

    def __getattr__(self, name: str) -> Any:
        method = getattr(re.compile(*self._arguments), name)
        setattr(self, name, method)  # the next use of this method does not come here
        return method
