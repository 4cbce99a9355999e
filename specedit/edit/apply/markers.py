"""Lines of a snippet that stand for lines of the file: `// ... existing code ...`, a comment in
place of code, a comment that says what is removed."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass

from specedit.check.answer import stands_in
from specedit.edit.apply.lines import margin
from specedit.syntax.work import spend

LEFT_OUT, MAYBE, REMOVED = "left out", "maybe", "removed"
_COMMENT = re.compile(
    r"(?://+!?|(?P<block>\{?/\*+|<!--+)|--(?=\s)|[#;]+(?=[\s.…(]|$)|%+(?=\s*(?:[.…]|\w+\s)))"
    r"\s*(?P<text>.*?)\s*"
    r"(?P<end>\*+/\}?|--+>)?"
)
_DOTS = re.compile(r"[\[(<]?\s*(?:\.{3,}|…)(?:\s+.*|\s*[,;\])>]*)")
_REMARK = ("//", "#", "/*", "*", "<!--", "-- ", "@", "[")
_INNER = re.compile(
    r"(?P<head>.*\S.*\{)\s*(?P<marker>/\*.*?\*/|//.*?|\.{3}|…)\s*(?P<tail>\}[;,)]*)\s*"
)
_REMOVES = re.compile(r"(?i)\b(?:remov|delet|dropp|gone\b|no longer\b)\w*")
LONGEST_LINE = 1_000  # characters of a line with something left out; reading takes their square
MAX_MARKER_WORDS = 2  # words
REPEATS_OF_MARKER = 3  # times that a comment is in a snippet, from which on it stands for lines
_CLOSING = {"{": "}", "(": ")", "[": "]"}
_BRACKET = re.compile(r"[{}()\[\]]")
_LITERAL = re.compile(r"""//.*|/\*.*?(?:\*/|$)|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`""")
_QUOTES = ('"""', "'''")
_CLOSES = (*_QUOTES, "*/", "-->")
_EDGES = (*_CLOSES, "/**", "/*", "<!--")
_ENGLISH = frozenset(re.findall(r"\w+", "all and any been from has in is it not of the this was"))
_NAME = re.compile(r"[\w$.:]*[\w$][?!]?(?:\(\))?")
_ORDER = re.compile(rf"(?i)(?:remove|delete|drop):? (?P<name>{_NAME.pattern})")


@dataclass(frozen=True, slots=True)
class ShownLines:
    """The lines of a snippet, and what each stands for: "" for itself."""

    lines: list[str]
    kinds: list[str]

    def code(self, colons: bool) -> list[str]:
        """The lines with nothing, or a statement, in place of those that stand for others.
        `colons`: a block of the language begins with one and needs a statement."""
        result: list[str] = []
        above = ""
        for line, kind in zip(self.lines, self.kinds, strict=True):
            if kind:
                edge = _edge(line.strip())
                text = edge if line.count(edge) == 1 else ""
                line = f"{margin(line)}pass" if colons and above.endswith(":") else text
            above = above if comment_text(line) is not None else line.strip() or above
            result.append(line)
        return result

    def balanced(self) -> list[str]:
        """The lines with the brackets, by indentation, that are left out with others."""
        result = self.code(False)
        added = defaultdict[int, list[str]](list)  # to each line
        opened: list[tuple[int, str]] = []  # indentation of the line, the bracket that closes
        at: int | None = None  # the last line that stands for others
        for n, line in enumerate(self.lines):
            depth, marker = len(margin(line)), self.kinds[n] == LEFT_OUT
            at = n if marker else at
            if not line.strip() or (self.kinds[n] and not marker):
                continue
            closes = not marker and line.strip()[0] in _CLOSING.values()
            while at is not None and opened and opened[-1][0] >= depth + closes:
                added[at].append(opened.pop()[1])
            if marker:
                continue
            for char in _BRACKET.findall(_LITERAL.sub("", line)):
                if char in _CLOSING:
                    opened.append((depth, _CLOSING[char]))
                elif opened and opened[-1] == (opened[-1][0], char) and opened[-1][0] >= depth:
                    opened.pop()
                elif at is not None and (not opened or opened[-1][0] < depth):
                    added[at].append(next(a for a, b in _CLOSING.items() if b == char))
                elif opened:
                    opened.pop()
        return [line + "".join(added[n]) if n in added else line for n, line in enumerate(result)]


def brackets_open(line: str) -> int:
    """How many brackets a line leaves open; less than 0 where it closes more."""
    found = _BRACKET.findall(_LITERAL.sub("", line))
    return sum(1 if char in _CLOSING else -1 for char in found)


def comment_text(line: str) -> str | None:
    """The text of a line that is a comment and nothing else; None for other lines."""
    found = _COMMENT.fullmatch(line.strip())
    if found is None or bool(found["block"]) != bool(found["end"]):
        return None
    return found["text"] if "*/" not in found["text"] else None


def is_remark(line: str) -> bool:
    """Whether a line is a comment, or a decorator or attribute of what follows."""
    return line.lstrip().startswith(_REMARK)


def says_removed(text: str) -> bool:
    """Whether a text has a word that says that something is removed."""
    return _REMOVES.search(text) is not None


