"""Read a change in the forms that models and people write, as parts for each file.

A part is a `ChangeHunk` (of SEARCH/REPLACE blocks, diffs and agents' editing tools) or a `Snippet`
(code with elisions, or whole definitions). A tool's call is JSON with an old and a new text, or
code; agents name the fields in many ways, put several edits into a list, and wrap calls into
messages. The old text need not be whole lines (`hunks` extends it).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from specedit.edit.apply.lines import margin
from specedit.errors import UsageError
from specedit.files.source import LINE_END
from specedit.syntax.languages import BY_NAME, language_of
from specedit.syntax.lines import opcodes
from specedit.syntax.work import spend

_NUMBERED = re.compile(r"\s*(?P<number>\d+)[|→](?P<text>.*)")
_EXAMPLE = re.compile(  # "You can use it like this:", "Example:"
    r"\b(?:usage|examples?|callers|(call|try|use) it|you can (\w+ )?(call|use|write))\b.*:\W*$",
    re.IGNORECASE,
)
_SEARCH = re.compile(
    r"\s*(?:<{5,9}|-{5,9}) ?(?:SEARCH|ORIGINAL|HEAD|OLD|BEFORE)\b.*", re.IGNORECASE
)
_DIVIDER = re.compile(r"\s*={5,9}\s*")
_REPLACE = re.compile(
    r"\s*[>+]{5,9} ?(?:REPLACE|UPDATED?|MODIFIED|NEW|AFTER|[\w./\-]+)?\s*", re.IGNORECASE
)
_START_LINE = re.compile(r"\s*:(?:start|end)_line:\s*(\d{1,9})\s*")
_FENCE = re.compile(r"\s*(?P<run>`{3,}|~{3,})\s*(?P<info>[^`]*?)\s*")
_HUNK = re.compile(r"@@+(?: *-(\d{1,9})(?:,\d+)? *\+\d+(?:,\d+)? *@@+)?.*")
_OLD_FILE = re.compile(r"--- (?P<path>[^\t\n]+)")
_NEW_FILE = re.compile(r"\+\+\+ (?P<path>[^\t\n]+)")
_MOVED = "*** Move to: "
_PATCH_FILE = re.compile(r"\*\*\* (?P<kind>Update|Add|Delete) File: (?P<path>.+)")
_GIT_FILE = re.compile(
    r'diff --git (?:"?(?:[abciow]/)?(?P<path>.+?)"? "?(?:[abciow]/)?(?P=path)"?|.*)'
)
_GIT_OTHERS = (  # of a file, between `diff --git` and its first hunk; a group is its path
    (re.compile(r"new file mode ()"), "creates it"),
    (re.compile(r"deleted file mode ()"), "deletes it"),
    (re.compile(r"old mode ()"), "changes its mode"),
    (re.compile(r"rename from (.+)"), "renames it"),
    (re.compile(r"copy from (.+)"), "copies it"),
    (re.compile(r"(?:Binary files .* differ|GIT binary patch)()$"), "changes its bytes"),
)
_ONLY = re.compile(r"Only in (?P<folder>\S+): (?P<name>\S+)")  # of `diff -r`
_GIT_NOISE = re.compile(
    r"diff -\S+ (?:-\S+ )*\S+ \S+$|index [0-9a-f]+\.\.|(?:old|new|deleted file|new file) mode "
    r"|similarity index |\*\*\* (?:Begin|End) Patch|\*\*\* End of File|Index: |={60,}$"
)
_PATH = re.compile(
    r"[\w@.~+\-][\w@.~+\-/\\()\[\]]*\.\w{1,12}|(?:[\w@.+\-]+/)+[\w@.+\-]+|\.\w[\w\-]*"
)
_NAMED = re.compile(r"(?i)(?:make|docker|container|gem|rake|vagrant|pip|just)file")
_TAG = re.compile(
    r"\s*<[\w-]+(?:\s+\w+=[\"']?(?P<attribute>[^\"'>]*)[\"']?)?\s*>(?P<text>[^<>]*)(?:</[\w-]+>)?\s*"
)
_MARKS = re.compile(r"(?m)^([+\- ]?)\ufeff")  # of files that begin with one
_COMMENT_PATH = re.compile(
    r"\s*(?://|#|--|/\*|<!--|;)\s*(?:file(?:name)?:\s*)?(\S+?)\s*(?:\*/|-->)?\s*"
)
_COMMENT_EDGE = re.compile(r"(?m)^\s*/\*|\*/")
# Names of fields, in lower case, without `_` and `-`.
_PATHS = (
    *("filepath", "path", "file", "filename", "targetfile"),
    *("relativepath", "relativeworkspacepath"),
)
_OLD = ("oldstring", "oldstr", "oldtext", "oldcode", "oldcontent", "searchtext", "targetcontent")
_NEW = (
    *("newstring", "newstr", "newtext", "newcode", "newcontent", "replacementtext"),
    *("replacementcontent", "inserttext"),
)
# Names that data has, too: a call also has a path.
_OLD_TOO = ("old", "search", "find", "original", "before")
_NEW_TOO = ("new", "replace", "replacement", "replacewith", "updated", "after")
_TELLING = ("old_string", "old_str", "old_text", "oldString", "oldText", "code_edit")
_CODE = ("codeedit", "content", "contents", "filetext")
_CHANGES = ("patch", "diff", "input", "cmd", "command", "arguments")  # hold a change in their text


@dataclass(frozen=True, slots=True)
class ChangeHunk:
    """Lines to keep (" "), to remove ("-") and to add ("+"), in order."""

    lines: tuple[tuple[str, str], ...]  # sign, text
    line: int | None = None  # where it says that its old side begins
    numbered: bool = False  # `line` is of a diff, not of a tool that shows numbers
    bare: tuple[tuple[str, str], ...] | None = None  # `lines`, if context has no sign's column
    text: tuple[str, str] | None = None  # old and new, where the old one may be part of a line

    @property
    def old(self) -> tuple[str, ...]:
        return tuple(text for sign, text in self.lines if sign != "+")

    @property
    def new(self) -> tuple[str, ...]:
        return tuple(text for sign, text in self.lines if sign != "-")


@dataclass(frozen=True, slots=True)
class Snippet:
    """Code as it should be, with elisions for what stays."""

    lines: tuple[str, ...]
    language: str = ""  # that the fence names
    example: bool = False  # the prose above it says so


Part = ChangeHunk | Snippet


@dataclass(frozen=True, slots=True)
class FileChange:
    """The parts of a change for one file. `path` is "" where the change names none."""

    path: str
    parts: tuple[Part, ...]
    other: str = ""  # what it says of the file besides its text: "creates it"


def read_change(change: str) -> list[FileChange]:
    """The parts of a change, for each file that it names."""
    lines = LINE_END.split(_MARKS.sub(r"\1", change))
    if any(_SEARCH.fullmatch(line) for line in lines):
        changes = list(_search_replace(lines))
    elif _is_diff(lines):
        changes = list(_diff(lines))
    elif not (changes := [*_tool_calls("\n".join(lines))] or [*_blocks(lines)]):
        path, body = _own_path(lines)
        changes = [FileChange(path, (_snippet(body),))]
    by_path: dict[str, list[FileChange]] = {}
    for file_change in changes:
        by_path.setdefault(file_change.path, []).append(file_change)
    return [merged for own in by_path.values() if (merged := _merged(own)) is not None]


def _merged(changes: Sequence[FileChange]) -> FileChange | None:
    """The changes for one file as one; None where they say nothing."""
    first = changes[0]
    parts = tuple(part for change in changes for part in change.parts if not _empty(part))
    other = next((change.other for change in changes if change.other), "")
    if not other and first.path and first.parts and all(map(_empty, first.parts)):
        other = "shows nothing of it"
    return FileChange(first.path, parts, other) if other or parts else None


def _text_hunk(old: str, new: str) -> ChangeHunk:
    """A text that replaces another one; lines' ends at both ends count once."""
    old, new = ("\n".join(LINE_END.split(text)) for text in (old, new))
    pair = (old, new)
    if old.endswith("\n") and (new.endswith("\n") or not new):
        old, new = old[:-1], new[:-1]
    lines = new.split("\n") if new else []
    return replace(replace_hunk(old.split("\n") if old else [], lines), text=pair)


