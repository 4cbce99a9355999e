"""Globs as git reads them, as one regular expression that takes no longer than the name is long.

Knows file names with slashes. Does not know rules or file systems.
"""

from __future__ import annotations

import re
from collections.abc import Sequence


def pattern(globs: Sequence[str]) -> re.Pattern[str]:
    """Any of these globs. `*` and `?` stay in one folder, `**` does not; a glob without a slash
    means files of that name in any folder, and one that ends in a slash all that is under it."""
    return re.compile("|".join(_expression(glob) for glob in globs) or r"(?!)", re.DOTALL)


def _expression(glob: str) -> str:
    glob = glob.removeprefix("./")
    if "/" not in glob and glob != "**":
        glob = "**/" + glob
    if glob.endswith("/"):
        glob += "**"
    *parts, final = glob.removeprefix("/").split("/")
    runs = [""]  # of folders, between one `**` and the next
    for part in parts:
        if part == "**":
            runs.append("")
        else:
            runs[-1] += _in_folder(part) + "/"
    runs[-1] += ".+" if final == "**" else _in_folder(final)
    return f"(?:{_between(runs, '(?:[^/]+/)*')})"


def _between(fixed: Sequence[str], gap: str) -> str:
    """Fixed pieces with a gap between each two. A piece is taken where it first fits and not
    reconsidered, which is never wrong; a regular expression that tries all ways takes for ever."""
    if len(fixed) == 1:
        return fixed[0]
    head, *middle, last = fixed
    return head + "".join(f"(?>{gap}?{piece})" for piece in middle if piece) + gap + last


def _in_folder(part: str) -> str:
    """One folder's or file's name; a set in brackets never means a slash."""
    said, at = [""], 0
    while at < len(part):
        char = part[at]
        at += 1
        if char == "*":
            said.append("")
        elif char == "?":
            said[-1] += "[^/]"
        elif char == "\\" and at < len(part):
            said[-1] += re.escape(part[at])
            at += 1
        elif char == "[" and (end := _closing(part, at)) > 0:
            inner = part[at:end]
            negated = inner[:1] in ("!", "^")
            body = inner[negated:].replace("\\", "\\\\").replace("[", "\\[").replace("&", "\\&")
            body = body.replace("~", "\\~").replace("|", "\\|").replace("^", "\\^")
            body = body.replace("]", "\\]")
            said[-1] += f"(?!/)[{'^' if negated else ''}{body}]"
            at = end + 1
        else:
            said[-1] += re.escape(char)
    return _between(said, "[^/]*")


def _closing(part: str, at: int) -> int:
    """Where the set that begins at `at` ends; a bracket that comes first is a member."""
    first = at + 1 if part[at : at + 1] in ("!", "^") else at
    return part.find("]", first + 1)
