"""Documents as the protocol sees them: lines, positions and edits.

A line ends with "\\n", "\\r\\n" or "\\r" and with nothing else; a column counts UTF-16 code units.
"""

from __future__ import annotations

import os
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from specedit.files.source import Source, read
from specedit.import_time import frozen, regex
from specedit.integrations.lsp.connection import (
    INVALID_PARAMS,
    REQUEST_FAILED,
    RequestError,
    param,
)
from specedit.syntax.lines import opcodes

LINE = regex(r"[^\r\n]*(?:\r\n?|\n)")
BOM = "\ufeff"

Place = tuple[int, int]  # a line, and a column in characters or UTF-16 units, from 0


@frozen
class Document:
    """One version of a document: text and version never come from different moments."""

    uri: str
    version: int | None  # None: it is not open, and the file on disk is the truth
    lines: tuple[str, ...]  # with their ends; the last line has none and may be empty

    @classmethod
    def of(cls, uri: str, version: int | None, text: str) -> Document:
        return cls(uri, version, tuple(split(text)))

    @classmethod
    def on_disk(cls, uri: str) -> Document:
        """A file that is not open in the editor."""
        source = read(path_of(uri))
        return cls.of(uri, None, source.data[len(source.bom) :].decode(source.encoding))

    @cached_property
    def text(self) -> str:
        return "".join(self.lines)

    @cached_property
    def source(self) -> Source:
        return Source.from_bytes(path_of(self.uri).name, self.text.encode("utf-8", "surrogatepass"))

    def line_of_source(self, line: int) -> int:
        """The line of `source`, from 1, that a line, from 0, is in. "\\r\\r\\n" ends one there."""
        pairs = pairwise(self.lines[: line + 1])
        return line + 1 - sum(one.endswith("\r") and two == "\r\n" for one, two in pairs)

    def place(self, position: Place) -> Place:
        """A position with its column in characters. Past the end of a line or of the text it is
        that end; inside a surrogate pair it is the start of the pair."""
        line, units = position
        if line >= len(self.lines):
            return len(self.lines) - 1, len(self.lines[-1])
        content = self.lines[line].rstrip("\r\n")
        if content.isascii():
            return line, min(units, len(content))
        for column, character in enumerate(content):
            units -= utf16(character)
            if units < 0:
                return line, column
        return line, len(content)

    def position(self, place: Place) -> dict[str, int]:
        """The protocol's position of a line and a column in characters."""
        line, column = place
        if line >= len(self.lines):
            line, column = len(self.lines) - 1, len(self.lines[-1])
        return {"line": line, "character": utf16(self.lines[line][:column])}

    def range(self, start: Place, end: Place) -> dict[str, Any]:
        return {"start": self.position(start), "end": self.position(end)}

    def edit_to(self, text: str) -> dict[str, Any]:
        """A TextDocumentEdit that makes this version `text`: whole lines, for this version only."""
        new = split(text)
        edits = [
            {"range": self.range((a, 0), (b, 0)), "newText": "".join(new[c:d])}
            for tag, a, b, c, d in opcodes(self.lines, new)
            if tag != "equal"
        ]
        return {"textDocument": {"uri": self.uri, "version": self.version}, "edits": edits}


class Documents:
    """The documents that the editor has open, as its notifications describe them."""

    def __init__(self) -> None:
        self._open: dict[str, Document | None] = {}  # None: a change of it could not be applied
        self._first: dict[str, str] = {}  # the text when it was opened

    def opened(self, params: object) -> None:
        item = param(params, "textDocument", dict)
        uri, version = param(item, "uri", str), param(item, "version", int)
        self._open[uri] = Document.of(uri, version, param(item, "text", str))
        self._first[uri] = param(item, "text", str)

    def changed(self, params: object) -> None:
        document = self.open(uri_of(params))
        self._open[document.uri] = None
        version = param(param(params, "textDocument", dict), "version", int)
        text = document.text
        for change in param(params, "contentChanges", list):
            text = param(change, "text", str)
            if change.get("range") is not None:
                raise RequestError(INVALID_PARAMS, "a change must be the whole text")
        self._open[document.uri] = Document.of(document.uri, version, text)

    def closed(self, params: object) -> None:
        self._open.pop(uri_of(params), None)
        self._first.pop(uri_of(params), None)

    def when_opened(self, uri: str) -> str | None:
        """The text of a document when it was opened; None where it is not open."""
        return self._first.get(uri)

    def open(self, uri: str) -> Document:
        document = self._open.get(uri)
        if document is None:
            raise RequestError(REQUEST_FAILED, f"the text of {uri} is not known: open it again")
        return document

    def get(self, uri: str) -> Document:
        """The document as it is open, or else as it is on disk."""
        return self.open(uri) if uri in self._open else Document.on_disk(uri)

    def files(self) -> tuple[Document, ...]:
        """The open documents that are files."""
        return tuple(one for one in self._open.values() if one and one.uri.startswith("file:"))

    def is_current(self, document: Document) -> bool:
        """Whether this version is still what the editor shows, or what is on disk."""
        if document.version is not None:
            return self._open.get(document.uri) is document
        path = path_of(document.uri)
        if any(path_of(uri) == path for uri in self._open if uri.startswith("file:")):
            return False
        return Document.on_disk(document.uri).text == document.text


def split(text: str) -> list[str]:
    """The lines of a text with their ends: always one more than there are ends."""
    lines = LINE.findall(text)
    return [*lines, text[sum(map(len, lines)) :]]


def utf16(text: str) -> int:
    """The number of UTF-16 code units."""
    if text.isascii():
        return len(text)
    return len(text) + sum(character > "\uffff" for character in text)


def path_of(uri: str) -> Path:
    parts = urlsplit(uri)
    if parts.scheme != "file" or "%00" in parts.path:
        raise RequestError(INVALID_PARAMS, f"{uri} does not name a file")
    if os.name == "nt":
        return Path(url2pathname(f"//{parts.netloc}{parts.path}" if parts.netloc else parts.path))
    return Path(unquote(parts.path, errors="surrogateescape"))


def uri_of(params: object) -> str:
    """The document that the parameters name."""
    uri: str = param(param(params, "textDocument", dict), "uri", str)
    return uri
