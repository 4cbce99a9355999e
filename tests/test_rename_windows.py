"""A rename in a large file: only windows around the mentions are verified, nothing else moves."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from scripted_backend import Scripted, perform

from specedit.edit.job import Job, Planned
from specedit.edit.report import Edit
from specedit.edit.splice import joined
from specedit.engines.scripted import fenced
from specedit.files.source import Source
from specedit.rename.planning import plan_rename
from specedit.rename.windows import AROUND, spans_of
from specedit.settings import Settings


def text(fillers: int = 240) -> str:
    """A class whose field is used far apart, a comment about it, another thing of that name."""
    filler = [
        f"def filler_{n}(a, b):\n    total = a + b * {n}\n    return total\n"
        for n in range(fillers)
    ]
    parts = [
        "class User:\n    def __init__(self, name):\n        self.username = name\n",
        *filler[: fillers // 2],
        "class Page:\n    def show(self, user: User):\n"
        "        # the username, large\n        return user.username.upper()\n",
        *filler[fillers // 2 :],
        'def label():\n    return "username: "\n',
    ]
    return "\n\n".join(parts)


def model(*pairs: tuple[str, str]) -> Callable[[str], str]:
    """Copies what it is given with replacements, whatever was predicted."""

    def said(prompt: str) -> str:
        block, closing = fenced(prompt.encode())
        found = block.decode()
        for old, new in pairs:
            found = found.replace(old, new)
        return found + closing.decode()

    return said


def renamed(
    said: Callable[[str], str], given: str = "", **chosen: object
) -> tuple[Edit, Job, Scripted]:
    settings = Settings(**chosen)  # type: ignore[arg-type]
    source = Source.from_bytes("a.py", (given or text()).encode())
    planned = plan_rename(source, "username", "email", settings)
    assert isinstance(planned, Job)
    backend = Scripted(said)
    job = planned
    for item in perform(planned, backend, settings):
        job = item.job if isinstance(item, Planned) else job
        edit = item
    assert isinstance(edit, Edit)
    return edit, job, backend


RIGHT = (
    ("self.username", "self.email"),
    ("the username", "the email"),
    ("user.username", "user.email"),
)
WANTED = (
    text()
    .replace("self.username", "self.email")
    .replace("user.username", "user.email")
    .replace("the username", "the email")
)


def test_windows_are_verified_and_the_rest_is_not_read() -> None:
    edit, job, backend = renamed(model(*RIGHT))
    assert edit.after.decode() == WANTED
    assert len(job.regions) == 3, "two definitions, and a string that holds the name"
    assert len(backend.plans) == 3
    assert edit.figures.completion < len(text()) / 4
    assert not any(d.kind in ("disagreed", "dropped") for d in edit.findings)
    assert any(f.kind == "focused" for f in edit.findings)
    assert len(edit.figures.regions) == 3


def test_what_is_predicted_is_the_guess() -> None:
    _, job, _ = renamed(model(*RIGHT))
    predicted = [(one.region, one.expected or "") for one in job.regions]
    assert joined(job.source, predicted) == WANTED


def test_a_place_that_the_model_keeps_in_a_comment_is_kept_and_said() -> None:
    edit, _, _ = renamed(model(RIGHT[0], RIGHT[2]))
    assert "# the username, large" in edit.after.decode()
    assert "disagreed" in [f.kind for f in edit.findings]


def test_what_the_model_wants_beyond_the_scope_is_dropped_and_said() -> None:
    edit, _, _ = renamed(model(*RIGHT, ('"username: "', '"email: "')))
    assert edit.after.decode() == WANTED
    assert "disagreed" in [f.kind for f in edit.findings]


@pytest.mark.parametrize("chosen", [{"focus": "off"}, {"whole": True}], ids=["off", "whole"])
def test_all_of_it_is_verified_where_that_is_asked(chosen: dict[str, object]) -> None:
    edit, job, backend = renamed(model(*RIGHT), **chosen)
    assert job.regions == ()
    assert len(backend.plans) == 1
    assert edit.after.decode() == WANTED


def test_a_small_file_and_a_name_on_most_lines_are_verified_whole() -> None:
    assert renamed(model(*RIGHT), text(10))[1].regions == ()
    crowded = text() + "".join(f"x{n} = User('a').username\n" for n in range(1500))
    assert renamed(model(("username", "email")), crowded)[1].regions == ()


@pytest.mark.parametrize(
    ("numbers", "spans"),
    [
        ([], []),
        ([1], [(1, 5)]),
        ([100], [(96, 100)]),
        ([20, 25], [(16, 29)]),
        ([20, 29], [(16, 33)]),
        ([20, 30], [(16, 24), (26, 34)]),
    ],
)
def test_windows_are_joined_where_they_meet(
    numbers: list[int], spans: list[tuple[int, int]]
) -> None:
    assert AROUND == 4
    assert list(spans_of(numbers, 100)) == spans
