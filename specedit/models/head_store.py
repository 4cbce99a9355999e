"""Where heads are stored: a folder for each model's digest, and the files that came with specedit.

HOME/heads/DIGEST/KIND.safetensors    trained heads
HOME/heads/DIGEST/unfinished/         what training continues from
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from specedit.errors import UsageError
from specedit.models.head_file import KINDS, DamagedHeads, Heads, open_heads

SHIPPED = Path(__file__).parent / "shipped_heads"


@dataclass(frozen=True)
class HeadsFolder:
    """Everything of one model's heads."""

    store: Path
    digest: str

    @property
    def path(self) -> Path:
        return self.store / "heads" / self.digest[:16]

    @property
    def unfinished(self) -> Path:
        return self.path / "unfinished"

    def file(self, kind: str) -> Path:
        return self.path / f"{kind}.safetensors"

    def find(self, kind: str) -> Path | None:
        """The user's own heads of this kind, else those that came with specedit."""
        paths = (self.file(kind), SHIPPED / self.digest[:16] / f"{kind}.safetensors")
        return next((path for path in paths if path.is_file()), None)

    def kinds(self) -> list[str]:
        """The kinds of this model's heads, those with the best guesses first."""
        return [kind for kind in reversed(KINDS) if self.find(kind)]

    def open(self, kind: str, model: str) -> Heads | None:
        """The heads of one kind; None where there are none."""
        path = self.find(kind)
        if path is None:
            return None
        heads = open_heads(path)
        if heads.about.digest != self.digest:
            raise UsageError(
                f"{path} holds heads of {heads.about.model}, and the model is {model}.",
                hint=f"Heads fit one model only. Train them: specedit heads train --model {model}",
            )
        return heads

    def remove(self, kind: str | None = None) -> int:
        """Delete the user's own heads: of one kind, or all with what they learnt from. Returns the
        bytes freed."""
        if kind is None:
            freed = sum(path.stat().st_size for path in self.path.rglob("*") if path.is_file())
            shutil.rmtree(self.path, ignore_errors=True)
            return freed
        path = self.file(kind)
        freed = path.stat().st_size if path.is_file() else 0
        path.unlink(missing_ok=True)
        return freed


@dataclass(frozen=True)
class HeadsEntry:
    """One file of heads, and what is wrong with it, if anything."""

    path: Path
    heads: Heads | None
    problem: str = ""
    shipped: bool = False


def entries(store: Path) -> Iterator[HeadsEntry]:
    """Every file of heads: the user's own, then those that came with specedit."""
    for folder, shipped in ((store / "heads", False), (SHIPPED, True)):
        for path in sorted(folder.glob("*/*.safetensors")):
            try:
                yield HeadsEntry(path, open_heads(path), shipped=shipped)
            except DamagedHeads as error:
                yield HeadsEntry(path, None, error.message, shipped)
