"""Lines of a change and lines of a file: how they are compared, and the indentation of new lines in
the file's style; and what is said of a part of a change that is refused.

Lines are compared as they are, then without white space at their ends, then without their
indentation, then without any white space.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import accumulate, pairwise

from specedit.syntax.lines import opcodes
from specedit.syntax.work import spend

MIN_LIKENESS = 0.6  # least likeness of two lines that may be one line changed
LONG_LINE = 1_000  # characters from which on lines are compared by words
COMMON = 60  # file lines with a word, beyond which it finds nothing
_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"\w+|.", re.DOTALL)

Lines = tuple[int, int]  # from 1, both in


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """A part of the change without a single place."""

    first: str  # the part's first line
    reason: str
    places: tuple[Lines, ...] = ()  # lines of the file where it may belong
    hint: str = "show more lines around it"  # what to do now


def clearer(file: Sequence[str], rows: Sequence[int], shown: Sequence[str]) -> str:
    """The smallest addition that tells places of the file (lines from 0) apart: the nearest line
    that is not shown, first where it is directly next to them."""
    known = {line.strip() for line in shown}
    found: list[tuple[int, str]] = []  # how far it is at most, the addition
    for side, step in (("above", -1), ("below", 1)):
        texts, most = [], 0
        for row in rows:
            at, far = row + step, 1
            while 0 <= at < len(file) and (not file[at].strip() or file[at].strip() in known):
                far += bool(file[at].strip())
                at += step
            texts.append(file[at].strip() if 0 <= at < len(file) else "")
            most = max(most, far)
        if len(set(texts)) == len(texts) and texts and texts[0]:
            other = f" or `{short(texts[1])}`" if len(texts) > 1 and texts[1] else ""
            found.append((most, f"show the line {side} it: `{short(texts[0])}`{other}"))
    return min(found, key=lambda pair: pair[0])[1] if found else "show more lines around it"


def short(line: str) -> str:
    return line if len(line) <= 60 else f"{line[:57]}..."


def squeezed(line: str) -> str:
    """The line without white space."""
    return re.sub(r"\s+", "", line)


KEYS: tuple[Callable[[str], str], ...] = (str, str.rstrip, str.strip, squeezed)


class FileIndex:
    """The lines of a file, by each way to compare them."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self._keys: dict[int, list[str]] = {}
        self._rows: dict[int, dict[str, list[int]]] = {}

    @cached_property
    def likeness(self) -> Likeness:
        return Likeness(self.lines)

    @cached_property
    def weights(self) -> list[float]:
        return [weight(line) for line in self.lines]

    @cached_property
    def told(self) -> tuple[list[str], list[int]]:
        """The lines that are not blank, without indentation, and how many stand before each line
        of the file and before its end."""
        lines = [line.strip() for line in self.lines]
        return list(filter(None, lines)), [0, *accumulate(map(bool, lines))]

    @cached_property
    def text(self) -> str:
        return "\n".join(self.lines)

    def found(self, text: str) -> list[int]:
        """Where a text begins in the file's, inside of lines, too; of many the first hundred."""
        result, at = list[int](), self.text.find(text)
        while at >= 0 and len(result) < 100:
            result.append(at)
            at = self.text.find(text, at + 1)
        return result

    def keys(self, level: int) -> list[str]:
        if level not in self._keys:
            self._keys[level] = [KEYS[level](line) for line in self.lines]
        return self._keys[level]

    def rows(self, level: int) -> dict[str, list[int]]:
        """The lines of each key."""
        if level not in self._rows:
            result: dict[str, list[int]] = {}
            for row, key in enumerate(self.keys(level)):
                result.setdefault(key, []).append(row)
            self._rows[level] = result
        return self._rows[level]

    def runs(self, wanted: Sequence[str], level: int) -> list[int]:
        """Where consecutive lines equal these."""
        keys, rows = self.keys(level), self.rows(level)
        own = [KEYS[level](line) for line in wanted]
        rarest = min(range(len(own)), key=lambda n: len(rows.get(own[n], ())))
        last = len(keys) - len(own) + rarest
        starts = [row - rarest for row in rows.get(own[rarest], ()) if rarest <= row <= last]
        spend(len(starts) * (1 + len(own) / 50))
        return [at for at in starts if keys[at : at + len(own)] == own]


def margin(line: str) -> str:
    """The white space that a line begins with."""
    return line[: len(line) - len(line.lstrip())]


def weight(line: str) -> float:
    """The weight of an equal line: little where it has no word of its own."""
    text = line.strip()
    if not text:
        return 0.1
    letters = sum(map(str.isalnum, text))
    return 0.3 if letters < 2 else 0.6 if letters < 6 else 1.0


def opens(line: str) -> bool:
    """Whether a block begins at the end of a line."""
    return line.rstrip()[-1:] in ("{", "(", "[", ":")


def closes(line: str) -> bool:
    """Whether a block ends at the beginning of a line."""
    return line.strip()[:1] in ("}", ")", "]")


