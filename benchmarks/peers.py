"""`python -m benchmarks.speed` with more peers: int4 and llama.cpp's server.

    python -m benchmarks.peers CASES.jsonl --against 'specedit*,q4_0-*' --out a.jsonl
    python -m benchmarks.peers --table a.jsonl b.jsonl

`--against` takes patterns of names; `--list` prints the names. Each run is a line of `--out`, so an
interrupted measurement loses one run. Processor seconds with `--set threads=1` compare on a busy
machine too. LLAMA_FOLDER is where `benchmarks.llama_server` built.
Further programs are added to MORE: each has a module with `open_peer`, as `llama_server.py`.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, replace
from fnmatch import fnmatch
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.common import HALVES, parser, part, resolved, rows, run
from benchmarks.llama_server import WAYS, cpu_s
from benchmarks.speed import compare
from benchmarks.speed.cases import read_cases
from benchmarks.speed.peers import (
    NAMES,
    OWN,
    PLAIN,
    PREDICTED,
    TORCH,
    PeerName,
    PeerOptions,
    PeerProcess,
    Task,
    own,
)
from specedit.engines.cores import thread_count
from specedit.settings import Settings

LLAMA_SERVER = "benchmarks.llama_server"
MORE = [
    PeerName("specedit-int4", "benchmarks.peers", PREDICTED),
    PeerName("specedit-int4-plain", "benchmarks.peers", PLAIN),
    PeerName("transformers-lookup-64", TORCH[0], "64", *TORCH[1:]),
    *(PeerName(way, LLAMA_SERVER, way) for way in WAYS),
]


def open_peer(options: PeerOptions) -> own.Own:
    """specedit with weights of 4 bits."""
    return own.open_peer(replace(options, settings=replace(options.settings, weights="int4")))


def main() -> int:
    made = parser(__doc__, cases=False)
    made.add_argument("cases", type=Path, nargs="?", metavar="CASES", help="default: new text")
    made.add_argument("--half", choices=HALVES, default="all")
    made.add_argument("--first", type=int, default=0, help="only the first N of them")
    made.add_argument("--against", default="*", help="patterns of names, with commas")
    made.add_argument("--rounds", type=int, default=3)
    made.add_argument("--own", action="store_true", help="each peer writes its own answer")
    made.add_argument("--limit", type=int, default=0, help="maximum tokens of an answer")
    made.add_argument("--out", type=Path, help="add a line for each run")
    made.add_argument("--list", action="store_true", help="print the names of the peers")
    made.add_argument("--table", type=Path, nargs="+", help="print the figures of such results")
    options = made.parse_args()
    wanted = options.against.split(",")
    names = [n for n in [*NAMES[1:], *MORE] if any(fnmatch(n.name, one) for one in wanted)]
    if options.list or options.table:
        print(*([n.name for n in names] if options.list else table(options.table)), sep="\n")
        return 0
    settings = resolved(options)
    new = [case for case in compare.built_in() if not case.before]
    cases = part(read_cases(options.cases, "instruction") if options.cases else new, options)
    words = compare.words(settings)
    tasks = [words.task(c, settings, own=options.own, limit=options.limit) for c in cases]
    for row in runs(tasks, [NAMES[0], *names], settings, options.rounds):
        print(json.dumps(row), flush=True)
        if options.out is not None:
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    return 0


def runs(
    tasks: list[Task], names: list[PeerName], settings: Settings, rounds: int
) -> Iterator[dict[str, Any]]:
    """Every task by every peer in turn, after one of each to warm up."""
    warm_up = compare.words(settings).task(compare.WARM_UP, settings, own=False)
    window = max(len(task.prompt) + task.limit for task in [*tasks, warm_up]) + 64
    options = PeerOptions(settings, thread_count(settings.threads), window)
    opened: dict[tuple[str, bool], PeerProcess] = {}
    with ExitStack() as stack:
        for name in names:
            if name.process not in opened:
                opened[name.process] = PeerProcess(name, options)
                stack.callback(opened[name.process].close)
            opened[name.process].call("run", warm_up, name.way)
        for task, _, name in product(tasks, range(rounds), names):
            process = opened[name.process]
            row: dict[str, Any] = {"case": task.id, "peer": name.name, "prompt": len(task.prompt)}
            used = 0.0 if process.problem else cpu_s(process.pid)
            if (one := process.call("run", task, name.way)) is None:
                yield {**row, "problem": process.problem}
                continue
            server = name.module == LLAMA_SERVER
            used = process.call("cpu_s") if server else cpu_s(process.pid) - used
            row |= {**asdict(one), "tokens": len(one.tokens), "total_s": one.total_s}
            yield {**row, "cpu_s": used, "peak_mb": process.peak_mb}


def table(results: list[Path]) -> Iterator[str]:
    """A line for each peer: its figures over the cases that it shares with specedit."""
    every: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for row in (row for path in results for row in rows(path)):
        every.setdefault(row["peer"], {}).setdefault(row["case"], []).append(row)
    heads = (
        *("peer", "cases", "seconds", "times specedit", "processor seconds", "times specedit"),
        *("first token, s", "ms a token", "tokens a pass", "peak MB"),
    )
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for peer, cases in every.items():
        done = [case for case in cases if case in every[OWN] and "total_s" in cases[case][0]]
        if not done:
            yield f"| {peer} | 0 | {next(iter(cases.values()))[0].get('problem', '')} |"
            continue

        def medians(what: str, peer: str = peer, done: list[str] = done) -> list[float]:
            return [statistics.median(row[what] for row in every[peer][case]) for case in done]

        passes, tokens = sum(medians("passes")), sum(medians("tokens"))
        cells = []
        for what in ("total_s", "cpu_s"):
            pairs = zip(medians(what), medians(what, OWN), strict=True)
            times = statistics.geometric_mean(one / own for one, own in pairs)
            cells += [f"{sum(medians(what)):.1f}", f"{times:.2f}"]
        cells += [
            f"{statistics.median(medians('prefill_s')):.2f}",
            f"{1000 * sum(medians('decode_s')) / tokens:.0f}",
            f"{tokens / passes:.1f}" if passes else "",
            f"{max(medians('peak_mb')):.0f}",
        ]
        yield f"| {peer} | {len(done)} | {' | '.join(cells)} |"


if __name__ == "__main__":
    run(main)
