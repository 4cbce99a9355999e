"""Measures `specedit repeat` on real commits.

python -m benchmarks.repeat CASES FOLDER [--half deciding|confirming|all] [--examples N]
                            [--answers] [--out F]

CASES is cases.jsonl beside this file, or the output of benchmarks.repeat.mine; FOLDER holds the
repositories. The first places of a case are the example, and the others are the truth. With
--answers three proposals of each kind are answered as the commit has them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from pathlib import Path

from benchmarks.repeat.mine import tokens
from specedit.errors import SpeceditError
from specedit.repeat.example import ExampleFile, changes_of
from specedit.repeat.finding import Found, FoundFile, settled
from specedit.repeat.generalizing import rules_of
from specedit.repeat.near import hunks_of, near_places
from specedit.repeat.rewriting import Repeated, rewritten
from specedit.repeat.rule import RepeatRule
from specedit.syntax.languages import BY_NAME, language_of

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True)
class LineHunk:
    """Lines [first, last) of the old text, from 0, become `new`."""

    first: int
    last: int
    new: tuple[str, ...]


class Repository:
    def __init__(self, folder: Path, name: str) -> None:
        place = folder / name.replace("/", "+") / "repo"
        self.place = place / ".git" if (place / ".git").exists() else place
        self.texts: dict[tuple[str, str], str | None] = {}

    def git(self, *words: str, codes: tuple[int, ...] = (0,)) -> bytes:
        done = subprocess.run(
            ["git", f"--git-dir={self.place}", *words], capture_output=True, check=False
        )
        if done.returncode not in codes:
            raise RuntimeError(done.stderr.decode()[:300])
        return done.stdout

    def text(self, commit: str, path: str) -> str | None:
        if (commit, path) not in self.texts:
            try:
                text = self.git("cat-file", "blob", f"{commit}:{path}").decode("utf-8-sig")
            except (UnicodeDecodeError, RuntimeError):
                text = None
            self.texts[commit, path] = text
        return self.texts[commit, path]

    def holding(self, commit: str, word: str, endings: Sequence[str]) -> list[str]:
        globs = [f"*{end}" for end in endings]
        words = ("grep", "-lzIFw", "-e", word, commit, "--", *globs)
        names = self.git(*words, codes=(0, 1)).decode("utf-8", "surrogateescape").split("\0")
        return [name.partition(":")[2] for name in names if name]

    def hunks(self, commit: str, path: str) -> list[LineHunk]:
        out = self.git("diff", "-U0", "--no-renames", f"{commit}^", commit, "--", path)
        results: list[LineHunk] = []
        first = last = 0
        new: list[str] = []
        is_open = False
        for line in out.decode("utf-8", "replace").split("\n"):
            if found := HUNK.match(line):
                if is_open:
                    results.append(LineHunk(first, last, tuple(new)))
                count = int(found[2] or 1)
                first = int(found[1]) - (1 if count else 0)
                last, new, is_open = first + count, [], True
            elif is_open and line.startswith("+"):
                new.append(line[1:])
        if is_open:
            results.append(LineHunk(first, last, tuple(new)))
        return results


def with_hunks(text: str, hunks: Sequence[LineHunk]) -> str:
    lines = text.split("\n")
    for hunk in sorted(hunks, key=lambda one: one.first, reverse=True):
        lines[hunk.first : hunk.last] = hunk.new
    return "\n".join(lines)


def line_hunks(text: str, places: Sequence[Repeated]) -> list[LineHunk]:
    """What places change, in lines."""
    data = text.encode()
    regions: list[list[Repeated]] = []
    ends: list[int] = []
    for place in sorted(places, key=lambda one: one.start):
        start = data.rfind(b"\n", 0, place.start) + 1
        end = data.find(b"\n", max(place.start, place.end - 1))
        end = len(data) if end < 0 else end
        if regions and start <= ends[-1] + 1:
            regions[-1].append(place)
            ends[-1] = max(ends[-1], end)
        else:
            regions.append([place])
            ends.append(end)
    results = []
    for region, end in zip(regions, ends, strict=True):
        start = data.rfind(b"\n", 0, region[0].start) + 1
        old, new, at = data[start:end], b"", start
        for place in region:
            new += data[at : place.start] + place.new.encode()
            at = place.end
        new += data[at:end]
        removed_all = at == end + 1
        olds, news = old.decode().split("\n"), new.decode().split("\n")
        if removed_all and news and not news[-1]:
            news.pop()
        first = data.count(b"\n", 0, start)
        matcher = SequenceMatcher(None, olds, news, autojunk=False)
        for tag, a, b, c, d in matcher.get_opcodes():
            if tag != "equal":
                results.append(LineHunk(first + a, first + b, tuple(news[c:d])))
    return results


@dataclass
class Result:
    case: dict[str, object]
    rules: list[RepeatRule] = field(default_factory=list)
    why: str = ""  # there is no rule
    truth: int = 0
    found: int = 0
    equal: int = 0
    proposed: int = 0  # true places, equal, that are only proposed
    near: int = 0  # true places, equal, that --near proposes beside those
    one_rule: int = 0  # true places whose change is the example's, token for token
    rule_equal: int = 0  # of those: equal, for sure or as a proposal, with --near
    questions: int = 0
    changed: int = 0
    changed_equal: int = 0
    others: list[tuple[str, int, str, str, str]] = field(default_factory=list)
    missed: list[tuple[str, int]] = field(default_factory=list)
    seconds: float = 0.0


def run_case(
    case: dict[str, object], repository: Repository, examples: int, *, answers: bool = False
) -> Result:
    commit = str(case["commit"])
    places = [(str(path), int(line)) for path, line in case["places"]]  # type: ignore[attr-defined]
    before = f"{commit}^"
    result = Result(case)
    hunks = {path: repository.hunks(commit, path) for path in dict.fromkeys(p for p, _ in places)}
    chosen: dict[str, list[LineHunk]] = {}
    for path, line in places[:examples]:
        chosen.setdefault(path, []).extend(h for h in hunks[path] if h.first == line - 1)
    changes = []
    for path, parts in chosen.items():
        text = repository.text(before, path)
        if text is None:
            result.why = "not UTF-8"
            continue
        language = language_of(path, text)
        assert language is not None
        try:
            changes += changes_of(ExampleFile(path, text, with_hunks(text, parts), language))
        except SpeceditError as problem:
            result.why = str(problem)
    rules, none = rules_of(changes)
    result.rules = rules
    if not rules:
        result.why = result.why or "; ".join(why for _, why in none)
    start = time.process_time()

    def is_meant(path: str, text: str, place: Repeated) -> bool:
        result.questions += 1
        of_commit = hunks[path] if path in hunks else repository.hunks(commit, path)
        lines = text.split("\n")
        return all(_right(h, of_commit, lines) == "equal" for h in line_hunks(text, [place]))

    found = repeat(rules, repository, before, chosen, is_meant if answers else None)
    result.seconds = time.process_time() - start
    near = near_of(chosen, repository, before, found)
    first_path, first_line = places[0]
    form = change_of(repository.text(before, first_path), hunks[first_path], first_line)
    truth = places[examples:]
    for path, line in truth:
        result.truth += 1
        wanted = next((h for h in hunks[path] if h.first == line - 1), None)
        if wanted is None:
            continue
        sure, every = found.get(path, ("", [], []))[1:]
        text = found[path][0] if path in found else ""
        states = [_state(text, hunk_list, wanted) for hunk_list in (sure, every)]
        result.found += states[0] != ""
        result.equal += states[0] == "equal"
        result.proposed += states[1] == "equal" and states[0] == ""
        with_near = near.get(path, ("", []))
        is_near = _state(*with_near, wanted) == "equal" and states[1] != "equal"
        result.near += is_near
        whole = text or with_near[0] or repository.text(before, path)
        if form is not None and change_of(whole, hunks[path], line) == form:
            result.one_rule += 1
            result.rule_equal += "equal" in states or is_near
        if states[0] == "":
            result.missed.append((path, line))
    for path, (text, sure, _) in found.items():
        of_commit = hunks[path] if path in hunks else repository.hunks(commit, path)
        lines = text.split("\n")
        for hunk in sure:
            result.changed += 1
            state = _right(hunk, of_commit, lines)
            result.changed_equal += state == "equal"
            if state != "equal":
                old = "\n".join(lines[hunk.first : hunk.last])
                result.others.append((path, hunk.first + 1, state, old, "\n".join(hunk.new)))
    return result


def _state(text: str, ours: Sequence[LineHunk], wanted: LineHunk) -> str:
    """ "" (not found), "differs" or "equal"."""
    inside = [h for h in ours if wanted.first <= h.first and h.last <= wanted.last]
    if not any(h.first < wanted.last and wanted.first < max(h.last, h.first + 1) for h in ours):
        return ""
    lines = text.split("\n")
    new = list(lines[wanted.first : wanted.last])
    for hunk in sorted(inside, key=lambda one: one.first, reverse=True):
        new[hunk.first - wanted.first : hunk.last - wanted.first] = hunk.new
    return "equal" if tuple(new) == wanted.new else "differs"


def _right(ours: LineHunk, commit: Sequence[LineHunk], lines: Sequence[str]) -> str:
    """ "equal", "differs" or "left": what the commit made of the lines that we change."""
    near = [h for h in commit if h.first < max(ours.last, ours.first + 1) and ours.first < h.last]
    if not near:
        return "left"
    new = list(lines[ours.first : ours.last])
    text = "\n".join(("", *ours.new, ""))
    if any(text in "\n".join(("", *h.new, "")) for h in near):
        return "equal"
    inside = [h for h in near if ours.first <= h.first and h.last <= ours.last]
    for hunk in sorted(inside, key=lambda one: one.first, reverse=True):
        new[hunk.first - ours.first : hunk.last - ours.first] = hunk.new
    return "equal" if tuple(new) == ours.new else "differs"


Hunks = dict[str, tuple[str, list[LineHunk], list[LineHunk]]]


def repeat(
    rules: Sequence[RepeatRule],
    repository: Repository,
    commit: str,
    examples: dict[str, list[LineHunk]],
    is_meant: Callable[[str, str, Repeated], bool] | None,
) -> Hunks:
    """The texts before, with what the rules change for sure and with proposals. `is_meant`: answers
    of the user, given a file's name, its text and a place."""
    results: Hunks = {}
    places: dict[str, list[Repeated]] = {}
    texts: dict[str, str] = {}
    for number, rule in enumerate(rules):
        endings = BY_NAME[rule.language].extensions
        for path in repository.holding(commit, rule.anchor, endings) if rule.anchor else ():
            if path not in texts:
                text = repository.text(commit, path)
                if text is None or len(text) > 2_000_000:
                    continue
                texts[path] = text
            language = language_of(path, texts[path])
            if language is None or language.name != rule.language:
                continue
            try:
                done = rewritten(rule, texts[path], path)
            except SpeceditError:
                continue
            taken = places.setdefault(path, [])
            for place in done.places:
                if all(place.end <= o.start or o.end <= place.start for o in taken):
                    taken.append(replace(place, rule=number))
    for path, parts in examples.items():  # the example is not a place
        places[path] = [
            place
            for place in places.get(path, ())
            if not any(
                part.first < hunk.last and hunk.first < part.last
                for part in parts
                for hunk in line_hunks(texts[path], [place])
            )
        ]
    if is_meant is not None:
        files = {
            name: FoundFile(name, texts.get(name, ""), tuple(one)) for name, one in places.items()
        }
        answered = settled(Found(rules, files), lambda name, one: is_meant(name, texts[name], one))
        sure = {name: set(file.places) for name, file in answered.files.items()}
        for name, one in places.items():
            one[:] = [replace(p, kind="") if replace(p, kind="") in sure[name] else p for p in one]
    for path, found in places.items():
        if path in texts:
            ours = line_hunks(texts[path], found)
            certain = line_hunks(texts[path], [one for one in found if not one.kind])
            results[path] = texts[path], [hunk for hunk in certain if hunk in ours], ours
    return results


