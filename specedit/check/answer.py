"""All checks of an answer: the text before and the text after an edit become findings.

A text that does not parse, has a placeholder, is empty or lost a definition is refused. What the
other checks find is refused or noted by the table of verdicts. The program of `check-with`
runs last, on what nothing refuses.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from specedit.check import external
from specedit.check.definitions import TAKES_AWAY, lost_definitions, lost_lines
from specedit.check.finding import CHECKER, NOTHING, OFF, REFUSE, Checks, Finding, Spot, at, fresh
from specedit.check.instruction import ABOUT_COMMENTS, ABOUT_SPACE
from specedit.check.names import undefined_names
from specedit.check.parsed import Change, ParsedText, parsed_text
from specedit.errors import TooComplex, listed
from specedit.scoping.builtin_names import words
from specedit.syntax.branch import COMMENTS, Branch
from specedit.syntax.languages import Language
from specedit.syntax.lines import GAP, NOT_SHOWN, changed_runs, hunks, opcodes
from specedit.syntax.outline import KINDS

COPIED = 3  # consecutive lines that are copied, blank ones not counted
SHORT_LINE_CHARACTERS = 8  # characters of a line that says nothing about where it is from


def copied_lines(before: str, after: str, shown: Sequence[tuple[str, str]]) -> Iterator[Finding]:
    """One for each file of `shown` (name, text) of which consecutive lines are new in `after`. A
    file of fewer lines counts when all of it was copied."""
    old = {line.strip() for line in before.split("\n")}
    new = [line.strip() for line in after.split("\n")]
    for name, text in shown:
        theirs = [line.strip() for line in text.split("\n") if line.strip()]
        least = min(COPIED, len(theirs))
        runs = {tuple(theirs[n : n + least]) for n in range(len(theirs) - least + 1)}
        numbered = [(n, line) for n, line in enumerate(new, 1) if line]
        for start in range(len(numbered) - least + 1):
            piece = numbered[start : start + least]
            lines = tuple(line for _, line in piece)
            fresh = [line for line in lines if line not in old]
            if (
                lines in runs
                and len(fresh) == least
                and max(map(len, lines)) > SHORT_LINE_CHARACTERS
            ):
                text = f"lines {piece[0][0]}-{piece[-1][0]} are copied from {name}"
                yield Finding("copied", text, (Spot(piece[0][0]),), refuses=True)
                break


MIN_COMMENT_LINES = 5  # lines; many right edits tidy fewer besides what they do
_PROSE = frozenset({"html", "yaml", "toml", "css"})


def comments_only(change: Change) -> Iterator[Finding]:
    """One at the first changed line, where comments changed and the instruction is about code."""
    if change.before.language.name in _PROSE or ABOUT_COMMENTS.search(change.instruction):
        return
    if bare([change.before.text]) == bare([change.after.text]):
        return
    if _code(change.before) == _code(change.after):
        old, new = change.before.text.split("\n"), change.after.text.split("\n")
        first = next(code for code in opcodes(old, new) if code[0] != "equal")
        yield at(NOTHING, min(first[3] + 1, len(new)), "nothing but comments changed")


def whitespace_changes(change: Change) -> Iterator[Finding]:
    """One at the first line, where white space alone changed, or more of it than anything else.
    (A line or two next to a change were in 7 of 130 real commits.)"""
    if ABOUT_SPACE.search(change.instruction):
        return
    old, new = change.before.text.split("\n"), change.after.text.split("\n")
    space_only = changed = at_end = first_line = 0
    for a, b, c, d in changed_runs(old, new):
        if bare(old[a:b]) != bare(new[c:d]):
            changed += max(b - a, d - c)
        elif b == len(old) and not bare(old[a:b]):
            at_end = max(b - a, d - c)  # blank lines at the end come and go unseen
        else:
            space_only += max(b - a, d - c)
            first_line = first_line or c + 1
    if not changed and at_end:
        space_only, first_line = space_only + at_end, first_line or len(new)
    if space_only >= (max(MIN_COMMENT_LINES, changed + 1) if changed else 1):
        lines = "1 line" if space_only == 1 else f"{space_only} lines"
        text = f"{lines} changed in white space only"
        yield at("whitespace", first_line, text if changed else f"nothing but white space: {text}")


def bare(lines: Sequence[str]) -> str:
    """The lines without white space."""
    return "".join("".join(line.split()) for line in lines)


def _code(parsed: ParsedText) -> list[str]:
    """Everything outside comments, piece by piece; of a string also what lies between its
    escapes, which is not a node."""
    pieces = []
    for node in parsed.root.walk():
        if node.type in COMMENTS:
            continue
        start = node.start
        for child in (*node.children, None):
            end = child.start if child else node.end
            piece = parsed.data[start:end]
            if piece.strip():
                pieces.append(piece.decode("utf-8", "replace"))
            start = child.end if child else end
    return pieces


STAND_IN = 200  # characters; a stand-in is short
MARK = re.compile(
    r"""(?:^|\s)(//+!?|/\*+|<!--+|--+|\{/\*|\(\*|\#+|;+|%+|\*|"{3}|'{3})(?=[\s.…\[(<\w])"""
)
CLOSE = re.compile(r"""\s*(?:\*/\}?|--+>|\*\)|"{3}|'{3})\s*$""")
DOTS = re.compile(r"\.{3,}|…|\.\.\.")
CODE = (
    r"(?:code|file|class|classes|methods?|functions?|implementations?|module|script|program|imports?"
    r"|properties|fields|body|definitions?|logic|content|contents|declarations?|statements?|tests?"
    r"|lines|members|component|document|config\w*|section|sections|html|css|styles)"
)
SAME = (
    r"(?:(?:the )?same|unchanged|as (?:before|is|above)|untouched|omitted|truncated|not shown"
    r"|intact)"
)
LEFT = r"(?:rest|remaining|existing|unchanged)"
ALSO = r"(?:rest|remaining|existing|unchanged|previous|original|other)"
STAYS = r"(?:above|below|here|goes here|remains?.*|stays?.*|is .*|are .*)"
STAND_INS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^(?:and )?(?:the )?(?:rest|remainder) of (?:the|your|this|my)\b.*\b{CODE}\b",
        rf"^(?:and |keep |leave )?(?:the |your |all )*{LEFT} (?:\w+ ){{0,2}}{CODE}$",
        rf"^(?:and )?(?:the |your |all )*{ALSO} (?:\w+ ){{0,2}}{CODE} (?:{STAYS}|{SAME})$",
        rf"\b{CODE} (?:(?:remains?|stays?|is|are|left|kept) )*{SAME}$",
        rf"^(?:unchanged|(?:the )?rest (?:(?:remains?|stays?|is|are) )*{SAME})$",
        rf"^(?:your|insert|add|put) (?:\w+ ){{0,3}}{CODE} (?:goes )?here$",
    )
]
HINTS = re.compile(
    rf"\b(?:{CODE}|rest|existing|unchanged|remain\w*|omitted|etc|same|other|before|previous)\b",
    re.IGNORECASE,
)


