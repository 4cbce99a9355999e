"""Text and messages to ids, and ids to text, as a model's files say.

`encode` never yields a special token, whatever the text contains. The pieces of its ids joined are
the text, byte for byte: what rewrites text (Unicode normalisation, a space put in front) is left
out, which differs from the model's own tokenizer only on text that is not in normal form.

Messages become ids through the model's own chat template, which is rendered with a mark in place of
every content. Only the text between the marks may name special tokens; contents are plain text,
each segment by itself, so that a file's ids are the same here and in a prediction. What the
template puts around an edit's messages is stored: it takes 25 ms to import Jinja and compile it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Any

from specedit.errors import ModelError


@dataclass(frozen=True)
class Tokenizer:
    """One model's vocabulary. `specials` are all ids that template text may name."""

    ids_of: Callable[[str], list[int]]  # special tokens in the text are not recognised
    pieces: Sequence[bytes]  # the exact bytes of each id; b"" for a control token
    specials: Mapping[str, int]
    ends: frozenset[int]
    begin: int | None = None  # id to put before every prompt, if the model was trained so
    texts: Mapping[str, str] = field(default_factory=dict)  # what bos_token, eos_token say
    template: str = ""  # the model's chat template; "" if it has none
    rendered: str = ""  # it with marks for an edit's messages (`EDIT`); "": not stored

    def encode(self, text: str) -> list[int]:
        """Ids of the text; never a special token."""
        result: list[int] = guarded(
            "the model's vocabulary cannot spell this text", lambda: self.ids_of(text)
        )
        return result

    def encode_template(self, text: str) -> list[int]:
        """Ids of a template's own text, where a special token's name means the token."""
        ids: list[int] = []
        at = 0
        for match in self._names.finditer(text):
            ids += self.encode(text[at : match.start()])
            ids.append(self.specials[match[0]])
            at = match.end()
        return ids + self.encode(text[at:])

    @cached_property
    def _names(self) -> re.Pattern[str]:
        longest = sorted(filter(None, self.specials), key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longest)) or r"(?!)")

    def piece(self, id: int) -> bytes:
        """The exact bytes of a token; a special one has none."""
        return self.pieces[id] if 0 <= id < len(self.pieces) else b""

    @property
    def size(self) -> int:
        """Number of ids, those without text included."""
        return len(self.pieces)

    def special(self, name: str) -> int | None:
        return self.specials.get(name)


def guarded(what: str, make: Callable[[], Any]) -> Any:
    """Call `make`; whatever goes wrong inside the tokenizers library is a `ModelError`."""
    try:
        return make()
    except ModelError:
        raise
    except BaseException as problem:  # it raises bare Exception, and panics are not even that
        if not isinstance(problem, Exception) and type(problem).__name__ != "PanicException":
            raise
        raise ModelError(f"{what}: {str(problem)[:300] or type(problem).__name__}") from problem


_BYTE_NAME = re.compile(r"<0x([0-9A-Fa-f]{2})>")


@cache
def byte_table() -> dict[str, int]:
    """GPT-2's writing of bytes: printable ones as themselves, the rest from U+0100 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    table = {chr(byte): byte for byte in printable}
    rest = (byte for byte in range(256) if byte not in set(printable))
    return table | {chr(256 + place): byte for place, byte in enumerate(rest)}


def spelled_bytes(text: str) -> bytes:
    """The bytes of a token in GPT-2's writing."""
    table = byte_table()
    try:
        return bytes([table[character] for character in text])
    except KeyError:  # written out, not in GPT-2's writing
        return text.encode("utf-8", errors="surrogateescape")


def sentence_bytes(text: str) -> bytes:
    """The bytes of a token in SentencePiece's writing: ▁ for a space, <0x0A> for a byte."""
    if match := _BYTE_NAME.fullmatch(text):
        return bytes([int(match[1], 16)])
    return text.replace("▁", " ").encode("utf-8", errors="surrogateescape")


Turn = tuple[str, Sequence[str]]  # role, the segments of its content

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
EDIT = ("system", "user")  # the roles of an edit's messages
_MARK = "\uf8ff{}\uf8fe"  # private use: no template writes it
_MARKS = re.compile("\uf8ff([0-9]{1,9})\uf8fe")


def prompt_ids(tokenizer: Tokenizer, messages: Sequence[Turn], opening: str) -> list[int]:
    """The whole prompt: messages, the turn handed over, the answer's opening."""
    ids: list[int] = []
    template = tokenizer.template or CHATML
    for part in split(template, messages, tokenizer.rendered, **tokenizer.texts):
        if isinstance(part, int):
            for segment in messages[part][1]:
                ids += tokenizer.encode(segment)
        else:
            ids += tokenizer.encode_template(part)
    if tokenizer.begin is not None and ids[:1] != [tokenizer.begin]:
        ids.insert(0, tokenizer.begin)
    return ids + tokenizer.encode(opening)


def split(
    template: str, messages: Sequence[Turn], of_edit: str = "", **texts: str
) -> list[str | int]:
    """The rendered template in order: its own text, and the messages' numbers in between."""
    roles = tuple(role for role, _ in messages)
    known = of_edit if roles == EDIT else ""
    rendered = known or _render(template, roles, tuple(texts.items()))
    pieces = _MARKS.split(rendered)  # text, number, text, number, …, text
    parts = [int(piece) if place % 2 else piece for place, piece in enumerate(pieces)]
    if missing := ", ".join(role for n, role in enumerate(roles) if n not in parts):
        raise ModelError(f"the model's chat template leaves out a message ({missing})")
    if any(isinstance(part, int) and part >= len(roles) for part in parts):
        raise ModelError("the model's chat template changes the messages that it is given")
    return [part for part in parts if part != ""]


def rendered_for_edits(tokenizer: Tokenizer) -> str:
    """The template with marks for the messages of an edit; "" if it cannot be used."""
    with suppress(ModelError):
        return _render(tokenizer.template or CHATML, EDIT, tuple(tokenizer.texts.items()))
    return ""


@lru_cache(16)
def _render(template: str, roles: tuple[str, ...], texts: tuple[tuple[str, str], ...]) -> str:
    from specedit.models.template_sandbox import render

    messages = [{"role": role, "content": _MARK.format(n)} for n, role in enumerate(roles)]
    try:
        return render(
            template,
            messages=messages,
            add_generation_prompt=True,
            enable_thinking=False,  # Qwen3, SmolLM3
            thinking=False,  # Granite, DeepSeek
            tools=None,
            **dict(texts),
        )
    except Exception as problem:  # of any kind: the template decides what runs
        reason = str(problem).strip()[:300] or type(problem).__name__
        raise ModelError(
            f"the model's chat template cannot be used: {reason}",
            hint="Use an instruction-tuned model; its chat template comes with its files.",
        ) from problem
