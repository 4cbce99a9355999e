"""Renames against ground truth: search-and-replace, `rename --no-model`, and the full tool.

    python -m benchmarks.rename.cases rename.jsonl --half odd
    python -m benchmarks.rename.cases rename.jsonl --model --out renames.jsonl

A case has `before`, `after`, `language`, `filename`, `old_name`, `new_name` (or `rename_pairs`) and
perhaps `line`. It is right when the text is exactly `after`.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.common import parser, part, recorded, run, settings_of
from benchmarks.speed.cases import records, require_texts
from specedit import Editor
from specedit.errors import InputError, SpeceditError
from specedit.files.source import Source


@dataclass(frozen=True)
class RenameCase:
    """One rename whose result is known. Commits may rename several names at once."""

    id: str
    language: str
    filename: str
    before: str
    after: str
    pairs: tuple[tuple[str, str], ...]
    line: int | None


def load(path: Path) -> list[RenameCase]:
    cases = []
    for where, record in records(path):
        require_texts(record, where, "language", "filename", "before", "after")
        try:
            pairs = record.get("rename_pairs") or [(record["old_name"], record["new_name"])]
            named = tuple((str(old), str(new)) for old, new, *_ in pairs)  # and how often
        except (KeyError, TypeError, ValueError) as problem:
            raise InputError(f"{where}: not a rename: {problem}") from None
        language, filename = record["language"], record["filename"]
        before, after, line = record["before"], record["after"], record.get("line")
        name = str(record.get("id", where))
        cases.append(RenameCase(name, language, filename, before, after, named, line))
    return cases


def search_and_replace(case: RenameCase) -> str:
    """Every whole word, wherever it stands."""
    text = case.before
    for old, new in case.pairs:
        replacement = new.replace("\\", r"\\")
        text = re.sub(rf"(?<![\w$]){re.escape(old)}(?![\w$])", replacement, text)
    return text


def renamed(editor: Editor, case: RenameCase) -> dict[str, Any]:
    """The verdict on specedit's rename."""
    text, notes = case.before, []
    for old, new in case.pairs:
        source = Source.from_bytes(case.filename, text.encode("utf-8", "surrogatepass"))
        try:
            edit = editor.rename(old, new, source, line=case.line)
        except SpeceditError as problem:
            return _result(case, None, str(problem))
        if edit.problems:
            return _result(case, None, *edit.problems)
        text = edit.after.decode("utf-8", "surrogatepass")
        notes += [finding.text for finding in edit.findings if finding.warns]
    return _result(case, text, *notes)


def _result(case: RenameCase, text: str | None, *notes: str) -> dict[str, Any]:
    return {
        "right": text == case.after,
        "refused": text is None,
        "warned": bool(notes),
        "notes": list(notes),
    }


def measured(case: RenameCase, editors: dict[str, Editor]) -> dict[str, Any]:
    """One case, every way of renaming."""
    started = time.perf_counter()
    ways = {way: renamed(editor, case) for way, editor in editors.items()}
    search = search_and_replace(case) == case.after
    seconds = round(time.perf_counter() - started, 3)
    return {"language": case.language, "search": search, "ways": ways, "seconds": seconds}


def table(rows: Iterable[dict[str, Any]]) -> str:
    """Counts by language: right, refused, and wrong without a message."""
    counts: dict[str, Counter[str]] = {}
    ways: list[str] = []
    for row in rows:
        ways = list(row["ways"])
        for group in (row["language"], "all"):
            count = counts.setdefault(group, Counter())
            count["cases"] += 1
            count["search"] += row["search"]
            for way, found in row["ways"].items():
                count[way] += found["right"]
                count[f"{way}: refused"] += found["refused"]
                count[f"{way}: silent"] += not (found["right"] or found["warned"])
    columns = ["cases", "search"]
    columns += [column for way in ways for column in (way, f"{way}: refused", f"{way}: silent")]
    lines = ["".join(f"{name:>18}" for name in ("language", *columns))]
    for group in sorted(counts, key=lambda name: (name == "all", name)):
        cells = (group, *(counts[group][column] for column in columns))
        lines.append("".join(f"{cell:>18}" for cell in cells))
    return "\n".join(lines)


def main() -> int:
    made = parser(__doc__)
    made.add_argument("--model", action="store_true", help="the full tool, too")
    options = made.parse_args()
    cases = {case.id: case for case in part(load(options.cases), options)}
    editors = {"no-model": Editor(**settings_of(options, scope="code", no_model=True))}
    if options.model:
        editors["model"] = Editor(**settings_of(options, scope="code"))
    try:
        rows = list(recorded(options.out, cases, lambda name: measured(cases[name], editors)))
    finally:
        for editor in editors.values():
            editor.close()
    print(table(rows))
    return 0


if __name__ == "__main__":
    run(main)
