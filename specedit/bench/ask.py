"""One run of `specedit bench`: what was asked, measured in order, ready to be shown.

Knows all of this package; knows no flags and no terminal.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import closing, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from specedit.bench import bound as bounds
from specedit.bench import gate, quality, table
from specedit.bench.cases import Case, read_cases
from specedit.bench.cost import Usage
from specedit.bench.results import Results, cost_json, results_json, usages_of
from specedit.bench.side import (
    INTERRUPTED,
    Measuring,
    Note,
    PeerLine,
    SideRow,
    judged,
    side_by_side,
    threads_of,
)
from specedit.bench.tasks import Words, task, words_of
from specedit.bench.wanted import Wanted, cases_of, chosen
from specedit.edit.judge import checks_of
from specedit.errors import InputError, UsageError
from specedit.settings import Settings

Said = Callable[[str], None]


@dataclass
class Found:
    """What a run has to show: the JSON, the parts of the table, one line for a person."""

    json: dict[str, Any] = field(default_factory=dict)
    parts: list[Any] = field(default_factory=list)
    line: str = ""
    notes: list[str] = field(default_factory=list)


def run(wanted: Wanted, settings: Settings, said: Said, *, verbose: bool = False) -> Found:
    """Measure what is wanted and draw it."""
    if wanted.drawn_from:
        return _drawn([_read(path) for path in wanted.drawn_from], wanted.plots)
    results = Results(settings.model, threads_of(settings))
    found = Found()
    if wanted.quality is not None:
        _quality(wanted, _words(settings), settings, results, found, said)
    elif wanted.gate:
        _gate(wanted, settings, results, found)
    elif wanted.renames:
        _renames(wanted, settings, results, found, said)
    elif wanted.agreement:
        _agreement(wanted, settings, results, found, said)
    elif wanted.focus:
        _focus(wanted, settings, results, found, said)
    elif wanted.engine_table:
        _widths(settings, results, found, said)
    elif wanted.drafters:
        _drafters(wanted, settings, results, found, said)
    elif wanted.serve:
        _load(wanted, settings, results, found, said)
    else:
        _speed(wanted, _words(settings), settings, results, found, said, verbose)
    found.json = results_json(results)
    if wanted.plots is not None:
        drawn = _drawn([found.json], wanted.plots)
        found.line = "\n".join(t for t in (found.line, drawn.line) if t)
    return found


def _words(settings: Settings) -> Words:
    if settings.engine == "scripted":
        from specedit.bench.peers.own import load

        loaded = load(settings)
        return Words(loaded.tokenizer, loaded.prompt)
    from specedit.models.resolve import present

    return words_of(present(settings.model))


def _speed(
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
                _heard(item, results, found)
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
        _cost(pairs, settings, results, found)


def _heard(item: PeerLine | Note, results: Results, found: Found) -> None:
    """What is said beside the measurements."""
    if isinstance(item, PeerLine):
        results.peers.append(item)
    else:
        found.notes.append(item.text)


def _bound(settings: Settings, threads: int, said: Said) -> bounds.Bound | None:
    """What the machine could do at best, where the exact engine runs."""
    from specedit.models.resolve import local

    if settings.engine not in ("auto", "exact"):
        return None
    files = local(settings.model)
    work = None if files is None else bounds.work_of(files)
    if work is None:
        return None
    said("measuring the int8 product's peak")
    peak = bounds.peak(threads)
    return None if peak is None else bounds.Bound(work, peak)


def _quality(
    wanted: Wanted,
    words: Words,
    settings: Settings,
    results: Results,
    found: Found,
    said: Said,
) -> None:
    from specedit.bench import sandbox

    assert wanted.quality is not None
    if sys.platform == "win32":
        raise UsageError("--quality limits its tests as POSIX systems can, and this is Windows.")
    if sandbox.caution():
        found.notes.append(sandbox.caution())
    cases = chosen(wanted, read_cases(wanted.quality))
    if wanted.tries > 1:
        _tries(wanted, cases, settings, results, found, said)
        return
    scores: list[quality.Score] = []
    own: list[quality.CaseResult] = []
    for item in judged(cases, words, settings, wanted.against, said):
        if isinstance(item, PeerLine | Note):
            _heard(item, results, found)
            continue
        name, outcomes = item
        own = own or outcomes
        scores.append(quality.score(name.name, outcomes))
        differs = quality.differing(own, outcomes)
        results.scores.append(quality.score_json(scores[-1], outcomes, differs))
    if wanted.answers is not None:
        gate.write_answers(wanted.answers, cases, own)
    found.parts.append(table.scores_table(scores))
    found.parts += table.skipped(results.peers)
    found.line = "; ".join(
        f"{s.name}: {s.passed} of {s.cases} pass ({100 * s.share:.1f} %)" for s in scores
    )
    if wanted.cost:
        pairs = []
        for case, one in zip(cases, own, strict=False):  # fewer, when interrupted
            made = task(case, words, settings, own=True)
            pairs.append(usages_of(made, words.answer(one.text, made.plan), words))
        _cost(pairs, settings, results, found)


def _tries(
    wanted: Wanted,
    cases: list[Case],
    settings: Settings,
    results: Results,
    found: Found,
    said: Said,
) -> None:
    from specedit.backends.local import LocalBackend
    from specedit.bench import tries

    every: list[list[tries.Attempt]] = []
    with closing(LocalBackend(settings)) as backend:
        made = tries.run(
            *(cases, backend, settings, wanted.attempts, said),
            judge=wanted.judge,
            beside=wanted.beside,
        )
        try:
            every.extend(made)
        except KeyboardInterrupt:
            if not every:
                raise
            found.notes.append(INTERRUPTED)
    rows = tries.curve(every, wanted.judge, wanted.tries)
    results.tries = {
        "judge": wanted.judge,
        "curve": [asdict(row) for row in rows],
        "attempts": [[tries.brief(one) for one in made] for made in every],
    }
    found.parts.append(table.tries_table(rows))
    first, last = rows[0], rows[-1]
    found.line = (
        f"{first.passed} of {first.cases} in one try, {last.passed} in at most {last.k}, "
        f"at {last.seconds / first.seconds:.2f} times the seconds"
        if first.seconds
        else "nothing was asked"
    )


def _gate(wanted: Wanted, settings: Settings, results: Results, found: Found) -> None:
    """Nothing is loaded: the answers are there."""
    answers = [one for path in wanted.gate for one in chosen(wanted, gate.read_answers(path))]
    groups = gate.tallied(gate.judged(answers, checks_of(settings).verdicts))
    results.gate = gate.as_json(groups)
    found.parts.append(table.gate_table(groups))
    found.line = "; ".join(gate.line(name, group) for name, group in groups.items())


def _renames(
    wanted: Wanted, settings: Settings, results: Results, found: Found, said: Said
) -> None:
    from specedit.bench import rename
    from specedit.bench.rename_full import FullTool

    cases = chosen(wanted, [case for path in wanted.renames for case in rename.load(path)])
    outcomes: list[rename.Contest] = []
    with FullTool(settings, said, len(cases)) as tool, suppress(KeyboardInterrupt):
        for outcome in rename.measure(cases, tool):
            outcomes.append(outcome)
    results.renames = {
        **rename.as_json(outcomes),
        "tokens": tool.figures.completion,
        "passes": tool.figures.passes,
        "seconds": round(tool.figures.prefill_s + tool.figures.decode_s, 2),
    }
    rows = rename.table(outcomes)
    found.parts.append(rename.as_text(rows, full=True))
    total = rows[-1]
    found.line = (
        f"{total.full_right} of {total.cases} right (search-and-replace {total.search_right}, "
        f"tree-sitter alone {total.tree_right}); wrong and said to be clean: "
        f"{total.full_clean_wrong}"
    )


def _agreement(
    wanted: Wanted, settings: Settings, results: Results, found: Found, said: Said
) -> None:
    from specedit.bench import agreement

    results.agreement = agreement.measure(settings, wanted.agreement, results.threads, said)
    found.parts.append(table.agreement_table(results.agreement))
    total = results.agreement["total"]
    found.line = (
        f"the same choice as bf16 in {total['agreement']:.2%} of {total['tokens']} places, "
        f"at {total['ratio']:.4f} times its perplexity"
    )


def _focus(wanted: Wanted, settings: Settings, results: Results, found: Found, said: Said) -> None:
    from specedit.backends.connect import connect
    from specedit.bench import focus

    cases = chosen(wanted, [case for path in wanted.focus for case in read_cases(path)])
    if wanted.equal:
        _equality(cases, settings, results, found, said)
        return
    looked: list[focus.Looked] = []
    backend = closing(connect(settings)) if wanted.own else nullcontext()
    with backend as asked, suppress(KeyboardInterrupt):
        for one in focus.measure(cases, settings, asked):
            looked.append(one)
            said(f"chose places in {len(looked)} files: {one.id}")
    results.focus = focus.as_json(looked)
    found.parts.append(focus.as_text(results.focus))


def _equality(
    cases: list[Case], settings: Settings, results: Results, found: Found, said: Said
) -> None:
    from specedit.backends.connect import connect
    from specedit.bench import equality

    compared: list[equality.BothWays] = []
    with closing(connect(settings)) as asked, suppress(KeyboardInterrupt):
        for one in equality.measure(cases, settings, asked):
            compared.append(one)
            said(f"edited {len(compared)} files both ways: {one.id}")
    results.focus = equality.as_json(compared)
    found.parts.append(equality.as_text(results.focus))


def _cost(
    pairs: list[tuple[Usage, Usage]], settings: Settings, results: Results, found: Found
) -> None:
    results.cost = cost_json(pairs, settings)
    found.parts.append(table.cost_line(results.cost))


def _widths(settings: Settings, results: Results, found: Found, said: Said) -> None:
    from specedit.bench import widths

    said("measuring passes")
    results.widths = widths.measure(settings, results.threads)
    found.parts.append(table.widths_table(results.widths))


AGAINST = "transformers-assisted,transformers-lookup-10,llama.cpp-plain"  # beside drafters


def _drafters(
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


def _load(wanted: Wanted, settings: Settings, results: Results, found: Found, said: Said) -> None:
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


def _read(path: Path) -> dict[str, Any]:
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
        if found["command"] != "bench":
            raise KeyError
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(
            f"{path} is not a result of specedit bench --json", hint="specedit bench --json > FILE"
        ) from None
    return dict(found)


def _drawn(results: list[dict[str, Any]], folder: Path | None) -> Found:
    from specedit.bench.plots import draw

    written = draw(results, folder or Path())
    line = f"drew {', '.join(str(p) for p in written)}" if written else "nothing to draw"
    return Found(json={"plots": [str(p) for p in written]}, line=line)
