"""A model's vocabulary, read from GGUF metadata or from a folder's tokenizer.json.

Whatever the file holds, the outcome is a vocabulary or a `ModelError`. `tokenizers` needs 0.3 s to
build a vocabulary of 150,000 tokens. Here merges are a sorted array, pieces are one text with
offsets, and a lookup is a binary search; a word's ids are kept. Only text outside ASCII imports
`tokenizers`. The store keeps the tokenizer of each GGUF file in this form (4 MB): reading 300,000
strings of the header takes longer than the forward passes of a short edit.
"""

from __future__ import annotations

import contextlib
import json
import re
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

from specedit.errors import ModelError
from specedit.files import atomic, regular, stored
from specedit.models.configuration import Fields, read_json, read_text
from specedit.models.store import ModelFiles, store_path
from specedit.models.tokenizer import (
    Tokenizer,
    byte_table,
    guarded,
    rendered_for_edits,
    sentence_bytes,
    spelled_bytes,
)

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
    "qwen35": (
        (_WORDS % "").replace(r"[\p{L}]", r"[\p{L}\p{M}]").replace(r"\s\p{L}", r"\s\p{L}\p{M}"),
    ),
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

    def __getitem__(self, id: Any) -> Any:
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
            cut.replace(r"\p{L}", "a-zA-Z").replace(r"\p{N}", "0-9").replace(r"\p{M}", "")
            for cut in CUTS[self.style]
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
        ids = [letters[byte] for byte in word]
        if min(ids) < 0:
            raise ValueError(f"it lacks a character of {text[:60]!r}")
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


FORMAT_VERSION = 5  # of the stored form
LARGEST_FILE = 1 << 28  # bytes
# Fields of a tokenizer that JSON holds as they are.
_STATED = ("specials", "begin", "texts", "template", "rendered")


def stored_path(files: ModelFiles) -> Path | None:
    """Its name holds the model's digest: `model remove` deletes it; None without one."""
    if not files.sha256:
        return None
    name = f"{files.path.stem}-{files.sha256[:16]}-v{FORMAT_VERSION}.tokenizer"
    return store_path() / "converted" / name


def write(path: Path, tokenizer: Tokenizer, pairs: BytePairs) -> None:
    """Store a tokenizer, if that is possible, and delete those of other versions."""
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


