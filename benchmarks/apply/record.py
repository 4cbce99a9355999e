"""A commit of the evaluation data: a file before and after it, in the bytes of the repository.

A change is written with "\\n" and without a byte-order mark, as models write. So a commit is left
out where it changes the mark or the final newline, or where the file mixes line ends: no form
determines the ending of a new line there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.common import rows
from specedit.syntax.languages import Language, language_of
from specedit.syntax.lines import Opcode, opcodes
from specedit.syntax.outline import Symbol
from specedit.syntax.trees import symbols

FILES = ("commits", "commit_renames", "large")
BOM = "\ufeff"


@dataclass(frozen=True)
class Record:
    """The file's text has "\\n" only and no byte-order mark; `encode` brings both back."""

    id: str
    name: str
    before: str
    after: str
    newline: str = "\n"
    bom: str = ""

    @property
    def language(self) -> Language | None:
        return language_of(self.name, self.before)

    @cached_property
    def old(self) -> list[str]:
        return self.before.split("\n")

    @cached_property
    def new(self) -> list[str]:
        return self.after.split("\n")

    @cached_property
    def hunks(self) -> list[Opcode]:
        return [code for code in opcodes(self.old, self.new) if code[0] != "equal"]

    @cached_property
    def old_symbols(self) -> tuple[Symbol, ...]:
        return symbols(self.before, self.language)

    @cached_property
    def new_symbols(self) -> tuple[Symbol, ...]:
        return symbols(self.after, self.language)

    def encode(self, text: str) -> bytes:
        return (self.bom + text.replace("\n", self.newline)).encode("utf-8", "surrogatepass")


def records(data: Path) -> Iterator[Record]:
    """The usable commits of the data folder, in a fixed order."""
    for file in FILES:
        for row in rows(data / f"{file}.jsonl"):
            record = record_of(f"{file}/{row['id'].removeprefix('commit/')}", row)
            if record is not None:
                yield record


def record_of(name: str, row: dict[str, str]) -> Record | None:
    """The commit, or None where no form determines its result."""
    texts = [row["before"], row["after"]]
    marks = {text[:1] == BOM for text in texts}
    texts = [text.removeprefix(BOM) for text in texts]
    newline = "\r\n" if "\r\n" in texts[0] else "\n"
    plain = [text.replace(newline, "\n") for text in texts]
    styled = [text.replace("\n", newline) for text in plain]
    ends = {text.endswith("\n") for text in plain}
    mixed = styled != texts or any("\r" in text for text in plain)
    if len(marks) > 1 or len(ends) > 1 or mixed or plain[0] == plain[1]:
        return None
    before, after = plain
    bom = BOM if marks == {True} else ""
    return Record(name, Path(row["filename"]).name, before, after, newline, bom)
