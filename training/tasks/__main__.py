"""Write tasks: `python -m training.tasks FOLDER… --count 1500 --seed 1 --out tasks.jsonl`."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from specedit.errors import SpeceditError, UsageError
from training.tasks.making import make


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.tasks", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--count", type=int, default=1500, help="Make this many tasks")
    parser.add_argument("--seed", type=int, default=1, help="Choose others with another number")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="Write JSON lines")
    parser.add_argument(
        "--without", type=Path, action="append", default=[], metavar="FILE",
        help="Make no task from a file that a task in FILE was made from",
    )  # fmt: skip
    options = parser.parse_args(words)
    try:
        without = frozenset(group for path in options.without for group in _groups(path))
        tasks = list(make(options.folders, options.count, options.seed, without))
        text = "".join(json.dumps(t.as_table(), ensure_ascii=False) + "\n" for t in tasks)
        options.out.write_text(text, encoding="utf-8")
    except (SpeceditError, OSError) as problem:
        print(f"tasks: {problem}", file=sys.stderr)
        return 2
    kinds = Counter(kind for task in tasks for kind in task.kind.split("+"))
    print(f"{len(tasks)} tasks", dict(Counter(task.language for task in tasks)), file=sys.stderr)
    print(*(f"{kind} {number}" for kind, number in kinds.most_common()), sep=", ", file=sys.stderr)
    if len(tasks) < options.count:
        print(f"tasks: only {len(tasks)} of {options.count}: name more folders", file=sys.stderr)
        return 1
    return 0


def _groups(path: Path) -> list[str]:
    """The files that the tasks of a file were made from."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return [json.loads(line)["group"] for line in lines]
    except (ValueError, KeyError, TypeError):
        raise UsageError(
            f"{path} does not hold tasks", hint="Name a file that --out wrote."
        ) from None


if __name__ == "__main__":
    sys.exit(main())
