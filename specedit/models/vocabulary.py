"""A model's vocabulary, read from GGUF metadata or from a folder's tokenizer.json.

The encoder it builds knows no special token and rewrites no text; see `tokenizer` for why. Whatever
the file holds, the outcome is a vocabulary or a `ModelError`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from specedit.errors import ModelError
from specedit.models import byte_pairs
from specedit.models.byte_pairs import CUTS, WHOLE_WORDS, BytePairs, tables_of
from specedit.models.configuration import Fields, read_json, read_text
from specedit.models.store import ModelFiles
from specedit.models.template import rendered_for_edits
from specedit.models.tokenizer import (
    Tokenizer,
    byte_table,
    guarded,
    sentence_bytes,
    spelled_bytes,
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
    place = byte_pairs.stored_path(files)
    if place is not None and (known := byte_pairs.read(place)) is not None:
        return known
    from specedit.models.gguf import open_gguf  # imports numpy: 40 ms

    path = files.path
    header = open_gguf(path).metadata
    fields = Fields(path, header, "tokenizer.ggml.")
    tokens = fields.texts("tokens")
    kinds = _numbers(fields, "token_type", [_NORMAL] * len(tokens))
    if not tokens or len(kinds) != len(tokens):
        raise ModelError(f"{path} carries no usable vocabulary", hint=_OTHER)
    specials = {
        token: id
        for id, (token, kind) in enumerate(zip(tokens, kinds, strict=True))
        if kind in (_CONTROL, _USER)
    }
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
        ids_of=pairs.encode if pairs else _sentence_pieces(fields, plain, tokens),
        pieces=pairs.pieces if pairs else pieces,
        specials=specials,
        ends=_ends(specials, map(named, ("eos", "eot", "eom"))),
        begin=named("bos") if fields.truth("add_bos_token", model == "llama") else None,
        texts={"bos_token": text("bos"), "eos_token": text("eos")},
        template=Fields(path, header).text("tokenizer.chat_template", ""),
    )
    if place is not None and pairs is not None:
        rendered = rendered_for_edits(tokenizer)
        byte_pairs.write(place, replace(tokenizer, rendered=rendered), pairs)
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
    fields: Fields, plain: dict[int, str], tokens: list[str]
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
        for cut in range(1, len(token)):
            left, right = token[:cut], token[cut:]
            if left in vocabulary and right in vocabulary:
                merges.append((-scores[id], vocabulary[left], vocabulary[right], left, right))
    merges.sort()
    core = guarded(
        f"{fields.path} has a damaged vocabulary",
        lambda: Core(
            models.BPE(
                vocab=vocabulary | {tokens[unknown]: unknown},
                merges=[(left, right) for *_, left, right in merges],
                unk_token=tokens[unknown],
                fuse_unk=True,
                byte_fallback=True,
            )
        ),
    )
    core.normalizer = normalizers.Replace(" ", "▁")
    return _encoder(core)


def _encoder(core: Any) -> Callable[[str], list[int]]:
    def encode(text: str) -> list[int]:
        ids: list[int] = core.encode(text, add_special_tokens=False).ids
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
    return Tokenizer(
        ids_of=_encoder(core),
        pieces=_pieces(plain, literal, size, spelled_bytes if byte_level else sentence_bytes),
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
    data |= dict.fromkeys(("post_processor", "truncation", "padding"))
    return Core.from_str(json.dumps(data)), plain, specials, literal, byte_level


def _bare(normalizer: dict[str, Any] | None) -> dict[str, Any] | None:
    """Only what spells a space; what rewrites text would not give it back."""
    if normalizer is None:
        return None
    steps = normalizer.get("normalizers", [normalizer])
    kept = [step for step in steps if step.get("type") == "Replace"]
    return {"type": "Sequence", "normalizers": kept} if kept else None


def _text(token: Any) -> str:
    text = token.get("content") if isinstance(token, dict) else token
    return text if isinstance(text, str) else ""
