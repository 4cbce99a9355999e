"""No change keeps `apply` busy: its work is counted, and beyond a limit the change is refused."""

import random

import pytest
from effort import FULL

from specedit.edit.apply.apply_plan import changes_of, parts_of, plan_apply
from specedit.edit.job import Job
from specedit.errors import SpeceditError
from specedit.files.source import Source
from specedit.settings import Settings
from specedit.syntax import work

PIECES = (
    "x\n", "x = 1\n", "\n", "...\n", "# ...\n", "    # ... existing code ...\n", "// ...\n",
    "=======\n", "<<<<<<< SEARCH\n", ">>>>>>> REPLACE\n", "```\n", "  ```\n", "```python\n",
    "--- a/a.py\n", "+++ b/a.py\n", "@@ -1,3 +1,3 @@\n", "@@\n", "-x = 1\n", "+x = 2\n", " x = 1\n",
    "diff --git a/a.py b/a.py\n", "*** Update File: a.py\n", "def f(a):\n    return a\n",
    "class A:\n    def f(self):\n        return 1\n", "def f(a):\n    # ...\n", "    return a\n",
    "{\n", "}\n", "if x: {\n    y();\n}\n", '"""\n', "\'\'\'\n", "*/\n", "# removed f\n", "\t\tx\n",
    "import a\n", "a" * 300 + "\n", "é\u2028\r\n", "(" * 50 + "\n", "x = [1, 2, 3, 4, 5, 6, 7]\n",
    '{"path": "a.py", "old_string": "x", "new_string": "y"}\n',
)  # fmt: skip
PAIRS, SIZE = (300, 60_000) if FULL else (12, 6_000)  # characters


def awkward(seed: random.Random, size: int) -> str:
    """A text of a few pieces, each of which may be there thousands of times."""
    text = ""
    while not text or seed.random() < 0.6:
        few = seed.sample(PIECES, seed.choice((1, 1, 2, 3, 5)))
        count = seed.choice((1, 1, 1, 2, 3, 10, 100, 1_000, 3_000))
        mixed = seed.random() < 0.3
        text += "".join(seed.choice(few) for _ in range(count)) if mixed else "".join(few) * count
    return text[:size]


@pytest.mark.parametrize(
    ("pairs", "size"),
    [(PAIRS, SIZE), pytest.param(5_000, 200_000, marks=pytest.mark.long)],
    ids=["some", "all"],
)
def test_the_work_of_awkward_changes_is_limited(pairs, size, monkeypatch):
    steps: list[float] = []

    class Counted(work.Work):
        def __setattr__(self, name: str, value: object) -> None:
            if name == "steps":
                steps.append(value - getattr(self, "steps", 0))  # type: ignore[operator]
            super().__setattr__(name, value)

    monkeypatch.setattr(work, "Work", Counted)
    assert len(PIECES) == 40
    for number in range(pairs):
        seed = random.Random(number)
        name = seed.choice(("a.py", "a.ts", "a.txt", "a.c"))
        before, change = awkward(seed, size), awkward(seed, size)
        steps.clear()
        try:
            source = Source.from_bytes(name, before.encode())
            planned = plan_apply(source, parts_of(changes_of(change), name), Settings())
            if isinstance(planned, Job) and planned.known is not None:
                planned.check(planned.known)
        except SpeceditError:
            pass
        assert sum(steps) - max(steps, default=0) <= 2 * work.MAX_STEPS, number  # read, and merged


LINES = "x = 1\n" * 10_000
ROWS = LINES.removesuffix("\n").replace("\n", "\n ")
STAYS = "    # ... existing code ...\n"
LARGE = {  # the file, the change, whether it is refused
    "a hunk of 10,000 equal lines of 20,000": (
        LINES * 2, f"@@ -1,10000 +1,10001 @@\n {ROWS}\n+y\n", True
    ),
    "a hunk of 10,000 lines in 5,000": (
        LINES[:30_000], f"@@ -1,10000 +1,10001 @@\n {ROWS}\n+y\n", False
    ),
    "a line of 60,000 characters": (f"x = '{'ab' * 30_000}'\n", f"x = '{'ba' * 30_000}'\n", False),
    "lines with thousands of places": (STAYS * 2, f"{STAYS}@@\n*/\n# removed f\n\n" * 900, True),
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_a_large_change_is_merged_or_refused_within_the_limit(name):
    before, change, refused = LARGE[name]
    source = Source.from_bytes("a.py", before.encode())
    try:
        plan_apply(source, parts_of(changes_of(change), "a.py"), Settings())
    except SpeceditError as error:
        assert refused and "too much work" in str(error)
    else:
        assert not refused


def test_a_block_without_lines_beside_another_is_no_bug():
    source = Source.from_bytes("a.py", b"x = 1\n")
    parts = parts_of(changes_of("```\n```\n\n```\nx = 2\n```\n"), "a.py")
    assert isinstance(plan_apply(source, parts, Settings()), Job)