def change_of(
    text: str | None, hunks: Sequence[LineHunk], line: int
) -> tuple[tuple[str, str], ...] | None:
    """What a hunk does to tokens, without what stands around; None where no word goes away, so
    that nothing tells its places."""
    hunk = next((one for one in hunks if one.first == line - 1), None)
    if text is None or hunk is None:
        return None
    old, new = tokens(text.split("\n")[hunk.first : hunk.last]), tokens(hunk.new)
    opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    blocks = tuple(
        (" ".join(old[a:b]), " ".join(new[c:d])) for tag, a, b, c, d in opcodes if tag != "equal"
    )
    has_word = any(word[0].isalpha() for before, _ in blocks for word in before.split())
    return blocks if has_word else None


def near_of(
    chosen: dict[str, list[LineHunk]], repository: Repository, commit: str, found: Hunks
) -> dict[str, tuple[str, list[LineHunk]]]:
    """What --near proposes in the files that hold the longest word of the example."""
    examples = []
    for path, parts in chosen.items():
        text = repository.text(commit, path)
        if text is not None and (language := language_of(path, text)) is not None:
            examples.append(ExampleFile(path, text, with_hunks(text, parts), language))
    hunks = [hunk for example in examples for hunk in hunks_of(example)]
    names: set[str] = set()
    for hunk in hunks:
        word = max(hunk.removed or hunk.words, key=len, default="")
        names |= set(repository.holding(commit, word, hunk.language.extensions) if word else ())

    def read(name: str) -> str:
        return repository.text(commit, name) or ""

    def is_taken(name: str, start: int, end: int) -> bool:
        ours = found[name][2] if name in found else []
        text = read(name).encode()
        line = text.count(b"\n", 0, start)
        return any(one.first <= line < max(one.last, one.first + 1) for one in ours)

    places = near_places(hunks, sorted(names), read, is_taken)
    return {name: (text, line_hunks(text, some)) for name, (text, some) in places.items()}


