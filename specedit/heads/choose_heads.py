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
    from specedit.models.head_file import Heads


def choose_heads(
    settings: Settings, engine: Any, model: str, store: Path
) -> tuple[dict[str, LoadedHeads], str]:
    """The heads that this run may use, and why there are no more."""
    names = {name.strip() for name in settings.draft.split(",")}
    named = [name for name in HEADS_NAMES if name in names]
    if not named and AUTO not in names:
        return {}, ""
    passes: Any = getattr(engine, "passes", None)
    if passes is None:
        if named:
            raise UsageError(
                f"--draft {named[0]} needs the exact engine, and this is {engine.info.name} "
                f"({engine.info.note}).",
                hint="--draft auto takes what is there.",
            )
        return {}, ""
    from specedit.models.head_store import HeadsFolder

    folder = HeadsFolder(store, passes.digest)
    loaded: dict[str, LoadedHeads] = {}
    for kind in named or folder.kinds()[:1]:
        try:
            heads = folder.open(kind, model)
        except UsageError as error:
            if named:
                raise
            return {}, f"without heads: {error.message}"
        if heads is not None:
            loaded[kind] = _loaded(heads, passes)
    return loaded, ""


def usable_heads(engine: Any, model: str, store: Path) -> Iterator[tuple[str, LoadedHeads]]:
    """All heads of a model that can be used, with their kinds, those with the best guesses
    first."""
    passes: Any = getattr(engine, "passes", None)
    if passes is None:
        return
    from specedit.models.head_store import HeadsFolder

    folder = HeadsFolder(store, passes.digest)
    for kind in folder.kinds():
        with suppress(UsageError):  # damaged: `--draft KIND` says so
            if heads := folder.open(kind, model):
                yield kind, _loaded(heads, passes)


def _loaded(heads: Heads, passes: Any) -> LoadedHeads:
    from specedit.engines.exact.guessing import Guesser

    of = heads.about.sizes.of
    return LoadedHeads(Guesser(passes, heads), of.chained, of.most)
