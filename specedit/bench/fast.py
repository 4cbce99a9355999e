"""Is it fast: peers side by side, a pass by its width, drafters, servers under load.

Each asks one question of a run of `specedit bench`. Knows no flags and no terminal.
"""

from __future__ import annotations

from contextlib import suppress

from specedit.bench import bound as bounds
from specedit.bench import table
from specedit.bench.found import Found, cost, heard
from specedit.bench.results import Results, usages_of
from specedit.bench.side import INTERRUPTED, Measuring, PeerLine, Said, SideRow, side_by_side
from specedit.bench.tasks import Words
from specedit.bench.wanted import Wanted, cases_of, chosen
from specedit.settings import Settings


def speed(
    wanted: Wanted,
    words: Words,
    settings: Settings,
    results: Results,
    found: Found,
    said: Said,
    verbose: bool,
) -> None:
    results.bound = _bound(settings, results.threads, said)
    asked = Measuring(wanted.against, wanted.rounds, wanted.own, wanted.limit)
    try:
        for item in side_by_side(cases_of(wanted), words, settings, asked, said):
            if isinstance(item, SideRow):
                results.rows.append(item)
            else:
                heard(item, results, found)
    except KeyboardInterrupt:  # between two measurements; inside one, it is a note
        if not results.rows:
            raise
        found.notes.append(INTERRUPTED)
    results.bound = bounds.better(results.bound, _bound(settings, results.threads, said))
    found.parts.append(table.rows_table(results.rows, results.bound, verbose=verbose))
    found.parts.append(table.told(results.rows))
    if verbose:
        found.parts.append(table.peers_table(p for p in results.peers if not p.skipped))
    found.parts += table.skipped(results.peers)
    found.line = table.conclusion(results.rows, results.bound)
    if wanted.cost:
        pairs = [usages_of(r.task, r.measured[0].runs[-1].tokens, words) for r in results.rows]
        cost(pairs, settings, results, found)


def _bound(settings: Settings, threads: int, said: Said) -> bounds.Bound | None:
    """What the machine could do at best, where the exact engine runs."""
    from specedit.models.resolve import local

    if settings.engine not in ("auto", "exact"):
        return None
    from specedit.engines import exact
    from specedit.models.store import store_path

    files = local(settings.model)
    work = None if files is None else bounds.work_of(files)
    if files is None or work is None or exact.available(files, store_path()) is not None:
        return None
    said("measuring the int8 products' peak")
    engine = exact.open_exact(files, store=store_path(), threads=threads)
    return bounds.Bound(work, bounds.peak(engine, work))


def widths(settings: Settings, results: Results, found: Found, said: Said) -> None:
    from specedit.bench import widths

    said("measuring passes")
    results.widths = widths.measure(settings, results.threads)
    found.parts.append(table.widths_table(results.widths))


AGAINST = "transformers-assisted,transformers-lookup-10,llama.cpp-plain"  # beside drafters


def drafters(
    wanted: Wanted, settings: Settings, results: Results, found: Found, said: Said
) -> None:
    from specedit.bench import drafting
    from specedit.bench.side import peers

    names, lost = peers(AGAINST if wanted.against == "all" else wanted.against)
    loads = {
        name: chosen(wanted, all_) for name, all_ in drafting.workloads(wanted.drafters).items()
    }
    skipped: list[PeerLine] = [*lost]
    runs: list[drafting.Drafted] = []
    try:
        for one in drafting.measure(
            loads,
            settings,
            own=wanted.own,
            limit=wanted.limit,
            kept=wanted.attempts,
            peers=[name for name in names if name.family != "own"],
            said=said,
            skipped=skipped,
        ):
            runs.append(one)
    except KeyboardInterrupt:
        if not runs:
            raise
        found.notes.append(INTERRUPTED)
    results.peers += skipped
    results.drafters = drafting.as_json(runs)
    found.parts += table.drafters_tables(results.drafters)
    found.parts += table.skipped(skipped)


AT_ONCE = (1, 2, 4, 8, 16, 32)


def load(wanted: Wanted, settings: Settings, results: Results, found: Found, said: Said) -> None:
    from specedit.bench import load, serving

    asked = load.Loads(
        servers=tuple(serving.server(text) for text in wanted.serve),
        levels=wanted.at_once or AT_ONCE,
        requests=wanted.requests,
        limit=wanted.limit,
        seed=settings.seed,
    )
    measuring = load.UnderLoad(asked, load.requests(cases_of(wanted), settings), said)
    levels: list[load.Level] = []
    with suppress(KeyboardInterrupt):
        for level in measuring.levels():
            levels.append(level)
            results.load = load.load_json(levels, texts=True)
    results.model = measuring.model or results.model
    found.parts.append(table.load_table(results.load))
    found.line = table.load_conclusion(results.load)
