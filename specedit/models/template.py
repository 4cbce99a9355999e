"""Messages to prompt ids, through the model's own chat template.

The template is rendered with a mark in place of every content. Only the text between the marks may
name special tokens; contents are encoded as the plain text they are, each segment by itself, so
that a file's ids are the same here and in a prediction.

The prompt of an edit has two messages: what the template puts around them is in the store, so that
an edit neither imports Jinja nor compiles the template (25 ms).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache

from specedit.errors import ModelError
from specedit.models.tokenizer import Tokenizer

Turn = tuple[str, Sequence[str]]  # role, the segments of its content

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
EDIT = ("system", "user")  # the roles of an edit's messages
_MARK = "\uf8ff{}\uf8fe"  # private use: no template writes it
_MARKS = re.compile("\uf8ff([0-9]+)\uf8fe")


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
    """The rendered template in order: its own text, and the numbers of the messages in between.
    `of_edit`: it rendered for the messages of an edit, if that is known."""
    roles = tuple(role for role, _ in messages)
    known = of_edit if roles == EDIT else ""
    rendered = known or _render(template, roles, tuple(texts.items()))
    pieces = _MARKS.split(rendered)  # text, number, text, number, …, text
    parts = [int(piece) if place % 2 else piece for place, piece in enumerate(pieces)]
    if missing := set(range(len(messages))) - {part for part in parts if isinstance(part, int)}:
        roles_missing = ", ".join(messages[n][0] for n in sorted(missing))
        raise ModelError(f"the model's chat template leaves out a message ({roles_missing})")
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
