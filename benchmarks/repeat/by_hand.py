"""Compares `specedit repeat` with sed and ast-grep, each with one command written by hand.

python -m benchmarks.repeat.by_hand CASES FOLDER  (needs `pip install ast-grep-py`)

by_hand.toml has the commands for 20 cases of cases.jsonl. The first place is the example.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from benchmarks.repeat.__main__ import LineHunk, Repository, _right, _state, run_case
from specedit.syntax.languages import BY_NAME, language_of

HOLE = re.compile(r"\$\$\$([A-Z])|\$([A-Z])")


def with_sed(text: str, script: str) -> str:
    done = subprocess.run(
        ["sed", "-E", script], input=text.encode(), capture_output=True, check=True
    )
    return done.stdout.decode()


def with_ast_grep(text: str, language: str, pattern: str, after: str) -> str:
    from ast_grep_py import SgRoot  # type: ignore[import-not-found]

    root = SgRoot(text, language).root()
    edits = []
    for match in root.find_all(pattern=pattern):

        def filled(hole: re.Match[str], match: Any = match) -> str:
            if hole[2]:
                return str(match.get_match(hole[2]).text())
            several = match.get_multiple_matches(hole[1])
            if not several:
                return ""
            return text[several[0].range().start.index : several[-1].range().end.index]

        edits.append(match.replace(HOLE.sub(filled, after)))
    return str(root.commit_edits(edits)) if edits else text


def hunks_between(text: str, new: str) -> list[LineHunk]:
    olds, news = text.split("\n"), new.split("\n")
    opcodes = SequenceMatcher(None, olds, news, autojunk=False).get_opcodes()
    return [LineHunk(a, b, tuple(news[c:d])) for tag, a, b, c, d in opcodes if tag != "equal"]


def main() -> None:
    cases = {
        case["commit"]: case for case in map(json.loads, Path(sys.argv[1]).read_text().splitlines())
    }
    table = tomllib.loads((Path(__file__).parent / "by_hand.toml").read_text())
    totals: dict[str, Counter[str]] = {}
    for one in table["case"]:
        case = next(case for commit, case in cases.items() if commit.startswith(one["commit"]))
        repository = Repository(Path(sys.argv[2]), case["repository"])
        commit, language = case["commit"], BY_NAME[case["language"]]
        hunks = {path: repository.hunks(commit, path) for path, _ in case["places"]}
        truth = [(path, line) for path, line in case["places"][1:]]
        first = tuple(case["places"][0])
        names = set(repository.holding(f"{commit}^", one["word"], language.extensions))
        sizes = {"sed": len(one["sed"]), "ast-grep": len(one["pattern"] + one["after"])}
        for tool, size in sizes.items():
            found: dict[str, list[LineHunk]] = {}
            counts = totals.setdefault(tool, Counter())
            for path in sorted(names):
                text = repository.text(f"{commit}^", path)
                if text is None or language_of(path, text) is not language:
                    continue
                if tool == "sed":
                    new = with_sed(text, one["sed"])
                else:
                    new = with_ast_grep(text, language.name, one["pattern"], one["after"])
                found[path] = hunks_between(text, new)
                of_commit = hunks.get(path) or repository.hunks(commit, path)
                for hunk in found[path]:
                    if (path, hunk.first + 1) != first:
                        counts[f"changed {_right(hunk, of_commit, text.split(chr(10)))}"] += 1
            for path, line in truth:
                wanted = next(hunk for hunk in hunks[path] if hunk.first == line - 1)
                text = repository.text(f"{commit}^", path) or ""
                counts["equal"] += _state(text, found.get(path, []), wanted) == "equal"
            counts.update({"characters": size, "truth": len(truth)})
        result, counts = run_case(case, repository, 1), totals.setdefault("ours", Counter())
        others = Counter(f"changed {other[2]}" for other in result.others)
        counts.update({"changed equal": result.changed_equal, **others})
        counts.update({"truth": result.truth, "equal": result.equal, "asked": result.proposed})
        print({tool: dict(counts) for tool, counts in totals.items()}, flush=True)


if __name__ == "__main__":
    main()
