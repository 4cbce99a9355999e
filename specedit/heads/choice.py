"""The heads that an open model uses: found in the store and checked against the model.

Heads that the user named and that cannot be used are an error; `auto` continues without them and
returns a note.
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


def choose_heads(
    settings: Settings, engine: Any, model: str, store: Path
) -> tuple[dict[str, LoadedHeads], Keeper | None, str]:
    """The heads of this run, what keeps rejected drafts, and a note about heads left out."""
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

    loaded: dict[str, LoadedHeads] = {}
    for kind in named or shelf.kinds_here(store, digest)[:1]:
        try:
            heads = shelf.opened(store, digest, kind, model)
        except UsageError as error:
            if named:
                raise
            return {}, None, f"without heads: {error.message}"
        if heads is not None:
            loaded[kind] = heads.at_hand(passes)
    keeper = None
    if settings.learn and loaded:
        from specedit.heads.kept import Keeper

        keeper = Keeper(shelf.HeadsPlace(store, digest).kept, tuple(loaded))
    return loaded, keeper, ""


def usable_heads(engine: Any, model: str, store: Path) -> Iterator[tuple[str, LoadedHeads]]:
    """The heads of a model that can be used, with their kinds, the best first."""
    passes: Any = getattr(engine, "passes", None)
    digest = getattr(passes, "digest", "")
    if not digest:
        return
    from specedit.heads import shelf

    for kind in shelf.kinds_here(store, digest):
        with suppress(UsageError):  # damaged: an error only where the user names the kind
            if heads := shelf.opened(store, digest, kind, model):
                yield kind, heads.at_hand(passes)
