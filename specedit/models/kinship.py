"""Whether one model can draft for another: the same vocabulary, and not the larger of the two.

Knows what is on disk; opens no weights.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from specedit.errors import ModelError
from specedit.models.files import ModelFiles

if TYPE_CHECKING:
    from specedit.models.tokenizer import Tokenizer

HINT = "Name a smaller model of the same family in --draft-model, or none."


def check_drafts(draft: ModelFiles, its: Tokenizer, target: ModelFiles, targets: Tokenizer) -> None:
    """Refuse a draft model that cannot draft for the target, or could not be worth it."""
    if (why := differ(its, targets)) is not None:
        raise ModelError(
            f"{draft.name} cannot draft for {target.name}: {why}, so its ids mean another text",
            hint=HINT,
        )
    mine, other = numbers(draft), numbers(target)
    if mine > other:
        raise ModelError(
            f"{draft.name} is larger than {target.name} ({mine:,} numbers against {other:,}), "
            "so its drafts would cost more than they save",
            hint=HINT,
        )


def differ(one: Tokenizer, other: Tokenizer) -> str | None:
    """What is different between two vocabularies; None where every id means the same."""
    if one.specials != other.specials:
        return "its special tokens are others"
    if one.spelling == other.spelling:
        return None
    if len(one.spelling) != len(other.spelling):
        return f"its vocabulary has {len(one.spelling):,} tokens, not {len(other.spelling):,}"
    return "its vocabulary is another one"


def numbers(files: ModelFiles) -> int:
    """How many numbers a model's weights are."""
    if files.kind == "gguf":
        from specedit.models.gguf import open_gguf

        tensors = open_gguf(files.path, arrays=False).tensors
        return sum(math.prod(one.shape) for one in tensors.values())
    from specedit.models.shards import headers

    return sum(math.prod(one.shape) for one in headers(files.path).values())