def is_marked(text: str, fences: bool = True) -> bool:
    """Whether a text says by its form that it is a change: SEARCH blocks, a diff, or `fences`."""
    lines = LINE_END.split(text.removeprefix("\ufeff"))
    if any(_SEARCH.fullmatch(line) for line in lines) or _is_diff(lines):
        return True
    return fences and any(map(_FENCE.fullmatch, lines))


def _empty(part: Part) -> bool:
    return isinstance(part, Snippet) and not any(line.strip() for line in part.lines)


def _snippet(lines: Sequence[str], language: str = "") -> Snippet:
    first = next((n for n, line in enumerate(lines) if line.strip()), len(lines))
    last = max((n for n, line in enumerate(lines) if line.strip()), default=-1)
    return Snippet(tuple(lines[first : last + 1]), language)


def _search_replace(lines: Sequence[str]) -> Iterator[FileChange]:
    path, at = "", 0
    while at < len(lines):
        if not _SEARCH.fullmatch(lines[at]):
            at += 1
            continue
        path = _path_above(lines, at) or path
        number, at = None, at + 1
        while at < len(lines) and (match := _START_LINE.fullmatch(lines[at])):
            number, at = number or int(match[1]), at + 1
        if number is not None and at < len(lines) and re.fullmatch(r"\s*-{3,}\s*", lines[at]):
            at += 1
        middle = _next(lines, at, _DIVIDER)
        end = _next(lines, middle + 1, _REPLACE)
        old, new = _unnumbered(lines[at:middle]), _unnumbered(lines[middle + 1 : end])
        hunk = replace_hunk(old, new, number)
        yield FileChange(path, (replace(hunk, text=("\n".join(old), "\n".join(new))),))
        at = end + 1


