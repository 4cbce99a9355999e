"""Names as words: `userName`, `USER_NAME` and `GetUserNames` are built from the same two."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+\d*|[A-Z]+\d*|\d+|[^\W\d_A-Za-z]+")
NAME = re.compile(r"[^\W\d]\w*")
ARTICLES = frozenset({"a", "an"})
MIN_NAME_CHARACTERS = 3  # a shorter name is not searched in other spellings
_COMMON = """\
a an and are as at be but by can do for from has have if in into is it its may no not of on
one or so than that the their then this to use was we when which will with you
"""
COMMON = frozenset(_COMMON.split())  # in a comment they are English, not names


def words_of(name: str) -> list[str]:
    """`HTTPServer_v2` to `HTTP`, `Server`, `v2`."""
    return WORDS.findall(name)


def plural(word: str) -> str:
    """The English plural, in the word's case."""
    low = word.lower()
    if re.search(r"(s|x|z|ch|sh)$", low):
        end = "es"
    elif re.search(r"[^aeiou]y$", low):
        word, end = word[:-1], "ies"
    else:
        end = "s"
    return word + (end.upper() if word.isupper() and len(word) > 1 else end)


def styles(name: str) -> dict[str, str]:
    """The name in every spelling, by the spelling's name."""
    words = [word.lower() for word in words_of(name)]
    capital = [word.capitalize() for word in words]
    return {
        "Pascal": "".join(capital),
        "camel": "".join(words[:1] + capital[1:]),
        "snake": "_".join(words),
        "SCREAMING": "_".join(words).upper(),
        "kebab": "-".join(words),
        "Title": " ".join(capital),
        "Sentence": " ".join(capital[:1] + words[1:]),
        "prose": " ".join(words),
    }


@lru_cache(maxsize=64)
def variants(old: str, new: str) -> dict[str, str]:
    """The new text for each spelling of `old`, plurals included; longer spellings first.

    A plain word is prose, not camel case: "the username" becomes "the email address". Those that
    stay are left out, but where `old` is `new`: then these are all its spellings."""
    results: dict[str, str] = {}
    if len(old.strip("_$@")) >= MIN_NAME_CHARACTERS and words_of(old) and words_of(new):
        before, after = styles(old), styles(new)
        for style in reversed(before):
            if before[style].lower() not in COMMON:
                results.setdefault(before[style], after[style])
        for spelling, other in list(results.items()):
            if spelling != spelling.upper() or len(spelling) > 1:
                results.setdefault(plural(spelling), plural(other))
    results[old] = new
    pairs = [pair for pair in results.items() if pair[0] != pair[1] or old == new]
    return dict(sorted(pairs, key=lambda pair: -len(pair[0])))


def split_member(old: str) -> tuple[str, str]:
    """`Class.member` to its parts; lifetimes, `@x`, `$x` and `#x` are names."""
    match = re.fullmatch(r"(.+?)(?:\.|::|#|->)\$?(#?[^.:#>]+)", old)
    return (re.split(r"\.|::", match[1])[-1], match[2]) if match else ("", old)


def sought(old: str, *, derived: bool) -> tuple[str, ...]:
    """Texts of which a file that mentions `old` has one, in any case; the name first. `derived`:
    names built from it count, in any spelling: `USER_NAMES` for `userName`."""
    name = split_member(old)[1]
    results = [name.lower()]
    if derived and len(name.strip("_$@")) >= MIN_NAME_CHARACTERS:
        joined = "".join(words_of(name)).lower()
        spelled = [variant.lower() for variant in variants(name, name)]
        for variant in sorted({*spelled, joined, plural(joined)} - {""}, key=len):
            if not any(known in variant for known in results):
                results.append(variant)
    return (name, *results[1:])


def near(name: str, known: Collection[str], cutoff: float = 0.6) -> str:
    """A hint: the known name that is most like one that is not known; `cutoff`: how much at least,
    of 1."""
    import difflib

    close = difflib.get_close_matches(name, sorted(known), 1, cutoff)
    return f"Did you mean `{close[0]}`?" if close else "Check the spelling."


def is_voiced(word: str) -> bool:
    """Whether a word begins with a vowel's sound; the letters "u" and "h" do not tell."""
    return word[:1].lower() in "aeio" and not word.lower().startswith(("eu", "one"))


def mentions(text: str, spellings: dict[str, str]) -> Iterator[tuple[int, str, str]]:
    """Each spelling that is a whole word: its offset, its text, the new text."""
    for match in _whole_words(tuple(spellings)).finditer(text) if spellings else ():
        yield match.start(), match[0], spellings[match[0]]


@lru_cache(maxsize=256)
def _whole_words(spellings: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$])(?:{'|'.join(map(re.escape, spellings))})(?![\w$])")


@lru_cache(maxsize=4096)
def derived(name: str, old: str, new: str) -> str | None:
    """`name` with the words of `old` in it replaced by those of `new`, in its own spelling; None
    when it is not built from `old`: `GetUsername` is, `usernameless` is not."""
    if name == old:
        return new
    wanted = "".join(words_of(old)).lower()
    if len(wanted) < MIN_NAME_CHARACTERS:
        return None
    ends = {wanted: False, plural(wanted): True}
    spans = list(WORDS.finditer(name))
    whole = "".join(span[0] for span in spans).lower()
    if not any(end in whole for end in ends):
        return None
    for first in range(len(spans)):
        joined = ""
        for last in range(first, len(spans)):
            joined += spans[last][0].lower()
            if joined in ends:
                put = _spelled(name, spans, first, last, new, ends[joined])
                return name[: spans[first].start()] + put + name[spans[last].end() :]
            if len(joined) > len(wanted) + 3:
                break
    return None


def _spelled(
    name: str, spans: list[re.Match[str]], first: int, last: int, new: str, many: bool
) -> str:
    """The words of `new` in the spelling of the words that they replace."""
    taken = name[spans[first].start() : spans[last].end()]
    words = [word.lower() for word in words_of(new)]
    if many:
        words[-1] = plural(words[-1])
    letters = [char for char in name if char.isalpha()]
    if taken.isupper() and (len(taken) > 1 or all(char.isupper() for char in letters)):
        return "_".join(words).upper()
    if "_" in name.strip("_") or "_" in taken:
        joined = "_".join(words)
        return joined[:1].upper() + joined[1:] if taken[:1].isupper() else joined
    if "-" in name:
        return "-".join(words)
    start = words[0].capitalize() if taken[:1].isupper() else words[0]
    if name == name.lower() and first == last and len(words) > 1 and name != taken and "_" in name:
        return "_".join(words)
    return start + "".join(word.capitalize() for word in words[1:])
