"""fixtures/<case>/: case.toml, before.EXT, after.EXT. A new case is three files and no Python."""

import tomllib
from pathlib import Path

import pytest

from specedit.check.answer import check_answer
from specedit.files.source import Source, read
from specedit.rename.places import rename_places

ROOT = Path(__file__).parent.parent / "fixtures"
CASES = sorted(path.parent for path in ROOT.glob("*/case.toml"))


def _read(case: Path) -> tuple[dict[str, object], Source, Source]:
    (before,) = case.glob("before.*")
    (after,) = case.glob("after.*")
    return tomllib.loads((case / "case.toml").read_text("utf-8")), read(before), read(after)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_outcome_is_what_the_case_says(case):
    said, before, after = _read(case)
    if said["command"] == "rename":
        guess = rename_places(
            before.text, before.language, str(said["old"]), str(said["new"]),
            str(said.get("scope", "comments")), said.get("line"),  # type: ignore[arg-type]
        )  # fmt: skip
        assert guess.text == after.text
        for outside in said.get("outside", []):  # type: ignore[attr-defined]
            assert outside in [str(one) for one in guess.outside]
    problems = check_answer(
        before.text, after.text, before.language, str(said.get("instruction", ""))
    )
    assert [one for one in problems if one.refuses] == []
    assert before.encode(before.text) == before.data