_ENDS = (
    *("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "<|eom_id|>", "</s>"),
    *("<|end|>", "<|EOT|>", "<|end▁of▁sentence|>", "<EOT>"),
)
_NORMAL, _UNKNOWN, _CONTROL, _USER, _UNUSED, _BYTE = range(1, 7)  # GGUF token types

MOST_IDS = 1 << 24
MOST_CUTS = 1 << 26  # letters looked at to find the merges of a SentencePiece vocabulary


def load_tokenizer(files: ModelFiles) -> Tokenizer:
    """The tokenizer of a model in place: 10 ms from the store, 1 s from a header."""
    return of_gguf(files) if files.kind == "gguf" else of_folder(files.path)


def of_gguf(files: ModelFiles) -> Tokenizer:
    place = stored_path(files)
    if place is not None and (known := read(place)) is not None:
        return known
    from specedit.models.gguf import open_gguf  # imports numpy: 40 ms

    path = files.path
    header = open_gguf(path).metadata
    fields = Fields(path, header, "tokenizer.ggml.")
    tokens = fields.texts("tokens")
    kinds = _numbers(fields, "token_type", [_NORMAL] * len(tokens))
    if not tokens or len(kinds) != len(tokens):
        raise ModelError(f"{path} carries no usable vocabulary", hint=_OTHER)
    specials = {tokens[id]: id for id, kind in enumerate(kinds) if kind in (_CONTROL, _USER)}
    literal = {id: tokens[id] for id in specials.values() if kinds[id] == _USER}
    plain = {id: t for id, t in enumerate(tokens) if kinds[id] in (_NORMAL, _BYTE)}
    model = fields.text("model", "none")
    if model not in ("gpt2", "llama"):
        raise ModelError(
            f"{path} has a vocabulary of the kind {model[:40]!r}; gpt2 and llama are known"
        )
    bytes_of = spelled_bytes if model == "gpt2" else sentence_bytes
    pieces = _pieces(plain, literal, len(tokens), bytes_of)
    pairs = _byte_pairs(fields, plain, pieces) if model == "gpt2" else None

    def named(key: str) -> int | None:
        return _id(fields.known.get(f"tokenizer.ggml.{key}_token_id"), len(tokens))

    def text(key: str) -> str:
        id = named(key)
        return "" if id is None else tokens[id]

    tokenizer = Tokenizer(
        ids_of=pairs.encode if pairs else _sentence_pieces(fields, plain, tokens, pieces),
        pieces=pairs.pieces if pairs else pieces,
        specials=specials,
        ends=_ends(specials, map(named, ("eos", "eot", "eom"))),
        begin=named("bos") if fields.truth("add_bos_token", model == "llama") else None,
        texts={"bos_token": text("bos"), "eos_token": text("eos")},
        template=Fields(path, header).text("tokenizer.chat_template", ""),
    )
    if place is not None and pairs is not None:
        rendered = rendered_for_edits(tokenizer)
        write(place, replace(tokenizer, rendered=rendered), pairs)
    return tokenizer


def _pieces(
    plain: Mapping[int, str],
    literal: Mapping[int, str],
    size: int,
    bytes_of: Callable[[str], bytes],
) -> list[bytes]:
    """The bytes of each id: `literal` tokens stand for their own text."""
    pieces = [b""] * size

    def fill() -> list[bytes]:
        for id, token in plain.items():
            pieces[id] = bytes_of(token)
        for id, token in literal.items():
            pieces[id] = token.encode("utf-8", "surrogateescape")
        return pieces

    filled: list[bytes] = guarded("the model has a damaged vocabulary", fill)
    return filled


_OTHER = "Name the folder or hub id with this model's tokenizer.json instead."


def _ends(specials: Mapping[str, int], named: Iterable[int | None]) -> frozenset[int]:
    known = {specials[name] for name in _ENDS if name in specials}
    return frozenset(known | {id for id in named if id is not None})


def _id(value: Any, size: int = MOST_IDS) -> int | None:
    """A token's id, if it can be one."""
    return value if type(value) is int and 0 <= value < size else None


def _numbers(fields: Fields, key: str, default: list[Any]) -> list[Any]:
    result = fields.known.get(fields.prefix + key) or default
    if not isinstance(result, list) or not all(
        isinstance(number, int | float) for number in result
    ):
        raise fields.wrong(key, "a list of numbers")
    return result


def _byte_pairs(fields: Fields, plain: dict[int, str], pieces: list[bytes]) -> BytePairs:
    style = fields.text("pre", "default")
    if style not in CUTS:
        known = ", ".join(CUTS)
        raise ModelError(
            f"{fields.path} cuts words as {style[:40]!r}; known are {known}", hint=_OTHER
        )
    vocabulary, merges = {token: id for id, token in plain.items()}, fields.texts("merges")
    whole_words = style in WHOLE_WORDS
    tables = guarded(
        f"{fields.path} has a damaged vocabulary",
        lambda: tables_of(vocabulary, merges, byte_table(), pieces, whole_words=whole_words),
    )
    return BytePairs(style, tables)


def _sentence_pieces(
    fields: Fields, plain: dict[int, str], tokens: list[str], pieces: list[bytes]
) -> Callable[[str], list[int]]:
    """SentencePiece's BPE: the merges are every split of a piece into pieces, best score first."""
    from tokenizers import Tokenizer as Core
    from tokenizers import models, normalizers

    if sum(len(token) ** 2 for token in plain.values()) > MOST_CUTS:
        raise ModelError(f"{fields.path} has a damaged vocabulary: its words are too long")
    vocabulary = {token: id for id, token in plain.items()}
    scores = _numbers(fields, "scores", [-float(id) for id in range(len(tokens))])
    unknown = _id(fields.known.get("tokenizer.ggml.unknown_token_id", 0), len(tokens))
    if len(scores) != len(tokens) or unknown is None:
        raise ModelError(f"{fields.path} carries no usable vocabulary", hint=_OTHER)
    merges: list[tuple[float, int, int, str, str]] = []
    for id, token in plain.items():
        for left, right in ((token[:cut], token[cut:]) for cut in range(1, len(token))):
            if left in vocabulary and right in vocabulary:
                merges.append((-scores[id], vocabulary[left], vocabulary[right], left, right))
    merges.sort()
    pairs = [(left, right) for *_, left, right in merges]
    vocabulary[tokens[unknown]] = unknown
    how = {"unk_token": tokens[unknown], "fuse_unk": True, "byte_fallback": True}
    core = guarded(
        f"{fields.path} has a damaged vocabulary",
        lambda: Core(models.BPE(vocab=vocabulary, merges=pairs, **how)),
    )
    core.normalizer = normalizers.Replace(" ", "▁")
    return _encoder(core, pieces)


def _encoder(core: Any, pieces: list[bytes]) -> Callable[[str], list[int]]:
    def encode(text: str) -> list[int]:
        ids: list[int] = core.encode(text, add_special_tokens=False).ids
        if b"".join(pieces[id] for id in ids) != text.encode("utf-8"):
            raise ValueError("it lacks a character")
        return ids

    return encode


def of_folder(folder: Path) -> Tokenizer:
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise ModelError(
            f"{folder} has no tokenizer.json",
            hint="Save it there with transformers: AutoTokenizer.from_pretrained(…)"
            ".save_pretrained(…).",
        )
    data, message = read_json(path), f"{path} cannot be read as a tokenizer"
    core, plain, specials, literal, byte_level = guarded(message, lambda: _of_json(data))
    settings = read_json(folder / "tokenizer_config.json")
    texts = {name: _text(settings.get(name)) for name in ("bos_token", "eos_token")}
    ends = read_json(folder / "generation_config.json").get("eos_token_id")
    ends = ends if ends is not None else read_json(folder / "config.json").get("eos_token_id")
    named = {*map(_id, ends if isinstance(ends, list) else [ends])}
    named.add(specials.get(texts["eos_token"]))
    size = 1 + max([*plain, *specials.values()], default=-1)
    pieces = _pieces(plain, literal, size, spelled_bytes if byte_level else sentence_bytes)
    return Tokenizer(
        ids_of=_encoder(core, pieces),
        pieces=pieces,
        specials=specials,
        ends=_ends(specials, named),
        begin=specials.get(texts["bos_token"]) if settings.get("add_bos_token") is True else None,
        texts=texts,
        template=folder_template(folder),
    )


def folder_template(folder: Path) -> str:
    """The chat template of a folder; "" if it has none."""
    file = folder / "chat_template.jinja"
    if file.is_file():
        return read_text(file)
    path = folder / "tokenizer_config.json"
    item = read_json(path).get("chat_template")
    if isinstance(item, list):  # named templates; the default one is for chatting
        pairs = [pair for pair in item if isinstance(pair, dict)]
        named = {str(pair.get("name")): pair.get("template") for pair in pairs}
        item = named.get("default", next(iter(named.values()), None))
    return Fields(path, {"chat_template": item}).text("chat_template", "")


def _of_json(data: Any) -> tuple[Any, dict[int, str], dict[str, int], dict[int, str], bool]:
    """Core, plain tokens, specials, literal ones, whether it spells bytes; raises anything."""
    from tokenizers import Tokenizer as Core

    added = data.pop("added_tokens", None) or []
    model = data["model"]
    specials = {str(token["content"]): int(token["id"]) for token in added}
    literal = {
        int(token["id"]): str(token["content"]) for token in added if not token.get("special")
    }
    vocabulary = model["vocab"]
    unknown = model.get("unk_token")
    model["vocab"] = {
        token: id for token, id in vocabulary.items() if token == unknown or token not in specials
    }
    plain = {id: token for token, id in model["vocab"].items() if token != unknown}
    if odd := [id for id in (*specials.values(), *plain) if _id(id) is None]:
        raise ValueError(f"{str(odd[0])[:40]} is not a token's number")
    byte_level = '"ByteLevel"' in json.dumps([data.get("pre_tokenizer"), data.get("decoder")])
    data |= {"normalizer": _bare(data.get("normalizer")), "added_tokens": []}
    data["pre_tokenizer"] = _without_space(data.get("pre_tokenizer"))
    data |= dict.fromkeys(("post_processor", "truncation", "padding"))
    return Core.from_str(json.dumps(data)), plain, specials, literal, byte_level


def _bare(normalizer: dict[str, Any] | None) -> dict[str, Any] | None:
    """Only what spells a space; what rewrites text would not give it back."""
    if normalizer is None:
        return None
    steps = normalizer.get("normalizers", [normalizer])
    kept = [step for step in steps if step.get("type") == "Replace"]
    return {"type": "Sequence", "normalizers": kept} if kept else None


def _without_space(part: Any) -> Any:
    """A pre-tokenizer that puts no space in front of a text."""
    if isinstance(part, list):
        return list(map(_without_space, part))
    never = {"add_prefix_space": False, "prepend_scheme": "never"}
    if isinstance(part, dict):
        return {key: never.get(key, _without_space(value)) for key, value in part.items()}
    return part


def _text(token: Any) -> str:
    text = token.get("content") if isinstance(token, dict) else token
    return text if isinstance(text, str) else ""
