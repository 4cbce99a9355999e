"""One file as read: its text, and all that is needed to write it back byte for byte.

`text` uses "\\n" only; `encode` restores line ends, byte-order mark and encoding.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import re
import stat
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from specedit.errors import InputError
from specedit.files import regular
from specedit.syntax.lines import restore_endings

if TYPE_CHECKING:
    from specedit.syntax.languages import Language

MAX_FILE_BYTES = 8 * 1024 * 1024  # bytes; a larger file takes a parser more than seconds
MAX_LINE_CHARACTERS = 500_000  # characters of one line: a minified bundle, which no window holds
LINE_END = re.compile("\r?\r?\n|\r")  # "\r\r\n" is what a text mode makes of "\r\n"
_BYTES = "latin-1"  # a character for each byte, of a text in any encoding
UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


@dataclass(frozen=True)
class Source:
    """A file's text, with everything needed to restore its bytes."""

    name: str  # what the user calls it
    text: str  # "\n" only
    data: bytes = field(repr=False)
    path: Path | None = None  # the real file (symlinks followed); None when it came from stdin
    encoding: str = "utf-8"
    bom: bytes = b""
    endings: tuple[str, ...] = field(default=("\n",), repr=False)  # one, or one for each line
    root: Path = Path()  # `name` counts from it: the current folder, or an absolute workspace root

    @classmethod
    def from_bytes(
        cls,
        name: str,
        data: bytes,
        path: Path | None = None,
        root: Path = Path(),
        *,
        any_encoding: bool = False,
    ) -> Source:
        """Text from bytes, or an InputError that says why they are not text. `any_encoding`: a text
        that is not UTF-8 is read byte by byte, so that its ASCII is right, whatever it is in."""
        if len(data) > MAX_FILE_BYTES:
            raise _too_large(name, len(data))
        encoding, bom = _encoding(name, data)
        try:
            raw = data[len(bom) :].decode(encoding)
        except UnicodeDecodeError as error:
            if not any_encoding or encoding != "utf-8" or bom or b"\0" in data:
                raise _not_text(name, encoding, len(bom) + error.start, data) from error
            encoding = _BYTES
            raw = data.decode(encoding)
        if not raw:
            raise InputError(
                "the file is empty",
                file=name,
                hint="Write its first line, a comment for example, and then say what to add.",
            )
        if "\0" in raw:
            raise InputError("a binary file", file=name, hint="specedit edits text files.")
        result = LINE_END.findall(raw)
        kinds = set(result)
        if (
            len(raw) > MAX_LINE_CHARACTERS
            and (longest := max(map(len, re.split("[\r\n]", raw)))) > MAX_LINE_CHARACTERS
        ):
            raise InputError(
                f"a line of {longest:,} characters; the limit is {MAX_LINE_CHARACTERS:,}",
                file=name,
                hint="No context window can hold it. Is this a generated or minified file?",
            )
        endings = tuple(kinds) if len(kinds) == 1 else tuple(result) or ("\n",)
        text = raw if kinds <= {"\n"} else LINE_END.sub("\n", raw)
        return cls(name, text, data, path, encoding, bom, endings, root)

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def language(self) -> Language | None:
        from specedit.syntax.languages import language_of

        return language_of(self.name, self.text)

    @property
    def newline(self) -> str:
        """The ending most lines have."""
        return Counter(self.endings).most_common(1)[0][0]

    def encode(self, text: str) -> bytes:
        """The bytes of `text` in this file's style: an untouched line keeps its own ending."""
        if len(self.endings) == 1:
            styled = text if self.newline == "\n" else text.replace("\n", self.newline)
        else:
            styled = restore_endings(self.text, self.endings, text)
        if self.encoding == _BYTES and _beyond_ascii(text) != _beyond_ascii(self.text):
            raise InputError(
                "not UTF-8, and in what encoding is not known: it can be given ASCII alone",
                file=self.name,
            )
        try:
            return self.bom + styled.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise InputError(
                f"the new text has a character that {self.encoding} cannot hold", file=self.name
            ) from error


def _beyond_ascii(text: str) -> list[str]:
    return [character for character in text if character > "\x7f"]


def read(path: str | Path, root: Path = Path(), *, any_encoding: bool = False) -> Source:
    """The source at `path`, which counts from `root`; of a link, its target."""
    name, place = os.fspath(path), root / path
    try:
        real = place.resolve(strict=True)
        status = real.stat()
        if stat.S_ISDIR(status.st_mode):
            raise InputError("a directory", file=name, hint="Name the files in it.")
        if not stat.S_ISREG(status.st_mode):
            raise InputError("not a regular file", file=name, hint="Use `-` for a stream.")
        if status.st_size > MAX_FILE_BYTES:
            raise _too_large(name, status.st_size)
        data = regular.read(real)
    except FileNotFoundError as error:
        if place.is_symlink():
            raise InputError(
                f"a link to {place.readlink()}, which is not there", file=name
            ) from error
        raise InputError("no such file", file=name, hint=_nearest(place)) from error
    except (OSError, RuntimeError, ValueError) as error:  # loops, "\0" in a name, permissions
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"cannot be read: {reason}", file=name) from error
    return Source.from_bytes(name, data, real, root, any_encoding=any_encoding)


def _encoding(name: str, data: bytes) -> tuple[str, bytes]:
    if data.startswith(codecs.BOM_UTF8):
        return "utf-8", codecs.BOM_UTF8
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)) and len(data) % 4 == 0:
        raise InputError("UTF-32", file=name, hint="Save it as UTF-8 first.")
    for bom, encoding in UTF16.items():
        if data.startswith(bom):
            return encoding, bom
    return "utf-8", b""


def _not_text(name: str, encoding: str, offset: int, data: bytes) -> InputError:
    if b"\0" in data and encoding == "utf-8":
        return InputError("a binary file", file=name, hint="specedit edits text files.")
    line = data.count(b"\n", 0, offset) + 1
    label = "UTF-8" if encoding == "utf-8" else "UTF-16"
    return InputError(
        f"not {label}: byte 0x{data[offset]:02x} at offset {offset}, line {line}",
        file=name,
        hint="Convert it first, for example: iconv -f WINDOWS-1252 -t UTF-8 FILE",
    )


def _too_large(name: str, size: int) -> InputError:
    return InputError(
        f"{size / 1e6:.1f} MB is too large; the limit is {MAX_FILE_BYTES / 1e6:.1f} MB",
        file=name,
        hint="No context window can hold it. Split the file, or edit it by hand.",
    )


def _nearest(path: Path) -> str:
    import difflib

    try:
        names = [entry.name for entry in path.parent.iterdir()][:5000]
    except (OSError, ValueError):
        return "Check the path."
    near = [str(path.parent / match) for match in difflib.get_close_matches(path.name, names, n=1)]
    return f"Did you mean {near[0]}?" if near else "Check the path."
