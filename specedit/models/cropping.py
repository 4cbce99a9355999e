"""Whether a model's cache can forget its newest positions: asked before weights are loaded.

A prediction is checked and partly taken back. A state that runs on (recurrent layers) or a window
that slides cannot be taken back, so such a model is refused with its class.
"""

from __future__ import annotations

from specedit.errors import ModelError
from specedit.models import architecture, catalogue, shards
from specedit.models.configuration import Fields
from specedit.models.files import ModelFiles


def check_croppable(files: ModelFiles) -> None:
    """Refuse a model whose cache cannot be cropped, or whose folder asks for more than reading."""
    if files.kind == "folder":
        _check_config(files)
    elif not any(files.sha256 == entry.sha256 for entry in catalogue.CATALOGUE):
        _check_gguf(files)  # of a known one the digest says enough: 0.1 s less at every start


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
        raise architecture.stranger(files.path, family)


def _check_config(files: ModelFiles) -> None:
    fields = Fields(files.path / "config.json", shards.check_folder(files.path))
    family = fields.text("model_type", "unknown")
    kind = next(iter(fields.texts("architectures")), family)
    if architecture.is_recurrent((kind, family)):
        raise _refused(files, kind, "it is recurrent")
    text = fields.inside("text_config") or fields
    if other := sorted({*text.texts("layer_types")} - {"full_attention", "attention"}):
        raise _refused(files, kind, f"it has layers of the kind {', '.join(other)[:80]}")
    window = _window(text, "sliding_window")
    used = text.truth("use_sliding_window", True) and not text.has("layer_types")
    if used and 0 < window < text.whole("max_position_embeddings", window + 1, most=2**62):
        raise _refused(files, kind, f"it attends through a sliding window of {window:,}")


def _window(fields: Fields, key: str) -> int:
    found = fields.known.get(fields.prefix + key) or 0
    if not isinstance(found, int) or found > 2**62:
        raise fields.wrong(key, "a number of positions")
    return found


def _refused(files: ModelFiles, kind: str, why: str) -> ModelError:
    return ModelError(
        f"{files.name} ({kind}) cannot be used: {why}, so its cache cannot be cropped",
        hint="A prediction is checked and partly taken back, which needs a cache that can forget. "
        "Use a model with full attention: Qwen2, Qwen3, Llama.",
    )
