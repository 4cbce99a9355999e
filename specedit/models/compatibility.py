"""Which models can be used, and which model can draft for another; checked before weights load.

A rejected draft is removed from the KV cache. A recurrent state or a sliding window cannot be
cropped, so such a model is refused. A draft model must have the target's vocabulary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specedit.errors import ModelError
from specedit.models import architecture, catalogue
from specedit.models.configuration import Fields, check_folder
from specedit.models.store import ModelFiles

if TYPE_CHECKING:
    from specedit.models.tokenizer import Tokenizer

MISTRAL_WINDOW = 4096  # positions, where its config.json does not name a window


def check_croppable(files: ModelFiles) -> None:
    """Refuse a model whose KV cache cannot be cropped, or whose folder brings code."""
    if files.kind == "folder":
        _check_config(files)
    elif not any(files.sha256 == entry.sha256 for entry in catalogue.CATALOGUE):
        _check_gguf(files)  # the digest of a known model is enough: 0.1 s less at every start


def _check_gguf(files: ModelFiles) -> None:
    from specedit.models.gguf import open_gguf

    fields = Fields(files.path, open_gguf(files.path, arrays=False).metadata)
    family = fields.text("general.architecture", "unknown")
    if architecture.is_recurrent((family,)):
        raise _refused(files, family, "it is recurrent")
    numbers = Fields(files.path, fields.known, f"{family}.")
    window = _window(numbers, "attention.sliding_window")
    if 0 < window < numbers.whole("context_length", 1, most=2**62):
        raise _refused(files, family, f"it attends through a sliding window of {window:,}")
    if family not in architecture.FAMILIES:
        raise architecture.unknown_family(files.path, family)


def _check_config(files: ModelFiles) -> None:
    fields = Fields(files.path / "config.json", check_folder(files.path))
    family = fields.text("model_type", "unknown")
    kind = next(iter(fields.texts("architectures")), family)
    text = fields.inside("text_config") or fields
    dense = architecture.is_dense_hybrid(family, text.texts("layer_types"))
    if architecture.is_recurrent((kind, family)) and not dense:
        raise _refused(files, kind, "it is recurrent")
    if other := sorted({*text.texts("layer_types")} - {"full_attention", "attention"}):
        raise _refused(files, kind, f"it has layers of the kind {', '.join(other)[:80]}")
    window = _window(text, "sliding_window")
    if family == "mistral" and "sliding_window" not in text.known:
        window = MISTRAL_WINDOW
    used = text.truth("use_sliding_window", True) and not text.has("layer_types")
    if used and 0 < window < text.whole("max_position_embeddings", window + 1, most=2**62):
        raise _refused(files, kind, f"it attends through a sliding window of {window:,}")


def _window(fields: Fields, key: str) -> int:
    result = fields.known.get(fields.prefix + key) or 0
    if not isinstance(result, int) or result > 2**62:
        raise fields.wrong(key, "a number of positions")
    return result


def _refused(files: ModelFiles, kind: str, why: str) -> ModelError:
    return ModelError(
        f"{files.name} ({kind}) cannot be used: {why}, so its KV cache cannot be cropped",
        hint="Rejected drafts are removed from the KV cache, which this model does not allow. "
        f"Use a model with full attention: {architecture.WORKING}.",
    )


def check_drafts(draft: str, draft_tokenizer: Tokenizer, target: str, tokenizer: Tokenizer) -> None:
    """Refuse a draft model with another vocabulary."""
    if (why := vocabulary_difference(draft_tokenizer, tokenizer)) is not None:
        raise ModelError(
            f"{draft} cannot draft for {target}: {why}, so its ids stand for other text.",
            hint="Name a smaller model of the same family in --draft-model, or none.",
        )


def vocabulary_difference(own: Tokenizer, other: Tokenizer) -> str | None:
    """How two vocabularies differ; None if every id stands for the same text."""
    if own.specials != other.specials:
        return "its special tokens differ"
    texts, others = _texts(own), _texts(other)
    if texts == others:
        return None
    if len(texts) != len(others):
        return f"its vocabulary has {len(texts):,} tokens, not {len(others):,}"
    return "its tokens differ"


def _texts(tokenizer: Tokenizer) -> dict[int, bytes]:
    """What each id stands for, without the ids that have no text: a file may have any number."""
    return {id: piece for id, piece in enumerate(tokenizer.pieces) if piece}