def names_removed(line: str, defined: Set[str]) -> set[str]:
    """The names in a comment that says that something is removed: those that are defined, and words
    that are no English ones."""
    text = comment_text(line) or ""
    words = _NAME.findall(text)
    names = {word.rstrip("()") for word in words if re.search(r"[_.$\d()]|[a-z][A-Z]", word)}
    verbs = (word for word in words if not {word, word.rstrip("()")} & (names | defined))
    if order := _ORDER.fullmatch(text):
        words = [order["name"]]
    elif not says_removed(" ".join(verbs)):  # a function may be called `remove`
        return set()
    for word in words:
        parts = re.split(r"[^\w?!]+", word.rstrip("()"))  # a method of Ruby may end so
        whole = ".".join(parts)
        parts += [part.rstrip("?!") for part in parts]
        names |= {whole} if whole in defined else set(defined).intersection(parts)
    plain = _ENGLISH.intersection(words)  # a method may be called `has`
    return (names - plain or names) - {""}


def shown_lines(lines: Sequence[str], old: Sequence[str], defined: Set[str]) -> ShownLines:
    """A snippet's lines with what they stand for, in a file that defines these names. A comment
    that the file does not have may stand for code where it stands alone; the alignment decides."""
    known = {line.strip() for line in old}
    own: list[str] = []
    for line in lines:
        inner = _INNER.fullmatch(line) if len(line) <= LONGEST_LINE else None
        if inner and line.strip() not in known and _left_out(inner["marker"]):
            deeper = f"{margin(line)}    "
            own += [inner["head"].rstrip(), deeper + inner["marker"], margin(line) + inner["tail"]]
        else:
            own.append(line)
    shown = {line.strip() for line in own}
    rest = [line for line in known - shown if line]
    kinds = [""] * len(own)
    for n, line in enumerate(own):
        text = line.strip()
        if not text or text in known:
            continue
        comment = comment_text(line)
        names = names_removed(line, defined) if comment else set()
        spend(len(names) * len(rest) / 10)
        said = any(name.rpartition(".")[2] in other for name in names for other in rest)
        if said and (_alone(own, n, known) or _says_little(comment or "", names)):
            kinds[n] = REMOVED
            continue
        if _left_out(text):
            kinds[n] = LEFT_OUT
        elif comment and _alone(own, n, known):
            kinds[n] = MAYBE
    for n, line in enumerate(own):
        if kinds[n] == MAYBE and _apart(own, kinds, n):
            named = set(re.findall(r"[\w$]+", line))
            beside = {_beside(own, kinds, n, -1), _beside(own, kinds, n, 1)}
            first = n and own[n - 1].strip() in known and own[n - 1].rstrip().endswith("{")
            last = n and not own[n - 1].strip() and own[n + 1 : n + 2] and own[n + 1].strip()
            if LEFT_OUT in beside or first or last or not named.isdisjoint(defined):
                kinds[n] = LEFT_OUT
    texts = [line.strip() for line in own]
    counts = Counter(texts)
    maybe = {text for text, kind in zip(texts, kinds, strict=True) if kind == MAYBE}
    left = {text for text, kind in zip(texts, kinds, strict=True) if kind == LEFT_OUT}
    seen = Counter[str]()
    for n, text in enumerate(texts):  # what is left out ends here
        ends = n and kinds[n - 1] == LEFT_OUT and text in _CLOSES
        if ends and (seen[text] % 2 or text not in _QUOTES):
            kinds[n] = LEFT_OUT
        seen.update({quotes: text.count(quotes) for quotes in _QUOTES})
    for n, text in enumerate(texts):  # an equal comment stands for lines, too
        if text in left or (text in maybe and counts[text] >= REPEATS_OF_MARKER):
            kinds[n] = LEFT_OUT
    return ShownLines(own, kinds)


def _says_little(comment: str, names: set[str]) -> bool:
    """Whether a comment has few words besides the names of what it says is removed."""
    words = re.findall(r"\w+", _REMOVES.sub("", comment))
    return sum(word not in names and f"{word}()" not in names for word in words) <= MAX_MARKER_WORDS


def _apart(lines: Sequence[str], kinds: Sequence[str], n: int) -> bool:
    """Whether no code follows a line directly."""
    below = lines[n + 1].strip() if n + 1 < len(lines) else ""
    return not below or below[:1] in "})]" or kinds[n + 1] == LEFT_OUT


def _beside(lines: Sequence[str], kinds: Sequence[str], n: int, step: int) -> str:
    """The meaning of the nearest line that is not blank; the end of a snippet leaves out."""
    n += step
    while 0 <= n < len(lines) and not lines[n].strip():
        n += step
    return kinds[n] if 0 <= n < len(lines) else LEFT_OUT


def _left_out(text: str) -> bool:
    text = text.strip()
    comment = comment_text(text)
    if comment and comment[0] + comment[-1] in ("()", "[]"):
        return True
    own = text.removeprefix("* ") if comment is None else comment
    return bool(_DOTS.fullmatch(own) or stands_in(text)) or (
        text not in _EDGES and bool(_edge(text))
    )


def _edge(text: str) -> str:
    """The token that begins or ends a comment or string of several lines in a marker's line."""
    for edge in _EDGES if comment_text(text) is None else ():
        if edge in (text[: len(edge)], text[-len(edge) :]):
            rest = text.removeprefix(edge).removesuffix(edge).strip().removeprefix("* ")
            return edge if not rest or _DOTS.fullmatch(rest) or stands_in(f"# {rest}") else ""
    return ""


def _alone(lines: Sequence[str], n: int, known: set[str]) -> bool:
    """Whether a comment stands for itself: no other comment next to it, and no new code below."""
    above = lines[n - 1] if n else ""
    below = lines[n + 1] if n + 1 < len(lines) else ""
    if any(comment_text(line) and not _left_out(line) for line in (above, below)):
        return False
    text = below.strip()
    return (
        not text or text in known or text[:1] in "})]" or len(margin(below)) < len(margin(lines[n]))
    )
