"""What a model is on disk: the value that fetching hands to the engines.

Knows paths and digests. Does not open weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class ModelFiles:
    """A model that is completely on this disk and may be opened."""

    name: str  # catalogue name, hub id, or file stem
    path: Path  # the GGUF file, or the folder with config.json and safetensors
    kind: Literal["gguf", "folder"]
    sha256: str = ""  # of the GGUF file, or of the folder's weight index; "" when not computed
    licence: str = ""
    source: str = ""  # "hub", "index", "path"
