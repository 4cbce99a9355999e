"""The served model's vocabulary: text to ids for a prediction, and back for what a change taught.

Loads no transformers; a model without a `tokenizer.json` has no words here, and drafts without
them.
"""

from __future__ import annotations

import logging
from functools import lru_cache
from pathlib import Path
from typing import Any

from specedit.errors import SpeceditError
from specedit.models.store import ModelFiles
from specedit.models.vocabulary import load_tokenizer

log = logging.getLogger("vllm.specedit")


class ServedVocabulary:
    """A `Codec` that also tells a prediction's ids."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._piece = lru_cache(maxsize=1 << 16)(tokenizer.piece)

    @classmethod
    def of(cls, model: str) -> ServedVocabulary | None:
        """The words of a folder or hub id; None where they cannot be read here."""
        try:
            folder = _folder(model)
            return cls(load_tokenizer(ModelFiles(model, folder, "folder")))
        except (SpeceditError, OSError, ValueError, KeyError) as problem:
            log.warning("specedit: no vocabulary for %s: %s", model, problem)
            return None

    def encode(self, text: str) -> list[int]:
        result: list[int] = self._tokenizer.encode(text)
        return result

    def piece(self, token: int) -> bytes:
        result: bytes = self._piece(token)
        return result


def _folder(model: str) -> Path:
    path = Path(model)
    if path.is_dir():
        return path
    from huggingface_hub import hf_hub_download

    held = hf_hub_download(model, "tokenizer.json", local_files_only=True)
    return Path(held).parent
