"""A unified patch that `git apply` takes, byte for byte.

A line is what ends in a newline, as git counts; a carriage return, a BOM or a NUL are bytes like
any other.
"""

from __future__ import annotations

import os

from specedit.syntax.lines import Opcode, opcodes

CONTEXT = 3
ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


def patch(name: str, before: bytes, after: bytes) -> bytes:
    """The patch that turns `before` into `after`; empty when there is nothing to turn."""
    if before == after:
        return b""
    old, new = _lines(before), _lines(after)
    path = os.fsencode(name).lstrip(b"/")
    left, right = _quoted(b"a/" + path), _quoted(b"b/" + path)
    tab = b"\t" if b" " in path and not left.startswith(b'"') else b""  # git's own mark
    out = [b"diff --git %s %s\n--- %s%s\n+++ %s%s\n" % (left, right, left, tab, right, tab)]
    for group in _groups(opcodes(old, new), len(old)):
        first, last = group[0], group[-1]
        out.append(b"@@ -%s +%s @@\n" % (_range(first[1], last[2]), _range(first[3], last[4])))
        for tag, a, b, c, d in group:
            if tag == "equal":
                out += [_line(b" ", line) for line in old[a:b]]
            else:
                out += [_line(b"-", line) for line in old[a:b]]
                out += [_line(b"+", line) for line in new[c:d]]
    return b"".join(out)


def _lines(data: bytes) -> list[bytes]:
    pieces = data.split(b"\n")
    last = pieces.pop()
    return [piece + b"\n" for piece in pieces] + ([last] if last else [])


def _line(mark: bytes, line: bytes) -> bytes:
    end = b"" if line.endswith(b"\n") else b"\n\\ No newline at end of file\n"
    return mark + line + end


def _groups(codes: list[Opcode], total: int) -> list[list[Opcode]]:
    """Changes with their context; those closer than twice the context in one hunk."""
    groups: list[list[Opcode]] = []
    for position, (tag, a, b, c, d) in enumerate(codes):
        if tag != "equal":
            if not groups:
                groups.append([])
            groups[-1].append((tag, a, b, c, d))
            continue
        is_last = position == len(codes) - 1
        if groups and (b - a <= 2 * CONTEXT and not is_last):
            groups[-1].append((tag, a, b, c, d))
            continue
        if groups:
            keep = min(CONTEXT, b - a)
            groups[-1].append((tag, a, a + keep, c, c + keep))
        if not is_last:
            keep = min(CONTEXT, b - a)
            groups.append([(tag, b - keep, b, d - keep, d)])
    return groups


def _range(start: int, end: int) -> bytes:
    length = end - start
    if length == 1:
        return b"%d" % (start + 1)
    return b"%d,%d" % (start + 1 if length else start, length)


def _quoted(path: bytes) -> bytes:
    """The name as git writes it: in C quotes when it holds anything unusual."""
    if all(32 <= byte < 127 and byte not in (34, 92) for byte in path):
        return path
    text = "".join(
        f"\\{ESCAPES[byte]}"
        if byte in ESCAPES
        else chr(byte)
        if 32 <= byte < 127
        else f"\\{byte:03o}"
        for byte in path
    )
    return b'"' + text.encode("ascii") + b'"'
