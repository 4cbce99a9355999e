"""All checks of an answer: the text before and the text after an edit become findings.

A text that does not parse, has a placeholder, is empty or lost a definition is refused. What the
other checks find is refused or noted by the table of verdicts. The program of `check-with`
runs last, on what nothing refuses.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePath

from specedit.check import external
from specedit.check.definitions import TAKES_AWAY, lost_definitions, lost_lines
from specedit.check.finding import CHECKER, NOTHING, OFF, REFUSE, Checks, Finding, Spot, fresh
from specedit.check.names import undefined_names
from specedit.check.new_code import (
    comments_only,
    copied_lines,
    copied_runs,
    placeholders,
    repeated_definitions,
    whitespace_changes,
)
from specedit.check.parsed import Change, parsed_text
from specedit.errors import TooComplex, listed
from specedit.syntax.languages import Language
from specedit.syntax.lines import hunks

# Characters: beyond, parsing takes longer than a user waits for a note
MAX_PARSED_CHARACTERS = 200_000
MAX_FINDINGS_OF_KIND = 5  # findings of one kind that are reported for one file
MAX_NAMED_DEFINITIONS = 8  # definitions that a message names
UNREADABLE = 10  # syntax errors before the edit; then the grammar does not fit the file

FilePlace = Callable[[], tuple[Path, PurePath]]  # the work tree of a file, and its path from there
LOST_MESSAGE = "lost definitions the instruction does not take away:"

CHECKS: tuple[Callable[[Change], Iterator[Finding]], ...] = (
    undefined_names,
    copied_runs,
    whitespace_changes,
    comments_only,
)


def check_answer(
    before: str,
    after: str,
    language: Language | None,
    instruction: str = "",
    checks: Checks | None = None,
    place: FilePlace | None = None,
) -> list[Finding]:
    """Everything to report of `after`, whose lines are named, as an edit of `before`. `place` is
    asked for `check-with`."""
    checks = checks or Checks()
    if before == after:
        return list(_by_verdict([Finding(NOTHING, "the answer changes nothing")], checks))
    findings = [
        _refusal("placeholder", f"line {number}: a placeholder: {line[:80]}", number)
        for number, line in placeholders(before, after)
    ]
    if not after.strip() and not TAKES_AWAY.search(instruction):
        findings.append(_refusal("empty", "the new text is empty"))
    findings += copied_lines(before, after, checks.shown)
    if language is None or not language.grammar:
        named = f"no grammar for {language.name}" if language else "the language is unknown"
        findings.append(Finding("not-checked", f"syntax not checked: {named}"))
    else:
        texts = parsed_text(before, language), parsed_text(after, language)
        change = Change(*texts, instruction)
        findings += _syntax(change)
        if not checks.may_remove and not any(finding.kind == "syntax" for finding in findings):
            findings += _lost(change)  # what does not parse hides its definitions
        if not any(finding.refuses for finding in findings):
            findings += _of_code(change, checks)
    if checks.check_with and place is not None and not any(finding.refuses for finding in findings):
        findings += _of_program(before, after, language, checks, place)
    return findings


def _of_code(change: Change, checks: Checks) -> list[Finding]:
    """The findings of the checks in CHECKS, the most severe kinds first, a few of each."""
    longest = max(len(change.before.text), len(change.after.text))
    are_off = all(verdict == OFF for kind, verdict in checks.verdicts.items() if kind != CHECKER)
    if longest > MAX_PARSED_CHARACTERS or change.after.errors or are_off:
        return []
    try:
        results: dict[Finding, None] = {}
        for check in CHECKS:
            results.update(dict.fromkeys(check(change)))
    except TooComplex as problem:
        return [Finding("not-checked", f"names not checked: {problem.reason}")]
    ordered = sorted(results, key=lambda finding: finding.line or 0)
    few = [
        finding
        for kind in checks.verdicts
        for finding in [o for o in ordered if o.kind == kind][:MAX_FINDINGS_OF_KIND]
    ]
    return list(_by_verdict(few, checks))


def _by_verdict(findings: Iterable[Finding], checks: Checks) -> Iterator[Finding]:
    """The findings with what their kinds' verdicts make of them; those that are off left out."""
    for finding in findings:
        verdict = checks.verdicts[finding.kind]
        if verdict != OFF:
            yield replace(finding, refuses=verdict == REFUSE)


