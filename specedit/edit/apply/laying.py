"""Lay a snippet into a file: the rows that it shows are aligned with the file's columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from specedit.edit.apply.alignment import AlignedLine
from specedit.edit.apply.change import Snippet
from specedit.edit.apply.comparison import (
    BLANK,
    LINE,
    NEW,
    Comparison,
    FileColumn,
    Key,
    SnippetRow,
    beside,
    with_gaps,
)
from specedit.edit.apply.definitions import OPENING, VALUE, file_definitions, words_of_lines
from specedit.edit.apply.lines import Ambiguity, margin, opens, weight
from specedit.edit.apply.markers import (
    LEFT_OUT,
    REMOVED,
    ShownLines,
    brackets_open,
    comment_text,
    is_remark,
    says_removed,
    shown_lines,
)
from specedit.edit.apply.rules import DEFINITIONS, Merge, reasons_to_refuse
from specedit.edit.apply.scores import Alignment
from specedit.syntax.languages import Language
from specedit.syntax.lines import opcodes
from specedit.syntax.work import spend

MAX_LINES = 5_000  # of a snippet, beyond the file's, or for as many definitions of the file: 3 s
SHOWS_MOST = 0.5  # least share of a file's lines and definitions in a snippet of the whole file,
SHOWS_NEARLY_ALL = 0.8  # and where its last line is another one
MAX_STATEMENT_LINES = 20  # lines of a statement
TABS = (2, 4, 8)  # widths
TOO_LONG = "too long to compare with this file"
SHOW, SPLIT = "show the lines that change", "split the change"


@dataclass(frozen=True, slots=True)
class Laid:
    """The file's new lines, or why the snippet is refused."""

    lines: tuple[str, ...] = ()
    refused: tuple[Ambiguity, ...] = ()
    exact: bool = True  # every line that stays is shown as the file has it
    left_over: bool = False  # a line is new although the file has it elsewhere


def laid(snippet: Snippet, file: Sequence[str], language: Language | None) -> Laid:
    """The file with a snippet, or what stands against it."""
    spend(10 * (len(file) + len(snippet.lines)))
    old = file_definitions(file, language)
    names = [inner.name.rpartition(".")[2] for definition in old for inner in definition.walk()]
    first = next((line.strip() for line in snippet.lines if line.strip()), "")
    added = len(snippet.lines) - len(file)
    if max(added, min(len(names), len(snippet.lines))) > MAX_LINES:
        return Laid(refused=(Ambiguity(first, TOO_LONG, hint=SPLIT),))
    shown = shown_lines(snippet.lines, file, set(names))
    code = zip(shown.lines, shown.kinds, strict=True)
    if REMOVED not in shown.kinds and not any(line.strip() and not kind for line, kind in code):
        return Laid(refused=(Ambiguity(first, "it shows nothing but elisions", hint=SHOW),))
    comparison = Comparison(shown, file, old, language)
    whole = None if comparison.refused else _whole_file(shown, comparison)
    opening = OPENING.get(language.name) if language is not None else None
    if whole is None and opening and first.startswith(opening) and len(snippet.lines) > 1:
        return laid(replace(snippet, lines=snippet.lines[1:]), file, language)
    if comparison.refused:
        return Laid(refused=tuple(dict.fromkeys(comparison.refused)))
    if whole is not None:
        merge = Merge(comparison, Alignment(comparison), whole, lambda path: whole)
        return Laid(tuple(whole), reasons_to_refuse(merge, (DEFINITIONS,)))
    result = _aligned(comparison)
    if result.refused or result.left_over:
        rows = with_gaps(comparison.rows)
        if rows != comparison.rows:
            comparison.rows = rows
            other = _aligned(comparison)
            result = result if other.refused or other.left_over else other
    same = not result.refused and result.lines == tuple(file)
    for line, kind in zip(shown.lines, shown.kinds, strict=True):
        if same and kind and says_removed(comment_text(line) or ""):
            reason = "may say that something is removed, and nothing is"
            return Laid(refused=(Ambiguity(line.strip(), reason, hint="remove it with a diff"),))
    return result


def _aligned(comparison: Comparison) -> Laid:
    """The file with the rows of a snippet by their best alignment."""
    rows, columns = comparison.rows, comparison.columns

    def written(path: Sequence[AlignedLine]) -> list[str]:
        return merged_lines(comparison, path)

    alignment = Alignment(comparison)
    spend(alignment.pairs)  # each takes memory, too
    best = written(alignment.path)
    if bound := dict(_renamed(comparison, alignment.path, best)):
        for n, key in bound.items():
            rows[n] = replace(rows[n], column=key, fresh=False)
        alignment = Alignment(comparison)
        best = written(alignment.path)
    refused = reasons_to_refuse(Merge(comparison, alignment, best, written))
    known = {line.strip() for line in comparison.file if weight(line) == 1}
    lines = [
        (row, columns[step.at] if step.matched else None)
        for row, step in zip(rows, alignment.path, strict=True)
        if row.part == LINE
    ]
    exact = all(column is None or row.text == column.text for row, column in lines)
    left_over = any(column is None and row.text.strip() in known for row, column in lines)
    return Laid(tuple(best), refused, exact, left_over)


