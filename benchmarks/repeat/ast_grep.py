"""Compares our matching with ast-grep's on the rules of real commits: places and processor time.

python -m benchmarks.repeat.ast_grep CASES FOLDER  (needs `pip install ast-grep-py`)
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.repeat.__main__ import Repository, half_of, with_hunks
from specedit.errors import SpeceditError
from specedit.repeat.example import ExampleFile, changes_of
from specedit.repeat.generalizing import rules_of
from specedit.repeat.matching import matches, tree_of
from specedit.repeat.rule import RepeatRule
from specedit.repeat.saved import pattern_text
from specedit.syntax.languages import BY_NAME, language_of

MOST_FILES = 5  # of one case
ENOUGH = 200  # places


def first_rule(case: dict[str, Any], repository: Repository) -> RepeatRule | None:
    commit = case["commit"]
    path, line = case["places"][0]
    text, language = repository.text(f"{commit}^", path), language_of(path)
    if text is None or language is None:
        return None
    hunks = [one for one in repository.hunks(commit, path) if one.first == line - 1]
    try:
        rules, _ = rules_of(changes_of(ExampleFile(path, text, with_hunks(text, hunks), language)))
    except SpeceditError:
        return None
    return next((rule for rule in rules if not rule.doubt and len(rule.before) == 1), None)


def main() -> None:
    from ast_grep_py import SgRoot  # type: ignore[import-not-found]

    cases = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]
    total: Counter[str] = Counter()
    seconds = {"ours": 0.0, "theirs": 0.0}
    for case in cases[::3]:
        if half_of(case["repository"]) != "deciding" or total["ours"] >= ENOUGH:
            continue
        repository = Repository(Path(sys.argv[2]), case["repository"])
        rule = first_rule(case, repository)
        if rule is None or not rule.anchor:
            continue
        pattern = pattern_text(rule, old=True)
        total["rules"] += 1
        commit = f"{case['commit']}^"
        endings = BY_NAME[rule.language].extensions
        for path in repository.holding(commit, rule.anchor, endings)[:MOST_FILES]:
            text = repository.text(commit, path)
            if text is None or not text.isascii():  # it counts characters, we count bytes
                continue
            start = time.process_time()
            ours = {
                (m.start, m.end)
                for m in matches(rule, text, rule.before, tree_of(text, rule.language))
            }
            seconds["ours"] += time.process_time() - start
            start = time.process_time()
            try:
                found = SgRoot(text, rule.language).root().find_all(pattern=pattern)
            except Exception as problem:
                total["refused"] += 1
                print(f"refused: {pattern[:80]}: {str(problem)[:80]}")
                break
            theirs = {(m.range().start.index, m.range().end.index) for m in found}
            seconds["theirs"] += time.process_time() - start
            total["files"] += 1
            total["ours"] += len(ours)
            total["theirs"] += len(theirs)
            total["both"] += len(ours & theirs)
            if ours != theirs:
                print(f"{len(ours)} {len(theirs)}  {rule.language}  {pattern[:100]!r}  {path}")
    print(dict(total), {name: round(value, 2) for name, value in seconds.items()})


if __name__ == "__main__":
    main()
