"""Finds commits in which one shape of change occurs at several places, in local git repositories.

python -m benchmarks.repeat.mine FOLDER > cases.jsonl

FOLDER holds one folder for each repository, named owner+name. A case names a commit and the places
by their hunks; it holds no code.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LANGUAGES = {
    **{".py": "python", ".js": "javascript", ".ts": "typescript", ".tsx": "tsx"},
    **{".cs": "csharp", ".java": "java", ".go": "go", ".rs": "rust", ".c": "c", ".h": "c"},
    **{".cc": "cpp", ".cpp": "cpp", ".hpp": "cpp", ".rb": "ruby", ".php": "php", ".kt": "kotlin"},
    **{".scala": "scala", ".sh": "bash"},
}
TOKEN = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[A-Za-z_$][\w$]*|\d[\w.]*|\S")
WORD = re.compile(r"[\"'A-Za-z_$0-9]")
HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
MOST_LINES = 6  # old lines of a hunk
LEAST = 4  # hunks of one shape
MOST_HUNKS = 600  # of a commit
EACH = 12  # cases of one repository
COMMENT = ("#", "//", "/*", "*", '"""')


Shape = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Hunk:
    path: str
    line: int  # of the old file, from 1
    old: tuple[str, ...]
    new: tuple[str, ...]


def tokens(lines: Sequence[str]) -> list[str]:
    """The tokens of lines; quotes are written in one way."""
    result = []
    for token in TOKEN.findall("\n".join(lines)):
        is_text = token[0] in "\"'" and len(token) > 1
        result.append(f'"{token[1:-1]}"' if is_text else token)
    return result


def shape(hunk: Hunk) -> Shape | None:
    """The changed tokens with common words as holes; None where it is not one of ours."""
    old, new = tokens(hunk.old), tokens(hunk.new)
    if old == new or any(line.strip().startswith(COMMENT) for line in hunk.old):
        return None
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    old, new = old[first : len(old) - last], new[first : len(new) - last]
    if not old and not new:
        return None
    if len(old) == len(new) == 1 and WORD.match(old[0]) and WORD.match(new[0]):
        return None  # a plain rename, or another literal
    common = {token for token in old if WORD.match(token)} & set(new)
    numbers: dict[tuple[str, ...], str] = {}
    sides = []
    for side in (old, new):
        result: list[str] = []
        at = 0
        while at < len(side):
            run: list[str] = []
            while at < len(side) and (side[at] in common or (run and side[at] == ".")):
                run.append(side[at])
                at += 1
            if run:
                while run[-1] == ".":
                    run.pop()
                    at -= 1
                result.append(numbers.setdefault(tuple(run), f"${len(numbers)}"))
            else:
                result.append(side[at])
                at += 1
        sides.append(tuple(result))
    if sides[0] == sides[1]:
        return None
    # a shape without a fixed word is found by luck
    if not any(WORD.match(t) and t[0] != "$" for side in sides for t in side):
        return None
    if not sides[0]:  # only added: what stands before it says where
        sides[0] = tuple(tokens(hunk.old)[max(0, first - 3) : first])
    return sides[0], sides[1]


def commits(repository: Path) -> Iterator[tuple[str, list[Hunk]]]:
    """The commits with one parent, newest first, each with its hunks in known languages."""
    words = ("log", "-p", "-U0", "--no-merges", "--no-renames", "--diff-filter=M", "--no-color")
    globs = [f"*{end}" for end in LANGUAGES]
    command = ["git", f"--git-dir={repository}", *words, "--format=%x00%H", "HEAD", "--", *globs]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, encoding="utf-8", errors="replace"
    ) as process:
        assert process.stdout is not None
        commit, path = "", ""
        hunks: list[Hunk] = []
        old: list[str] = []
        new: list[str] = []
        line = 0

        def close() -> None:
            if old and path and len(hunks) <= MOST_HUNKS:
                hunks.append(Hunk(path, line, tuple(old), tuple(new)))
            old.clear()
            new.clear()

        for text in process.stdout:
            text = text.rstrip("\n")
            if text.startswith("\0"):
                close()
                if commit:
                    yield commit, hunks
                commit, path = text[1:], ""
                hunks = []
            elif text.startswith("diff --git"):
                close()
                path = ""
            elif text.startswith("+++ b/") and not path:
                path = text[6:].split("\t")[0]
            elif text.startswith("--- "):
                continue
            elif found := HUNK.match(text):
                close()
                line = int(found[1])
            elif text.startswith("-"):
                old.append(text[1:])
            elif text.startswith("+"):
                new.append(text[1:])
        close()
        if commit:
            yield commit, hunks


def cases(repository: Path, name: str) -> Iterator[dict[str, Any]]:
    for commit, hunks in commits(repository):
        if not LEAST <= len(hunks) <= MOST_HUNKS:
            continue
        found: dict[tuple[str, Shape], list[Hunk]] = {}
        for hunk in hunks:
            language = LANGUAGES.get(Path(hunk.path).suffix)
            fits = len(hunk.old) <= MOST_LINES and 0 < len(hunk.new) <= 2 * MOST_LINES
            if fits and language and (what := shape(hunk)) is not None:
                found.setdefault((language, what), []).append(hunk)
        if not found:
            continue
        (language, what), places = max(found.items(), key=lambda item: len(item[1]))
        # the same lines changed everywhere (a licence, a version) are one example
        if len(places) >= LEAST and len({place.old for place in places}) > 1:
            yield {
                "repository": name,
                "commit": commit,
                "language": language,
                "places": [[place.path, place.line] for place in places],
            }


def main() -> None:
    for folder in sorted(Path(sys.argv[1]).iterdir()):
        places = [folder / "repo", folder / "repo" / ".git"]
        repository = next((p for p in places if (p / "HEAD").exists()), None)
        if repository is None:
            continue
        name = folder.name.replace("+", "/")
        every = list(cases(repository, name))
        # over the whole history, not only its newest part
        step = max(1, len(every) // EACH)
        chosen = every[::step][:EACH]
        for case in chosen:
            print(json.dumps(case), flush=True)
        counts = Counter(str(case["language"]) for case in chosen)
        print(f"{name}: {len(every)} commits, {dict(counts)}", file=sys.stderr)


if __name__ == "__main__":
    main()