def _renamed(
    comparison: Comparison, path: Sequence[AlignedLine], best: Sequence[str]
) -> Iterator[tuple[int, Key]]:
    """Lines in place of one, or next to one, that differs in one word, whose other uses the change
    replaces: they are that line with another name."""
    columns = comparison.columns
    counts: list[Counter[str]] = []  # of the lines with each word, before and after
    for n, (row, step) in enumerate(zip(comparison.rows, path, strict=True)):
        if row.part != LINE or row.column or step.gone:
            continue
        for column in (columns[step.at],) if step.matched else beside(columns, step.at):
            if column is None or column.owner != row.owner or column.key[0] != LINE:
                continue
            ours, theirs = words_of_lines([row.text]), words_of_lines([column.text])
            if len(ours - theirs) == 1 == len(theirs - ours):
                (old,) = theirs - ours
                counts = counts or [
                    Counter(word for line in text for word in words_of_lines([line]))
                    for text in (comparison.file, best)
                ]
                if counts[0][old] > 1 and counts[1][old] == (not step.matched):
                    yield n, column.key


def _whole_file(shown: ShownLines, comparison: Comparison) -> list[str] | None:
    """The snippet, where it is the whole new file: without a marker, from the file's first line to
    its last one."""
    lines, file = comparison.lines, comparison.file
    solid = [n for n, line in enumerate(lines) if line.strip()]
    code = [line for line in file if line.strip()]
    if LEFT_OUT in shown.kinds or REMOVED in shown.kinds or not code or len(solid) < 4:
        return None
    known = set(lines)
    share = sum(line in known for line in code) / len(code)
    tops = [definition for definition in comparison.old if definition.kind != VALUE]
    defined = sum(top in comparison.shown for top in tops) / len(tops) if tops else 1.0
    least = SHOWS_MOST if lines[solid[-1]] == code[-1] else SHOWS_NEARLY_ALL
    if lines[solid[0]] != code[0] or min(share, defined) < least:
        return None
    tail = len(file) - 1 - max(n for n, line in enumerate(file) if line.strip())
    return _in_white_space_of(file, [*lines[solid[0] : solid[-1] + 1], *[""] * tail])


def merged_lines(comparison: Comparison, path: Sequence[AlignedLine]) -> list[str]:
    """The file's new lines by an alignment."""
    rows, columns, language = comparison.rows, comparison.columns, comparison.language
    python = language is not None and language.name == "python"
    result: list[str] = []
    at = 0
    after_blank = False  # the last line that both have is blank

    def keep(end: int) -> None:
        nonlocal at
        for column in columns[at:end]:
            result.extend((*column.above, *column.lines))
        at = max(at, end)

    def below() -> str:
        """The next line of the file, stripped."""
        found = next((column for column in columns[at:] if column.lines), None)
        return found.lines[0].strip() if found else ""

    for n, (row, step) in enumerate(zip(rows, path, strict=True)):
        if step.kept:
            keep(step.at)
            after_blank = False
        if step.gone:  # it is between lines that stay
            continue
        below_remark = n and is_remark(rows[n - 1].text)
        above = [] if below_remark or not step.matched else _remarks(columns, at, step.at)
        at = max(at, step.at)
        following = path[n + 1] if n + 1 < len(path) else None
        ends = following is None or following.kept
        if row.part == BLANK and step.matched and step.at < at:
            continue
        new_blank = row.part == BLANK and not step.matched and (step.kept or ends)
        if new_blank and (not result or not result[-1].strip() or not below()):
            continue
        if step.matched:
            column = columns[step.at]
            at = step.at + 1
            after_blank = row.part == BLANK
            kept_blank = after_blank and not row.text
            result += above
            as_file = kept_blank or (row.part == LINE and _indented_otherwise(row, column, not n))
            lines = column.lines if as_file else _in_white_space_of(column.lines, row.lines)
            result += (*column.above, *lines)
            at += _continuation(row, columns, step.at) if ends else 0
            continue
        blank = 1 + (python and not margin(row.text)) if row.part == NEW else 0
        if (step.kept or row.part == NEW) and result and result[-1].strip():
            result += [""] * (row.lead or (0 if opens(result[-1]) else blank))
        result += row.lines
        if (ends or row.part == NEW) and below() and below()[:1] not in ("}", ")"):
            result += [""] * (row.trail or blank or after_blank)
    keep(len(columns))
    return result


def _indented_otherwise(row: SnippetRow, column: FileColumn, first: bool) -> bool:
    """Whether a row is its line of the file, but for an indentation that is lost, as that of a
    snippet's first line may be, or of other characters."""
    own, old = margin(row.text), margin(column.text)
    if row.text.strip() != column.text.strip() or not old:
        return False
    return (first and not own) or (bool(own) and not set(own) & set(old))


def _in_white_space_of(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """The new lines, but old ones that differ only in tabs where the others have spaces."""
    result = [*new]
    texts = [line.strip() for line in old], [line.strip() for line in new]
    for tag, a, b, c, _ in opcodes(*texts) if list(old) != result else ():
        for n, line in enumerate(old[a:b] if tag == "equal" else ()):
            if any(line.expandtabs(size) == new[c + n].expandtabs(size) for size in TABS):
                result[c + n] = line
    return result


def _remarks(columns: Sequence[FileColumn], first: int, at: int) -> list[str]:
    """The comments and attributes in the columns [first, at) that belong to a definition."""
    start = at
    while columns[at].defines and start > first and is_remark(columns[start - 1].text):
        start -= 1
    return [line for column in columns[start:at] for line in column.lines]


def _continuation(row: SnippetRow, columns: Sequence[FileColumn], at: int) -> int:
    """How many lines of the file below a line continue its statement, where a row that is a whole
    statement replaces it."""
    if row.part != LINE or row.text.strip() == columns[at].text.strip():
        return 0
    if brackets_open(row.text) or (left := brackets_open(columns[at].text)) <= 0:
        return 0
    for n, column in enumerate(columns[at + 1 : at + 1 + MAX_STATEMENT_LINES], 1):
        left += brackets_open(column.text)
        if left <= 0:
            return n
    return 0
