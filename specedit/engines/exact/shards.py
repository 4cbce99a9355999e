"""Conversion while a model is fetched: each file is converted and deleted before the next but one.

For a model whose files are much larger than its converted weights. An interrupted fetch continues
with the file that comes next.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from specedit.engines.exact.conversion import (
    converted_path,
    draft_of,
    fill,
    four_bits,
    lacking,
    source_of,
    unwritable,
)
from specedit.engines.exact.geometry import needed_memory
from specedit.engines.exact.weights import Damaged, Writer, open_weights
from specedit.errors import ModelError
from specedit.models.architecture import our_headers
from specedit.models.catalogue import require_memory
from specedit.models.configuration import header_of
from specedit.models.store import FetchProgress, Report, Shards, require_space, unreported


def converter(store: Path, weights: str, report: Report = unreported) -> Callable[[Shards], None]:
    """Return what converts the files of a folder while it is fetched, and deletes them."""
    return partial(_convert, store=store, weights=weights, report=report)


def _convert(shards: Shards, store: Path, weights: str, report: Report) -> None:
    from specedit.engines.exact import available

    files = shards.files
    path, source = converted_path(files, store, weights), source_of(files)
    draft = draft_of(path)
    if (reason := available()) is not None:
        raise ModelError(
            f"{files.name} is converted while it is fetched, and {reason}",
            hint="Name its hub id instead: all its files are then kept.",
        )
    try:
        open_weights(path, source)
    except Damaged:
        if not draft.exists():
            shards.forget()
    else:
        for shard in shards.present():
            shards.drop(shard)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        needed = _filled(shards, draft, source, report)
    except (OSError, Damaged) as error:
        raise unwritable(files, path, error) from error
    if shards.last:
        if needed:
            draft.unlink()
            shards.forget()
            raise ModelError(f"{files.name} lacks {sorted(needed)[0]}", hint="Pull it again.")
        draft.replace(path)
    for shard in shards.present():
        if needed.isdisjoint(our_headers(header_of(shard))):
            shards.drop(shard)


def _filled(shards: Shards, draft: Path, source: str, report: Report) -> set[str]:
    """Convert what can be converted; returns the model's tensors that are still needed."""
    from specedit.engines.exact.checkpoint import open_checkpoint

    files = shards.files
    checkpoint = open_checkpoint(files, shards.present())
    handle = os.open(draft, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
    with os.fdopen(handle, "r+b") as file:
        four = four_bits(checkpoint, draft)
        writer = Writer(file, checkpoint.config, source, four)
        require_memory(files.name, needed_memory(checkpoint.config, writer.total), bool(four))
        done = sum(entry["nbytes"] for entry in writer.entries.values())
        what = f"the converted weights of {files.name}"
        require_space(draft.parent, writer.total - done, what)
        for size in fill(writer, checkpoint, four):
            done += size
            report(FetchProgress(files.name, "convert", done, writer.total))
        writer.save()
        groups = lacking(writer, checkpoint).values()
        needed = {part for sources in groups for group in sources for part in group}
        if shards.last and not needed:
            writer.finish()
            os.fsync(file.fileno())
    return needed
