"""Adapters: small trained additions to the weights of one model, merged into them while it loads.

A folder as PEFT writes it: `adapter_config.json`, and in `adapter_model.safetensors` two factors A
and B for each linear layer that was trained. Its weights W become W + scale x B A in float32,
before they are quantized or rounded, so that no engine knows of adapters. Factors may be int8, each
row of A and each column of B with a scale (`lora_A.scales`).

What the configuration says is read or refused; its object `specedit` has the SHA-256 of the factors
and of the model's file. A pickle is never loaded. Opening a folder imports neither numpy nor torch.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specedit.errors import ModelError
from specedit.files.startup import expanded
from specedit.models import catalogue, configuration
from specedit.models.configuration import Fields, Header
from specedit.models.store import AdapterFiles, ModelFiles, folder_digest, hashed

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float32]

AUTO, NONE = "auto", "none"
SHIPPED = Path(__file__).parent / "shipped_adapters"
CONFIG, FACTORS = "adapter_config.json", "adapter_model.safetensors"
MAX_RANK = 128
TYPES = ("F32", "F16", "BF16", "I8")  # of factors; I8 with scales
ROWS = 64  # that are added to at a time: their numbers fit into a processor's cache
# Of PEFT's configuration: what is read,
_READ = {
    *("peft_type", "r", "lora_alpha", "use_rslora", "rank_pattern", "alpha_pattern"),
    *("bias", "init_lora_weights", "target_modules", "base_model_name_or_path", "specedit"),
}
# and what says nothing about the merged weights. Any other key is empty, or the adapter is refused.
_WITHOUT_EFFECT = {
    *("task_type", "auto_mapping", "peft_version", "revision", "inference_mode", "lora_dropout"),
    *("exclude_modules", "layers_to_transform", "layers_pattern", "megatron_core", "eva_config"),
    *("qalora_group_size", "runtime_config", "ensure_weight_tying"),
}
# Ways to begin the training that leave the model's own weights as they are
_BEGINNINGS = (True, False, None, "gaussian", "eva", "orthogonal")
_FACTOR = re.compile(r"(?:base_model\.model\.)?(?P<layer>.+)\.lora_(?P<part>[AB])\.(?P<what>\w+)")
_INSIDE = re.compile(r"\.[0-9]+\.")  # a numbered layer, and not an embedding or the output layer
_NAME = re.compile(r"[\w.]+")


@dataclass(frozen=True, slots=True)
class _Config:
    """What an adapter's configuration says of its factors."""

    fields: Fields
    base: str  # the model that it was trained for: a name on the hub, or of the catalogue
    base_sha256: str  # of that model's file; "" where it is not stated
    factors_sha256: str

    def rank(self, layer: str) -> int:
        return self._by_layer("rank_pattern", layer, "r").whole("r", most=MAX_RANK)

    def scale(self, layer: str) -> float:
        rank = self.rank(layer)
        fields = self._by_layer("alpha_pattern", layer, "lora_alpha")
        alpha = fields.known["lora_alpha"]
        if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 0 < alpha < 1e6:
            raise fields.wrong("lora_alpha", "a number above 0")
        root = self.fields.truth("use_rslora", False)
        return float(alpha) / (math.sqrt(rank) if root else rank)

    def _by_layer(self, patterns: str, layer: str, key: str) -> Fields:
        """The fields with the value of `key` that a pattern has for this layer."""
        known = self.fields.inside(patterns)
        for name, value in (known.known if known else {}).items():
            if not _NAME.fullmatch(name):
                raise self.fields.wrong(patterns, "an object whose keys are names of layers")
            if f".{layer}".endswith(f".{name}"):
                return Fields(self.fields.path, {**self.fields.known, key: value})
        return Fields(self.fields.path, {key: None, **self.fields.known})


def with_adapter(files: ModelFiles, setting: str) -> ModelFiles:
    """The model with the adapter that the setting means; `auto`: the one shipped for it."""
    if setting == NONE:
        return files
    if setting != AUTO:
        return replace(files, adapter=_checked(files, opened(expanded(setting))))
    own = (found for found in entries(SHIPPED) if found.base_sha256 == files.sha256 != "")
    return replace(files, adapter=next(own, None))


def identity(setting: str) -> str:
    """What tells an adapter from others: `auto`, `none`, or the digest of its files."""
    return setting if setting in (AUTO, NONE) else opened(expanded(setting)).sha256


