"""`specedit model list | suggest | try | pull | verify | path | remove`: what is in the store.

Paths, tables and JSON go to stdout, the rest to stderr.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specedit.cli.options import AsJson, argument, settings_options, settled
from specedit.cli.streams import put_object, say
from specedit.errors import DONE, ModelError, SpeceditError
from specedit.settings import Resolved
from specedit.view.terminal import show_table

if TYPE_CHECKING:
    from specedit.models.catalogue import Listed, Machine, Row
    from specedit.models.store import FetchProgress, ModelFiles, Report

app = typer.Typer(
    help="List, fetch and remove models.", no_args_is_help=True, rich_markup_mode=None
)

Name = Annotated[
    str | None,
    typer.Argument(metavar="NAME", help="Catalogue name or hub id (default: the model in use)"),
]


ANSWERS = ("server", "profile", "engine", "device", "threads", "weights", "adapter")


@app.command("list")
def list_models(as_json: AsJson = False) -> None:
    """List the known models, what is installed, trained heads, which draft for a model, and
    adapters, which change its weights."""
    from specedit.engines.exact.conversion import converted_elsewhere, kinds_of
    from specedit.models import resolve, store

    root, used = store.store_path(), model_in_use()
    items, heads, adapters = list(resolve.items(root)), list(_heads(used)), list(_adapters())
    if as_json:
        rows = []
        for item in items:
            row = {key: value for key, value in asdict(item).items() if key != "slot"}
            path = str(item.slot.path) if item.state == "here" else None
            weights = list(kinds_of(root, item.sha256)) if item.sha256 else []
            row |= {"path": path, "in_use": item.name == used, "weights": weights, "heads": None}
            rows.append(row)
        print(json.dumps([*rows, *heads, *adapters], indent=2))
        return

    def cells(item: resolve.Item) -> Sequence[str]:
        kinds = kinds_of(root, item.sha256) if item.sha256 else ()
        state = {"absent": "-", "part": f"{item.have * 100 // item.size} %"}
        return (
            f"{item.name} *" if item.name == used else item.name,
            store.sized(item.size),
            state.get(item.state, item.state),
            ", ".join(kind.partition(" (")[0] for kind in kinds),
            item.licence,
        )

    headings = ("name", "size", "state", "weights", "licence")
    more_rows = [
        (row["name"], store.sized(row["size"]), row["state"], "", "") for row in (*heads, *adapters)
    ]
    show_table(headings, [*map(cells, items), *more_rows], whole=headings[:3])
    for row in (*heads, *adapters):
        say(f"{row['name']}: {_origin(row)}")
    others = converted_elsewhere(root, [item.sha256 for item in items])
    size = store.sized(sum(path.lstat().st_size for path in others))
    more = f". Converted from models elsewhere: {size} in {others[0].parent}" if others else ""
    say(f"* in use. Store: {root}{more}")


SHIPPED, TRAINED = "came with specedit", "trained here"


def _row(name: str, source: str, size: int, path: Path, **more: Any) -> dict[str, Any]:
    """Heads or an adapter as a row of the list, with the fields of a model's."""
    row = {"name": name, "state": "here", "have": size, "size": size, "source": source}
    row |= dict.fromkeys(("sha256", "licence", "date"), "")
    return row | {"path": str(path), "in_use": False, "weights": [], "heads": None} | more


def _heads(used: str = "") -> Iterator[dict[str, Any]]:
    """Trained heads, as rows of the list. A name is that of the model, and the kind."""
    from specedit.models import head_file, resolve, store

    root = store.store_path()
    models = {item.sha256[:16]: item.name for item in resolve.items(root)}
    for entry in head_file.entries(root):
        digest, about = entry.digest, entry.about
        model = models.get(digest) or (about.model if about else digest)
        finished = "part" if entry.kind == head_file.UNFINISHED else "here"
        yield _row(
            f"{model}:{entry.kind}",
            SHIPPED if entry.shipped else TRAINED,
            store.size_of(entry.path),
            entry.path,
            state="damaged" if entry.problem else finished,
            sha256=about.digest if about else digest,
            in_use=model == used,
            heads={"problem": entry.problem or None, "about": about and asdict(about)},
        )