def _unnumbered(lines: Sequence[str]) -> list[str]:
    """Lines without the numbers that a view of the file puts before them."""
    found = [match for line in lines if (match := _NUMBERED.fullmatch(line))]
    numbers = [int(match["number"]) for match in found]
    if len(found) == len(lines) > 1 and numbers == [*range(numbers[0], numbers[0] + len(lines))]:
        return [match["text"] for match in found]
    return list(lines)


def _next(lines: Sequence[str], at: int, pattern: re.Pattern[str]) -> int:
    for number in range(at, len(lines)):
        if pattern.fullmatch(lines[number]):
            return number
        if _SEARCH.fullmatch(lines[number]) and "SEARCH" in lines[number]:
            break
    what = "=======" if pattern is _DIVIDER else ">>>>>>> REPLACE"
    raise UsageError(f"A SEARCH block of the change has no `{what}` (line {at + 1} on).")


def replace_hunk(old: Sequence[str], new: Sequence[str], line: int | None = None) -> ChangeHunk:
    """Old lines and the lines that replace them, as one hunk."""
    result: list[tuple[str, str]] = []
    for tag, a, b, c, d in opcodes(old, new):
        if tag == "equal":
            result += [(" ", text) for text in old[a:b]]
        else:
            result += [("-", text) for text in old[a:b]]
            result += [("+", text) for text in new[c:d]]
    return ChangeHunk(tuple(result), line)


def _path_above(lines: Sequence[str], at: int) -> str:
    """The path that stands above a block: on the fence, or on the line before it."""
    for line in reversed(lines[max(0, at - 3) : at]):
        if _REPLACE.fullmatch(line) and line.strip():
            return ""
        if match := _FENCE.fullmatch(line):
            if path := _path_in_info(match["info"]):
                return path
        elif tag := _TAG.fullmatch(line):
            if path := _path_in(tag["text"]) or _path_in(tag["attribute"] or ""):
                return path
        elif line.strip():
            return _path_in(line) or _path_quoted(line)
    return ""


def _path_quoted(line: str) -> str:
    """The file that a line names in backticks, among other words: "In `a.py`:"."""
    names = re.findall(r"`([^`]+)`", line)
    is_head = len(names) == 1 and line.rstrip(" *_").endswith(":")
    return names[0] if is_head and _PATH.fullmatch(names[0]) and Path(names[0]).is_file() else ""


def _path_in(line: str) -> str:
    """The path that a line of prose names and little else: `### src/a.py`, `**File: src/a.py**`, or
    a comment. A word without dots is one if it is a file here: `LICENSE`."""
    if (found := _COMMENT_PATH.fullmatch(line)) and _PATH.fullmatch(found[1]):
        return found[1]
    text = re.sub(
        r"(?i)^[\s#*>\-]*(?:\d+[.)]\s+)?(?:file(?:name| ?path)?\s*:)?[\s*`\"']*", "", line
    )
    text = re.sub(r"[`\"'*:]*(?:\s*\([^)]*\))?[\s:]*$", "", text)
    word = re.fullmatch(r"[\w@+\-]{1,60}", text)
    known = _PATH.fullmatch(text) or _NAMED.fullmatch(text) or (word and Path(text).is_file())
    return text if known else ""