def entries(folder: Path) -> Iterator[AdapterFiles]:
    """The adapters in a folder of them, without those that cannot be read."""
    for path in sorted(folder.glob(f"*/{CONFIG}")):
        try:
            yield opened(path.parent)
        except ModelError:
            continue


def opened(folder: Path) -> AdapterFiles:
    """An adapter on this disk, by its folder."""
    config, factors = folder / CONFIG, folder / FACTORS
    if not config.is_file():
        message = f"{folder} is not an adapter: there is no {CONFIG} in it"
        raise ModelError(message, hint="Name the folder of an adapter, or use --adapter none.")
    if not factors.is_file():
        pickles = [path.name for path in sorted(folder.glob("*.bin")) + sorted(folder.glob("*.pt"))]
        why = f", and {pickles[0]} is a pickle, which is never loaded" if pickles else ""
        raise ModelError(
            f"{folder} has no {FACTORS}{why}",
            hint="Save the adapter again with safetensors (PEFT: safe_serialization=True).",
        )
    try:
        digests = {path.name: hashed(path, folder.name) for path in (config, factors)}
    except OSError as problem:
        raise ModelError(f"{folder} cannot be read: {problem}") from problem
    about = _config(config)
    if about.factors_sha256 not in ("", digests[FACTORS]):
        shas = f"{digests[FACTORS][:12]}… instead of {about.factors_sha256[:12]}…"
        hint = "Get the adapter again, or use --adapter none."
        raise ModelError(f"{factors} is damaged: SHA-256 {shas}", hint=hint)
    path, digest = folder.absolute(), folder_digest(digests)
    return AdapterFiles(path.name, path, digest, about.base, about.base_sha256)


def _config(path: Path) -> _Config:
    fields = Fields(path, configuration.read_json(path))
    if (kind := fields.text("peft_type", "unknown")) != "LORA":
        raise _refused(path, f"it is of the kind {kind[:40]}, and LORA can be merged")
    if (bias := fields.text("bias", "none")) != "none":
        raise _refused(path, f"it trains biases (bias is {bias[:40]})")
    beginning = fields.known.get("init_lora_weights")
    if not any(beginning is each or beginning == each for each in _BEGINNINGS):
        raise _refused(path, f"init_lora_weights is {str(beginning)[:40]}, which changes its model")
    for key, value in fields.known.items():
        if key not in _READ and key not in _WITHOUT_EFFECT and value:
            raise _refused(path, f"it has {key[:60]}, which is not known here")
    own = fields.inside("specedit") or Fields(path, {})
    base = own.text("base", fields.text("base_model_name_or_path", "")).replace("\\", "/")
    digests = own.text("base_sha256", ""), own.text("sha256", "")
    return _Config(fields, base, *digests)


def _refused(path: Path, why: str) -> ModelError:
    return ModelError(
        f"{path}: the adapter cannot be merged: {why}",
        hint="Merge it into its model with the program that trained it, and name the result in "
        "--model.",
    )


def _checked(files: ModelFiles, adapter: AdapterFiles) -> AdapterFiles:
    """The same, unless it is known to be another model's."""
    entry = catalogue.find(files.name)
    hub = entry.hub if entry else files.name if "/" in files.name else ""
    known = {_plain(hub), _plain(files.name)} if hub else set()
    if adapter.base_sha256:
        fits = files.sha256 == adapter.base_sha256
    else:
        fits = not known or not adapter.base or _plain(adapter.base) in known
    if fits:
        return adapter
    raise ModelError(
        f"the adapter {adapter.path} was trained for {adapter.base}, and the model is {files.name}",
        hint="Name its own model in --model, or use --adapter none.",
    )


def _plain(name: str) -> str:
    """A model's name without its owner and the form of its files."""
    return name.rstrip("/").rpartition("/")[2].lower().removesuffix("-gguf")


