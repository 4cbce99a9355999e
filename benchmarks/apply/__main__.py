"""Merging a change into a file: how many are right, refused and wrong, in how many seconds.

    python -m benchmarks.apply DATA --half even --table
    python -m benchmarks.apply DATA --half even --tool specedit --failures failures.txt
    python -m benchmarks.apply DATA --half odd --json --out odd.jsonl
    python -m benchmarks.apply DATA --case commits/gin-gonic_gin/7ccbc8f584/lazy-1 --show

DATA is the folder of the evaluation data. The commit's result is the right answer, byte for byte. A
form is left out for a commit whose result it does not determine (benchmarks/README.md). `patch` and
`git apply --3way` are run on the diffs alone, the model (`--model`) on every case.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from difflib import unified_diff
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.apply import tools
from benchmarks.apply.cases import FORMS, Case, cases
from benchmarks.apply.record import records
from benchmarks.common import HALVES, parser, recorded, run, settings_of

Row = dict[str, Any]
HEAD = ("cases", "right", "refused", "wrong", "right %", "median ms", "no model %")
TOOLS = ("specedit", "merge", "patch", "git")
DIFFS = ("diff-numbers", "diff-context")
SHOWN = 60  # lines of a failure's change and of its diff


def measured(tool: str, merge: tools.Tool, case: Case) -> Row:
    started = time.perf_counter()
    answer = merge(case)
    seconds = time.perf_counter() - started
    wanted = case.record.encode(case.record.after)
    verdict = "refused" if answer.data is None else "right" if answer.data == wanted else "wrong"
    language = case.record.language
    row: Row = {"tool": tool, "form": case.form, "language": language.name if language else ""}
    row |= {"verdict": verdict, "seconds": round(seconds, 4), "message": answer.message}
    without_model = answer.data is not None and "model" not in answer.how
    row |= {"how": list(answer.how), "deterministic": without_model}
    if verdict == "wrong":
        row["diff"] = _diff(wanted, answer.data or b"")
    return row


def _diff(wanted: bytes, answer: bytes) -> str:
    right, other = (data.decode("utf-8", "replace").split("\n") for data in (wanted, answer))
    lines = list(unified_diff(right, other, "right", "answer", n=2, lineterm=""))
    return "\n".join(lines[:SHOWN])


def table(rows: list[Row]) -> str:
    """For each tool one line for all, one for each form and one for each language."""
    lines = []
    for tool in dict.fromkeys(row["tool"] for row in rows):
        mine = [row for row in rows if row["tool"] == tool]
        lines += [_line(tool, HEAD), _figures("all", mine)]
        for key in ("form", "language"):
            names = sorted({row[key] for row in mine}, key=[*FORMS, *_names(mine, key)].index)
            lines += ["", *(_figures(n, [row for row in mine if row[key] == n]) for n in names)]
        lines.append("")
    return "\n".join(lines)


def _names(rows: list[Row], key: str) -> list[str]:
    return sorted({row[key] for row in rows})


def _figures(name: str, rows: list[Row]) -> str:
    right, refused, wrong = (
        sum(row["verdict"] == verdict for row in rows) for verdict in ("right", "refused", "wrong")
    )
    shares = (f"{100 * n / len(rows):.1f}" for n in (right, sum(r["deterministic"] for r in rows)))
    right_share, share = shares
    milliseconds = f"{1000 * median(row['seconds'] for row in rows):.1f}"
    return _line(name, (len(rows), right, refused, wrong, right_share, milliseconds, share))


def _line(name: str, cells: tuple[object, ...]) -> str:
    return f"{name:24}" + "".join(f"{cell!s:>11}" for cell in cells)


def failures(rows: list[Row], changes: dict[str, Case]) -> str:
    """What specedit refused or merged wrongly, by cause, the most frequent cause first."""
    causes: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["verdict"] != "right":
            cause = re.sub(r"\d+", "N", re.sub(r"`[^`]*`|'[^']*'|\"[^\"]*\"", "…", row["message"]))
            cause = re.sub(r"definitions .*", "definitions", cause)
            how = ", ".join(dict.fromkeys(row["how"]))
            causes[f"{row['verdict']}: {cause or how}"].append(row)
    parts = []
    for cause, group in sorted(causes.items(), key=lambda pair: -len(pair[1])):
        counts = [
            f"{form} {sum(r['form'] == form for r in group)}" for form in _names(group, "form")
        ]
        parts.append(f"{len(group)} {cause} ({', '.join(counts)})")
        parts += [f"    {row['id']}" for row in group]
    for row in rows:
        if row["verdict"] != "right":
            change = "\n".join(changes[row["id"]].change.split("\n")[:SHOWN])
            parts.append(f"\n##### {row['verdict']} {row['id']}: {row['message']}\n{change}")
            parts.append(row.get("diff") or _hunk_lines(changes[row["id"]]))
    return "\n".join(parts) + "\n"


def _hunk_lines(case: Case) -> str:
    """Where the right answer changes the old file."""
    spans = (f"{a + 1}:{b} -> {c + 1}:{d}" for _, a, b, c, d in case.record.hunks)
    return f"right: lines {', '.join(spans)}"


def main() -> int:
    options = _parser().parse_args()
    chosen = {case.id: case for case in _cases(options)}
    if options.show:
        for case in chosen.values():
            print(f"##### {case.id}\n{case.change}")
        return 0
    found: list[Row] = []
    with ExitStack() as stack:
        for name, merge in _tools(options, stack):
            peer = name in ("patch", "git")
            mine = [one for one, case in chosen.items() if not peer or case.form in DIFFS]
            if mine and not peer:
                merge(chosen[mine[0]])  # imports and grammars are not measured
            out = options.out.with_suffix(f".{name}.jsonl") if options.out else None
            found += recorded(out, mine, lambda one, m=merge, n=name: measured(n, m, chosen[one]))  # type: ignore[misc]
    if options.failures:
        own = [row for row in found if row["tool"] == "specedit"]
        options.failures.write_text(failures(own, chosen), "utf-8", "surrogatepass")
    if options.json:
        for row in found:
            print(json.dumps(row, ensure_ascii=False))
    if options.table or not options.json:
        print(table(found))
    return 0


def _cases(options: argparse.Namespace) -> Iterator[Case]:
    usable = list(records(options.data))[HALVES[options.half]][: options.first or None]
    forms = [options.form] if options.form else FORMS
    for case in cases(usable, forms):
        language = case.record.language
        if options.language not in (None, language.name if language else ""):
            continue
        if options.case in (None, case.id):
            yield case


def _tools(options: argparse.Namespace, stack: ExitStack) -> Iterator[tuple[str, tools.Tool]]:
    wanted = options.tool or TOOLS
    if "specedit" in wanted:
        yield "specedit", tools.applied
    if "merge" in wanted:
        yield "merge", tools.merged
    if "patch" in wanted:
        yield "patch", stack.enter_context(tools.patched())
    if "git" in wanted:
        yield "git", stack.enter_context(tools.git_applied())
    if options.model:
        yield "model", stack.enter_context(tools.rewritten(settings_of(options)))


def _parser() -> argparse.ArgumentParser:
    made = parser(__doc__, cases=False)
    made.add_argument("data", type=Path, metavar="DATA", help="the folder of the evaluation data")
    made.add_argument("--half", choices=HALVES, default="all", help="even decides, odd confirms")
    made.add_argument("--first", type=int, default=0, help="only the first N commits of them")
    made.add_argument("--form", choices=FORMS, help="only this form")
    made.add_argument("--language", help="only cases of this language")
    made.add_argument("--case", metavar="ID", help="only this case")
    made.add_argument("--tool", action="append", choices=TOOLS)
    made.add_argument("--model", action="store_true", help="also the model on the whole file")
    made.add_argument("--out", type=Path, help="keep results in FILE.TOOL.jsonl; skip those there")
    made.add_argument("--failures", type=Path, metavar="FILE", help="write what is not right")
    made.add_argument("--table", action="store_true", help="print the figures (the default)")
    made.add_argument("--json", action="store_true", help="print a line for each case")
    made.add_argument("--show", action="store_true", help="print the changes; merge nothing")
    return made


if __name__ == "__main__":
    run(main)
