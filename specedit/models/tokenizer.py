"""Text to ids and back, as a model's files say: GGUF metadata or tokenizer.json.

Two guarantees. `encode` never yields a special token, whatever the text contains: a file that
speaks of `<|im_end|>` is only text. And the pieces of its ids joined are the text, byte for byte:
what rewrites text (Unicode normalisation, a space put in front) is left out, which differs from the
model's own tokenizer only on text that is not in normal form.

The metadata of a GGUF file is cached in a form that loads in a sixth of the time: reading 300,000
strings of its header takes longer than the forward passes of a short edit. The cache has a line of
JSON with the single values and one with the long lists, each with a checksum; a damaged one is
written again.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specedit.errors import ModelError, UsageError
from specedit.files import atomic, regular, stored
from specedit.models.store import ModelFiles, store_path


@dataclass(frozen=True)
class Tokenizer:
    """One model's vocabulary. `specials` are all ids that template text may name."""

    core: Any  # a tokenizers.Tokenizer that knows no added token
    spelling: Mapping[int, str]  # id -> as the vocabulary writes it, specials left out
    specials: Mapping[str, int]
    literal: frozenset[int]  # specials that stand for their own text, such as <tool_call>
    ends: frozenset[int]
    size: int
    byte_level: bool  # else SentencePiece's spelling: ▁ for a space, <0x0A> for a byte
    begin: int | None = None  # id to put before every prompt, if the model was trained so
    texts: Mapping[str, str] = field(default_factory=dict)  # what bos_token, eos_token say

    def encode(self, text: str) -> list[int]:
        """Ids of the text; never a special token."""
        result: list[int] = guarded(
            "the model's vocabulary cannot spell this text",
            lambda: self.core.encode(text, add_special_tokens=False).ids,
        )
        return result

    def encode_template(self, text: str) -> list[int]:
        """Ids of a template's own text, where a special token's name means the token."""
        ids: list[int] = []
        at = 0
        for match in self._names().finditer(text):
            ids += self.encode(text[at : match.start()])
            ids.append(self.specials[match[0]])
            at = match.end()
        return ids + self.encode(text[at:])

    def _names(self) -> re.Pattern[str]:
        longest = sorted(self.specials, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longest)) or r"(?!)")

    def piece(self, id: int) -> bytes:
        """The exact bytes of a token; a special one has none."""
        text = self.spelling.get(id)
        if text is None:
            return b""
        if id in self.literal:
            return text.encode("utf-8")
        if self.byte_level:
            try:
                return bytes(_BYTES[character] for character in text)
            except KeyError:  # written out, not in GPT-2's spelling
                return text.encode("utf-8", errors="surrogateescape")
        if match := _BYTE_NAME.fullmatch(text):
            return bytes([int(match[1], 16)])
        return text.replace("▁", " ").encode("utf-8")

    def special(self, name: str) -> int | None:
        return self.specials.get(name)


def guarded(what: str, make: Callable[[], Any]) -> Any:
    """What `make` gives; whatever goes wrong inside the tokenizers library is a `ModelError`."""
    try:
        return make()
    except ModelError:
        raise
    except BaseException as problem:  # it raises bare Exception, and panics are not even that
        if not isinstance(problem, Exception) and type(problem).__name__ != "PanicException":
            raise
        raise ModelError(f"{what}: {str(problem)[:300] or type(problem).__name__}") from problem


# The tokens before the prefix, the suffix and what stands between them: Qwen and CodeGemma,
# StarCoder and Granite, DeepSeek.
FILL_IN = (
    ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),
    ("<fim_prefix>", "<fim_suffix>", "<fim_middle>"),
    ("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"),
)
NEXT_FILE = ("<|fim_pad|>", "<|file_sep|>", "<|repo_name|>", "<file_sep>")  # a text ends before


def raw_ids(tokenizer: Any, text: str, ids: Sequence[int], suffix: str | None) -> list[int]:
    """The ids of a prompt without a chat template; a `RawPrompt` says what they mean."""
    if ids:
        if not 0 <= min(ids) <= max(ids) < tokenizer.size:
            raise UsageError(
                f"The prompt has an id that is not between 0 and {tokenizer.size - 1}."
            )
        return list(ids)
    if suffix is None:
        prompt: list[int] = tokenizer.encode_template(text)
    else:
        triples = ([tokenizer.special(name) for name in names] for names in FILL_IN)
        marks = next((one for one in triples if None not in one), None)
        if marks is None:
            raise UsageError(
                "This model has no tokens for a `suffix`.", hint="Send a prompt alone."
            )
        before, after, middle = marks
        prompt = [before, *tokenizer.encode(text), after, *tokenizer.encode(suffix), middle]
    if tokenizer.begin is not None and prompt[:1] != [tokenizer.begin]:
        prompt.insert(0, tokenizer.begin)
    if not prompt:
        raise UsageError("The prompt is empty.")
    return prompt


_BYTE_NAME = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def _byte_table() -> dict[str, int]:
    """GPT-2's writing of bytes: printable ones as themselves, the rest from U+0100 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    table = {chr(byte): byte for byte in printable}
    rest = (byte for byte in range(256) if byte not in set(printable))
    return table | {chr(256 + place): byte for place, byte in enumerate(rest)}


_BYTES = _byte_table()


PREFIX = "tokenizer."
VERSION = 2


def tokenizer_metadata(files: ModelFiles, *, lists: bool = True) -> dict[str, Any]:
    """The `tokenizer.` values of a GGUF file; without `lists` only the single values."""
    if not files.sha256:  # without a digest a changed file would not be noticed
        return _read(files.path, lists)
    # its name holds the model's digest, so `model remove` deletes it
    name = f"{files.path.stem}-{files.sha256[:16]}-v{VERSION}.tokenizer"
    place = store_path() / "converted" / name
    values = _cached(place, lists)
    if values is None:
        whole = _read(files.path, True)
        short = {key: value for key, value in whole.items() if not isinstance(value, list)}
        long = {key: value for key, value in whole.items() if isinstance(value, list)}
        with contextlib.suppress(OSError):  # the next run reads the header again
            atomic.whole(place, _line(short) + _line(long))
        values = whole if lists else short
    return values


def _read(path: Path, lists: bool) -> dict[str, Any]:
    from specedit.models.gguf import open_gguf

    metadata = open_gguf(path, arrays=lists).metadata
    return {key: value for key, value in metadata.items() if key.startswith(PREFIX)}


def _line(values: dict[str, Any]) -> bytes:
    text = json.dumps(values).encode("ascii")
    return f"{zlib.crc32(text):08x} ".encode("ascii") + text + b"\n"


def _cached(place: Path, lists: bool) -> dict[str, Any] | None:
    try:
        with os.fdopen(regular.opened(place), "rb") as file:
            values = _values(file.readline())
            if lists:
                values |= _values(file.readline())
            return values
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        stored.note_unreadable(place, error)
        return None


def _values(line: bytes) -> dict[str, Any]:
    checksum, _, text = line.rstrip(b"\n").partition(b" ")
    if checksum != f"{zlib.crc32(text):08x}".encode("ascii"):
        raise ValueError("a line is not what was written")
    values: dict[str, Any] = stored.parsed(text)
    return values