def _adapters() -> Iterator[dict[str, Any]]:
    """Adapters, as rows of the list: a name is that of the model, and of the adapter. Those in
    other folders are known by what was converted with them."""
    from specedit.engines.exact.conversion import with_adapters
    from specedit.models import adapter, store

    root = store.store_path()
    merged = {name: ("converted with an adapter", paths) for name, paths in with_adapters(root)}
    for folder, source in ((adapter.SHIPPED, SHIPPED), (root / "adapters", TRAINED)):
        for own in adapter.entries(folder):
            name = f"{own.base.rpartition('/')[2] or 'model'}+{own.name}"
            merged[name] = source, [*merged.get(name, ("", ()))[1], own.path]
    for name, (source, paths) in merged.items():
        size = sum(map(store.size_of, paths))
        yield _row(name, source, size, paths[-1], paths=[str(path) for path in paths])


def _origin(row: dict[str, Any]) -> str:
    """Where heads or an adapter come from, and how often heads are right; or what is wrong."""
    heads = row["heads"] or {"problem": "", "about": None}
    about = heads["about"]
    shares = f", accepted on held-out files: {percentages(about['accepted'])}" if about else ""
    return heads["problem"] or f"{row['source']}{shares}"


def percentages(shares: Sequence[float]) -> str:
    return ", ".join(f"{100 * share:.0f} %" for share in shares)


@app.command()
def suggest(as_json: AsJson = False) -> None:
    """Name the model that suits this machine's memory, cores and card, and what speaks for each."""
    from specedit.models import catalogue as models
    from specedit.models import store

    machine, rows = _rows()
    best = models.best(rows)
    if as_json:
        shown = ("name", "size", "memory", "memory_int4", "licence", "hub", "untested")
        objects = [
            {
                **{key: getattr(row.entry, key) for key in shown},
                "parameters": round(row.entry.parameters * 1e9),
                "fits": row.fits,
                "note": row.entry.note or None,
                "suits": row.suits,
                "weights": row.weights or None,
                "engine": "huggingface" if row.card else "exact" if row.fits else None,
                "published": [dict(zip(RESULT, each, strict=True)) for each in row.entry.published],
                **_seconds(row.entry),
            }
            for row in rows
        ]
        here: dict[str, int | None] = {"memory": machine.memory or None, "cores": machine.cores}
        here["card"] = machine.card or None
        put_object({"suggested": best.entry.name, **here, "edit": TYPICAL_EDIT, "rows": objects})
        return
    _show_rows(rows, best)
    entry, kind = best.entry, best.card if best.card != "bf16" else ""
    memory = f"{store.sized(machine.memory)} of memory, " * bool(machine.memory)
    card = f", a card with {store.sized(machine.card)}" * bool(machine.card)
    what = "* suits this machine" if best.suits else "* is the smallest; none suits this machine"
    say(
        f"{what}: {memory}{machine.cores} cores{card}. Choose it: `specedit config "
        f"--user model={entry.name}{f' weights={kind}' * bool(kind)}`"
    )
    if best.card:
        say("On the card it runs on the generic engine: pip install 'specedit[cuda]'. Not tried.")
    if entry.untested:
        tested = [row for row in rows if row.fits and row.entry.general and not row.entry.untested]
        known = max(tested, key=lambda row: row.entry.rank).entry.name if tested else ""
        compare = f" and `specedit model try {known}`, which is tested" * bool(known)
        say(f"{entry.name} is untested: compare `specedit model try {entry.name}`{compare}.")


def _rows() -> tuple[Machine, list[Row]]:
    """This machine, and every model on it."""
    from specedit.engines.cores import default_threads
    from specedit.models import catalogue

    machine = catalogue.with_card(catalogue.this_machine(default_threads().number))
    return machine, catalogue.rows(machine)