def half_of(name: str) -> str:
    """Which half a repository is in."""
    digest = hashlib.sha256(name.encode()).digest()[0]
    return "deciding" if digest % 2 else "confirming"


def run(
    cases: Sequence[dict[str, object]], folder: Path, examples: int, *, answers: bool
) -> Iterator[Result]:
    for case in cases:
        repository = Repository(folder, str(case["repository"]))
        yield run_case(case, repository, examples, answers=answers)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", default="deciding")
    parser.add_argument("--examples", type=int, default=1)
    parser.add_argument("--answers", action="store_true")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    cases = [json.loads(line) for line in arguments.cases.read_text().splitlines()]
    wanted = [one for one in cases if arguments.half in ("all", half_of(str(one["repository"])))]
    total: Counter[str] = Counter()
    languages: dict[str, Counter[str]] = {}
    out = arguments.out.open("w") if arguments.out else None
    for result in run(wanted, arguments.folder, arguments.examples, answers=arguments.answers):
        counts = {
            "cases": 1,
            "without a rule": not result.rules,
            "truth": result.truth,
            "found": result.found,
            "equal": result.equal,
            "proposed": result.proposed,
            "near": result.near,
            "questions": result.questions,
            "one rule": result.one_rule,
            "one rule equal": result.rule_equal,
            "changed": result.changed,
            "changed equal": result.changed_equal,
            "left": sum(one[2] == "left" for one in result.others),
            "differs": sum(one[2] == "differs" for one in result.others),
        }
        total.update(counts)
        languages.setdefault(str(result.case["language"]), Counter()).update(counts)
        if out is not None:
            row = {
                **{k: result.case[k] for k in ("repository", "commit", "language")},
                "rules": [(*r.shown(), r.too_general) for r in result.rules],
                **{"why": result.why, **counts, "others": result.others, "missed": result.missed},
                "example": result.case["places"][0],  # type: ignore[index]
                "seconds": round(result.seconds, 2),
            }
            print(json.dumps(row), file=out, flush=True)
    for name, counts in (*sorted(languages.items()), ("all", total)):
        print(f"{name:12} {share(counts)}")


def share(counts: Counter[str]) -> str:
    truth, changed = max(1, counts["truth"]), max(1, counts["changed"])
    return (
        f"{counts['cases']:4} cases, {counts['without a rule']:3} without a rule; of "
        f"{counts['truth']:5} true places {100 * counts['found'] / truth:5.1f} % found, "
        f"{100 * counts['equal'] / truth:5.1f} % equal, {100 * counts['proposed'] / truth:5.1f} % "
        f"proposed, {100 * counts['near'] / truth:.1f} % near (of {counts['one rule']} of one "
        f"rule {100 * counts['one rule equal'] / max(1, counts['one rule']):.1f} %); "
        f"of {counts['changed']:5} changed {100 * counts['changed equal'] / changed:5.1f}"
        f" % equal, {counts['differs']} differ, {counts['left']} left by the commit; "
        f"{counts['questions']} questions"
    )


if __name__ == "__main__":
    main()