def placeholders(before: str, after: str, instruction: str) -> list[tuple[int, str]]:
    """Lines of `after` that stand for missing code or characters, and that `before` had not."""
    lines = enumerate(map(str.strip, after.split("\n")), 1)
    # What half a character of a model is read as; without an instruction the text is the caller's
    not_text = {"\0", "\ufffd"} - {*before, *(instruction or "\ufffd")}
    stand_ins = [(number, line) for number, line in lines if not_text & {*line} or stands_in(line)]
    return fresh(map(str.strip, before.split("\n")), stand_ins, lambda found: found[1])


def stands_in(line: str) -> bool:
    """Whether a line is, or ends in, a comment that stands for code, or is a line of a prompt."""
    if line == GAP or NOT_SHOWN in line:
        return True
    if len(line) > STAND_IN:
        return False
    for mark in MARK.finditer(line):
        comment = CLOSE.sub("", line[mark.end() :]).strip().strip("[]()<>{}-—* ")
        starts, ends = DOTS.match(comment), re.search(rf"(?:{DOTS.pattern})$", comment)
        words = re.sub(r"\s+", " ", DOTS.sub(" ", comment)).strip(" .:,;[]()<>-")
        if not words:
            if starts and mark.group(1) not in ('"""', "'''"):
                return True
            continue
        if starts and HINTS.search(words) and len(words.split()) <= 12:
            return True
        if ends and re.match(r"(?i)(?:the )?(?:rest|existing|remaining|other|previous)\b", words):
            return True
        if mark.start() == 0 and any(pattern.search(words) for pattern in STAND_INS):
            return True
    return False


_PACKAGES = words("package_declaration package_clause file_scoped_namespace_declaration")
_JAVASCRIPT = words(
    "class_declaration function_declaration generator_function_declaration method_definition"
)
_TYPESCRIPT = _JAVASCRIPT | {"type_alias_declaration"}
_DEFINITIONS = {  # by language: node types of which two of one name in one place are an error
    "python": words("function_definition class_definition"),
    "ruby": words("method"),
    "php": words("function_definition method_declaration class_declaration"),
    "java": words(
        "class_declaration interface_declaration enum_declaration record_declaration",
        "annotation_type_declaration",
    ),
    "csharp": words(
        "class_declaration interface_declaration enum_declaration record_declaration",
        "struct_declaration delegate_declaration",
    ),
    "go": words("type_spec type_alias function_declaration method_declaration"),
    "rust": words("struct_item enum_item union_item trait_item type_item function_item"),
    "javascript": _JAVASCRIPT,
    "typescript": _TYPESCRIPT,
    "tsx": _TYPESCRIPT,
}
_ACCESSORS = words("get set static")
_OPEN = ("partial ", "#if ")  # of a C# file whose types may have several parts
_BODIES = words("block statement_block statement_list switch_block_statement_group")


