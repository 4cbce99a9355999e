"""`specedit bench` with more peers: int4, OpenVINO GenAI, and llama.cpp's server.

    python -m benchmarks.peers CASES.jsonl --against 'specedit*,openvino-*,q4_0-*' --out a.json
    python -m benchmarks.peers --table a.json b.json

`--against` takes patterns of names; `--list` prints the names. LLAMA_FOLDER is where
`benchmarks.llama_server` built. Further programs are added to MORE: each has a module with
`open_peer`, as `openvino.py`.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from benchmarks.common import parser, part, resolved, run
from benchmarks.llama_server import WAYS
from specedit.bench import speed
from specedit.bench.cases import read_cases
from specedit.bench.peers import NAMES, OWN, PLAIN, PREDICTED, TORCH, PeerName, PeerOptions, own
from specedit.bench.result import BenchResult

OPENVINO = ("benchmarks.openvino", "openvino_genai", "pip install openvino-genai")
MORE = [
    PeerName("specedit-int4", "benchmarks.peers", PREDICTED),
    PeerName("specedit-int4-plain", "benchmarks.peers", PLAIN),
    PeerName("transformers-lookup-64", TORCH[0], "64", *TORCH[1:]),
    PeerName("openvino-plain", OPENVINO[0], PLAIN, *OPENVINO[1:]),
    *(
        PeerName(f"openvino-lookup-{n}", OPENVINO[0], str(n), *OPENVINO[1:], lookup=True)
        for n in (5, 10, 20, 32, 64, 128)
    ),
    *(PeerName(way, "benchmarks.llama_server", way) for way in WAYS),
]


def open_peer(options: PeerOptions) -> own.Own:
    """specedit with weights of 4 bits."""
    return own.open_peer(replace(options, settings=replace(options.settings, weights="int4")))


def main() -> int:
    made = parser(__doc__, cases=False)
    made.add_argument("cases", type=Path, nargs="?", metavar="CASES", help="default: new text")
    made.add_argument("--half", choices=("all", "even", "odd"), default="all")
    made.add_argument("--first", type=int, default=0, help="only the first N of them")
    made.add_argument("--against", default="*", help="patterns of names, with commas")
    made.add_argument("--rounds", type=int, default=3)
    made.add_argument("--own", action="store_true", help="each peer writes its own answer")
    made.add_argument("--limit", type=int, default=0, help="maximum tokens of an answer")
    made.add_argument("--out", type=Path)
    made.add_argument("--list", action="store_true", help="print the names of the peers")
    made.add_argument("--table", type=Path, nargs="+", help="print the figures of such results")
    options = made.parse_args()
    wanted = options.against.split(",")
    names = [n for n in [*NAMES[1:], *MORE] if any(fnmatch(n.name, one) for one in wanted)]
    if options.list or options.table:
        print(*([n.name for n in names] if options.list else table(options.table)), sep="\n")
        return 0
    settings = resolved(options)
    new = [case for case in speed.built_in() if not case.before]
    cases = part(read_cases(options.cases, "instruction") if options.cases else new, options)
    result = BenchResult(settings.model, speed.threads_of(settings))
    asked = speed.SpeedOptions(options.rounds, options.own, options.limit)
    result.speeds = speed.measure(cases, [NAMES[0], *names], settings, asked, lambda text: None)
    result.show()
    if options.out is not None:
        options.out.write_text(json.dumps(result.json(), indent=2), encoding="utf-8")
    print(result.conclusion, file=sys.stderr)
    return 0


def table(results: list[Path]) -> Iterator[str]:
    """A line for each peer: its figures over the cases that it shares with specedit."""
    read = [json.loads(path.read_text(encoding="utf-8")) for path in results]
    cases = [case["peers"] for one in read for case in one["cases"]]
    peers = {peer["name"]: peer for one in read for peer in one["peers"]}
    memory = {
        name: max(p["peak_mb"] for one in read for p in one["peers"] if p["name"] == name)
        for name in peers
    }
    heads = (
        *("peer", "cases", "seconds", "times specedit", "first token, s", "ms a token"),
        *("tokens a pass", "peak MB"),
    )
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for name, peer in peers.items():
        pairs: list[tuple[Any, Any]] = [(c[OWN], c[name]) for c in cases if name in c]
        if not pairs:
            yield f"| {name} | 0 | {peer['skipped']} |"
            continue
        rows = [row for _, row in pairs]
        times = statistics.geometric_mean(row["total_s"] / mine["total_s"] for mine, row in pairs)
        tokens, passes = sum(r["tokens"] for r in rows), sum(r["passes"] or 0 for r in rows)
        cells = [
            f"{sum(r['total_s'] for r in rows):.1f}",
            f"{times:.2f}",
            f"{statistics.median(r['prefill_s'] for r in rows):.2f}",
            f"{1000 * sum(r['decode_s'] for r in rows) / tokens:.0f}",
            f"{tokens / passes:.1f}" if passes else "",
            f"{memory[name]:.0f}",
        ]
        yield f"| {name} | {len(rows)} | {' | '.join(cells)} |"


if __name__ == "__main__":
    run(main)
