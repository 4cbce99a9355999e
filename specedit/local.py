"""The Backend of this process: finds the model, opens an engine, runs Plans.

Knows models, engines and decoding. Torch is imported when the first Plan runs, not before.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specedit.answer import Reader
from specedit.backend import Answer, Event, Loading, Ready, Written
from specedit.decode import cost
from specedit.decode.events import Chunk, Done
from specedit.engines.base import Engine, Prefill
from specedit.errors import TooLong, UsageError
from specedit.plan import Plan
from specedit.report import ModelLine
from specedit.settings import Settings

if TYPE_CHECKING:
    from specedit.decode.width import Widths
    from specedit.models.files import ModelFiles

Render = Callable[[Sequence[tuple[str, Sequence[str]]], str], list[int]]
STAGES = {"wait": "Waiting for", "fetch": "Fetching", "verify": "Checking"}
ROOM = 1024  # tokens an answer may have beyond twice its prompt


class LocalBackend:
    """One model in this process. Not thread-safe: one engine, one run at a time."""

    server: str | None = None
    notes: tuple[str, ...] = ()

    def __init__(self, settings: Settings, *, home: Path | None = None) -> None:
        self._settings = settings
        self._home = home
        self._loaded: Loaded | None = None

    def run(self, plan: Plan) -> Iterator[Event]:
        started = time.perf_counter()
        if self._loaded is None:
            self._loaded = yield from load(self._settings, self._home)
        loaded = self._loaded
        yield Ready(loaded.line, time.perf_counter() - started)
        yield from loaded.run(plan)

    def close(self) -> None:
        if self._loaded is not None:
            self._loaded.close()
        self._loaded = None


class Loaded:
    """A model that can answer: tokenizer, template, engine and what its passes cost here."""

    def __init__(
        self,
        line: ModelLine,
        engine: Engine,
        tokenizer: Any,
        render: Render,
        widths: Widths,
        curve: tuple[Path, str] | None = None,  # the file and key its cost curve is kept under
    ) -> None:
        self.line = line
        self.engine = engine
        self.tokenizer = tokenizer
        self._render = render
        self._widths = widths
        self._curve = curve

    def close(self) -> None:
        """Keep what passes were seen to cost: the next load starts from there."""
        if self._curve is not None:
            _keep(*self._curve, self._widths.curve)

    def prompt(self, plan: Plan) -> list[int]:
        return self._render([(m.role, m.segments) for m in plan.messages], plan.opening)

    def expected(self, plan: Plan) -> list[int] | None:
        """The prediction's ids, its closing line and the end included."""
        if plan.prediction is None:
            return None
        ids: list[int] = self.tokenizer.encode(plan.prediction)
        if plan.closing:
            ids += self.tokenizer.encode(plan.closing)
        return [*ids, *_end(self.tokenizer)]

    def run(self, plan: Plan) -> Iterator[Event]:
        from specedit.decode import drafters
        from specedit.decode.loop import decode

        prompt, expected = self.prompt(plan), self.expected(plan)
        window = self.engine.info.window
        left = window - len(prompt)
        if left < 1 or (expected is not None and len(expected) > left):
            needed = len(prompt) + len(expected or ())
            raise TooLong(
                f"The prompt and the answer need {needed} tokens, and the model's window "
                f"has {window}.",
                hint="Edit a part of the file: --lines A:B, or --symbol NAME.",
            )
        if plan.fresh:
            self.engine.crop(0)
        reader = Reader(self.tokenizer, plan.closing, plan.stop)
        chunks = decode(
            self.engine,
            prompt,
            drafters=drafters.build(
                plan.draft,
                prediction=expected,
                codec=self.tokenizer,
                instruction=self.tokenizer.encode(plan.instruction),
            ),
            widths=self._widths,
            ends=reader.ends,
            limit=min(left, plan.max_tokens or 2 * len(prompt) + ROOM),
            sampling=plan.sampling,
            audit=plan.audit,
        )
        prefill_s = decode_s = 0.0
        reused = completion = 0
        for event in chunks:
            match event:
                case Prefill():
                    prefill_s, reused = event.seconds, event.reused
                    yield event
                case Chunk():
                    decode_s += event.seconds
                    completion += len(event.tokens)
                    yield Written(event, reader.take())
                case Done():
                    yield Answer(
                        text=reader.text(),
                        reason=event.reason,
                        closed=reader.closed,
                        prompt=len(prompt),
                        reused=reused,
                        completion=completion,
                        prefill_s=prefill_s,
                        decode_s=decode_s,
                        logits_digest=event.logits_digest,
                    )


