"""Edits on real files: how many are right, partly right, refused and wrong, and at what cost.

    python -m benchmarks.edits DATA --half even --out today.jsonl
    python -m benchmarks.edits DATA --half even --set whole=true --out whole.jsonl
    python -m benchmarks.edits --table today.jsonl whole.jsonl
    python -m benchmarks.edits DATA --judge today.jsonl --out again.jsonl

DATA is the folder of the evaluation data. Every edit is one call of the Python API on a file that
is alone in a temporary folder, without a test command.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path
from typing import Any

from benchmarks.common import HALVES, edited_alone, parser, recorded, rows, run, settings_of
from benchmarks.edits.case import Case, Judgement, judged, original
from benchmarks.edits.cases import all_cases, half
from benchmarks.edits.table import tables
from specedit import Editor

SHOWN = 60  # lines of a diff


def edited(editor: Editor, case: Case, data: Path) -> dict[str, Any]:
    """One edit, and what it is worth."""
    file = original(data, case.file)
    row = edited_alone(editor, case.instruction, file.name, file.text)
    row = {"kind": case.kind, "language": case.language, **row, "lines": file.text.count("\n")}
    return {**row, **verdict(case, data, row)}


def verdict(case: Case, data: Path, row: dict[str, Any]) -> dict[str, Any]:
    """The part of a row that the judge writes."""
    file = original(data, case.file)
    answer = row["answer"]
    found = judged(case, file, answer) if answer is not None else Judgement("unchanged")
    reported = found.verdict if answer != file.text else "unchanged"
    shown: dict[str, Any] = {"verdict": reported, "reasons": list(found.reasons)}
    if row["status"] in ("refused", "failed"):
        shown |= {"verdict": "refused", "refused_verdict": reported if answer is not None else ""}
    diff = list(
        difflib.unified_diff(file.text.split("\n"), (answer or file.text).split("\n"), lineterm="")
    )
    more = [f"... {len(diff) - SHOWN} lines"] if len(diff) > SHOWN else []
    return {**shown, "diff": "\n".join([*diff[:SHOWN], *more])}


def main() -> int:
    if sys.argv[1:2] == ["--table"]:
        for path in sys.argv[2:]:
            print(tables(path, rows(Path(path))))
        return 0
    options = _parser().parse_args()
    cases = {case.id: case for case in chosen(options)}
    if options.judge:
        known = {row["id"]: row for row in rows(options.judge)}

        def measure(name: str) -> dict[str, Any]:
            return {**known[name], **verdict(cases[name], options.data, known[name])}

        found = list(recorded(options.out, [name for name in cases if name in known], measure))
    else:
        with Editor(**settings_of(options)) as editor:
            found = list(
                recorded(options.out, cases, lambda name: edited(editor, cases[name], options.data))
            )
    print(tables(str(options.out or "edits"), found))
    return 0


def chosen(options: argparse.Namespace) -> list[Case]:
    """The cases that the options select, in their fixed order."""
    found = all_cases() if options.half == "all" else half(all_cases(), options.half)
    found = [
        case
        for case in found
        if options.language in (None, case.language)
        and options.kind in (None, case.kind)
        and options.case in (None, case.id)
    ]
    return found[: options.first or None]


def _parser() -> argparse.ArgumentParser:
    made = parser(__doc__, cases=False)
    made.add_argument("data", type=Path, metavar="DATA", help="the folder of the evaluation data")
    made.add_argument("--half", choices=HALVES, default="all", help="even decides, odd confirms")
    made.add_argument("--first", type=int, default=0, help="only the first N of them")
    made.add_argument("--language", help="only cases of this language")
    made.add_argument("--kind", help="only cases of this kind")
    made.add_argument("--case", metavar="ID", help="only this case")
    made.add_argument("--judge", type=Path, help="judge the answers of this file again; no model")
    made.add_argument("--out", type=Path, help="add a line for each case; skip those there")
    return made


if __name__ == "__main__":
    run(main)
