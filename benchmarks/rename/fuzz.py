"""Random renames in packages that compile: does each package still compile, and pass its tests?

    python -m benchmarks.rename.fuzz PACKAGES.jsonl --count 40 --half even --out fuzz.jsonl

A line of PACKAGES names a package: `name`, `language`, `root` (its folder), `check` (a command
for a copy of it, which exits with 0 while the package is sound) and perhaps `only` (a regular
expression: the files to take names from). A check that begins with `stays:` is a program that reads
lines, each a folder, and answers each with a line that is empty while the package is sound:
`check_types.mjs` and `CheckJava.java` here.

Renames are by rule (`--no-model`), in code and comments; with `--server COMMAND` a language server
renames. Several are checked at once; where that fails, halves of them are.
"""

from __future__ import annotations

import posixpath
import random
import re
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.common import parser, part, recorded, run
from benchmarks.rename.servers import Server, spans_of
from benchmarks.speed.cases import records, require_texts
from specedit.errors import InputError, SpeceditError
from specedit.files.source import read
from specedit.rename.questions import Place
from specedit.rename.tree import Tree
from specedit.rename.tree_rename import Target
from specedit.scoping.languages import rules_of
from specedit.settings import Settings
from specedit.syntax.languages import language_of

TOGETHER = 12  # renames that one run of the check is about
LIMIT = 300  # seconds of a check
GROUPS = {  # of a declaration's kind, which are drawn evenly
    "method": "member",
    "field": "field",
    "class": "type",
    "type": "type",
    "function": "function",
    "value": "function",
}
NAMED = re.compile(r"(?!__\w+__$)[^\W\d_]\w+")  # names that a language does not reserve


@dataclass(frozen=True)
class Package:
    name: str
    language: str
    root: Path
    check: str
    only: str


@dataclass(frozen=True)
class Renaming:
    """One name of one file, and what it becomes. `start` counts characters."""

    path: str
    start: int
    old: str
    new: str
    kind: str


@dataclass(frozen=True)
class Renamed:
    """The places by file, or why the rename was refused; and every message. `incomplete`: it was
    refused because uses that may be meant would be left."""

    places: dict[str, tuple[Place, ...]]
    refused: str = ""
    messages: tuple[str, ...] = ()
    incomplete: bool = False
    moves: dict[str, str] = field(default_factory=dict)  # of files named after a renamed class


Rename = Callable[[Path, list[str], Renaming], Renamed]


def load(path: Path) -> list[Package]:
    packages = []
    for where, record in records(path):
        require_texts(record, where, "name", "language", "root", "check")
        root = Path(record["root"]).expanduser()
        if not root.is_dir():
            raise InputError(f"{where}: no folder {root}")
        packages.append(
            Package(
                record["name"], record["language"], root, record["check"], record.get("only", "")
            )
        )
    return packages


def files_of(root: Path) -> list[str]:
    found = (path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink())
    names = (path.relative_to(root).as_posix() for path in found)
    return [name for name in names if not re.search(r"(^|/)(\.|__pycache__|node_modules)", name)]


def candidates(root: Path, package: Package) -> list[Renaming]:
    """Every member, field, type and function that a file of the package declares."""
    tree = Tree(root, files_of(root), tracks=False)
    result = []
    for path in sorted(tree.project.paths):
        language = language_of(path)
        if language is None or rules_of(language.name) is None or not re.search(package.only, path):
            continue
        if language.name.replace("tsx", "typescript") != package.language:
            continue
        typing = tree.project.typing(path)
        for one in typing.scopes.by_leaf.values() if typing is not None else ():
            local = one.scope is not None and one.scope.is_local and one.owner is None
            if one.kind in GROUPS and not local and NAMED.fullmatch(one.name):
                assert typing is not None
                start = len(typing.scopes.data[: one.leaf.start].decode("utf-8", "replace"))
                kind = GROUPS[one.kind]
                result.append(Renaming(path, start, one.name, one.name + "Zq", kind))
    return result


def chosen(found: list[Renaming], texts: dict[str, str], count: int, seed: str) -> list[Renaming]:
    """As many names of each kind as of the others, each once; of a kind, those that other folders
    hold come first, then those that other files hold."""
    dice = random.Random(seed)
    dice.shuffle(found)
    by_name = {(name.old, name.kind): name for name in found}
    holding: dict[str, set[str]] = {}
    for path, text in texts.items():
        for word in set(NAMED.findall(text)):
            holding.setdefault(word, set()).add(path)
    kinds: dict[str, list[Renaming]] = {}
    for name in by_name.values():
        kinds.setdefault(name.kind, []).append(name)

    def alone(name: Renaming) -> tuple[bool, bool]:
        paths = holding.get(name.old, set())
        return len({posixpath.dirname(path) for path in paths}) < 2, len(paths) < 2

    for names in kinds.values():
        names.sort(key=alone)
    result: list[Renaming] = []
    while len(result) < count and any(kinds.values()):
        for kind in sorted(kinds):
            if kinds[kind] and len(result) < count:
                result.append(kinds[kind].pop(0))
    return result


