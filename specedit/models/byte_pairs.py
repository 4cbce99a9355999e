"""Byte pair encoding as GPT-2 does it, over tables that are read from a file and not built.

`tokenizers` needs 0.3 s to build a vocabulary of 150,000 tokens. Here merges are a sorted array,
pieces are one text with offsets, and a lookup is a binary search; a word's ids are kept. Only text
outside ASCII imports `tokenizers`, which has the Unicode classes of characters.

The store keeps the tokenizer of each GGUF file in this form (4 MB): reading 300,000 strings of the
header takes longer than the forward passes of a short edit. A damaged file is made again.
"""

from __future__ import annotations

import contextlib
import json
import re
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from heapq import heappop, heappush
from pathlib import Path
from typing import Any, overload

from specedit.files import atomic, regular, stored
from specedit.models.store import ModelFiles, store_path
from specedit.models.tokenizer import Tokenizer

KEPT_WORDS = 1 << 15
LONGEST_KEPT = 64  # characters
TYPES = {"letters": "i", "offsets": "I", "pieces": "B", "pairs": "Q", "merged": "Q", "words": "I"}

_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}]+|[\p{N}]%s"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
# `tokenizer.ggml.pre` -> where text is cut before merging, one pattern after another
CUTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("qwen2", "deepseek-r1-qwen"), (_WORDS % "",)),
    **dict.fromkeys(("llama-bpe", "llama3", "llama-v3", "dbrx"), (_WORDS % "{1,3}",)),
    "seed-coder": (_WORDS.replace(r"\p{N}]+[\r\n]*", r"\p{N}\r\n]+") % "",),
    "smollm": (r"[\p{N}]", _GPT2),
    **dict.fromkeys(("gpt-2", "default"), (_GPT2,)),
}
WHOLE_WORDS = ("llama-bpe", "llama3", "llama-v3")  # a word that is a token is not merged


class TokenPieces(Sequence[bytes]):
    """The bytes of each token; none for a token that has no text."""

    def __init__(self, offsets: Sequence[int], text: memoryview) -> None:
        self._offsets, self._text = offsets, text

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, id: int) -> bytes: ...
    @overload
    def __getitem__(self, id: slice) -> list[bytes]: ...
    def __getitem__(self, id: int | slice) -> bytes | list[bytes]:
        if isinstance(id, slice):
            return [self[at] for at in range(*id.indices(len(self)))]
        if not 0 <= id < len(self):
            raise IndexError(id)
        return bytes(self._text[self._offsets[id] : self._offsets[id + 1]])


@dataclass(frozen=True)
class BytePairs:
    """Text to ids. `tables` are arrays of the kinds that TYPES names."""

    style: str  # of CUTS
    tables: Mapping[str, Any]

    def encode(self, text: str) -> list[int]:
        ids: list[int] = []
        for word in self._cut(text):
            ids += self._ids(word) if len(word) <= LONGEST_KEPT else self._merged(word)
        return ids

    @cached_property
    def pieces(self) -> TokenPieces:
        return TokenPieces(self.tables["offsets"], memoryview(self.tables["pieces"]))

    @cached_property
    def _ascii(self) -> list[re.Pattern[str]]:
        cuts = (
            cut.replace(r"\p{L}", "a-zA-Z").replace(r"\p{N}", "0-9") for cut in CUTS[self.style]
        )
        return [re.compile(f"({cut})", re.ASCII) for cut in cuts]

    @cached_property
    def _unicode(self) -> Any:
        from tokenizers import Regex, pre_tokenizers

        cuts = [pre_tokenizers.Split(Regex(cut), "isolated") for cut in CUTS[self.style]]
        return pre_tokenizers.Sequence(cuts)

    def _cut(self, text: str) -> list[str]:
        if not text.isascii():
            return [word for word, _ in self._unicode.pre_tokenize_str(text)]
        words = [text]
        for cut in self._ascii:
            words = [part for word in words for part in cut.split(word) if part]
        return words

    @cached_property
    def _ids(self) -> Any:
        return lru_cache(KEPT_WORDS)(self._merged)

    @cached_property
    def _merge(self) -> Any:
        return lru_cache(KEPT_WORDS)(self._find)

    def _find(self, left: int, right: int) -> int | None:
        """Rank << 32 | id of the token that two tokens become."""
        pairs, pair = self.tables["pairs"], left << 32 | right
        at = bisect_left(pairs, pair)
        return self.tables["merged"][at] if at < len(pairs) and pairs[at] == pair else None

    def _merged(self, text: str) -> list[int]:
        """The ids of one word: of all pairs the one of the lowest rank is merged, and again."""
        word = text.encode("utf-8")
        if (words := self.tables["words"]) and (id := self._whole(word, words)) is not None:
            return [id]
        letters = self.tables["letters"]
        ids = [letters[byte] for byte in word if letters[byte] >= 0]
        after = list(range(1, len(ids) + 1))
        before = list(range(-1, len(ids)))
        last = len(ids)
        heap: list[tuple[int, int, int, int]] = []

        def offer(left: int, right: int) -> None:
            if (merge := self._merge(ids[left], ids[right])) is not None:
                heappush(heap, (merge, left, ids[left], ids[right]))

        for left in range(last - 1):
            offer(left, left + 1)
        while heap:
            merge, left, first, other = heappop(heap)
            right = after[left]
            if right == last or ids[left] != first or ids[right] != other:
                continue  # one of them was merged since
            ids[left], ids[right] = merge & 0xFFFFFFFF, -1
            after[left] = following = after[right]
            before[following] = left
            if before[left] >= 0:
                offer(before[left], left)
            if following != last:
                offer(left, following)
        return [id for id in ids if id >= 0]

    def _whole(self, word: bytes, words: Sequence[int]) -> int | None:
        pieces = self.pieces
        at = bisect_left(words, word, key=pieces.__getitem__)
        return words[at] if at < len(words) and pieces[words[at]] == word else None


