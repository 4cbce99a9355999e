"""From a model's name to a `Loaded`: fetch, convert, choose the engine, measure what passes cost.

Yields what a person waits for. Torch is imported when an engine is opened.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specedit.backends.running import Loaded
from specedit.decode import cost
from specedit.edit.backend import Event, Loading
from specedit.edit.report import ModelLine
from specedit.engines.base import Engine
from specedit.engines.exact.cores import logical_cores
from specedit.errors import UsageError
from specedit.settings import Settings

if TYPE_CHECKING:
    from specedit.decode.drafters import SmallModel
    from specedit.models.files import ModelFiles

# Ids that a draft model may say of any text. Vocabularies are learnt pair by pair, so the first ids
# are the usual ones: 96 % of what the 1.5B model wrote in 150 edits, 99 % with what it had read.
USUAL = 32_768
STAGES = {"wait": "Waiting for", "fetch": "Fetching", "verify": "Checking"}


def load(settings: Settings, home: Path | None = None) -> Generator[Event, None, Loaded]:
    """Everything between a model's name and a `Loaded`, which the generator returns."""
    from specedit.decode.width import Widths

    if settings.engine == "scripted":
        return _scripted(settings)
    files = yield from _files(settings.model, home)
    shelf = _Shelf(files)  # tokenizer and template, read while the weights are
    engine = yield from _engine(files, settings, home)
    from specedit.models.store import store_path
    from specedit.models.template import prompt_ids

    tokenizer, template = shelf.take()
    small = None
    if wants_model(settings):
        small = yield from _small(settings, home, files, tokenizer)
    from specedit.backends.heads import at_hand

    heads, keeper, without = at_hand(settings, engine, files.name, home or store_path())
    info = engine.info
    line = ModelLine(
        name=files.name,
        sha256=files.sha256,
        engine=info.name,
        device=info.device,
        threads=info.threads,
        exact=info.exact,
        note="; ".join(filter(None, (info.note, without))),
    )

    def render(turns: Sequence[tuple[str, Sequence[str]]], opening: str) -> list[int]:
        return prompt_ids(tokenizer, template, turns, opening)

    kept = (home or store_path()) / "curves.json"
    key = cost.key(line.sha256 or line.name, info)
    curve = cost.load(kept, key)
    if curve is None:
        yield Loading("Measuring what passes cost here")
        curve = cost.measure(engine)
        with suppress(OSError):  # then the next run measures, and this one still edits
            cost.save(kept, key, curve)
    widths = Widths(clock=cost.Clock(curve))
    return Loaded(line, engine, tokenizer, render, widths, (kept, key), small, heads, keeper)


def wants_model(settings: Settings) -> bool:
    """Whether a draft model is to be loaded: it is named, and somebody would ask it."""
    if not settings.draft_model:
        return False
    from specedit.decode.drafters import AUTO, MODEL_NAMES

    named = {name.strip() for name in settings.draft.split(",")}
    return bool(named & {AUTO, *MODEL_NAMES})


def _small(
    settings: Settings, home: Path | None, target: ModelFiles, tokenizer: Any
) -> Generator[Event, None, SmallModel]:
    """The draft model, once it is known to fit the target."""
    from specedit.backends.heads import usable
    from specedit.decode.drafters import SmallModel
    from specedit.models.kinship import check_drafts
    from specedit.models.store import store_path

    files = yield from _files(settings.draft_model, home)
    shelf = _Shelf(files)
    check_drafts(files, shelf.take()[0], target, tokenizer)
    engine = yield from _engine(files, replace(settings, engine=_engine_of(settings)), home)
    usual = (*range(min(USUAL, tokenizer.size)), *sorted(tokenizer.ends))
    _, heads = next(usable(engine, files.name, home or store_path()), ("", None))
    small = SmallModel(engine, files.name, tokenizer.size, tuple(dict.fromkeys(usual)), heads)
    small.warm()
    return small


