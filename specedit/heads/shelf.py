"""Where heads lie: in the store, a folder for each model's digest; and those in the package.

    HOME/heads/DIGEST/KIND.safetensors    finished heads
    HOME/heads/DIGEST/unfinished/         rows, answers and the state that training goes on from
    HOME/heads/DIGEST/kept/               answers whose drafts were rejected, where `learn` is on

Knows paths. Opens files only to say what they are.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from specedit.heads.file import DamagedHeads, Heads, check, open_heads
from specedit.heads.kinds import CHAINED, KINDS

SHIPPED = Path(__file__).parent / "shipped"


@dataclass(frozen=True)
class HeadsPlace:
    """Everything of one model's heads."""

    store: Path
    digest: str

    @property
    def folder(self) -> Path:
        return self.store / "heads" / self.digest[:16]

    @property
    def work(self) -> Path:
        return self.folder / "unfinished"

    @property
    def kept(self) -> Path:
        return self.folder / "kept"

    def file(self, kind: str) -> Path:
        return self.folder / f"{kind}.safetensors"

    def state(self, kind: str) -> Path:
        return self.work / f"{kind}.pt"


@dataclass(frozen=True)
class HeadsFile:
    """One file of heads, and what is wrong with it, if anything."""

    path: Path
    heads: Heads | None
    wrong: str = ""
    shipped: bool = False


def items(store: Path) -> Iterator[HeadsFile]:
    """Every file of heads: the user's own, then those that came with the package."""
    for folder, shipped in ((store / "heads", False), (SHIPPED, True)):
        for path in sorted(folder.glob("*/*.safetensors")):
            try:
                yield HeadsFile(path, open_heads(path), shipped=shipped)
            except DamagedHeads as error:
                yield HeadsFile(path, None, error.message, shipped)


def find(store: Path, digest: str, kind: str) -> Path | None:
    """The user's own heads of this kind, else those in the package."""
    for path in (
        HeadsPlace(store, digest).file(kind),
        SHIPPED / digest[:16] / f"{kind}.safetensors",
    ):
        if path.is_file():
            return path
    return None


def kinds_here(store: Path, digest: str) -> list[str]:
    """The kinds that there are for a model, the one that guesses best first."""
    order = (CHAINED, *(kind for kind in reversed(KINDS) if kind != CHAINED))
    return [kind for kind in order if find(store, digest, kind)]


def opened(store: Path, digest: str, kind: str, model: str) -> Heads | None:
    """A model's heads of one kind; None where there are none."""
    path = find(store, digest, kind)
    return None if path is None else check(open_heads(path), digest, model)


def remove(store: Path, digest: str, kind: str | None = None) -> int:
    """Delete a model's own heads (of one kind, or all with what they were made from): bytes."""
    place = HeadsPlace(store, digest)
    if kind is None:
        freed = _size(place.folder)
        shutil.rmtree(place.folder, ignore_errors=True)
        return freed
    freed = 0
    for path in (place.file(kind), place.state(kind)):
        if path.is_file():
            freed += path.stat().st_size
            path.unlink()
    return freed


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
