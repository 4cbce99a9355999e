"""Edits with tests: how many files pass their tests after an edit, and at what cost.

    python -m benchmarks.quality editeval.jsonl --half odd --out one.jsonl
    python -m benchmarks.quality editeval.jsonl --half odd --tests-judge --out six.jsonl
    python -m benchmarks.quality --compare one.jsonl six.jsonl

A case has `instruction`, `before`, `tests` and perhaps `context`. Every edit is one call of the
Python API, with the settings of `--set`. With `--tests-judge` the case's tests are the edit's test
command. A file that is refused stays as it was.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import sandbox
from benchmarks.common import edited_alone, parser, part, recorded, rows, run, settings_of
from benchmarks.speed.cases import Case, read_cases
from specedit import Editor

CASE_FILE = "case.json"


def edited(editor: Editor, case: Case) -> dict[str, Any]:
    """One edit in a folder of its own, and what its tests say."""
    name = Path(case.filename).name
    record = {"file": name, "tests": case.tests, "context": case.context}
    files = {CASE_FILE: json.dumps(record)}
    row = edited_alone(editor, case.instruction, name, case.before, files)
    answer = row.pop("answer")
    accepted = row["status"] in ("would-edit", "edited", "unchanged")
    text = answer if accepted and answer is not None else case.before
    verdict = tested(case, text)
    return {
        **row,
        "text": text,
        "passed": verdict.passed and row["status"] != "failed",
        "reason": verdict.reason,
        "refused_passed": not accepted and answer is not None and tested(case, answer).passed,
    }


def tested(case: Case, text: str) -> sandbox.Verdict:
    return sandbox.run(sandbox.program(text, case.tests or "", case.context))


def summary(found: list[dict[str, Any]]) -> str:
    """One line: what became of the cases, and what they cost."""
    count = len(found)
    passed = sum(row["passed"] for row in found)
    refused = [row for row in found if row["status"] in ("refused", "failed")]
    wrong = sum(not row["passed"] and row["status"] == "would-edit" for row in found)
    seconds = [row["seconds"] for row in found]
    return (
        f"{passed} of {count} pass ({100 * passed / max(1, count):.1f} %); wrong {wrong}, "
        f"unchanged {sum(row['status'] == 'unchanged' for row in found)}, refused {len(refused)} "
        f"(of these right: {sum(row.get('refused_passed', False) for row in refused)}); "
        f"{sum(seconds):.0f} s, median {median(seconds or [0]):.1f} s, "
        f"{sum(row.get('passes', 0) for row in found)} passes, "
        f"{sum(row.get('tries', 1) for row in found)} answers"
    )


def compared(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> str:
    """Two runs on the cases that both have."""
    other = {row["id"]: row for row in second}
    both = [(row, other[row["id"]]) for row in first if row["id"] in other]
    lines = [summary([a for a, _ in both]), summary([b for _, b in both])]
    same = sum(a["text"] == b["text"] for a, b in both)
    gained = [b["id"] for a, b in both if b["passed"] and not a["passed"]]
    lost = [a["id"] for a, b in both if a["passed"] and not b["passed"]]
    lines += [f"the same text: {same} of {len(both)}"]
    lines += [f"passes only in the second: {' '.join(gained) or 'none'}"]
    return "\n".join([*lines, f"passes only in the first: {' '.join(lost) or 'none'}"])


def main() -> int:
    if sys.argv[1:2] == ["--compare"]:
        print(compared(*(rows(Path(path)) for path in sys.argv[2:4])))
        return 0
    options = _parser().parse_args()
    cases = {c.id: c for c in part(read_cases(options.cases, "instruction", "tests"), options)}
    more: dict[str, Any] = {}
    if options.tests_judge:
        script = str(Path(sandbox.__file__).resolve())
        more = {"tries": 0, "test": shlex.join((sys.executable, script, CASE_FILE))}
    if sandbox.isolation() is None:
        print("the tests run with this machine's network: unshare is not allowed", file=sys.stderr)
    with Editor(**settings_of(options, **more)) as editor:
        found = list(recorded(options.out, cases, lambda name: edited(editor, cases[name])))
    print(summary(found))
    return 0


def _parser() -> argparse.ArgumentParser:
    made = parser(__doc__)
    made.add_argument(
        "--tests-judge", action="store_true", help="the case's tests are the test command"
    )
    return made


if __name__ == "__main__":
    run(main)
