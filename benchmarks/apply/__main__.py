"""Merging a change into a file: how many are right, refused and wrong, in how many seconds.

    python -m benchmarks.apply DATA --half even --tool specedit --show

DATA is the folder of the evaluation data: its commits are written in the forms that determine their
result (benchmarks/README.md), which is the right answer, byte for byte; the peers read diffs alone.

CASES are changes as coding agents write them, JSON lines with `id`, `filename`, `path`, `form`,
`before`, `change`, `after`, and where they apply `also` (other right answers) and `ambiguous` (a
refusal is right). Their blank lines and white space at line ends are not compared.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.apply.cases import FORMS, Case, cases
from benchmarks.apply.record import Record, records
from benchmarks.apply.tools import TOOLS, Tool
from benchmarks.common import HALVES, parser, rows, run

Row = dict[str, Any]
VERDICTS = ("right", "refused", "refused justly", "wrong")
DIFFS = ("diff-numbers", "diff-context")
SHOWN = 60  # lines of a diff


def written_cases(path: Path) -> Iterator[Case]:
    for row in rows(path):
        record = Record(row["id"], Path(row["filename"]).name, row["before"], row["after"])
        also, ambiguous = tuple(row.get("also", ())), bool(row.get("ambiguous"))
        name = row.get("path") or record.name
        yield Case(row["form"], record, row["change"], name, also, ambiguous, exact=False)


def measured(tool: str, merge: Tool, case: Case) -> Row:
    started = time.perf_counter()
    answer = merge(case)
    seconds = time.perf_counter() - started
    accepted = [case.record.encode(text) for text in (case.record.after, *case.also)]
    if answer.data is None:
        verdict = "refused justly" if case.ambiguous else "refused"
    else:
        compared = bytes if case.exact else essential
        verdict = "right" if compared(answer.data) in map(compared, accepted) else "wrong"
    language = case.record.language
    row: Row = {"tool": tool, "form": case.form, "language": language.name if language else ""}
    row |= {"verdict": verdict, "seconds": round(seconds, 4), "message": answer.message}
    if verdict == "wrong":
        sides = [text.decode("utf-8", "replace") for text in (accepted[0], answer.data or b"")]
        right, own = (text.split("\n") for text in sides)
        lines = unified_diff(right, own, "right", "answer", n=2, lineterm="")
        row["diff"] = "\n".join(list(lines)[:SHOWN])
    return row


def essential(data: bytes) -> list[bytes]:
    """The lines that are compared where blank ones are not."""
    return [line.rstrip() for line in data.split(b"\n") if line.strip()]


def table(rows: list[Row]) -> str:
    """For each tool one line for all, one for each form and one for each language."""
    lines = []
    for tool in dict.fromkeys(row["tool"] for row in rows):
        mine = [row for row in rows if row["tool"] == tool]
        lines += [_line(tool, "cases", *VERDICTS, "right %", "median ms"), _figures("all", mine)]
        for key in ("form", "language"):
            for name in sorted({row[key] for row in mine}):
                lines.append(_figures(name, [row for row in mine if row[key] == name]))
    return "\n".join(lines)


def _figures(name: str, rows: list[Row]) -> str:
    counts = Counter(row["verdict"] for row in rows)
    share = f"{100 * counts['right'] / len(rows):.1f}"
    milliseconds = f"{1000 * median(row['seconds'] for row in rows):.1f}"
    return _line(name, len(rows), *(counts[verdict] for verdict in VERDICTS), share, milliseconds)


def _line(name: str, *cells: object) -> str:
    return f"{name:24}" + "".join(f"{cell!s:>15}" for cell in cells)


def main() -> int:
    made = parser(__doc__, cases=False)
    made.add_argument("data", type=Path, metavar="DATA", help="a folder, or JSON lines")
    made.add_argument("--half", choices=HALVES, default="all", help="even decides, odd confirms")
    made.add_argument("--case", metavar="ID", help="only this case, or this form")
    made.add_argument("--tool", action="append", choices=TOOLS)
    made.add_argument("--show", action="store_true", help="print the changes that are not right")
    options = made.parse_args()
    chosen = {case.id: case for case in _cases(options)}
    found: list[Row] = []
    for name in options.tool or TOOLS:
        mine = [id for id, case in chosen.items() if name == "specedit" or case.form in DIFFS]
        with TOOLS[name]() as merge:
            for id in mine[:1]:
                merge(chosen[id])  # imports and grammars are not measured
            found += [{"id": id, **measured(name, merge, chosen[id])} for id in mine]
    for row in found:
        if options.show and row["verdict"] != "right":
            print(f"##### {row['verdict']} {row['id']}: {row['message']}")
            print(chosen[row["id"]].change, row.get("diff", ""), sep="\n-----\n")
    print(table(found))
    return 0


def _cases(options: argparse.Namespace) -> Iterator[Case]:
    half = HALVES[options.half]
    if options.data.is_dir():
        chosen = cases(list(records(options.data))[half], FORMS)
    else:
        chosen = iter(list(written_cases(options.data))[half])
    for case in chosen:
        if options.case in (None, case.id, case.form):
            yield case


if __name__ == "__main__":
    run(main)
