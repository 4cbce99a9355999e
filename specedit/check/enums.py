"""Members of an enumeration of the file that it does not have: `Level.SUCCESS`, where `Level` has
`WARN` and `ERROR`.

Only where the name can mean nothing else: one declaration in the file, and no import of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.check.finding import Finding, at
from specedit.check.parsed import Change, ParsedText

_ENUMS = {  # by language: the node type of an enumeration
    "typescript": "enum_declaration",
    "tsx": "enum_declaration",
    "csharp": "enum_declaration",
    "java": "enum_declaration",
    "rust": "enum_item",
    "cpp": "enum_specifier",
}
_WORD = re.compile(r"[^\W\d]\w*")
_ITEM = re.compile(r"\b(?:const|fn|type)\s+(\w+)")  # of an `impl`
_USE = re.compile(r"(?<![\w.:$])(?P<enum>[A-Z]\w*)(?:::|\.)(?P<name>[A-Z]\w*)(?P<called>\s*[(<])?")
# What may give an enumeration members elsewhere, import it, or be another thing of its name
_OPEN = (
    r"\b(?:class|namespace|module|interface|struct|record|type|trait|union|object|import|using)\b"
    r"[^;{{\n]{{0,200}}\b{0}\b|\buse\b[^;]{{0,200}}::{0}\b|\buse\s+{0}\s+as\b"
)
_NAMED = (  # a field, a variable or a parameter
    r"\b(?!impl\b|for\b)\w+[\]>?]?\s+{0}\s*(?:[;={{,)]|:(?!:))|[(,]\s*{0}\s*(?:[=,)]|:(?!:))"
)
MAX_ENUMERATIONS = 50  # that are looked at: each is looked for in the whole text


def unknown_members(change: Change) -> Iterator[Finding]:
    """One for each member, at its first use."""
    if change.after.language.name not in _ENUMS:
        return
    before = {(use["enum"], use["name"]) for use in _USE.finditer(change.before.text)}
    if all((use["enum"], use["name"]) in before for use in _USE.finditer(change.after.text)):
        return
    text = "\n".join(change.after.code_lines)
    is_rust = change.after.language.name == "rust"
    given = {*_ITEM.findall(text)} if is_rust else set()
    members = _members(change.after)
    closed: dict[str, bool] = {}
    for use in _USE.finditer(text):
        enum, name = use["enum"], use["name"]
        if (enum, name) in before or name in members.get(enum, {name}) or name in given:
            continue
        before.add((enum, name))
        if name.isupper() if is_rust else use["called"]:  # a constant, a method of all
            continue
        if enum not in closed and len(closed) < MAX_ENUMERATIONS:
            closed[enum] = not _is_open(enum, text, is_rust)
        if closed.get(enum):
            line = text.count("\n", 0, use.start()) + 1
            yield at("undefined", line, f"`{name}` is not in the enumeration `{enum}`")


def _members(parsed: ParsedText) -> dict[str, set[str]]:
    """The words in each enumeration of which there is one."""
    declared: dict[str, list[str]] = {}
    for node in parsed.root.walk():
        if node.type == _ENUMS[parsed.language.name]:
            name, body = node.part("name"), node.part("body")
            if name is not None and body is not None:
                declared.setdefault(parsed.text_of(name), []).append(parsed.text_of(node))
    return {
        enum: {*_WORD.findall(texts[0])}
        for enum, texts in declared.items()
        if len(texts) == 1 and "implements" not in texts[0].partition("{")[0]
    }


def _is_open(enum: str, text: str, is_rust: bool) -> bool:
    """Whether something besides its declaration has the enumeration's name."""
    name = re.escape(enum)
    outside = re.sub(rf"\benum\s+(?:class\s+|struct\s+)?{name}\b", "", text)
    patterns = (_OPEN,) if is_rust else (_OPEN, _NAMED)
    return any(re.search(pattern.format(name), outside) for pattern in patterns)
