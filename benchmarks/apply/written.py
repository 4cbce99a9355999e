"""Changes as coding agents write them: how many are merged rightly, without a model.

    python -m benchmarks.apply.written CASES --half even
    python -m benchmarks.apply.written CASES --half even --case c012 --show

CASES is JSON lines with `id`, `filename`, `path`, `language`, `form`, `before`, `change`, `after`,
and where they apply `also` (other right answers) and `ambiguous` (a refusal is right). The halves
are the even and the odd numbers of the ids. Blank lines and white space at the ends of lines are
not compared.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.apply.cases import Case
from benchmarks.apply.record import Record
from benchmarks.apply.tools import applied
from benchmarks.common import run

Row = dict[str, Any]
VERDICTS = ("right", "wrong", "refused", "refused justly")
SHOWN = 60  # lines of a diff


def written_cases(path: Path, half: str) -> Iterator[Row]:
    """The cases of a half; of the others nothing but the id is looked at."""
    for line in path.read_text("utf-8").splitlines():
        case = json.loads(line)
        number = int("".join(filter(str.isdigit, case["id"])))
        if half == "all" or (number % 2 == 0) == (half == "even"):
            yield case


def essential(text: str) -> list[str]:
    """The lines that are compared."""
    return [line.rstrip() for line in text.split("\n") if line.strip()]


def judged(case: Row) -> Row:
    record = Record(case["id"], Path(case["filename"]).name, case["before"], case["after"])
    started = time.perf_counter()
    answer = applied(Case(case["form"], record, case["change"], case["path"]))
    seconds = time.perf_counter() - started
    accepted = [case["after"], *case.get("also", ())]
    text = None if answer.data is None else answer.data.decode("utf-8", "surrogatepass")
    if text is None:
        verdict = "refused justly" if case.get("ambiguous") else "refused"
    else:
        verdict = "right" if essential(text) in map(essential, accepted) else "wrong"
    row = {"id": case["id"], "form": case["form"], "language": case["language"]}
    row |= {"verdict": verdict, "seconds": seconds, "message": answer.message, "diff": ""}
    if verdict == "wrong":
        lines = unified_diff(essential(accepted[0]), essential(text or ""), "right", "answer", n=3)
        row["diff"] = "\n".join(list(lines)[:SHOWN])
    return row


def table(rows: list[Row]) -> str:
    lines = [f"{'':16}{'cases':>7}" + "".join(f"{verdict:>16}" for verdict in VERDICTS)]
    groups = {"all": rows}
    for key in ("form", "language"):
        for row in sorted(rows, key=lambda row: row[key]):
            groups.setdefault(row[key], [])
            groups[row[key]] += [row]
    for name, group in groups.items():
        counts = Counter(row["verdict"] for row in group)
        cells = (f"{counts[v]} ({100 * counts[v] / len(group):.1f} %)" for v in VERDICTS)
        lines.append(f"{name:16}{len(group):7}" + "".join(f"{cell:>16}" for cell in cells))
    times = [1000 * row["seconds"] for row in rows]
    lines.append(f"median {median(times):.1f} ms, most {max(times):.0f} ms")
    return "\n".join(lines)


def main() -> int:
    made = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    made.add_argument("cases", type=Path, metavar="CASES")
    made.add_argument("--half", choices=("even", "odd", "all"), default="all")
    made.add_argument("--case", metavar="ID", help="only this case")
    made.add_argument("--show", action="store_true", help="print what is not right")
    options = made.parse_args()
    chosen = [
        case
        for case in written_cases(options.cases, options.half)
        if options.case in (None, case["id"])
    ]
    if chosen:
        judged(chosen[0])  # imports and grammars are not measured
    rows = [judged(case) for case in chosen]
    for case, row in zip(chosen, rows, strict=True):
        if options.show and row["verdict"] != "right":
            print(f"##### {row['verdict']} {row['id']} {case['filename']}: {row['message']}")
            print(case["change"], row["diff"], sep="\n-----\n")
    print(table(rows))
    return 0


if __name__ == "__main__":
    run(main)
