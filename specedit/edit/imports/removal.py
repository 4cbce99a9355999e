"""Imports that an edit made unused, and those that it wrote in the middle of a file."""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from pathlib import PurePath

from specedit.check.parsed import ParsedText
from specedit.edit.imports.placing import head_end, import_lines, with_import
from specedit.edit.imports.statements import (
    IMPORTS,
    NAMESPACE,
    SCRIPTS,
    Import,
    Stated,
    stated_imports,
    written,
)
from specedit.edit.imports.work_tree import WorkTree
from specedit.import_time import regex
from specedit.scoping import builtin_names
from specedit.syntax.languages import Language

KEEPS = regex(r"(?i)\b(?:imports?|imported|usings?|requires?|keep|unused)\b")
_LINES = {  # a line that is one import
    "python": r"(?:from [\w.]+ )?import [\w., ]+",
    "go": r'import (?:\w+ )?"[^"\n]+"',
    "java": r"import (?:static )?[\w.]+\s*;",
    "csharp": r"using [A-Z][\w.]*\s*;",
    **dict.fromkeys(SCRIPTS, r"import [\w*{} ,]+ from ['\"][^'\"\n]+['\"];?"),
}
_USING_COMMENT = regex(r"\btype:|@|>>>")  # comments that tools read


def without_misplaced(before: ParsedText, text: str, tree: WorkTree) -> tuple[str, list[str]]:
    """The text with imports that the edit wrote in its middle moved to the others. In Python, where
    such an import is legal, only those of the standard library."""
    language = before.language
    if language.name not in _LINES or not (moved := _misplaced(before, text, tree)):
        return text, []
    lines = text.split("\n")
    for number in reversed(moved):
        blank = not "".join(lines[number + 1 : number + 2]).strip()
        opens = not lines[number - 1].strip() or lines[number - 1].endswith("{")
        del lines[number : number + 1 + (blank and opens)]
    current, notes = ParsedText("\n".join(lines), language), []
    for line in dict.fromkeys(text.split("\n")[number].strip() for number in moved):
        for what in _imports_of(line, language):
            if what not in {one.what for one in stated_imports(current)} and line not in lines:
                current = ParsedText(with_import(what, current, tree), language)
        notes.append(f"moved `{line}` to the imports of the file")
    return current.text, notes


def _misplaced(before: ParsedText, text: str, tree: WorkTree) -> list[int]:
    """The lines, from 0, below the imports of a text that are new imports."""
    after, pattern = ParsedText(text, before.language), re.compile(_LINES[before.language.name])
    lines, known = text.split("\n"), {line.strip() for line in before.text.split("\n")}
    is_import = [pattern.fullmatch(line.strip()) is not None for line in lines]
    added = [
        number
        for number, line in enumerate(lines)
        if is_import[number]
        and line.strip() not in known
        and (before.language.name != "python" or _of_library(line.strip()))
    ]
    if not added:
        return []
    stated, _ = import_lines(after, tree)
    end = stated[-1].last + 1 if stated else head_end(after, lines)
    quoted: set[int] = set()  # lines in comments and in strings of several lines
    local: set[int] = set()  # lines in functions
    for one in after.root.walk():
        if one.type == "function_definition":
            local.update(range(one.line, one.line + after.text_of(one).count("\n") + 1))
        if "comment" in one.type or "string" in one.type:
            last = one.line + after.text_of(one).rstrip("\n").count("\n")
            quoted.update(range(one.line - ("comment" in one.type), last))
    below = (n for n in range(end, len(lines)) if lines[n].strip() and not is_import[n])
    first = next(below, end)  # the first line that ends the imports at the top of the file
    return [
        number
        for number in added
        if number >= first
        and number not in quoted
        and not (before.language.name == "python" and number in local)
    ]


def _of_library(line: str) -> bool:
    """Whether a line of Python imports from the standard library."""
    match = re.match(r"(?:from|import) (\w+)", line)
    return match is not None and match[1] in sys.stdlib_module_names


def _imports_of(line: str, language: Language) -> list[Import]:
    if language.name == "csharp":
        return [Import(line.removeprefix("using").rstrip(";").strip())]
    return [one.what for one in stated_imports(ParsedText(line + "\n", language))]