def repeated_definitions(change: Change) -> Iterator[Finding]:
    """One for each definition, and for the package, that is in a place more often than before."""
    if change.after.language.name not in _DEFINITIONS:
        return
    old = Counter(key for key, _ in _definitions(change.before))
    count: Counter[tuple[str, ...]] = Counter()
    for key, node in _definitions(change.after):
        count[key] += 1
        if count[key] == max(1, old[key]) + 1:
            yield at("repeated", node.line, f"`{key[-1]}` is defined twice")


def _definitions(parsed: ParsedText) -> Iterator[tuple[tuple[str, ...], Branch]]:
    """The definitions outside functions, with what they stand in; a package has its own words."""
    types = _DEFINITIONS[parsed.language.name]
    if parsed.language.name == "csharp" and any(word in parsed.text for word in _OPEN):
        types = frozenset()
    for node in parsed.root.walk():
        if node.type in _PACKAGES:
            yield ("package", parsed.text_of(node).split()[0]), node
        elif node.type in types and (name := node.part("name")) is not None:
            if node.place.startswith(("object.", "decorated_definition.")):
                continue  # a method of a literal; a property's setter, an overload
            around = [up for up in (node, *node.up()) if up.type in KINDS]
            if any(map(_is_body, node.up())) or any(_depends_on_build(parsed, up) for up in around):
                continue
            own_name = parsed.text_of(name)
            if parsed.language.name == "go" and own_name in ("init", "_"):
                continue
            holders = (_head(parsed, up) for up in around[1:])
            receiver = node.part("receiver")
            numbers = node.first("type_parameter_list", "type_parameters")
            arity = len(numbers.named_children()) if numbers is not None else 0
            accessors = (child.type for child in node.children if child.type in _ACCESSORS)
            of = parsed.text_of(receiver).split()[-1] if receiver is not None else ""
            yield (*holders, of, *accessors, str(arity), own_name), node


def _is_body(node: Branch) -> bool:
    """Whether a node holds statements; in Python a class holds its members in a block."""
    of_class = node.parent is not None and node.parent.type == "class_definition"
    return node.type in _BODIES and not of_class


def _head(parsed: ParsedText, node: Branch) -> str:
    """The container of a type, as it is written in front of its body."""
    body = node.part("body")
    return parsed.text_of(node.until(body.start)) if body is not None else node.type


def _depends_on_build(parsed: ParsedText, node: Branch) -> bool:
    """Rust: whether an attribute says in which builds an item counts."""
    siblings = node.parent.children if node.parent is not None else ()
    before = ""
    for sibling in siblings:
        if sibling is node:
            break
        before = f"{before}{parsed.text_of(sibling)}" if "attribute" in sibling.type else ""
    return "cfg" in before


RUN = 10  # lines of a copy that no one writes


def copied_runs(change: Change) -> Iterator[Finding]:
    """One for each run of lines that stood in the text once and stands in it twice."""
    old = Counter(tuple(line for _, line in run) for run in _runs(change.before))
    new: Counter[tuple[str, ...]] = Counter()
    last = 0
    for run in _runs(change.after):
        key = tuple(line for _, line in run)
        new[key] += 1
        if old[key] == 1 and new[key] == 2:
            if run[0][0] > last:
                text = f"lines {run[0][0]}-{run[-1][0]} repeat lines of the file"
                yield at("copied-run", run[0][0], text)
            last = run[-1][0]


def _runs(parsed: ParsedText) -> Iterator[list[tuple[int, str]]]:
    """Every RUN lines of code in a row that have a word, with their numbers."""
    numbered = enumerate(map(str.strip, parsed.code_lines), 1)
    lines = [(number, line) for number, line in numbered if any(map(str.isalnum, line))]
    return (lines[n : n + RUN] for n in range(len(lines) - RUN + 1))


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
        for number, line in placeholders(before, after, instruction)
    ]
    if not after.strip() and not TAKES_AWAY.search(instruction):
        findings.append(_refusal("empty", "the new text is empty"))
    findings += copied_lines(before, after, checks.shown)
    if language is None or not language.grammar:
        named = f"no grammar for {language.name}" if language else "the language is unknown"
        findings.append(Finding("not-checked", f"syntax not checked: {named}"))
        if not checks.may_remove:
            findings += lost_lines(before, after, instruction)
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
        problem = python_error(change.after.text)
        if problem is None or python_error(change.before.text) is not None:
            return
    except (ValueError, RecursionError, MemoryError):
        return
    line = problem.lineno or 1
    yield _refusal("syntax", f"line {line}: does not parse as python: {problem.msg}", line)


def python_error(text: str) -> SyntaxError | None:
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
    if findings := list(repeated_definitions(change)):
        return noted + [replace(finding, refuses=True) for finding in findings]
    return noted + list(lost_lines(change.before.text, change.after.text, change.instruction))
