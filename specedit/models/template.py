"""Messages to prompt ids, through the model's own chat template.

The template is data, rendered in Jinja's sandbox with a mark in place of every content. Only the
text between the marks may name special tokens; contents are encoded as the plain text they are,
each segment by itself, so that a file's ids are the same here and in a prediction.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from specedit.errors import ModelError
from specedit.models.files import ModelFiles
from specedit.models.gguf import open_gguf
from specedit.models.tokenizer import Tokenizer
from specedit.models.vocabulary import read_json

Turn = tuple[str, Sequence[str]]  # role, the segments of its content

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_MARK = "\uf8ff{}\uf8fe"  # private use: no template writes it
_MARKS = re.compile("\uf8ff([0-9]+)\uf8fe")


def load_template(files: ModelFiles) -> str:
    """The model's chat template; "" if it has none."""
    if files.kind == "gguf":
        metadata = open_gguf(files.path, arrays=False).metadata
        return str(metadata.get("tokenizer.chat_template") or "")
    file = files.path / "chat_template.jinja"
    if file.is_file():
        return file.read_text("utf-8")
    template = read_json(files.path / "tokenizer_config.json").get("chat_template") or ""
    if isinstance(template, list):  # named templates; the default one is for chatting
        named = {one["name"]: one["template"] for one in template}
        template = named.get("default", next(iter(named.values()), ""))
    return str(template)


def prompt_ids(
    tokenizer: Tokenizer,
    files_or_template: ModelFiles | str | None,
    messages: Sequence[Turn],
    opening: str,
) -> list[int]:
    """The whole prompt: messages, the turn handed over, the answer's opening."""
    given = files_or_template
    template = load_template(given) if isinstance(given, ModelFiles) else given
    ids: list[int] = []
    for part in split(template or CHATML, messages, **tokenizer.texts):
        if isinstance(part, int):
            for segment in _segments(messages[part][1]):
                ids += tokenizer.encode(segment)
        else:
            ids += tokenizer.encode_template(part)
    if tokenizer.begin is not None and ids[:1] != [tokenizer.begin]:
        ids.insert(0, tokenizer.begin)
    return ids + tokenizer.encode(opening)


def split(template: str, messages: Sequence[Turn], **texts: str) -> list[str | int]:
    """The rendered template in order: its own text, and the numbers of the messages in between."""
    marked = [{"role": role, "content": _MARK.format(n)} for n, (role, _) in enumerate(messages)]
    rendered = _render(template, marked, texts)
    pieces = _MARKS.split(rendered)  # text, number, text, number, …, text
    parts = [int(piece) if place % 2 else piece for place, piece in enumerate(pieces)]
    if missing := set(range(len(messages))) - {part for part in parts if isinstance(part, int)}:
        roles = ", ".join(messages[n][0] for n in sorted(missing))
        raise ModelError(f"the model's chat template leaves out a message ({roles})")
    return [part for part in parts if part != ""]


def _segments(content: Sequence[str]) -> Sequence[str]:
    return (content,) if isinstance(content, str) else content


def _render(template: str, messages: list[dict[str, str]], texts: dict[str, str]) -> str:
    from jinja2 import TemplateError
    from jinja2.ext import loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def refuse(message: str) -> None:
        raise TemplateError(message)

    def tojson(value: Any, indent: int | None = None) -> str:
        return json.dumps(value, ensure_ascii=False, indent=indent)

    world = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
    )
    world.filters["tojson"] = tojson
    world.globals["raise_exception"] = refuse
    # A date would change the prompt from day to day; templates that ask get one fixed day.
    world.globals["strftime_now"] = lambda form: "01 Jan 2025"
    try:
        return world.from_string(template).render(
            messages=messages,
            add_generation_prompt=True,
            enable_thinking=False,
            tools=None,
            **texts,
        )
    except (TemplateError, TypeError, ValueError) as problem:
        raise ModelError(
            f"the model's chat template cannot be used: {problem}",
            hint="Use an instruction-tuned model; its chat template comes with its files.",
        ) from problem