def tables_of(
    vocabulary: Mapping[str, int],
    merges: Sequence[str],
    spelled: Mapping[str, int],
    pieces: Sequence[bytes],
    *,
    whole_words: bool,
) -> dict[str, array[int]]:
    """The tables of a vocabulary. `spelled`: the byte that each character stands for."""
    ranks: dict[int, int] = {}
    for rank, merge in enumerate(merges):
        left, _, right = merge.partition(" ")
        try:
            pair = vocabulary[left] << 32 | vocabulary[right]
            ranks[pair] = rank << 32 | vocabulary[left + right]
        except KeyError as lacking:
            raise ValueError(f"{lacking} of merge {merge[:60]!r} is not a token") from None
    pairs = sorted(ranks)
    characters = {byte: character for character, byte in spelled.items()}
    offsets = [0]
    for piece in pieces:
        offsets.append(offsets[-1] + len(piece))
    own = (id for text, id in vocabulary.items() if all(character in spelled for character in text))
    values: dict[str, Any] = {
        "letters": [vocabulary.get(characters[byte], -1) for byte in range(256)],
        "offsets": offsets,
        "pieces": b"".join(pieces),
        "pairs": pairs,
        "merged": [ranks[pair] for pair in pairs],
        "words": sorted(own, key=pieces.__getitem__) if whole_words else [],
    }
    return {name: array(kind, values[name]) for name, kind in TYPES.items()}


VERSION = 5  # of the stored form
LARGEST_FILE = 1 << 28  # bytes
# Fields of a tokenizer that JSON holds as they are.
_STATED = ("specials", "begin", "texts", "template", "rendered")


def stored_path(files: ModelFiles) -> Path | None:
    """Its name holds the model's digest, so that `model remove` deletes it; None without a digest:
    a changed file would not be noticed."""
    if not files.sha256:
        return None
    name = f"{files.path.stem}-{files.sha256[:16]}-v{VERSION}.tokenizer"
    return store_path() / "converted" / name


def write(path: Path, tokenizer: Tokenizer, pairs: BytePairs) -> None:
    """Store a tokenizer: a checksum, a line of JSON, the tables; those of other versions are
    deleted. Errors of writing are ignored: the next run reads the header again."""
    about = {
        **{name: getattr(tokenizer, name) for name in _STATED},
        "ends": sorted(tokenizer.ends),
        "style": pairs.style,
        "lengths": [len(pairs.tables[name]) for name in TYPES],
    }
    tables = b"".join(pairs.tables[name].tobytes() for name in TYPES)
    data = json.dumps(about).encode("ascii") + b"\n" + tables
    with contextlib.suppress(OSError):
        atomic.whole(path, f"{zlib.crc32(data):08x}".encode("ascii") + data)
        name, _, version = path.name.rpartition("-v")
        for other in path.parent.glob("*.tokenizer"):
            if other.name.startswith(f"{name}-v") and not other.name.endswith(f"-v{version}"):
                other.unlink()


def read(path: Path) -> Tokenizer | None:
    """The stored tokenizer; None where there is none or it is damaged."""
    try:
        data = memoryview(regular.read(path, LARGEST_FILE))
        if f"{zlib.crc32(data[8:]):08x}".encode("ascii") != data[:8]:
            raise ValueError("it is not what was written")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        stored.note_unreadable(path, error)
        return None
    line, _, _ = bytes(data[8:]).partition(b"\n")
    about: dict[str, Any] = stored.parsed(line)
    tables, at = {}, 9 + len(line)
    for (name, kind), length in zip(TYPES.items(), about["lengths"], strict=True):
        tables[name] = table = array(kind)
        table.frombytes(data[at : at + length * table.itemsize])
        at += length * table.itemsize
    pairs = BytePairs(about["style"], tables)
    return Tokenizer(
        ids_of=pairs.encode,
        pieces=pairs.pieces,
        ends=frozenset(about["ends"]),
        **{name: about[name] for name in _STATED},
    )
