"""From a model's name to a `LoadedModel`: fetch, convert, open an engine, measure its cost curve.

Torch is imported only where the generic engine is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specedit.decode import cost
from specedit.decode.drafters import AUTO, HEADS_NAMES, MODEL_NAMES, MTP, SmallModel
from specedit.decode.width import Widths
from specedit.edit.backend import Emit, Loading, ModelInfo
from specedit.engines.base import Engine
from specedit.engines.cores import may_have_gpu, require_torch, thread_count
from specedit.errors import UsageError
from specedit.inference.model import LoadedModel
from specedit.models.adapter import with_adapter
from specedit.models.resolve import resolve
from specedit.models.store import ModelFiles, Use, store_path
from specedit.settings import Settings

if TYPE_CHECKING:
    from specedit.engines.exact.guessing import Guesser, MtpGuesser
    from specedit.models.store import FetchProgress, Report

# Ids that a draft model may propose in any text. Vocabularies are learnt pair by pair, so the first
# ids are the usual ones: 96 % of the ids that the 1.5B model wrote in 150 edits, 99 % together with
# the ids of its prompts.
USUAL_WINDOW = 32_768


def load(settings: Settings, emit: Emit) -> LoadedModel:
    """Load the model that the settings name."""
    from specedit.models.tokenizer import prompt_ids
    from specedit.models.vocabulary import load_tokenizer

    store = store_path()
    files = fetched(settings.model, settings, partial(_report, emit))
    files = with_adapter(files, settings.adapter)
    adapter = files.adapter
    tokenizer_of = cache(lambda: load_tokenizer(files))
    engine = _engine(files, settings, store, emit, tokenizer_of)
    tokenizer = tokenizer_of()
    small = None
    names = {name.strip() for name in settings.draft.split(",")}
    if settings.draft_model and names & {AUTO, *MODEL_NAMES}:
        small = _draft_model(settings, store, files.name, tokenizer, emit)
    heads, note = choose_heads(names, engine, files, store)
    info, merged = engine.info, f"adapter {adapter.name}" if adapter else ""
    line = ModelInfo(
        name=files.name,
        sha256=files.sha256,
        engine=info.name,
        device=info.device,
        threads=info.threads,
        exact=info.exact,
        note="; ".join(filter(None, (info.note, merged, note))),
        weights=info.weights,
        adapter=adapter.name if adapter else "",
        adapter_sha256=adapter.sha256 if adapter else "",
    )

    path, key = store / cost.CURVES_FILE, cost.key(files.digest or line.name, info)
    curve = cost.load(path, key)
    if curve is None:
        emit(Loading("Measuring what passes cost here"))
        curve = cost.measure(engine)
        with suppress(OSError):  # a read-only store: every run measures
            cost.save(path, key, curve)
    widths = Widths(clock=cost.Clock(curve))
    render = partial(prompt_ids, tokenizer)
    return LoadedModel(line, engine, tokenizer, render, widths, (path, key), small, heads)


def _draft_model(
    settings: Settings, store: Path, target: str, tokenizer: Any, emit: Emit
) -> SmallModel:
    """The draft model, after a check that it fits the target."""
    from specedit.models.resolve import check_drafts
    from specedit.models.vocabulary import load_tokenizer

    plain = replace(settings, adapter="none")
    files = fetched(settings.draft_model, plain, partial(_report, emit))
    check_drafts(files.name, load_tokenizer(files), target, tokenizer)
    engine_name = "auto" if settings.engine == "exact" else settings.engine
    engine = _engine(files, replace(settings, engine=engine_name), store, emit)
    usual = (*range(min(USUAL_WINDOW, tokenizer.size)), *sorted(tokenizer.ends))
    small = SmallModel(engine, files.name, tokenizer.size, tuple(dict.fromkeys(usual)))
    small.warm()
    return small


def fetched(model: str, settings: Settings, report: Report) -> ModelFiles:
    """The files of a model, downloaded where they are not here. Weights for the exact engine are
    converted while they are fetched, and of a folder of the catalogue only these are kept; the
    generic engine needs the folder."""
    from specedit.engines.exact.conversion import convert_arriving, convert_fetched
    from specedit.engines.exact.kernels.library import why_not

    store = store_path()
    shards = partial(convert_fetched, store, settings.weights, report)
    arriving = partial(convert_arriving, store, settings.weights, settings.adapter, report)
    use = Use(shards) if why_not() else Use(shards, arriving)
    generic = settings.engine == "huggingface" or _why_not_cpu(settings) is not None
    return resolve(model, home=store, report=report, use=None if generic else use)


def _report(emit: Emit, step: FetchProgress) -> None:
    emit(Loading(step.note or step.title, step.done, step.total))


def _engine(
    files: ModelFiles,
    settings: Settings,
    store: Path,
    emit: Emit,
    check_vocabulary: Callable[[], object] = lambda: None,
) -> Engine:
    """The named engine; `check_vocabulary` refuses the model before it is converted."""
    threads = thread_count(settings.threads)
    wanted = settings.engine in ("auto", "exact")
    reason = _why_not_cpu(settings) if wanted else ""
    if reason is None:
        from specedit.engines.exact.engine import available

        reason = available(files, store, settings.weights)
    if settings.engine == "exact" and reason:
        from specedit.engines.exact.kernels.library import NO_KERNELS, why_not

        hint = NO_KERNELS if why_not() else "Use --engine huggingface."
        raise UsageError(f"The exact engine cannot run here: {reason}.", hint=hint)
    if wanted and not reason:
        from specedit.engines.exact.conversion import convert
        from specedit.engines.exact.engine import open_exact

        check_vocabulary()
        convert(files, store, settings.weights, partial(_report, emit))
        emit(Loading(f"Loading {files.name}"))
        return open_exact(files, store=store, threads=threads, weights=settings.weights)
    because = f"The exact engine cannot run here: {reason}" if reason else ""
    require_torch("the generic engine" if because else "The generic engine", because)
    emit(Loading(f"Loading {files.name} with transformers"))
    from specedit.engines.huggingface.loading import open_huggingface

    generic = open_huggingface(
        files, device=settings.device, threads=threads, weights=settings.weights
    )
    if reason:
        generic.note(f"generic engine: {reason}")
    return generic


def _why_not_cpu(settings: Settings) -> str | None:
    """The reason for another device than the processor."""
    device = settings.device
    if device in ("cuda", "mps"):
        return f"it is a CPU engine, and --device is {device}"
    if device == "auto" and may_have_gpu():
        from specedit.engines.huggingface.loading import pick_device

        if (device := pick_device("auto")) != "cpu":
            return f"this machine has a {device} device"
    return None


def choose_heads(
    names: set[str], engine: Any, files: ModelFiles, store: Path
) -> tuple[dict[str, Guesser | MtpGuesser], str]:
    """The heads that a run with drafters of these names may use, and why there are no more."""
    named = [name for name in HEADS_NAMES if name in names]
    passes: Any = getattr(engine, "passes", None)
    if named and passes is None:
        raise UsageError(
            f"--draft {named[0]} needs the exact engine, and this is {engine.info.name} "
            f"({engine.info.note}).",
            hint="Use --draft auto, which takes the drafters that are available.",
        )
    if passes is None or not (named or AUTO in names):
        return {}, ""
    if MTP in named and not passes.mtp:
        from specedit.engines.exact.checkpoint import why_no_mtp

        raise UsageError(
            f"--draft {MTP} needs a model with an MTP layer, and {files.name} has none: "
            f"{why_no_mtp(files)}.",
            hint="Use --draft auto, which takes the drafters that are available.",
        )
    from specedit.models.head_file import HeadsFolder

    own = [MTP] if passes.mtp else HeadsFolder(store, passes.digest).kinds()[:1]
    try:
        return heads_of(engine, named or own, files.name, store), ""
    except UsageError as error:
        if named:
            raise
        return {}, f"without heads: {error.message}"


def heads_of(
    engine: Any, kinds: Iterable[str], model: str, store: Path
) -> dict[str, Guesser | MtpGuesser]:
    """The heads of a model, those of these kinds that it has; its MTP layer is one of them."""
    from specedit.engines.exact.guessing import Guesser, MtpGuesser
    from specedit.models.head_file import HeadsFolder

    passes, folder = engine.passes, HeadsFolder(store, engine.passes.digest)
    results: dict[str, Guesser | MtpGuesser] = {}
    for kind in kinds:
        if kind == MTP and passes.mtp:
            results[kind] = MtpGuesser(engine)
        elif heads := folder.open(kind, model):
            results[kind] = Guesser(passes, heads)
    return results