RESULT = ("what", "value", "source")
TYPICAL_EDIT = "300 tokens in, 120 out in 15 passes"


def _seconds(entry: Listed) -> dict[str, float]:
    """How long a typical edit takes on the processor with each kind of weights."""
    from specedit.inference.estimate import typical_seconds

    return {
        f"seconds{ending}": round(typical_seconds(entry, weights), 1)
        for weights, ending in (("int8", ""), ("int4", "_int4"))
    }


def _show_rows(rows: Sequence[Row], best: Row | None = None) -> None:
    """List the models, what runs here, how fast, and how good they are."""
    from specedit.inference.estimate import predicted_curve
    from specedit.models import store

    def cells(row: Row) -> Sequence[str]:
        entry, seconds = row.entry, _seconds(row.entry)
        ending = "_int4" if row.weights == "int4" else ""
        what, value, _ = entry.published[0] if entry.published else ("-", None, "")
        result = what if value is None else f"{value:g} % {what.partition(' (')[0]}"
        return (
            f"{entry.name} *" if row is best else entry.name,
            store.sized(entry.size),
            f"{'card, ' * bool(row.card)}{row.weights}" or "too large",
            f"{seconds[f'seconds{ending}']} s" if row.fits and not row.card else "-",
            result,
            ", ".join(filter(None, (entry.licence, "untested" * entry.untested, entry.note))),
        )

    numbers = ("download", "edit")
    headings = ("name", "download", "weights", "edit", "published: right", "licence")
    show_table(headings, map(cells, rows), right=numbers, whole=headings[:4])
    measured = predicted_curve(rows[0].entry, "int8")[1]
    source = f"from {measured} as measured here" if measured else "as is usual on two cores"
    card = " Nothing was measured on a card." if any(row.card for row in rows) else ""
    say(f"Edit: {TYPICAL_EDIT}, {source}.{card}")
    results = [(row.entry.name, *row.entry.published[0]) for row in rows if row.entry.published]
    for name, what, _, source in results:
        if "://" in source:
            say(f"{what} of {name}: {source}")
    for line in {f"{what}: {source}" for _, what, _, source in results if "://" not in source}:
        say(line)


@app.command()
def pull(name: Name = None) -> None:
    """Fetch a model. An interrupted download continues."""
    from specedit.models import resolve
    from specedit.models.store import size_of, sized

    wanted = name or model_in_use()
    here = resolve.local(wanted)
    try:
        files = here or _fetched(wanted)
    except KeyboardInterrupt:
        say("interrupted; what was fetched is kept, and the next pull continues from there")
        raise
    state = "is already here" if here else "is here"
    say(f"{files.name} {state}: {files.path} ({sized(size_of(files.path))})")
    if own := [row for row in _rows()[1] if row.entry.name == files.name]:
        _show_rows(own)


@app.command()
def verify(name: Name = None) -> None:
    """Check a model's SHA-256 again, and its converted weights."""
    from specedit.engines.exact import conversion
    from specedit.models import resolve, store

    root = store.store_path()
    if name:
        chosen = [resolve.find(name, root)]
    else:
        chosen = [item for item in resolve.items(root) if item.state == "here"]
    for item in chosen:
        if item.state == "elsewhere":
            say(f"{item.name} is not in the store: only what was converted from it is checked")
        else:
            with _watching() as report:
                resolve.verify(item, report)
            say(f"{item.name} is whole: SHA-256 {item.sha256}")
        for path, wrong in conversion.verify(root, item.sha256):
            deleted = f"was deleted, and the next edit makes it again: {wrong}"
            say(f"{path} {deleted if wrong else 'is whole'}")
    if not chosen:
        say(f"no model in {root}")


@app.command()
def path(name: Name = None) -> None:
    """Print the path of a model."""
    from specedit.models import resolve

    wanted = name or model_in_use()
    files = resolve.local(wanted)
    if files is None:
        raise ModelError(
            f"{wanted} is not on this machine", hint=f"Fetch it: specedit model pull {wanted}"
        )
    print(files.path)


