"""A change as the calls of an agent's editing tools: JSON with an old and a new text, or code.

    {"file_path": "app.py", "old_string": "return 1", "new_string": "return 2"}

Agents name the fields in many ways, put several edits of a file into a list, and wrap a call into a
message. The old text need not be whole lines (`patching` extends it).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from specedit.errors import UsageError

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
class CallEdit:
    """One edit of a call: `new` in place of `old`, or, without `old`, code to merge."""

    path: str
    new: str
    old: str | None = None


@dataclass(frozen=True, slots=True)
class CallChange:
    """A change in another form, inside a call."""

    path: str
    text: str


def tool_calls(text: str, is_change: Callable[[str], bool]) -> list[CallEdit | CallChange]:
    """The edits of a text that consists of calls, of prose and of fences; none where it is
    something else. `is_change`: whether a text inside a call is a change by its form."""
    result: list[CallEdit | CallChange] = []
    for value in _values(text):
        result += _edits(value, "", is_change)
    return result


def _values(text: str) -> Iterator[Any]:
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


def _edits(
    value: Any, path: str, is_change: Callable[[str], bool]
) -> Iterator[CallEdit | CallChange]:
    if isinstance(value, list):
        for item in value:
            yield from _edits(item, path, is_change)
        return
    if isinstance(value, str):
        if is_change(value):
            yield CallChange(path, value)
        return
    if not isinstance(value, dict):
        return
    fields = {
        str(key).lower().replace("_", "").replace("-", ""): held for key, held in value.items()
    }
    path = _text(fields, _PATHS) or path
    named = "." in path or "/" in path
    old = _text(fields, (*_OLD, *(_OLD_TOO if named else ())))
    new = _text(fields, (*_NEW, *(_NEW_TOO if named else ())))
    if new is not None and (old is not None or "insertline" in fields):
        if fields.get("replaceall") is True:
            raise UsageError(
                f"A call of the change replaces all places of {(old or '')[:40]!r}.",
                hint="Show each place with its lines, or use specedit rename.",
            )
        yield CallEdit(path, new, old or "")
        return
    code = _text(fields, _CODE)
    if named and code is not None:
        yield CallEdit(path, code)
        return
    for name, held in fields.items():
        if isinstance(held, str) and name in _CHANGES:
            calls = tool_calls(held, is_change) if held.lstrip()[:1] in ("{", "[") else []
            yield from calls or _edits(held, path, is_change)
        elif isinstance(held, dict | list):
            yield from _edits(held, path, is_change)


def _text(fields: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((fields[name] for name in names if isinstance(fields.get(name), str)), None)
