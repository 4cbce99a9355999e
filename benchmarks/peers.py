"""`specedit bench` with more peers than it knows: OpenVINO GenAI, plain and with its prompt lookup.

    python -m benchmarks.peers CASES.jsonl --against all --own --out result.json

Further programs are added to MORE. Each has a module with `open_peer`, as in `openvino.py`.
"""

from __future__ import annotations

import json
import sys

from benchmarks.common import parser, part, resolved, run
from specedit.bench import speed
from specedit.bench.cases import read_cases
from specedit.bench.peers import PLAIN, PeerName, selected
from specedit.bench.result import BenchResult

OPENVINO = ("benchmarks.openvino", "openvino_genai", "pip install openvino-genai")
MORE = [
    PeerName("openvino-plain", OPENVINO[0], PLAIN, *OPENVINO[1:]),
    PeerName("openvino-lookup", OPENVINO[0], "10", *OPENVINO[1:], lookup=True),
]


def main() -> int:
    made = parser(__doc__)
    made.add_argument("--against", default="all", help="of the peers that specedit bench knows")
    made.add_argument("--rounds", type=int, default=3)
    made.add_argument("--own", action="store_true", help="each peer writes its own answer")
    made.add_argument("--limit", type=int, default=0, help="maximum tokens of an answer")
    options = made.parse_args()
    settings = resolved(options)
    cases = part(read_cases(options.cases, "instruction"), options)
    result = BenchResult(settings.model, speed.threads_of(settings))
    asked = speed.SpeedOptions(options.rounds, options.own, options.limit)
    result.speeds = speed.measure(
        cases, [*selected(options.against), *MORE], settings, asked, lambda text: None
    )
    result.show()
    if options.out is not None:
        options.out.write_text(json.dumps(result.json(), indent=2), encoding="utf-8")
    print(result.conclusion, file=sys.stderr)
    return 0


if __name__ == "__main__":
    run(main)
