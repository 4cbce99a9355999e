"""`rename` against ground truth: search-and-replace, tree-sitter alone, and the full tool.

Reads cases (JSON lines with `before`, `after`, `old_name`, `new_name`, `line`), gives a table. A
case is right when the text is exactly `after`. Knows no model: the full tool is a callable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from specedit.bench.cases import records, texts
from specedit.errors import InputError, SpeceditError
from specedit.rename.places import rename_places
from specedit.syntax.trees import language_of

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Renamed:
    """What a way of renaming gave: the text, and whether it warned. None: it refused."""

    text: str | None
    warned: bool = False
    said: tuple[str, ...] = ()  # the warnings themselves, where they are known


@dataclass(frozen=True)
class RenameCase:
    """One rename whose outcome is known. Commits may rename several names at once."""

    id: str
    language: str
    filename: str
    before: str
    after: str
    pairs: Pairs
    line: int | None


@dataclass(frozen=True)
class ThreeWays:
    """One case, three ways. `full` is None when the full tool was not asked."""

    case: RenameCase
    search: bool
    tree: Renamed
    full: Renamed | None


@dataclass
class LanguageRow:
    """One language's counts."""

    language: str
    cases: int = 0
    search_right: int = 0
    tree_right: int = 0
    kept: int = 0  # search-and-replace was right, and tree-sitter is
    won: int = 0  # search-and-replace was wrong, and tree-sitter is right
    refused: int = 0
    clean_wrong: int = 0  # wrong, and nothing said so
    full_right: int = 0
    full_kept: int = 0
    full_won: int = 0
    full_refused: int = 0
    full_clean_wrong: int = 0


Full = Callable[[RenameCase], Renamed]


def load(path: Path) -> list[RenameCase]:
    """The cases of a JSON lines file."""
    return [_case(record, where) for where, record in records(path)]


def _case(record: dict[str, Any], where: str) -> RenameCase:
    texts(record, where, "language", "filename", "before", "after")
    try:
        pairs = [(one[0], one[1]) for one in record.get("rename_pairs") or ()]
        return RenameCase(
            record["id"],
            record["language"],
            record["filename"],
            record["before"],
            record["after"],
            tuple(pairs or [(record["old_name"], record["new_name"])]),
            record.get("line"),
        )
    except (KeyError, IndexError, TypeError) as problem:
        raise InputError(
            f"{where}: not a rename: {problem}",
            hint="It has id, language, filename, before, after, old_name, new_name.",
        ) from None


def search_and_replace(case: RenameCase) -> str:
    """Every whole word, wherever it stands."""
    text = case.before
    for old, new in case.pairs:
        written = new.replace("\\", r"\\")
        text = re.sub(rf"(?<![\w$]){re.escape(old)}(?![\w$])", written, text)
    return text


def by_tree(case: RenameCase) -> Renamed:
    """Tree-sitter alone, `--scope code`."""
    text, warned = case.before, False
    for old, new in case.pairs:
        try:
            language = language_of(case.filename, text)
            guess = rename_places(text, language, old, new, "code", case.line)
        except SpeceditError:
            return Renamed(None, True)
        if guess.collisions:
            return Renamed(None, True)
        text, warned = guess.text, warned or not guess.clean
    return Renamed(text, warned)


def measure(cases: Iterable[RenameCase], full: Full | None = None) -> Iterator[ThreeWays]:
    """Each case, in every way asked for, as it is done."""
    for case in cases:
        yield ThreeWays(
            case,
            search_and_replace(case) == case.after,
            by_tree(case),
            full(case) if full is not None else None,
        )


def table(outcomes: Iterable[ThreeWays]) -> list[LanguageRow]:
    """Counts by language; the last row counts all."""
    rows: dict[str, LanguageRow] = {}
    total = LanguageRow("all")
    for outcome in outcomes:
        row = rows.setdefault(outcome.case.language, LanguageRow(outcome.case.language))
        for one in (row, total):
            _count(one, outcome)
    return [rows[name] for name in sorted(rows)] + [total]


def _count(row: LanguageRow, outcome: ThreeWays) -> None:
    after, search = outcome.case.after, outcome.search
    tree = outcome.tree.text == after
    row.cases += 1
    row.search_right += search
    row.tree_right += tree
    row.kept += search and tree
    row.won += tree and not search
    row.refused += outcome.tree.text is None
    row.clean_wrong += not tree and not outcome.tree.warned
    if outcome.full is not None:
        full = outcome.full.text == after
        row.full_right += full
        row.full_kept += search and full
        row.full_won += full and not search
        row.full_refused += outcome.full.text is None
        row.full_clean_wrong += not full and not outcome.full.warned


def as_json(outcomes: Sequence[ThreeWays]) -> dict[str, Any]:
    """The table, and of each case what each way made of it."""

    def way(answer: Renamed | None, after: str) -> dict[str, Any] | None:
        if answer is None:
            return None
        return {"right": answer.text == after, "warned": answer.warned, "said": list(answer.said)}

    return {
        "rows": [asdict(row) for row in table(outcomes)],
        "cases": [
            {
                "id": one.case.id,
                "search": one.search,
                "tree": way(one.tree, one.case.after),
                "full": way(one.full, one.case.after),
            }
            for one in outcomes
        ],
    }


def as_text(rows: list[LanguageRow], full: bool = False) -> str:
    """A table for people: right of all, kept of what search had right, won of what it had wrong."""
    ways = ["search", "tree"] + (["full"] if full else [])
    lines = [
        f"{'language':<12}{'cases':>6}{'search':>8}"
        + "".join(
            f"{way:>8}{'kept':>9}{'won':>8}{'refused':>9}{'clean wrong':>13}" for way in ways[1:]
        )
    ]
    for row in rows:
        wrong = row.cases - row.search_right
        cells = [(row.tree_right, row.kept, row.won, row.refused, row.clean_wrong)]
        if full:
            cells.append(
                (
                    row.full_right,
                    row.full_kept,
                    row.full_won,
                    row.full_refused,
                    row.full_clean_wrong,
                )
            )
        lines.append(
            f"{row.language:<12}{row.cases:>6}{row.search_right:>8}"
            + "".join(
                f"{right:>8}{f'{kept}/{row.search_right}':>9}{f'{won}/{wrong}':>8}"
                f"{refused:>9}{clean:>13}"
                for right, kept, won, refused, clean in cells
            )
        )
    return "\n".join(lines)