def _path_in_info(info: str) -> str:
    """The path on a fence: "python src/a.py", "python:src/a.py", "src/a.py", title="src/a.py"."""
    words = (word.strip("\"'") for word in re.split(r"[\s:={}]+", info))
    return next((word for word in words if word.lower() not in BY_NAME and _path_in(word)), "")


def _is_diff(lines: Sequence[str]) -> bool:
    if any(_PATCH_FILE.fullmatch(line) or line.startswith("diff --git ") for line in lines):
        return True
    signed = any(line[:1] in "+-" and line[:3] not in ("+++", "---") for line in lines if line)
    heads = any(_OLD_FILE.match(one) and _NEW_FILE.match(two) for one, two in pairwise(lines))
    heads = heads or any(line.startswith("@@") for line in lines)
    return (signed and heads) or _fenced_diff(lines)


def _fenced_diff(lines: Sequence[str]) -> bool:
    return any(
        match and match["info"].split(" ")[0].lower() in ("diff", "patch")
        for match in map(_FENCE.fullmatch, lines)
    )


def _diff(lines: Sequence[str]) -> Iterator[FileChange]:
    file, hunk, head = FileChange("", ()), list[tuple[str, str]](), _HUNK.match("@@")
    bare = list[tuple[str, str]]()  # the hunk, if its context has no column for the sign
    fenced = _fenced_diff(lines)
    inside, git = not fenced, False  # git: after `diff --git`, before the file's hunks

    def finish() -> Iterator[FileChange]:
        nonlocal hunk, bare
        while hunk and hunk[-1] == (" ", ""):  # blank lines between a diff's parts
            hunk.pop()
        if any(sign in "+-" for sign, _ in hunk):
            assert head is not None
            line = int(head[1]) if head[1] else None
            part = ChangeHunk(tuple(hunk), line, numbered=line is not None)
            other = tuple(bare[: len(hunk)])
            yield replace(file, parts=(replace(part, bare=other if other != part.lines else None),))
        hunk, bare = [], []

    number = 0
    while number < len(lines):
        line = lines[number]
        following = lines[number + 1] if number + 1 < len(lines) else ""
        number += 1
        if fenced and (fence := _FENCE.fullmatch(line)):
            yield from finish()
            inside = not inside
            if inside:
                path = _path_in_info(fence["info"]) or _path_above(lines, number - 1)
                file = FileChange(path, ())
        elif not inside:
            continue
        elif (old := _OLD_FILE.match(line)) and (new := _NEW_FILE.match(following)):
            yield from finish()
            file = _files(old["path"].strip(), new["path"].strip())
            if file.other:
                yield file
            number, git = number + 1, False
        elif patch := _PATCH_FILE.fullmatch(line):
            yield from finish()
            other = {"Add": "creates it", "Delete": "deletes it"}.get(patch["kind"], "")
            file = FileChange(patch["path"].strip(), (), other)
            if other:
                yield file
        elif line.startswith(_MOVED):
            yield replace(file, other="renames it")
        elif named := _GIT_FILE.fullmatch(line):
            yield from finish()
            file, git = FileChange(named["path"] or "", ()), True
        elif git and (stated := _git_other(line)):
            yield FileChange(stated[0] or file.path, (), stated[1])
        elif only := _ONLY.fullmatch(line):
            yield FileChange(f"{only['folder']}/{only['name']}", (), "creates or deletes it")
        elif _GIT_NOISE.match(line):
            yield from finish()
        elif match := _HUNK.fullmatch(line):
            yield from finish()
            head, git = match, False
        elif line.startswith("\\ No newline"):
            continue
        elif line[:1] in ("+", "-", " "):
            hunk.append((line[0], line[1:]))
            bare.append((line[0], line[line[0] != " " :]))
        elif hunk or line.strip():
            hunk.append((" ", line))  # a context line without its first column
            bare.append((" ", line))
    yield from finish()


def _git_other(line: str) -> tuple[str, str] | None:
    """The path, if the line has it, and what git says of the file besides its text."""
    found = ((pattern.match(line), words) for pattern, words in _GIT_OTHERS)
    return next(((match[1].strip(), words) for match, words in found if match), None)


def _files(old: str, new: str) -> FileChange:
    deletes = new == "/dev/null"
    other = "creates it" if old == "/dev/null" else "deletes it" if deletes else ""
    return FileChange(re.sub(r"^[abciow]/", "", old if deletes else new), (), other)


