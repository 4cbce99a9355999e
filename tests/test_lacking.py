"""What definitions lack, in each language that syntax decides it for."""

from __future__ import annotations

import pytest

from specedit.syntax.lacking import ANNOTATIONS, DOCSTRINGS, lacking
from specedit.syntax.languages import language_of

PYTHON = """\
'''A module.'''
import typing

def bare(): return 1

async def said():
    "Said."

def _private(): return 1

class Box:
    # a comment is no docstring
    x = 1

    def __init__(self):
        def inner(): ...
    @property
    def size(self):
        return 1
    @size.setter
    def size(self, value):
        self.x = value

class _Hidden:
    def method(self): ...

@typing.overload
def more(a): ...
def more(a):
    f"no {a}"
"""
TEXTS = {
    "a.py": (PYTHON, ["bare 4", "Box 11", "size 18", "more 29"]),
    "A.java": (
        """
/** Said. */
@Deprecated
public class A {
    public void bare() {}
    // said
    public int one() { return 1; }
    private void own() {}
    int near() { return 1; }
}
/** Said. */
interface I {

    void call();
}
""",
        ["bare 5"],
    ),
    "a.cs": (
        """
/// <summary>Said.</summary>
public class A {
    /// Said.
    public void One() {}
    [Obsolete]
    public void Bare() {}
    void Own() {}
}
""",
        ["Bare 6"],
    ),
    "a.go": (
        """package a

// Said says it.
func Said() {}

func Bare() {}
func own() {}

// Far away.

type Box struct{}

func (b *Box) Size() int { return 1 }
""",
        ["Bare 6", "Box 11", "Box.Size 13"],
    ),
    "a.rs": (
        """
/// Said.
#[inline]
pub fn said() {}
pub fn bare() {}
fn own() {}
pub struct Box;
""",
        ["bare 5", "Box 7"],
    ),
    "a.ts": (
        """
/** Said. */
export function said(): void {}
export function bare(): void {}
function own(): void {}
/** Said. */
export class Box {
  constructor() {}
  size(): number { return 1 }
  private hidden(): number { return 1 }
}
""",
        ["bare 4", "size 9"],
    ),
}


def _lines(name: str, text: str, wanted: str) -> list[str]:
    """What lacks it, by name and line."""
    lacks = lacking(text, language_of(name, text), wanted)
    assert lacks is not None
    return [f"{one.name} {one.line}" for one in lacks]


@pytest.mark.parametrize(("text", "found"), TEXTS.values(), ids=TEXTS)
def test_documentation(text: str, found: list[str], request: pytest.FixtureRequest) -> None:
    assert _lines(request.node.callspec.id, text, DOCSTRINGS) == found


TYPED = {
    "a.py": (
        "def a(x: int, *y: int, k: str = '') -> int: ...\n"
        "def b(x, y: int) -> int: ...\n"
        "def c(x: int): ...\n"
        "def d(*args) -> int: ...\n"
        "class C:\n"
        "    def __init__(self, x: int): ...\n"
        "    @classmethod\n"
        "    def m(cls) -> int: ...\n"
        "    def n(self): ...\n",
        ["b 2", "c 3", "d 4", "n 9"],
    ),
    "a.ts": (
        "function a(x: number, y = 1): number { return x }\n"
        "function b(x): number { return x }\n"
        "class C { constructor(x: number) {} get y() { return 1 } m() {} }\n",
        ["b 2", "m 3"],
    ),
}


@pytest.mark.parametrize(("text", "found"), TYPED.values(), ids=TYPED)
def test_annotations(text: str, found: list[str], request: pytest.FixtureRequest) -> None:
    assert _lines(request.node.callspec.id, text, ANNOTATIONS) == found


@pytest.mark.parametrize("name", ["a.rb", "a.md", "a.txt"])
def test_what_no_syntax_decides_is_not_said(name: str) -> None:
    assert lacking("def x\nend\n", language_of(name, ""), DOCSTRINGS) is None


def test_a_text_that_does_not_parse_is_not_judged() -> None:
    assert lacking("def x(:\n", language_of("a.py", ""), DOCSTRINGS) is None
