"""Cases of new text for `specedit bench --drafters`: nothing in the prompt says what comes.

`functions` adds to a small file; `text` is asked for out of nothing, as `specedit ask` would.
"""

from __future__ import annotations

from specedit.bench.cases import Case

FILE = '''"""A list of things that can be borrowed."""

from dataclasses import dataclass, field


@dataclass
class Item:
    name: str
    copies: int = 1
    lent: list[str] = field(default_factory=list)

    def free(self) -> int:
        return self.copies - len(self.lent)


class Shelf:
    def __init__(self) -> None:
        self._items: dict[str, Item] = {}

    def add(self, name: str, copies: int = 1) -> Item:
        item = self._items.setdefault(name, Item(name, 0))
        item.copies += copies
        return item
'''

FUNCTIONS = (
    "Add a method `lend(name, person)` to Shelf that raises KeyError for an unknown item and "
    "ValueError when no copy is free.",
    "Add a function `as_csv(shelf)` that returns all items as CSV text with a header.",
    "Add a method `overdue(days)` to Shelf that says who has kept something for too long; keep "
    "the date of each loan for it.",
    "Add a function `load(path)` that reads a shelf from a JSON file and checks what it reads.",
)
TEXTS = (
    "Write a Python function that merges overlapping intervals, with type hints and a docstring.",
    "Write a Python class for a least recently used cache with get and put in constant time.",
    "Write a Python function that parses an INI file by hand, with errors that name the line.",
    "Write a Python function that finds the shortest way through a grid with walls.",
)

NAMES = ("functions", "text")


def cases(name: str) -> list[Case]:
    """The cases of one of NAMES."""
    if name == "functions":
        return [
            Case(f"functions/{n}", "shelf.py", asked, FILE, kind=name)
            for n, asked in enumerate(FUNCTIONS)
        ]
    return [Case(f"text/{n}", "new.py", asked, "", kind=name) for n, asked in enumerate(TEXTS)]
