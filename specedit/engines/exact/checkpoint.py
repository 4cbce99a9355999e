"""A model's numbers and float32 tensors, from a GGUF file or a folder of safetensors.

Names, shapes and families are those of `specedit.models.architecture`; numpy reads the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from specedit.engines.exact.geometry import unsuitable
from specedit.engines.exact.safetensors import TYPES, Tensor, open_safetensors
from specedit.errors import ModelError
from specedit.models import architecture, shards
from specedit.models.architecture import Architecture
from specedit.models.gguf import open_gguf
from specedit.models.numbers import Config
from specedit.models.store import ModelFiles

if TYPE_CHECKING:
    from specedit.engines.exact.weights import Array

    Reader = Callable[[str, int, int | None], Array]


@dataclass(frozen=True)
class Checkpoint:
    """Numbers, tensor names with row counts, and how to read rows as float32."""

    path: Path
    config: Config
    tensors: dict[str, int]
    rows: Reader
    release: Callable[[str], None]

    def matrix(self, name: str, start: int = 0, stop: int | None = None) -> Array:
        """Rows of a weight."""
        if name not in self.tensors:
            raise ModelError(f"{self.path} has no tensor {name}.", hint="specedit model verify")
        return self.rows(name, start, stop)

    def vector(self, name: str) -> Array:
        return self.matrix(name).reshape(-1)


def unsupported(files: ModelFiles) -> str | None:
    """Why the exact engine cannot run this model, in words; None when it can."""
    try:
        if files.kind == "gguf":
            _config(files.path, architecture.of_gguf(open_gguf(files.path, arrays=False)))
        else:
            _config(files.path, architecture.of_folder(files.path))
    except ModelError as error:
        return error.message
    return None


def open_checkpoint(files: ModelFiles) -> Checkpoint:
    """Open a model for conversion."""
    return _open_gguf(files.path) if files.kind == "gguf" else _open_folder(files.path)


def _config(path: Path, found: Architecture) -> Config:
    if found.rope_magnitude != 1.0:
        raise ModelError(
            f"{path}: the exact engine does not run YaRN scaling of RoPE",
            hint="--engine huggingface",
        )
    numbers = vars(found)
    config = Config(**{name: numbers[name] for name in Config.__dataclass_fields__})
    if reason := unsuitable(config):
        raise ModelError(f"{path}: {reason}", hint="--engine huggingface")
    return config


def _open_gguf(path: Path) -> Checkpoint:
    file = open_gguf(path, arrays=False)
    found = architecture.of_gguf(file)

    def rows(name: str, start: int, stop: int | None) -> Array:
        return architecture.rows(file, found, name, start, stop)

    tensors = {name: info.rows for name, info in file.tensors.items()}
    return Checkpoint(path, _config(path, found), tensors, rows, file.release)


def _open_folder(path: Path) -> Checkpoint:
    found = architecture.of_folder(path)
    known = {architecture.our_name(name): one for name, one in shards.headers(path).items()}
    shapes = {name: header.shape for name, header in known.items()}
    architecture.check_tensors(path, found, shapes, "--engine huggingface")
    places: dict[str, tuple[Tensor, str]] = {}
    try:
        for part in sorted(path.glob("*.safetensors")):
            for name, tensor in open_safetensors(part).items():
                places[architecture.our_name(name)] = (tensor, name)
    except (ValueError, OSError) as error:
        raise ModelError(f"{path} has a damaged safetensors file: {error}.") from error

    def rows(name: str, start: int, stop: int | None) -> Array:
        tensor, theirs = places[name]
        if tensor.type not in TYPES:
            raise ModelError(
                f"{path}: tensor {theirs} has type {tensor.type}, which cannot be read."
            )
        return tensor.read(start, stop)

    tensors = {name: shape[0] if len(shape) > 1 else 1 for name, shape in shapes.items()}
    return Checkpoint(path, _config(path, found), tensors, rows, lambda name: None)
