"""Messages to prompt ids, through the model's own chat template.

The template is data, rendered within limits with a mark in place of every content. Only the
text between the marks may name special tokens; contents are encoded as the plain text they are,
each segment by itself, so that a file's ids are the same here and in a prediction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from specedit.errors import ModelError
from specedit.models.configuration import Fields, read_json, read_text
from specedit.models.store import ModelFiles
from specedit.models.tokenizer import Tokenizer
from specedit.models.tokenizer_cache import tokenizer_metadata

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
        metadata = Fields(files.path, tokenizer_metadata(files, lists=False))
        return metadata.text("tokenizer.chat_template", "")
    file = files.path / "chat_template.jinja"
    if file.is_file():
        return read_text(file)
    path = files.path / "tokenizer_config.json"
    item = read_json(path).get("chat_template")
    if isinstance(item, list):  # named templates; the default one is for chatting
        pairs = [one for one in item if isinstance(one, dict)]
        named = {str(one.get("name")): one.get("template") for one in pairs}
        item = named.get("default", next(iter(named.values()), None))
    return Fields(path, {"chat_template": item}).text("chat_template", "")


def prompt_ids(
    tokenizer: Tokenizer,
    files_or_template: ModelFiles | str | None,
    messages: Sequence[Turn],
    opening: str,
) -> list[int]:
    """The whole prompt: messages, the turn handed over, the answer's opening."""
    item = files_or_template
    template = load_template(item) if isinstance(item, ModelFiles) else item
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
    from specedit.models.sandbox import render

    try:
        return render(
            template,
            messages=messages,
            add_generation_prompt=True,
            enable_thinking=False,
            tools=None,
            **texts,
        )
    except Exception as problem:  # a template may do anything, and so it may fail at anything
        reason = str(problem).strip()[:300] or type(problem).__name__
        raise ModelError(
            f"the model's chat template cannot be used: {reason}",
            hint="Use an instruction-tuned model; its chat template comes with its files.",
        ) from problem
