"""SEARCH/REPLACE blocks and diffs. None where the form does not determine the result."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random

from benchmarks.apply.readings import places, same_after, stripped
from benchmarks.apply.record import Record
from specedit.syntax.lines import Opcode

CONTEXT = 3
FEWEST, MOST = 2, 8  # lines of context of a block: as few as make it occur once
MARKER = re.compile(r"<{5,}|={5,}$|>{5,}")
OFFSETS = tuple(n for n in range(-60, 61) if abs(n) > 2)

Block = tuple[list[str], list[str]]


def search_replace(record: Record, random: Random) -> str | None:
    """Each block searches lines that occur once."""
    blocks = list(_blocks(record))
    if not same_after(blocks, record.old, record.new):
        return None
    return _written(record, blocks)


def damaged(record: Record, random: Random) -> str | None:
    """The same blocks with damaged white space. Without their white space the lines must occur
    once, and the changed lines must differ by more than white space."""
    blocks = list(_blocks(record))
    bare = stripped(record.old)
    if any(len(places(stripped(old), bare)) != 1 or _spacing(old, new) for old, new in blocks):
        return None
    if not same_after(blocks, record.old, record.new):
        return None
    for damage in random.sample(DAMAGES, len(DAMAGES)):
        spoilt = [damage(old, new, record) for old, new in blocks]
        kept = [block or blocks[n] for n, block in enumerate(spoilt)]
        if kept != blocks:
            return _written(record, kept)
    return None


def _blocks(record: Record) -> Iterator[Block]:
    """Lines to search and their replacements; the ones that touch are one block."""
    ranges: list[tuple[int, int, int, int]] = []
    for _, a, b, c, d in record.hunks:
        for count in range(FEWEST, MOST + 1):
            up, down = min(count, a), min(count, len(record.old) - b)
            if len(places(record.old[a - up : b + down], record.old)) == 1:
                break
        if ranges and a - up <= ranges[-1][1]:
            first, _, third, _ = ranges.pop()
            ranges.append((first, b + down, third, d + down))
        else:
            ranges.append((a - up, b + down, c - up, d + down))
    for a, b, c, d in ranges:
        yield record.old[a:b], record.new[c:d]


def _written(record: Record, blocks: list[Block]) -> str | None:
    if any(MARKER.match(line) for pair in blocks for lines in pair for line in lines):
        return None
    texts = []
    for old, new in blocks:
        rows = ["<<<<<<< SEARCH", *old, "=======", *new, ">>>>>>> REPLACE"]
        texts.append("\n".join([record.name, *rows]) + "\n")
    return "\n".join(texts)


def _spacing(old: list[str], new: list[str]) -> bool:
    """Whether the block changes a line's white space alone."""
    known = {line.strip(): line for line in old if line.strip()}
    return any(known.get(line.strip(), line) != line for line in new)


def _indents(lines: list[str]) -> set[str]:
    return {line[: len(line) - len(line.lstrip())] for line in lines if line.strip()}


def _dedent(old: list[str], new: list[str], record: Record) -> Block | None:
    """Both sides without their common indentation."""
    common = min(_indents(old + new), key=len)
    if not common or any(line and not line.startswith(common) for line in old + new):
        return None
    return stripped(old, lambda s: s[len(common) :]), stripped(new, lambda s: s[len(common) :])


def _indent(old: list[str], new: list[str], record: Record) -> Block | None:
    """Both sides indented more."""
    more = "\t" if any(s.startswith("\t") for s in _indents(record.old)) else "  "
    return (
        stripped(old, lambda s: more + s if s.strip() else s),
        stripped(new, lambda s: more + s if s.strip() else s),
    )


def _trail(old: list[str], new: list[str], record: Record) -> Block | None:
    """White space at the end of each searched line."""
    return stripped(old, lambda s: s + "  " if s.strip() else s), new


Damage = Callable[[list[str], list[str], Record], Block | None]
DAMAGES: tuple[Damage, ...] = (_dedent, _indent, _trail)


def wrong_numbers(record: Record, random: Random) -> str | None:
    """A diff whose hunks name wrong lines, and in half of the diffs wrong counts. The old lines of
    each hunk must occur once."""
    counts = random.random() < 0.5
    text = _head(record)
    for group in _groups(record):
        rows, first = _rows(record, group)
        old = [row[1:] for row in rows if row[0] != "+"]
        if len(places(old, record.old)) != 1:
            return None
        start = max(1, first + 1 + random.choice(OFFSETS))
        sizes = [len(old), sum(row[0] != "-" for row in rows)]
        if counts:
            sizes = [max(1, size + random.choice((-2, -1, 1, 2, 5))) for size in sizes]
        text += f"@@ -{start},{sizes[0]} +{max(1, start + random.randint(-3, 3))},{sizes[1]} @@\n"
        text += "".join(f"{row}\n" for row in rows)
    return text


def wrong_context(record: Record, random: Random) -> str | None:
    """A diff with one wrong context line. The old lines of each hunk must occur once, whatever
    stands in the place of the wrong one."""
    groups = list(_groups(record))
    chosen = random.randrange(len(groups))
    text = _head(record)
    shift = 0
    for number, group in enumerate(groups):
        rows, first = _rows(record, group)
        old = [row[1:] for row in rows if row[0] != "+"]
        wrong = None
        if number == chosen:
            usable = [n for n, row in enumerate(rows) if row[0] == " " and re.search(r"\w", row)]
            if len(usable) < CONTEXT:
                return None
            at = random.choice(usable)
            wrong = sum(row[0] != "+" for row in rows[:at])
            rows[at] = " " + _misquoted(rows[at][1:], record, random)
            if rows[at][1:] in record.old:
                return None
        if len(places(old, record.old, wrong)) != 1:
            return None
        sizes = len(old), sum(row[0] != "-" for row in rows)
        text += f"@@ -{first + 1},{sizes[0]} +{first + 1 + shift},{sizes[1]} @@\n"
        text += "".join(f"{row}\n" for row in rows)
        shift += sizes[1] - sizes[0]
    return text


def _misquoted(line: str, record: Record, random: Random) -> str:
    """The line as someone who quotes from memory writes it: another word, or without its end."""
    words = list(re.finditer(r"\w+", line))
    word = random.choice(words)
    if random.random() < 0.3 and len(words) > 2:
        return line[: words[-1].start()].rstrip()
    other: str = random.choice(re.findall(r"[A-Za-z_]\w+", record.before) or ["value"])
    return line[: word.start()] + other + line[word.end() :]


def _head(record: Record) -> str:
    return f"--- a/{record.name}\n+++ b/{record.name}\n"


def _groups(record: Record) -> Iterator[list[Opcode]]:
    """The changes of each hunk of a diff."""
    group: list[Opcode] = []
    for code in record.hunks:
        if group and code[1] - group[-1][2] > 2 * CONTEXT:
            yield group
            group = []
        group.append(code)
    yield group


def _rows(record: Record, group: list[Opcode]) -> tuple[list[str], int]:
    """The rows of a hunk with their marks, and its first old line, from 0."""
    size = len(record.old) - (record.old[-1] == "")
    first = max(0, group[0][1] - CONTEXT)
    rows, at = [], first
    for _, a, b, c, d in group:
        rows += [f" {line}" for line in record.old[at:a]]
        rows += [f"-{line}" for line in record.old[a:b]]
        rows += [f"+{line}" for line in record.new[c:d]]
        at = b
    return rows + [f" {line}" for line in record.old[at : min(size, at + CONTEXT)]], first
