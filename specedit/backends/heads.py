"""Heads for a model that was just opened: found, checked against it, and put on its kernels.

Knows where heads lie and whom they fit. What was asked for by name and cannot be had is an error;
`auto` goes on without, and says why.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specedit.decode.drafters import AUTO, HEADS_NAMES, LoadedHeads
from specedit.errors import UsageError
from specedit.settings import Settings

if TYPE_CHECKING:
    from specedit.heads.kept import Keeper


def at_hand(
    settings: Settings, engine: Any, model: str, store: Path
) -> tuple[dict[str, LoadedHeads], Keeper | None, str]:
    """The heads that this run may ask, what keeps rejected drafts, and why there are no more."""
    names = {name.strip() for name in settings.draft.split(",")}
    named = [name for name in HEADS_NAMES if name in names]
    if not named and AUTO not in names:
        return {}, None, ""
    passes: Any = getattr(engine, "passes", None)
    digest = getattr(passes, "digest", "")  # kernels know whose weights they have
    if not digest:
        if named:
            raise UsageError(
                f"--draft {named[0]} needs the exact engine's compiled kernels, and "
                f"{engine.info.name} serves here ({engine.info.note}).",
                hint="--draft auto takes what is there.",
            )
        return {}, None, ""
    from specedit.heads import shelf

    wanted = named or shelf.kinds_here(store, digest)[:1]
    found: dict[str, LoadedHeads] = {}
    for kind in wanted:
        try:
            heads = shelf.opened(store, digest, kind, model)
        except UsageError as error:
            if named:
                raise
            return {}, None, f"without heads: {error.message}"
        if heads is not None:
            found[kind] = heads.at_hand(passes)
    keeper = None
    if settings.learn and found:
        from specedit.heads.kept import Keeper

        keeper = Keeper(shelf.HeadsPlace(store, digest).kept, tuple(found))
    return found, keeper, ""


def usable(engine: Any, model: str, store: Path) -> Iterator[tuple[str, LoadedHeads]]:
    """The heads of a model that can be used, with their kinds, the best guessers first."""
    passes: Any = getattr(engine, "passes", None)
    digest = getattr(passes, "digest", "")
    if not digest:
        return
    from specedit.heads import shelf

    for kind in shelf.kinds_here(store, digest):
        with suppress(UsageError):  # damaged: whoever names it is told
            if heads := shelf.opened(store, digest, kind, model):
                yield kind, heads.at_hand(passes)