@dataclass(frozen=True, slots=True)
class Adapter:
    """The factors of an adapter in memory, by the names of weights in transformers."""

    files: AdapterFiles
    factors: Mapping[str, tuple[Array, Array]]  # A, and B times the scale

    def addition(self, name: str, start: int = 0, stop: int | None = None) -> Array:
        """What is added to some rows of a weight. Sums go from rank to rank, each step rounded as
        every machine rounds it, which a product of matrices does not promise."""
        import numpy as np

        a, b = self.factors[name]
        b = b[start:stop]
        total = np.zeros((len(b), a.shape[1]), np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            for at in range(0, len(b), ROWS):
                part = total[at : at + ROWS]
                for rank, row in enumerate(a):
                    part += b[at : at + ROWS, rank, None] * row
        self.require_finite(name, bool(np.isfinite(total).all()))
        return total

    def require_finite(self, name: str, is_finite: bool) -> None:
        if not is_finite:
            raise ModelError(
                f"{self.files.path}: the factors of {name} are infinite or not a number",
                hint="Train or fetch the adapter again, or use --adapter none.",
            )


def load(files: AdapterFiles, shapes: Mapping[str, tuple[int, ...]]) -> Adapter:
    """The factors of an adapter for a model whose linear layers have weights of these shapes."""
    if opened(files.path).sha256 != files.sha256:
        raise ModelError(f"{files.path} was modified by another program", hint="Run it again.")
    config, path = _config(files.path / CONFIG), files.path / FACTORS
    headers = _by_layer(path)
    targets = config.fields.known.get("target_modules")
    for target in targets if isinstance(targets, list) else ():
        if not any(f".{layer}".endswith(f".{target}") for layer in headers):
            raise _refused(path, f"it has no factors of {str(target)[:60]}, which {CONFIG} names")
    factors = {}
    for layer, parts in sorted(headers.items()):
        name, rank = f"{layer}.weight", config.rank(layer)
        shape = shapes.get(name) if _INSIDE.search(layer) else None
        if shape is None:
            raise _refused(path, f"the model has no linear layer {layer[:100]}")
        wanted = {"A": (rank, shape[1]), "B": (shape[0], rank)}
        for part, expected in wanted.items():
            if (own := parts[f"{part}.weight"].shape) != expected:
                raise _refused(path, f"lora_{part} of {layer} has the shape {own}, not {expected}")
        a, b = (_values(path, parts, part, wanted[part]) for part in wanted)
        factors[name] = a, b * config.scale(layer)
    return Adapter(files, factors)


def _by_layer(path: Path) -> dict[str, dict[str, Header]]:
    """The tensors of each layer that has factors: both of them, and of int8 their scales."""
    layers: dict[str, dict[str, Header]] = {}
    for name, header in configuration.header_of(path).items():
        match = _FACTOR.fullmatch(name)
        if match is None or match["what"] not in ("weight", "scales"):
            raise _refused(path, f"it has the tensor {name[:100]}")
        layers.setdefault(match["layer"], {})[f"{match['part']}.{match['what']}"] = header
    if not layers:
        raise _refused(path, "it has no factors")
    for layer, parts in layers.items():
        for part in ("A", "B"):
            dtype = parts[f"{part}.weight"].dtype if f"{part}.weight" in parts else "nothing"
            if dtype not in TYPES or (dtype == "I8") != (f"{part}.scales" in parts):
                raise _refused(path, f"lora_{part} of {layer[:100]} is {dtype}, or lacks scales")
    return layers


def _values(path: Path, parts: Mapping[str, Header], part: str, shape: tuple[int, ...]) -> Array:
    """A factor in float32."""
    values = configuration.rows_of(parts[f"{part}.weight"])
    if f"{part}.scales" not in parts:
        return values
    header = parts[f"{part}.scales"]
    if header.dtype != "F32" or header.shape != (shape[0 if part == "A" else 1],):
        raise _refused(path, f"lora_{part}.scales has the shape {header.shape}")
    scales = configuration.rows_of(header)
    return values * (scales[:, None] if part == "A" else scales)


def merged(
    tensors: Iterable[tuple[str, Any]], shapes: Mapping[str, Any], files: AdapterFiles | None
) -> Iterator[tuple[str, Any]]:
    """A model's tensors of torch with an adapter added in place; `shapes`: all of the model's."""
    sizes = {name: tuple(tensor.shape) for name, tensor in shapes.items() if tensor.dim() == 2}
    adapter = load(files, sizes) if files else None
    for name, tensor in tensors:
        if adapter and name in adapter.factors:
            a, b = map(tensor.float().new_tensor, adapter.factors[name])
            product = b @ a
            adapter.require_finite(name, bool(product.isfinite().all()))
            tensor.copy_(tensor.float() + product)
        yield name, tensor