def _own_path(lines: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The path in a comment above all code, and the lines without that comment."""
    first = next((n for n, line in enumerate(lines) if line.strip()), 0)
    found = _COMMENT_PATH.fullmatch(lines[first]) if lines else None
    if found is None or not _PATH.fullmatch(found[1]) or language_of(found[1]) is None:
        return "", lines
    return found[1], lines[first + 1 :]


def _blocks(lines: Sequence[str]) -> Iterator[FileChange]:
    """Fenced blocks as snippets, with the file names next to them."""
    opening: re.Match[str] | None = None
    start = 0
    for number, line in enumerate(lines):
        if (match := _FENCE.fullmatch(line)) is None:
            continue
        depth = len(margin(opening[0])) if opening else 0
        deeper = len(margin(line)) > depth
        spend((number - start) / 10)
        if (deeper or opening is None) and _in_code(lines[start:number], in_block=bool(opening)):
            continue
        if opening is None:
            opening, start = match, number + 1
        elif not match["info"] and len(match["run"]) >= len(opening["run"]):
            body: Sequence[str] = lines[start:number]
            path = _path_in_info(opening["info"]) or _path_above(lines, start - 1)
            own, body = _own_path(body)
            path = path or own
            language = re.split(r"[\s:{]", opening["info"])[0] if opening["info"] else ""
            snippet = _snippet(body, "" if language == path else language)
            above = next((x for x in reversed(lines[: start - 1]) if x.strip()), "")
            example = not path and _EXAMPLE.search(above) is not None
            yield FileChange(path, (replace(snippet, example=example),))
            opening, start = None, number + 1


def _in_code(above: Sequence[str], in_block: bool) -> bool:
    """Whether a line below these is in a text of Python or, outside of a block, in a comment of
    several lines: these have fences of their own. A block may leave out where a comment ends."""
    text = "\n".join(above)
    in_comment = _COMMENT_EDGE.findall(text)[-1:] not in ([], ["*/"])
    return (in_comment and not in_block) or any(text.count(q) % 2 for q in ('"""', "'''"))


def _tool_calls(text: str) -> Iterator[FileChange]:
    """The edits of a text that consists of calls, of prose and of fences; none where it is
    something else."""
    for value in _json_values(text):
        yield from _called(value, "")


def _json_values(text: str) -> Iterator[Any]:
    """The JSON objects and lists that begin at the beginning of a line."""
    decoder, at = json.JSONDecoder(strict=False), 0
    while at < len(text):
        end = text.find("\n", at) + 1 or len(text)
        start = at + len(text[at:end]) - len(text[at:end].lstrip())
        at = end
        if text[start : start + 1] in ("{", "["):
            try:
                value, at = decoder.raw_decode(text, start)
            except (ValueError, RecursionError) as error:
                if any(f'"{name}":' in text for name in _TELLING):
                    raise UsageError(
                        f"The change looks like a tool's call, but is not valid JSON: {error}.",
                        hint="Pass the whole call, or SEARCH/REPLACE blocks.",
                    ) from None
                return
            yield value


def _called(value: Any, path: str) -> Iterator[FileChange]:
    """The changes in a value of JSON. `path`: of the file that a value around it names."""
    if isinstance(value, list):
        for item in value:
            yield from _called(item, path)
    elif isinstance(value, str) and is_marked(value, fences=False):
        for change in read_change(value):
            yield replace(change, path=change.path or path)
    if not isinstance(value, dict):
        return
    fields = {
        str(key).lower().replace("_", "").replace("-", ""): held for key, held in value.items()
    }
    path = _text_of(fields, _PATHS) or path
    named = "." in path or "/" in path
    old = _text_of(fields, (*_OLD, *(_OLD_TOO if named else ())))
    new = _text_of(fields, (*_NEW, *(_NEW_TOO if named else ())))
    code = _text_of(fields, _CODE)
    if new is not None and (old is not None or "insertline" in fields):
        if fields.get("replaceall") is True:
            raise UsageError(
                f"A call of the change replaces all places of {(old or '')[:40]!r}.",
                hint="Show each place with its lines, or use specedit rename.",
            )
        yield FileChange(path, (_text_hunk(old or "", new),))
    elif named and code is not None:
        yield FileChange(path, (_snippet(LINE_END.split(code)),))
    else:
        for name, held in fields.items():
            if isinstance(held, str) and name in _CHANGES:
                calls = list(_tool_calls(held)) if held.lstrip()[:1] in ("{", "[") else []
                yield from calls or _called(held, path)
            elif isinstance(held, dict | list):
                yield from _called(held, path)


def _text_of(fields: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((fields[name] for name in names if isinstance(fields.get(name), str)), None)