@cache
def _tree(root: Path, paths: tuple[str, ...]) -> Tree:
    return Tree(root, paths, tracks=False)


def by_rule(root: Path, paths: list[str], wanted: Renaming) -> Renamed:
    """The tool's rename of the name at a place."""
    tree = _tree(root, tuple(paths))
    holding = [path for path in paths if wanted.old in (tree.project.text(path) or "")]
    settings = Settings(no_model=True)
    target = Target(wanted.path, wanted.start, wanted.start + len(wanted.old))
    try:
        result = tree.rename_in(holding, wanted.old, wanted.new, settings, target)
        tree.refuse_taken(result, settings)
    except SpeceditError as problem:
        return Renamed({}, str(problem))
    if result.left:
        uses = ", ".join(f"{use.path}:{use.line}" for use in result.left[:10])
        return Renamed({}, f"{len(result.left)} left: {uses}", incomplete=True)
    notes = [doubt.text for guess in result.files.values() for doubt in guess.notes]
    notes += [
        str(one) for guess in result.files.values() for one in guess.outside if one.kind == "left"
    ]
    notes += [doubt.text for doubts in result.undecided.values() for doubt in doubts]
    left = (doubt.text for doubts in result.unchanged.values() for doubt in doubts)
    notes += [text for text in left if "in comments or strings alone" in text]
    places = {path: guess.places for path, guess in result.files.items() if guess.places}
    refused = "" if places else "nothing to rename"
    return Renamed(places, refused, tuple(notes), moves=dict(result.moves))


def by_server(command: str, patience: float) -> Rename:
    """The renames of a language server, which is started for each folder. `patience`: seconds that
    it is given to read the files first."""

    @cache
    def server_of(root: Path) -> Server:
        return Server(command, root)

    def rename(root: Path, paths: list[str], wanted: Renaming) -> Renamed:
        server, path = server_of(root), root / wanted.path
        text = read(path, any_encoding=True).text
        language = language_of(wanted.path)
        assert language is not None
        name = "typescriptreact" if language.name == "tsx" else language.name
        document = {"uri": path.as_uri(), "languageId": name, "version": 1, "text": text}
        server.tell("textDocument/didOpen", textDocument=document)
        if root not in ready:
            ready.add(root)
            time.sleep(patience)
        try:
            edits = server.rename(path, text, wanted.start, wanted.new)
        except InputError as problem:
            return Renamed({}, str(problem))
        finally:
            server.tell("textDocument/didClose", textDocument={"uri": path.as_uri()})
        places = {}
        for file, changes in edits.items():
            if file.is_relative_to(root):
                held = read(file, any_encoding=True).text
                places[file.relative_to(root).as_posix()] = tuple(_places(held, changes))
        return Renamed(places, "" if places else "nothing to rename")

    ready: set[Path] = set()
    return rename


def _places(text: str, changes: list[Any]) -> Iterator[Place]:
    for start, end, new in spans_of(text, changes):
        yield Place(start, text.count("\n", 0, start) + 1, "code", text[start:end], new)