def _end(tokenizer: Any) -> list[int]:
    """The id that usually ends an answer, if there is one."""
    if len(tokenizer.ends) == 1:
        return list(tokenizer.ends)
    end = tokenizer.special(getattr(tokenizer, "texts", {}).get("eos_token", ""))
    return [] if end is None else [end]


def load(settings: Settings, home: Path | None = None) -> Generator[Event, None, Loaded]:
    """Everything between a model's name and a `Loaded`, which the generator returns."""
    from specedit.decode.width import Widths

    if settings.engine == "scripted":
        return _scripted()
    files = yield from _files(settings.model, home)
    shelf = _Shelf(files)  # tokenizer and template, read while the weights are
    engine = yield from _engine(files, settings, home)
    from specedit.models.store import store_path
    from specedit.models.template import prompt_ids

    tokenizer, template = shelf.take()
    info = engine.info
    line = ModelLine(
        name=files.name,
        sha256=files.sha256,
        engine=info.name,
        device=info.device,
        threads=info.threads,
        exact=info.exact,
        note=info.note,
    )

    def render(turns: Sequence[tuple[str, Sequence[str]]], opening: str) -> list[int]:
        return prompt_ids(tokenizer, template, turns, opening)

    kept = (home or store_path()) / "curves.json"
    key = cost.key(line.sha256 or line.name, info)
    curve = cost.load(kept, key)
    if curve is None:
        yield Loading("Measuring what passes cost here")
        curve = cost.measure(engine)
        _keep(kept, key, curve)
    return Loaded(line, engine, tokenizer, render, Widths(clock=cost.Clock(curve)), (kept, key))


def _keep(path: Path, key: str, curve: cost.Curve) -> None:
    """A store that cannot be written costs the next run a measurement, not this one its edit."""
    with suppress(OSError):
        cost.save(path, key, curve)


def _scripted() -> Loaded:
    import os

    from specedit.decode.width import Widths
    from specedit.engines import scripted

    script = os.environ.get("SPECEDIT_SCRIPT")
    if not script:
        raise UsageError("The scripted engine plays a script.", hint="Set SPECEDIT_SCRIPT=FILE.")
    engine = scripted.from_file(Path(script))
    line = ModelLine("scripted", engine="scripted", device="cpu", threads=1, exact=True)
    tokenizer = scripted.ScriptedTokenizer()

    def render(turns: Sequence[tuple[str, Sequence[str]]], opening: str) -> list[int]:
        return tokenizer.encode("".join("".join(parts) + "\n" for _, parts in turns) + opening)

    return Loaded(line, engine, tokenizer, render, Widths())


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
    threads = settings.threads or None
    wanted = settings.engine in ("auto", "exact")
    reason = _why_not_exact(files, settings.device) if wanted else ""
    if settings.engine == "exact" and reason:
        raise UsageError(f"The exact engine cannot run here: {reason}", hint="--engine huggingface")
    if wanted and not reason:
        from specedit.engines.exact import open_exact
        from specedit.models.convert import convert
        from specedit.models.store import store_path

        store = home or store_path()
        for step in convert(files, store, settings.precision):
            yield Loading(step.what, step.done, step.total, "bytes")
        yield Loading(f"Loading {files.name}")
        return open_exact(files, store=store, threads=threads, precision=settings.precision)
    yield Loading(f"Loading {files.name} with transformers")
    from specedit.engines.huggingface import open_huggingface

    generic = open_huggingface(files, device=settings.device, threads=threads)
    if reason:
        generic.note(f"generic engine: {reason}")
    return generic


def _why_not_exact(files: ModelFiles, device: str) -> str | None:
    if device in ("cuda", "mps"):
        return f"it is a CPU engine, and --device is {device}"
    if device == "auto":
        from specedit.engines.huggingface import pick_device

        if (found := pick_device("auto")) != "cpu":
            return f"a {found} device is here"
    from specedit.engines.exact import available

    return available(files)


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
        from specedit.models.tokenizer import load_tokenizer

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
