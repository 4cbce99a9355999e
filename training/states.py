"""Add the state in which the model would say whether an answer is right to answers.

    python -m training.states edits.jsonl tests.jsonl --out answers.jsonl

Each line of an input is an answer with `file`, `before`, `after` and `instruction`, as the scripts
of `benchmarks/` write it; one that changes nothing is left out.
"""

from __future__ import annotations

import argparse
import json
from base64 import b64encode
from pathlib import Path

import numpy as np

from specedit.edit.backend import Progress
from specedit.edit.report import Edit
from specedit.edit.review import review_plan
from specedit.errors import TooLong
from specedit.inference.local import LocalBackend
from specedit.settings import resolve


def main() -> int:
    made = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    made.add_argument("answers", nargs="+", type=Path)
    made.add_argument("--model", default="qwen2.5-coder-1.5b")
    made.add_argument("--out", type=Path, required=True)
    options = made.parse_args()
    backend = LocalBackend(resolve({"model": options.model, "server": "off"}).values)
    with options.out.open("w", encoding="utf-8", errors="surrogatepass") as out:
        for line in (line for path in options.answers for line in path.read_text().splitlines()):
            row = json.loads(line)
            before, after = (row.pop(name, None) or "" for name in ("before", "after"))
            if before == after or not after:
                continue
            edit = Edit(row["file"], "would-edit", before.encode(), after.encode())
            try:
                answer = backend.run(review_plan(edit, row["instruction"]), Progress())
            except TooLong:
                continue
            state = np.array(answer.state, np.float16).tobytes()
            out.write(json.dumps({**row, "state": b64encode(state).decode()}) + "\n")
            out.flush()
    backend.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