def likeness(one: str, other: str) -> float:
    """From 0 to 1, white space left out."""
    one, other = squeezed(one), squeezed(other)
    if len(one) * len(other) > LONG_LINE**2:
        words = [_TOKEN.findall(line) for line in (one, other)]
        equal = (words[0][a:b] for tag, a, b, *_ in opcodes(*words) if tag == "equal")
        return 2 * sum(len(word) for run in equal for word in run) / (len(one) + len(other))
    spend(20 + len(one) * len(other) / 50)
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def same_line(one: str, other: str) -> bool:
    """Whether two lines are one line changed: both set the same name, or one has the other's words
    and more, the first one apart where there are many."""
    for sign in ("=", ":", "("):
        a, found, _ = one.replace("::", ".").partition(sign)
        b, also, _ = other.replace("::", ".").partition(sign)
        named = sign != "(" or bool({"def", "func", "fn", "function", "class"} & set(a.split()))
        named = named and not a.lstrip().startswith("- ")  # one more of a list
        named = named and not (sign in "=:" and a.split()[:1] in (["if"], ["while"], ["for"]))
        if found and also and named and squeezed(a) == squeezed(b) and any(map(str.isalnum, a)):
            return True
    if (one.strip()[:1] in ("}", ")")) != (other.strip()[:1] in ("}", ")")):
        return False  # another branch
    words, others = (_words(text) for text in (one, other))
    small, large = sorted((words, others), key=len)
    return len(small) > 1 and (
        _within(small, large) or (len(small) > 3 and _within(small[1:], large))
    )


def sets_again(line: str, other: str) -> bool:
    """Whether a line sets a name by what it is, so that it may follow one that sets it, too."""
    name, sign, value = line.partition("=")
    words = _words(line), _words(other)
    return bool(sign) and name.strip() in _words(value) and not _within(*sorted(words, key=len))


def _within(small: Sequence[str], large: Sequence[str]) -> bool:
    rest = iter(large)
    return all(word in rest for word in small)


def _words(line: str) -> list[str]:
    return re.findall(r"[^\W\d]\w*", line)


class Margins:
    """Which indentation of the change stands for which one of the file."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        """`pairs`: a line of the change and the same line of the file."""
        counts: dict[str, Counter[str]] = {}
        for one, other in pairs:
            if one.strip():
                counts.setdefault(margin(one), Counter())[margin(other)] += 1
        self._known = {own: found.most_common(1)[0][0] for own, found in counts.items()}
        self.sure = all(len(found) == 1 for found in counts.values())
        self.same = all(own == other for own, other in self._known.items())
        known = list(self._known.items())
        cut = {own.removesuffix(other) if own.endswith(other) else None for own, other in known}
        more = {other.removesuffix(own) if other.endswith(own) else None for own, other in known}
        self._cut = next(iter(cut)) if len(cut) == 1 else None  # the same for every line
        self._more = next(iter(more)) if len(more) == 1 else None

    def applied(self, line: str) -> str:
        """A line of the change as the file has it indented."""
        if self.same or not line:
            return line
        if not line.strip() and self._more is None:
            return line
        own = margin(line)
        if line[len(own) :][:1] == "*" and len(own) % 2 and own[-1] == " ":  # of a comment
            own = own[:-1]
        if self._more is not None:
            return self._more + line
        if self._cut is not None and line.startswith(self._cut):
            return line[len(self._cut) :]
        return self._of(own) + line[len(own) :]

    def _of(self, own: str) -> str:
        if own in self._known:
            return self._known[own]
        units = [self._unit(a, b) for a, b in self._steps()]
        shorter = [name for name in self._known if own.startswith(name)]
        base = max(shorter, key=len, default=None)
        if base is not None:
            return self._known[base] + _converted(own[len(base) :], units)
        longer = min((name for name in self._known if name.startswith(own)), key=len, default=None)
        if longer is None:
            return own
        wanted, less = self._known[longer], _converted(longer[len(own) :], units)
        return wanted.removesuffix(less) if wanted.endswith(less) else own

    def _steps(self) -> list[tuple[str, str]]:
        """Pairs of indentations, one deeper than the other."""
        known = sorted(self._known.items(), key=lambda item: len(item[0]))
        known = known if any(not own for own, _ in known) else [("", ""), *known]
        return [
            (two[0][len(one[0]) :], two[1][len(one[1]) :])
            for one, two in pairwise(known)
            if two[0].startswith(one[0]) and two[1].startswith(one[1])
        ]

    @staticmethod
    def _unit(own: str, other: str) -> tuple[str, str]:
        """One step of both: four spaces and a tab, …"""
        for times in range(min(len(own), len(other)), 1, -1):
            if len(own) % times == 0 and len(other) % times == 0:
                a, b = own[: len(own) // times], other[: len(other) // times]
                if a * times == own and b * times == other:
                    return a, b
        return own, other


def _converted(text: str, units: Sequence[tuple[str, str]]) -> str:
    """White space in the file's units, where one divides it."""
    for own, other in units:
        times = len(text) // len(own) if own and other and own != other else 0
        if own * times == text:
            return other * times
    return text


class Likeness:
    """Which file lines are like a line: by the words that they share, then by their characters."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._words: dict[str, list[int]] = {}
        self._sizes = []
        for row, line in enumerate(lines):
            words = set(_WORD.findall(line))
            self._sizes.append(len(words))
            for word in words:
                self._words.setdefault(word, []).append(row)

    def rows(self, line: str, most: int = 6) -> list[tuple[int, float]]:
        """The file lines most like a line, or that set the same name, with their likeness."""
        words = set(_WORD.findall(line))
        spend(20 * len(words))
        shared: Counter[int] = Counter()
        for word in words:
            rows = self._words.get(word, ())
            if len(rows) <= COMMON:
                shared.update(rows)
        texts: dict[str, list[int]] = {}
        for row in shared:
            texts.setdefault(self._lines[row], []).append(row)
        candidates = sorted(
            (2 * shared[rows[0]] / (len(words) + self._sizes[rows[0]]), rows[0], text)
            for text, rows in texts.items()
        )[-most:]
        result: list[tuple[int, float]] = []
        for _, _, text in candidates:
            ratio = likeness(line, text)
            if ratio >= MIN_LIKENESS or same_line(line, text):
                result += [(row, ratio) for row in texts[text]]
        return result
