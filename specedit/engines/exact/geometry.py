"""The sizes of a model's rows and tensors in memory, padding included."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from specedit.models.architecture import Architecture

LANES = 16  # outputs of a panel; half a head is a multiple of it
INPUT_MULTIPLE = 64  # inputs of a product are a multiple of it
BLOCK4, BLOCK6 = 576, 832  # bytes of INPUT_MULTIPLE inputs of a panel of 4 and of 6 bits
GROUP_SIZE = 1792  # inputs of `down` that are quantized together,
GROUP_SIZE4 = 896  # and in a file with matrices of 4 bits: half makes up for their error
# bytes of a number
DTYPES = {"int8": 1, "uint8": 1, "uint16": 2, "int32": 4, "float32": 4, "float64": 8}
LIMITS = {  # of specedit.h, as they concern a model's numbers
    "layers": 400,
    "hidden": 1 << 16,
    "inner": 1 << 20,
    "heads": 512,
    "kv_heads": 512,
    "head_size": 128,
    "vocabulary": 1 << 22,
    "window": 1 << 24,
}


def unsuitable(config: Architecture) -> str | None:
    """Why the kernels cannot run a model of these numbers, in words; None when they can."""
    for name, most in LIMITS.items():
        if not 1 <= getattr(config, name) <= most:
            return (
                f"the exact engine takes {name} of 1 to {most}, and this is {getattr(config, name)}"
            )
    if config.heads % config.kv_heads:
        return f"{config.heads} heads do not share {config.kv_heads} key heads"
    if config.rope_magnitude != 1.0:
        return "the exact engine does not run YaRN scaling of RoPE"
    if config.head_size % 2:
        return f"the exact engine takes heads of an even size, and these have {config.head_size}"
    return None


def group_size_of(four: Collection[str]) -> int:
    """Of `down` in a file whose matrices `four` have 4 bits."""
    return GROUP_SIZE4 if four else GROUP_SIZE


def up_to(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


@dataclass(frozen=True, slots=True)
class Geometry:
    """Widths in memory."""

    hidden: int
    inner: int
    half: int  # of a head
    attended: int  # all heads' outputs side by side
    qkv: int
    vocabulary: int  # outputs of the output layer

    @classmethod
    def of(cls, config: Architecture) -> Geometry:
        half = up_to(config.head_size // 2, LANES)
        return cls(
            hidden=up_to(config.hidden, INPUT_MULTIPLE),
            inner=up_to(config.inner, INPUT_MULTIPLE),
            half=half,
            attended=up_to(config.heads * 2 * half, INPUT_MULTIPLE),
            qkv=(config.heads + 2 * config.kv_heads) * 2 * half,
            vocabulary=up_to(config.vocabulary, LANES),
        )

    def tensors(
        self, config: Architecture, four: Collection[str] = ()
    ) -> dict[str, tuple[str, tuple[int, ...]]]:
        """Type and shape of every tensor of a converted file. Its matrices have 8 bits, or `four`
        have 4 and the others 6."""
        floats, group_size = "float32", group_size_of(four)
        results: dict[str, tuple[str, tuple[int, ...]]] = {
            "embedding": ("uint16", (config.vocabulary, self.hidden)),
            "norm": (floats, (self.hidden,)),
            "speeds": ("float64", (config.head_size // 2,)),
        }

        def linear(name: str, outputs: int, inputs: int, groups: int = 1) -> None:
            panels = up_to(outputs, LANES) // LANES
            eight = ("int8", (panels, inputs // 4, LANES, 4))
            packed = (
                "uint8",
                (panels, inputs // INPUT_MULTIPLE, BLOCK4 if name in four else BLOCK6),
            )
            results[f"{name}.panels"] = packed if four else eight
            results[f"{name}.scales"] = (floats, (panels, groups, LANES))
            results[f"{name}.offsets"] = ("int32", (panels, groups, LANES))

        linear("head", config.vocabulary, self.hidden)
        for layer in range(config.layers):
            at = f"layer.{layer}"
            results[f"{at}.norm"] = results[f"{at}.inner_norm"] = (floats, (self.hidden,))
            if config.bias:
                results[f"{at}.bias"] = (floats, (self.qkv,))
            if config.head_norm:
                for kind in ("query_norm", "key_norm"):
                    results[f"{at}.{kind}"] = (floats, (2 * self.half,))
            linear(f"{at}.qkv", self.qkv, self.hidden)
            linear(f"{at}.out", config.hidden, self.attended)
            linear(f"{at}.gate_up", 2 * self.inner, self.hidden)
            linear(f"{at}.down", config.hidden, self.inner, -(-self.inner // group_size))
        return results


POSITIONS = 4096  # of a file of 200 lines, its prompt and its answer
PROGRAM = 250_000_000  # bytes of Python, the buffers of passes and everything else


def bytes_of(tensors: Mapping[str, tuple[str, tuple[int, ...]]]) -> int:
    return sum(math.prod(shape) * DTYPES[dtype] for dtype, shape in tensors.values())


def needed_memory(config: Architecture, weights: int) -> int:
    """Bytes in memory while a large file is edited. Of the embedding, only the rows of ids that
    occur are read."""
    per_head = 6 * up_to(config.head_size // 2, LANES) + 8
    cache = POSITIONS * config.layers * config.kv_heads * per_head
    return weights - 2 * config.vocabulary * up_to(config.hidden, INPUT_MULTIPLE) + cache + PROGRAM
