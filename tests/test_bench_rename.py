"""`specedit bench --rename`: three ways of renaming, counted; the model is a script."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specedit.bench.ask import run
from specedit.bench.wanted import Wanted
from specedit.errors import InputError
from specedit.settings import resolve

Script = Callable[..., Path]
BEFORE = "name = 1\nprint(name)\n"
AFTER = "label = 1\nprint(label)\n"
WANTED = Wanted("none", kinds=("line",), lines=(50,), languages=("python",), rounds=1, half="all")


def measured(tmp_path: Path, **case: object) -> dict[str, Any]:
    path = tmp_path / "renames.jsonl"
    whole = {"id": "a", "language": "python", "filename": "a.py", "before": BEFORE, "after": AFTER}
    path.write_text(json.dumps({**whole, "old_name": "name", "new_name": "label", **case}))
    found = run(replace(WANTED, renames=(path,)), resolve({}).values, lambda text: None)
    renames: dict[str, Any] = found.json["renames"]
    return renames


@pytest.mark.parametrize(
    ("answer", "warned"),
    [(AFTER, False), (AFTER.replace("= 1", "= 3"), True), (BEFORE, True)],
    ids=["agrees", "wants more", "wants less"],
)
def test_the_tool_is_right_and_says_where_the_model_disagrees(
    script: Script, tmp_path: Path, answer: str, warned: bool
) -> None:
    script(answer=answer + "```")
    found = measured(tmp_path)
    total = found["rows"][-1]
    assert (total["search_right"], total["tree_right"]) == (1, 1)
    full = found["cases"][0]["full"]
    assert full["warned"] == warned == bool(full["said"])
    if answer != BEFORE:
        assert (total["full_right"], total["full_kept"]) == (1, 1)


def test_a_taken_name_is_refused_and_nothing_is_asked(script: Script, tmp_path: Path) -> None:
    script(answer=AFTER + "```")
    found = measured(tmp_path, before=BEFORE + "label = 3\n")
    assert found["rows"][-1]["full_refused"] == 1
    assert found["passes"] == 0


def test_what_is_no_rename_is_named(script: Script, tmp_path: Path) -> None:
    script(answer="")
    path = tmp_path / "renames.jsonl"
    path.write_text('{"id": "a"}')
    with pytest.raises(InputError, match=r"renames.jsonl:1: .*language"):
        run(replace(WANTED, renames=(path,)), resolve({}).values, lambda text: None)
    with pytest.raises(InputError, match="No such file"):
        run(replace(WANTED, renames=(tmp_path / "none",)), resolve({}).values, lambda text: None)