@cache
def _program(command: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(["bash", "-c", "exec " + command], stdin=pipe, stdout=pipe, text=True)


def problem_of(root: Path, check: str) -> str:
    """The end of what the check prints where it fails; "" where it passes."""
    if check.startswith("stays:"):
        program = _program(check.removeprefix("stays:"))
        assert program.stdin is not None
        assert program.stdout is not None
        program.stdin.write(f"{root}\n")
        program.stdin.flush()
        return program.stdout.readline().strip()
    try:
        done = subprocess.run(
            ["bash", "-c", check],
            cwd=root,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return "the check takes too long"
    return "" if done.returncode == 0 else (done.stdout + done.stderr)[-3000:] or "it fails"


def written(root: Path, texts: dict[str, str]) -> dict[str, bytes]:
    """Write these files; what they were before."""
    before = {path: read(root / path, any_encoding=True) for path in texts}
    for path, text in texts.items():
        (root / path).write_bytes(before[path].encode(text))
    return {path: source.data for path, source in before.items()}


def restore(root: Path, before: dict[str, bytes]) -> None:
    for path, data in before.items():
        (root / path).write_bytes(data)


def measured(package: Package, count: int, seed: int, rename: Rename) -> dict[str, Any]:
    """The renames of one package, each with its verdict."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, package.root.name)
        shutil.copytree(package.root, root, symlinks=True)
        if problem := problem_of(root, package.check):
            raise InputError(f"{package.name} fails its check before any rename: {problem[-600:]}")
        paths = files_of(root)
        found = candidates(root, package)
        texts = {
            path: read(root / path, any_encoding=True).text
            for path in {name.path for name in found}
        }
        wanted = chosen(found, texts, count, f"{seed} {package.name}")
        rows: list[dict[str, Any]] = []
        for at in range(0, len(wanted), TOGETHER):
            rows += _batch(root, paths, package.check, wanted[at : at + TOGETHER], rename)
    return {"language": package.language, "renames": rows}


def _batch(
    root: Path, paths: list[str], check: str, wanted: list[Renaming], rename: Rename
) -> Iterator[dict[str, Any]]:
    """Each rename is of the package as it was; several are checked at once, halves of them where
    that fails."""
    done = [(one, *_timed(rename, root, paths, one)) for one in wanted]
    problems: dict[int, str] = {}
    groups = [[number for number, (_, result, _) in enumerate(done) if result.places]]
    while groups:
        group = groups.pop()
        before = written(root, merged(root, [done[number][1].places for number in group]))
        moves = {old: new for number in group for old, new in done[number][1].moves.items()}
        for old, new in moves.items():
            (root / old).rename(root / new)
        problem = problem_of(root, check) if group else ""
        for old, new in moves.items():
            (root / new).rename(root / old)
        restore(root, before)
        if problem and len(group) > 1:
            groups += [group[: len(group) // 2], group[len(group) // 2 :]]
        elif problem:
            problems[group[0]] = problem
    for number, (one, result, seconds) in enumerate(done):
        problem = problems.get(number, "")
        verdict = "refused" if result.refused else "silent" if problem else "right"
        verdict = "incomplete" if result.incomplete else verdict
        if verdict == "silent" and result.messages:
            verdict = "warned"
        yield {
            "place": f"{one.path}:{one.start}",
            "old": one.old,
            "kind": one.kind,
            "files": len(result.places),
            "verdict": verdict,
            "messages": [result.refused, *result.messages][: 4 if problem or result.refused else 0],
            "problem": problem[-1500:],
            "seconds": round(seconds, 3),
        }


def merged(root: Path, renames: list[dict[str, tuple[Place, ...]]]) -> dict[str, str]:
    """The texts after several renames of the same texts; of places that overlap, the first."""
    texts = {}
    for path in {path for rename in renames for path in rename}:
        text, end, parts = read(root / path, any_encoding=True).text, 0, []
        for place in sorted((p for rename in renames for p in rename.get(path, ())), key=_offset):
            if place.offset >= end:
                parts += [text[end : place.offset], place.replacement]
                end = place.offset + len(place.replaced)
        texts[path] = "".join(parts) + text[end:]
    return texts


def _offset(place: Place) -> int:
    return place.offset


def _timed(
    rename: Rename, root: Path, paths: list[str], renaming: Renaming
) -> tuple[Renamed, float]:
    started = time.perf_counter()
    result = rename(root, paths, renaming)
    return result, time.perf_counter() - started


def table(rows: list[dict[str, Any]]) -> str:
    """Counts by language: applied, still sound, broken with and without a message, refused."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        for group in (row["language"], "all"):
            count = counts.setdefault(group, Counter())
            count["packages"] += 1
            for one in row["renames"]:
                count["renames"] += 1
                count[one["verdict"]] += 1
                count["ms"] += round(1000 * one["seconds"])
    columns = ("packages", "renames", "right", "warned", "silent", "incomplete", "refused")
    lines = ["".join(f"{name:>12}" for name in ("language", *columns, "of applied", "ms each"))]
    for group in sorted(counts, key=lambda name: (name == "all", name)):
        count = counts[group]
        applied = count["renames"] - count["refused"] - count["incomplete"]
        share = f"{100 * count['right'] / max(1, applied):.1f} %"
        cells = (group, *(count[column] for column in columns), share)
        each = round(count["ms"] / max(1, count["renames"]))
        lines.append("".join(f"{cell:>12}" for cell in (*cells, each)))
    return "\n".join(lines)


def main() -> int:
    made = parser(__doc__)
    made.add_argument("--count", type=int, default=40, help="renames in each package")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--language", help="only packages of this language")
    made.add_argument("--server", metavar="COMMAND", help="a language server instead of specedit")
    made.add_argument("--patience", type=float, default=10, help="seconds before its first rename")
    options = made.parse_args()
    packages = {one.name: one for one in part(load(options.cases), options)}
    names = [n for n, one in packages.items() if options.language in (None, one.language)]
    rename = by_server(options.server, options.patience) if options.server else by_rule
    results = recorded(
        options.out,
        names,
        lambda name: measured(packages[name], options.count, options.seed, rename),
    )
    print(table(list(results)))
    return 0


if __name__ == "__main__":
    run(main)