def without_unused(
    before: ParsedText, after: ParsedText, instruction: str, tree: WorkTree
) -> tuple[ParsedText, list[str]]:
    """The new text without the imports that the edit made unused."""
    if KEEPS.search(instruction):
        return after, []
    notes = []
    earlier = {(one.what, one.local) for one in stated_imports(before)}
    unused = {local for _, local in earlier if local in _words(before)} - _words(after)
    if not unused or PurePath(tree.path or "x").name == "__init__.py":
        return after, []
    for local in sorted(unused):
        same = [one for one in stated_imports(after) if one.local == local]
        if len(same) != 1 or (same[0].what, local) not in earlier or _stays(same[0], after, tree):
            continue
        shorter = ParsedText(_without(same[0], after), after.language)
        if shorter.text == after.text or len(shorter.errors) > len(after.errors):
            continue
        notes.append(f"removed `{written(same[0].what, after)}`: nothing uses it any more")
        after = shorter
    return after, notes


def _stays(one: Stated, after: ParsedText, tree: WorkTree) -> bool:
    """Whether an import may be needed although its name is not used."""
    language, what = after.language.name, one.what
    if one.requires or what.module == "__future__" or language == "csharp":
        return True
    if language == "rust":  # a trait is used without its name
        return one.local not in builtin_names.RUST_TYPES or "pub" in after.text_of(one.statement)
    if language in SCRIPTS and (one.local in ("React", "h") or what.name == NAMESPACE):
        return True
    line = after.text.split("\n")[one.part.line - 1]
    if re.search(r"#|//", line.partition("import")[2].replace("://", "")):
        return True
    if language != "python" or not tree.path:
        return False
    stem = re.escape(PurePath(tree.path).stem)
    name = re.escape(one.local)
    uses = rf"\b{stem}\.{name}\b|\bfrom\s+[\w.]*\b{stem}\s+import\b[^\n]*(?:\b{name}\b|\($|\*)"
    return next(tree.holding(uses), None) is not None


@lru_cache(maxsize=4)
def _words(parsed: ParsedText) -> frozenset[str]:
    """The words of a text outside its imports, and outside comments that no tool reads."""
    data = bytearray(parsed.data)
    for node in parsed.root.walk():
        ignored = node.type in IMPORTS
        if "comment" in node.type and parsed.language.name != "java":
            ignored = not _USING_COMMENT.search(parsed.text_of(node))
        if ignored:
            data[node.start : node.end] = b" " * (node.end - node.start)
    return frozenset(re.findall(r"[\w$]+", data.decode("utf-8", "replace")))


def _without(one: Stated, parsed: ParsedText) -> str:
    """The text without one name of an import, or without its statement."""
    data, node = parsed.data, one.statement
    others = [other for other in stated_imports(parsed) if other.statement is one.statement]
    if parsed.language.name == "go":
        specs = [up for up in one.part.up() if up.type == "import_spec_list"]
        if specs and len([s for s in specs[0].children if s.type == "import_spec"]) > 1:
            node = one.part
        others = [one]
    if len(others) == 1:
        start = data.rfind(b"\n", 0, node.start) + 1
        end = data.find(b"\n", node.end - 1 if data[node.end - 1 : node.end] == b"\n" else node.end)
        end = len(data) if end < 0 else end + 1
        above, below = data[:start], data[end:]
        if (not above.strip() or above.endswith(b"\n\n")) and below.startswith(b"\n"):
            below = below[1:] if above.strip() or not below.strip() else below.lstrip(b"\n")
        return (above + below).decode("utf-8", "surrogatepass")
    start, end = one.part.start, one.part.end
    behind = re.match(rb"[ \t]*,[ \t]*(\n[ \t]*)?", data[end:])
    ahead = re.search(rb",\s*$", data[:start])
    if behind is not None:
        end += behind.end()
        if behind[1] is not None and not ahead and b"\n" not in data[one.statement.start : start]:
            end -= len(behind[1])
    elif ahead is not None:
        start = ahead.start()
    else:
        return parsed.text
    return (data[:start] + data[end:]).decode("utf-8", "surrogatepass")