def _engine_of(settings: Settings) -> str:
    """A draft model's engine: the one asked for; where the exact one does not take it, any."""
    return "auto" if settings.engine == "exact" else settings.engine


def _scripted(settings: Settings) -> Loaded:
    import os

    from specedit.decode.width import Widths
    from specedit.engines import scripted

    engine = scripted.from_file(Path(os.environ["SPECEDIT_SCRIPT"]))
    line = ModelLine("scripted", engine="scripted", device="cpu", threads=1, exact=True)
    tokenizer = scripted.ScriptedTokenizer()

    def render(turns: Sequence[tuple[str, Sequence[str]]], opening: str) -> list[int]:
        return tokenizer.encode("".join("".join(parts) + "\n" for _, parts in turns) + opening)

    small = None
    if wants_model(settings):
        from specedit.decode.drafters import SmallModel

        small = SmallModel(scripted.from_file(Path(settings.draft_model)), "scripted")
    return Loaded(line, engine, tokenizer, render, Widths(), small=small)


def _files(model: str, home: Path | None) -> Generator[Event, None, ModelFiles]:
    from specedit.models.files import ModelFiles
    from specedit.models.resolve import resolve

    found: ModelFiles | None = None
    for step in resolve(model, home=home):
        if isinstance(step, ModelFiles):
            found = step
        else:
            what = step.note or f"{STAGES[step.stage]} {step.name}"
            yield Loading(what, step.done, step.total, "bytes")
    assert found is not None, "resolve ends with the model's files"
    return found


def _engine(
    files: ModelFiles, settings: Settings, home: Path | None
) -> Generator[Event, None, Engine]:
    """The engine asked for; `auto` takes the exact one where it runs, and says why where not."""
    threads = min(settings.threads, logical_cores()) or None  # more would only wait for each other
    wanted = settings.engine in ("auto", "exact")
    reason = _why_not_exact(files, settings.device, home) if wanted else ""
    if settings.engine == "exact" and reason:
        from specedit.engines.exact.kernels import NO_KERNELS, why_not

        hint = NO_KERNELS if why_not() else "Use --engine huggingface."
        raise UsageError(f"The exact engine cannot run here: {reason}.", hint=hint)
    if wanted and not reason:
        from specedit.engines.exact import open_exact
        from specedit.engines.exact.conversion import convert
        from specedit.models.store import store_path

        store = home or store_path()
        for step in convert(files, store):
            yield Loading(step.what, step.done, step.total, "bytes")
        yield Loading(f"Loading {files.name}")
        return open_exact(files, store=store, threads=threads, precision=settings.precision)
    from specedit.engines.devices import require_torch

    because = f"The exact engine cannot run here: {reason}" if reason else ""
    require_torch("the generic engine" if because else "The generic engine", because)
    yield Loading(f"Loading {files.name} with transformers")
    from specedit.engines.huggingface import open_huggingface

    generic = open_huggingface(files, device=settings.device, threads=threads)
    if reason:
        generic.note(f"generic engine: {reason}")
    return generic


def _why_not_exact(files: ModelFiles, device: str, home: Path | None) -> str | None:
    if device in ("cuda", "mps"):
        return f"it is a CPU engine, and --device is {device}"
    if device == "auto":
        from specedit.engines.devices import may_have_gpu

        if may_have_gpu():
            from specedit.engines.huggingface import pick_device

            if (found := pick_device("auto")) != "cpu":
                return f"a {found} device is here"
    from specedit.engines.exact import available
    from specedit.models.store import store_path

    return available(files, home or store_path())


class _Shelf:
    """Reads tokenizer and template in a thread of its own."""

    def __init__(self, files: ModelFiles) -> None:
        self._files = files
        self._found: tuple[Any, str] | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        from specedit.models.template import load_template
        from specedit.models.vocabulary import load_tokenizer

        try:
            self._found = load_tokenizer(self._files), load_template(self._files)
        except BaseException as error:  # handed to the thread that asks
            self._error = error

    def take(self) -> tuple[Any, str]:
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._found is not None
        return self._found
