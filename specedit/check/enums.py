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
_USE = re.compile(r"(?<![\w.:$])(?P<enum>[A-Z]\w*)(?:::|\.)(?P<name>[A-Z]\w*)(?P<called>\s*[(<])?")
# What may give an enumeration members elsewhere, import it, or be another thing of its name
_OPEN = (
    r"\b(?:class|namespace|module|interface|struct|record|type|trait|union|object|import|using)\b"
    r"[^;{{\n]*\b{0}\b|\buse\b[^;]*::{0}\b|\buse\s+{0}\s+as\b"
)
_NAMED = (  # a field, a variable or a parameter
    r"\b(?!impl\b|for\b)\w+[\]>?]?\s+{0}\s*(?:[;={{,)]|:(?!:))|[(,]\s*{0}\s*(?:[=,)]|:(?!:))"
)


def unknown_members(change: Change) -> Iterator[Finding]:
    """One for each member, at its first use."""
    if change.after.language.name not in _ENUMS:
        return
    before = {(use["enum"], use["name"]) for use in _USE.finditer(change.before.text)}
    new = [
        use for use in _USE.finditer(change.after.text) if (use["enum"], use["name"]) not in before
    ]
    if not new:
        return
    members = _members(change.after)
    text = "\n".join(change.after.code_lines)
    for use in _USE.finditer(text):
        enum, name = use["enum"], use["name"]
        if (enum, name) in before or enum not in members:
            continue
        before.add((enum, name))
        if name not in members[enum] and not _may_be_given(change.after, text, use):
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


def _may_be_given(parsed: ParsedText, text: str, use: re.Match[str]) -> bool:
    """Whether anything but the enumeration's own text may define the member that is used."""
    enum, name = re.escape(use["enum"]), use["name"]
    outside = re.sub(rf"\benum\s+(?:class\s+|struct\s+)?{enum}\b", "", text)
    if re.search(_OPEN.format(enum), outside):
        return True
    if parsed.language.name == "rust":  # an `impl`
        return name.isupper() or bool(re.search(rf"\b(?:const|fn|type)\s+{name}\b", text))
    return use["called"] is not None or bool(re.search(_NAMED.format(enum), outside))
