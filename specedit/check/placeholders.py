"""Comments that stand for code left out: `// ... existing code ...`, `# rest unchanged`.

Looks for the comment marks of every syntax at once, without parsing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.check.finding import fresh

# Lines of a prompt that stand for lines of the file.
GAP, HERE = "[other lines]", "[the region to edit]"
LONGEST = 200  # characters; a stand-in is short
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
        rf"^(?:and )?(?:the |your |all )*{LEFT} (?:\w+ ){{0,2}}{CODE}$",
        rf"^(?:and )?(?:the |your |all )*{ALSO} (?:\w+ ){{0,2}}{CODE} (?:{STAYS}|{SAME})$",
        rf"\b{CODE} (?:(?:remains?|stays?|is|are|left|kept) )*{SAME}$",
        rf"^(?:the )?rest (?:(?:remains?|stays?|is|are) )*{SAME}$",
        rf"^(?:your|insert|add|put) (?:\w+ ){{0,3}}{CODE} (?:goes )?here$",
    )
]
HINTS = re.compile(
    rf"\b(?:{CODE}|rest|existing|unchanged|remain\w*|omitted|etc|same|other|before|previous)\b",
    re.IGNORECASE,
)


def placeholders(before: str, after: str) -> Iterator[tuple[int, str]]:
    """Lines of `after` that stand for missing code, and that `before` had not."""
    lines = enumerate(map(str.strip, after.split("\n")), 1)
    stand_ins = [(number, line) for number, line in lines if stands_in(line)]
    return fresh(map(str.strip, before.split("\n")), stand_ins, lambda one: one[1])


def stands_in(line: str) -> bool:
    """Whether a line is, or ends in, a comment that stands for code, or is a line of a prompt."""
    if line in (GAP, HERE):
        return True
    if len(line) > LONGEST:
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
