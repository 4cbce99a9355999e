"""A model's numbers and float32 tensors, from a GGUF file or a folder of safetensors.

Names, shapes and families are those of `specedit.models.architecture`; numpy reads the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from specedit.engines.exact.weights import unsuitable
from specedit.errors import ModelError
from specedit.models import adapter, architecture, configuration
from specedit.models.architecture import Architecture, their_name
from specedit.models.gguf import open_gguf, opened
from specedit.models.store import AdapterFiles, ModelFiles

if TYPE_CHECKING:
    from specedit.engines.exact.weights import Array

GENERIC = "Use --engine huggingface."
TYPES = ("F32", "F16", "BF16")  # of safetensors


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Numbers, each tensor's type as its file names it, and how to read a tensor's rows as float32:
    all, or from one row to another."""

    config: Architecture
    tensors: Mapping[str, str]
    matrix: Callable[..., Array]
    tied: bool  # the output layer is the embedding
    ends: Mapping[str, int] = field(default_factory=dict)  # where tensors of a GGUF file end

    def arrived(self, count: int) -> Checkpoint:
        """The same with the tensors that lie in the first `count` bytes of a GGUF file."""
        tensors = {name: kind for name, kind in self.tensors.items() if self.ends[name] <= count}
        return replace(self, tensors=tensors)

    def scaled(
        self, name: str, start: int = 0, stop: int | None = None, *, head: bool = False
    ) -> Array:
        """Rows of a tensor for a model of the numbers `config.folded()`."""
        rows, factor = self.matrix(name, start, stop), self.config.factor(name, head=head)
        return rows if factor == 1.0 else rows * np.float32(factor)


def unsupported(files: ModelFiles) -> str | None:
    """Why the exact engine cannot run this model, in words; None when it can."""
    try:
        configuration_of(files)
    except ModelError as error:
        return error.message
    return None


def configuration_of(files: ModelFiles) -> Architecture:
    """The model's numbers; an error where the exact engine cannot run it."""
    if files.kind == "gguf":
        return _suitable(files.path, architecture.of_gguf(open_gguf(files.path, arrays=False)))
    return _suitable(files.path, architecture.of_folder(files.path))


def why_no_mtp(files: ModelFiles) -> str:
    """Why the engine has no MTP layer of this model, in words."""
    try:
        if files.kind == "gguf":
            file = architecture.text_only(open_gguf(files.path, arrays=False))
            shapes = {name: info.shape for name, info in file.tensors.items()}
        else:
            headers = architecture.our_headers(configuration.headers(files.path))
            shapes = {name: header.shape for name, header in headers.items()}
        problem = architecture.mtp_problem(files.path, configuration_of(files), shapes)
    except ModelError as error:
        return error.message
    return problem or "its config.json does not name it (mtp_num_hidden_layers)"


def open_checkpoint(
    files: ModelFiles, parts: Sequence[Path] | None = None, whole: int = 0
) -> Checkpoint:
    """Open a model for conversion, or `parts` of a folder, or a part of `whole` bytes."""
    gguf = files.kind == "gguf"
    checkpoint = _open_gguf(files.path, whole) if gguf else _open_folder(files.path, parts)
    return _merged(checkpoint, files.adapter) if files.adapter else checkpoint


def _merged(checkpoint: Checkpoint, files: AdapterFiles) -> Checkpoint:
    """The same, whose rows are those of the model with this adapter."""
    config = checkpoint.config
    shapes = {name: config.shape(name) or () for name in config.names()}
    known = {their_name(name): shape for name, shape in shapes.items() if len(shape) == 2}
    merged = adapter.load(files, known)

    def rows(name: str, start: int = 0, stop: int | None = None) -> Array:
        own, theirs = checkpoint.matrix(name, start, stop), their_name(name)
        return own + merged.addition(theirs, start, stop) if theirs in merged.factors else own

    return replace(checkpoint, matrix=rows)


def _suitable(path: Path, model: Architecture) -> Architecture:
    """The same numbers, if the kernels can run a model of them."""
    if reason := unsuitable(model):
        raise ModelError(f"{path}: {reason}", hint=GENERIC)
    return model


def _open_gguf(path: Path, whole: int) -> Checkpoint:
    file = architecture.text_only(open_gguf(path, arrays=False, whole=whole))
    model = _suitable(path, architecture.of_gguf(file))

    def rows(name: str, start: int = 0, stop: int | None = None) -> Array:
        with np.errstate(invalid="ignore"):
            return _finite(path, name, architecture.rows(file, model, name, start, stop))

    types = {name: info.type_name for name, info in file.tensors.items()}
    ends = {name: info.offset + info.nbytes for name, info in file.tensors.items()}
    return Checkpoint(model, types, rows, "output.weight" not in file.tensors, ends)


def _open_folder(path: Path, parts: Sequence[Path] | None) -> Checkpoint:
    model, whole = _suitable(path, architecture.of_folder(path)), parts is None
    known = configuration.headers(path, parts)
    headers = architecture.our_headers(known)
    if not whole:  # the other experts come with other files
        parted = [name for name in headers if name.endswith("_exps.weight")]
        for name in (name for name in parted if headers[name].shape[0] != model.experts):
            del headers[name]
    shapes = {name: header.shape for name, header in headers.items()}
    if whole and model.mtp:
        model = architecture.with_mtp(path, model, shapes)
    architecture.check_tensors(path, model, shapes, GENERIC, whole=whole)
    config = configuration.Fields(path, configuration.check_folder(path))
    text = config.inside("text_config") or config
    tied = text.truth("tie_word_embeddings", config.truth("tie_word_embeddings", whole))
    if whole:
        if "output.weight" not in headers and not tied:
            raise ModelError(f"{path} has no tensor lm_head.weight.", hint="Fetch the model again.")
        tied = "output.weight" not in headers
    files = cache(opened)

    def rows(name: str, start: int = 0, stop: int | None = None) -> Array:
        header, theirs = headers[name], their_name(name)
        if header.dtype not in TYPES:
            reads = f"the exact engine reads {', '.join(TYPES)}"
            message = f"{header.file}: tensor {theirs} has type {header.dtype}; {reads}"
            raise ModelError(message, hint=GENERIC)
        if header.pieces:  # rows are asked for within one expert
            expert, start = divmod(start, header.shape[1])
            stop = None if stop is None else stop - expert * header.shape[1]
            header = header.pieces[expert]
        found = _finite(
            header.file, theirs, configuration.rows_of(header, files(header.file), start, stop)
        )
        if model.family not in architecture.HYBRID:
            return found
        if name.endswith(".ssm_a.weight"):  # its logarithm
            return -np.exp(found.astype(np.float64)).astype(np.float32)
        zero_centred = name.endswith("norm.weight") and not name.endswith(".ssm_norm.weight")
        return found + np.float32(1) if zero_centred else found

    return Checkpoint(model, {name: header.dtype for name, header in headers.items()}, rows, tied)


def _finite(path: Path, name: str, rows: Array) -> Array:
    if not np.isfinite(rows).all():
        raise ModelError(
            f"{path}: tensor {name} is damaged: it has weights that are infinite or not a number",
            hint="Remove it and fetch it again (specedit model pull), or use another model.",
        )
    return rows