def _of_program(
    before: str, after: str, language: Language | None, checks: Checks, place: FilePlace
) -> list[Finding]:
    """The messages of `check-with` programs about `after` and not about `before`."""
    if checks.verdicts[CHECKER] == OFF:
        return []
    name = language.name if language else ""
    try:
        results = list(external.new_remarks(checks.check_with, before, after, name, *place()))
    except external.CheckerError as problem:
        return [Finding("not-checked", f"check-with: {problem}")]
    return list(_by_verdict(results[:MAX_FINDINGS_OF_KIND], checks))


def _refusal(kind: str, text: str, line: int | None = None) -> Finding:
    return Finding(kind, text, (Spot(line),) if line else (), refuses=True)


def _syntax(change: Change) -> Iterator[Finding]:
    """One where the new text parses worse than the old one."""
    language, after = change.after.language, change.after.text
    old = change.before.errors
    try:
        new = change.after.errors
    except TooComplex as problem:
        yield _refusal("syntax", f"the new text {problem.reason}")
        return
    if len(new) <= len(old):
        if language.name == "python":
            yield from _compiles(change)
        return
    if len(old) >= UNREADABLE and len(new) <= len(old) * 1.15:
        text = f"syntax not checked: {len(old)} places of the file before do not parse either"
        yield Finding("not-checked", text)
        return
    first = (fresh((fault.what for fault in old), new, lambda fault: fault.what) or new)[0]
    changed = [hunk.after[0] + 1 for hunk in hunks(change.before.text, after)]
    line = next(
        (number for number in changed if first.line <= number <= first.last_line), first.line
    )
    lines = after.split("\n")
    shown = lines[min(line, len(lines)) - 1].strip()[:40]
    what = first.what if line == first.line else f"unexpected `{shown}`"
    yield _refusal(
        "syntax",
        f"line {line}: does not parse as {language.name}: {what} "
        f"({len(new)} syntax error{'s' * (len(new) != 1)}, {len(old)} before)",
        line,
    )


def _compiles(change: Change) -> Iterator[Finding]:
    """One where Python's own parser refuses the new text and not the old one: the grammar accepts
    a function without a body."""
    if len(change.after.text) > MAX_PARSED_CHARACTERS:
        return
    try:
        problem = _python_error(change.after.text)
        if problem is None or _python_error(change.before.text) is not None:
            return
    except (ValueError, RecursionError, MemoryError):
        return
    line = problem.lineno or 1
    yield _refusal("syntax", f"line {line}: does not parse as python: {problem.msg}", line)


def _python_error(text: str) -> SyntaxError | None:
    with warnings.catch_warnings():  # of escapes in strings
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except SyntaxError as problem:
            return problem
    return None


def _lost(change: Change) -> list[Finding]:
    """The definitions and lines that the change takes away without being asked to."""
    lost, unnamed = lost_definitions(change)
    if lost:
        names = listed(lost, MAX_NAMED_DEFINITIONS)
        return [_refusal("lost-definition", f"{LOST_MESSAGE} {names}")]
    noted = []
    if unnamed:
        names = listed(unnamed, MAX_NAMED_DEFINITIONS)
        text = f"the instruction does not name what the change takes away: {names}"
        noted = [Finding("unnamed-loss", text)]
    for check in (repeated_definitions, lost_lines):
        if findings := list(check(change)):
            return noted + [replace(finding, refuses=True) for finding in findings]
    return noted