@app.command()
def remove(name: str = argument("NAME", "Name as in `specedit model list`")) -> None:
    """Delete a model and what was converted from it, trained heads, or an adapter."""
    from specedit.models import resolve, store

    if row := next((row for row in _adapters() if row["name"] == name), None):
        paths = [Path(path) for path in row["paths"]]
        if row["source"] == SHIPPED:
            del paths[-1]
        if not paths:
            raise ModelError(f"{name} came with specedit.", hint="--adapter none leaves it out.")
        freed = sum(map(store.delete, paths))
        say(f"removed {name}: {store.sized(freed)} freed")
        return
    if heads := next((row for row in _heads() if row["name"] == name), None):
        if heads["source"] == SHIPPED:
            raise ModelError(f"{name} came with specedit.", hint="--draft chooses other drafters.")
        say(f"removed {name}: {store.sized(store.delete(Path(heads['path'])))} freed")
        return
    item = resolve.find(name, store.store_path())
    freed = resolve.remove(item)
    say(f"removed {item.name}: {store.sized(freed)} freed" if freed else f"{item.name}: not here")


@app.command("try")
@settings_options(*ANSWERS)
def try_model(
    name: Name = None,
    cases: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Your own cases: JSON lines, see specedit help models"),
    ] = None,
    as_json: AsJson = False,
    *,
    resolved: Resolved,
) -> int:
    """Run 20 small edits with checks: how many are right, and the seconds of each."""
    from specedit.connect import connect
    from specedit.edit import trial
    from specedit.models import resolve
    from specedit.settings import Settings
    from specedit.view.colours import terminal
    from specedit.view.screen import Live

    chosen = {setting: getattr(resolved.values, setting) for setting in ANSWERS}
    wanted = name or resolved.values.model
    if chosen["server"] in ("auto", "off"):  # a server in the background has another model
        chosen["server"] = "off"
        resolve.present(wanted)
    settings = replace(Settings(), **chosen, model=wanted, allow="question")
    to_do = trial.read_cases(cases or trial.SHIPPED)
    done: list[trial.Result] = []
    stopped: BaseException | None = None
    with closing(connect(settings)) as backend, Live(terminal()) as live:
        try:
            for result in trial.results(to_do, settings, backend, live):
                done.append(result)
                live.stop()
                word = f"wrong ({result.why})" if result.why else "right"
                say(f"{result.case.id}: {word}, {result.seconds:.1f} s")
        except (KeyboardInterrupt, SpeceditError) as problem:
            stopped = problem
            if not done:
                raise
    right = sum(not result.why for result in done)
    wrong, mean = len(done) - right, sum(result.seconds for result in done) / len(done)
    if as_json:
        counts = {"model": wanted, "cases": len(to_do), "right": right, "wrong": wrong}
        about = {"seconds_per_edit": round(mean, 3), "interrupted": stopped is not None}
        put_object({**counts, **about, "results": [result.as_json() for result in done]})
    else:
        left = f" (of {len(to_do)} cases)" * (len(done) < len(to_do))
        print(f"{wanted}: {right} of {len(done)}{left} right, {wrong} wrong, {mean:.1f} s per edit")
    if stopped is not None:
        raise stopped
    return DONE


def model_in_use() -> str:
    return settled().values.model


def _fetched(model: str) -> ModelFiles:
    """The files of a model, downloaded where they are not here; the download is shown."""
    from specedit.inference.loading import fetched

    with _watching() as report:
        return fetched(model, settled().values, report)


@contextmanager
def _watching() -> Iterator[Report]:
    """Show how far a download or a check is."""
    from specedit.edit.backend import Loading
    from specedit.view.colours import terminal
    from specedit.view.screen import Live

    def report(step: FetchProgress) -> None:
        if step.note:
            say(f"{step.name}: {step.note}")
        live.emit(Loading(step.title, step.done, step.total))

    with Live(terminal()) as live:
        yield report
