"""What people see of a run: a table of cases by peers, what was skipped, and one line.

Knows rich and rows; measures nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from specedit.bench.bound import Bound
from specedit.bench.gate import Tallied
from specedit.bench.peers import OWN
from specedit.bench.peers.base import PeerRun, Spent
from specedit.bench.quality import Score
from specedit.bench.side import PeerLine, SideRow
from specedit.bench.timing import Measured, best, geometric, speedup
from specedit.bench.tries import AtMost
from specedit.bench.workloads import share_changed

WIDE = 110  # columns, where there is no terminal to ask


def rows_table(rows: Sequence[SideRow], bound: Bound | None, *, verbose: bool) -> RenderableType:
    """Each case by each peer: seconds end to end, and how many times specedit's."""
    return Group(*(part for row in rows for part in _row(row, bound, verbose)))


def _row(row: SideRow, bound: Bound | None, verbose: bool) -> Iterable[RenderableType]:
    answer = row.measured[0].tokens if row.measured else 0
    yield Text(
        f"{row.case.id}: {row.case.lines} lines, {changed(row):.1%} changed, "
        f"{len(row.task.prompt)} tokens in, {answer} out",
        style="bold",
    )
    columns = ["seconds", "specedit is", "prefill", "decode", "tokens/s"]
    table = _table("peer", *columns, *(("spread", "passes", "as plain") if verbose else ()))
    for m in row.measured:
        table.add_row(*_cells(row, m, verbose))
    if bound is not None and row.measured:
        table.add_row("the machine's bound", *_bound_cells(row, bound))
    yield table
    own = row.of(OWN)
    if verbose and own is not None and own.runs[-1].spent is not None:
        yield Text(spent_line(own.runs[-1], own.runs[-1].spent), style="dim")
    yield Text()


def spent_line(run: PeerRun, spent: Spent) -> str:
    """Where the last run's time went."""
    return (
        f"specedit: prompt {run.prefill_s:.1f} s, {spent.free} passes without a draft "
        f"{spent.free_s:.1f}, {spent.drafted} with one {spent.drafted_s:.1f} "
        f"({spent.rejected} rejected ids {spent.rejected_s:.1f})"
    )


def _cells(row: SideRow, m: Measured, verbose: bool) -> Iterable[str]:
    times = speedup(row.measured, OWN, m.peer)
    yield m.peer
    yield f"{m.seconds('total_s'):.2f}"
    yield "" if m.peer == OWN or times is None else f"{times:.2f}x"
    yield f"{m.seconds('prefill_s'):.2f}"
    yield f"{m.seconds('decode_s'):.2f}"
    yield f"{m.tokens_per_second:.1f}"
    if verbose:
        yield f"{m.spread():.0%}"
        yield str(m.runs[-1].passes or "")
        yield {True: "identical", False: "differs", None: ""}[m.same]


def _bound_cells(row: SideRow, bound: Bound) -> Iterable[str]:
    least = bound.seconds(len(row.task.prompt), row.measured[0].tokens)
    own = row.of(OWN)
    yield f"{least:.2f}"
    if own is not None:
        yield f"{least / own.seconds('total_s'):.2f}x"


def _table(*names: str) -> Table:
    """Names to the left, numbers to the right."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for at, name in enumerate(names):
        table.add_column(name, justify="right" if at else "left", no_wrap=True)
    return table


def changed(row: SideRow) -> float:
    return 0.0 if row.case.after is None else share_changed(row.case.before, row.case.after)


def peers_table(lines: Iterable[PeerLine]) -> RenderableType:
    """Loading and memory of each peer."""
    table = _table("peer", "load s", "peak MB", "how")
    table.columns[-1].justify = "left"
    for p in lines:
        table.add_row(p.name, f"{p.load_s:.1f}", f"{p.peak_mb:.0f}", p.note)
    return table


def skipped(lines: Iterable[PeerLine]) -> list[RenderableType]:
    """Each peer that did not run, and why."""
    return [Text(f"{p.name} skipped: {p.skipped}", style="yellow") for p in lines if p.skipped]


def scores_table(scores: Iterable[Score]) -> RenderableType:
    table = _table("who", "cases", "passed", "pass@1", "refused", "seconds")
    for s in scores:
        share = f"{100 * s.share:.1f} %"
        table.add_row(
            s.name, str(s.cases), str(s.passed), share, str(s.refused), f"{s.seconds:.0f}"
        )
    return table


def tries_table(rows: Sequence[AtMost]) -> RenderableType:
    """pass@k by k, and what it costs, beside the same without predictions where that was run."""
    beside = all(row.alone_s is not None for row in rows)
    more = ("without predictions", "passes") if beside else ()
    table = _table("tries", "cases", "passed", "seconds", "passes", *more, "tests")
    for row in rows:
        alone = (f"{row.alone_s:.0f} s", f"{row.alone_passes:,}") if beside else ()
        table.add_row(
            *(f"at most {row.k}", str(row.cases), str(row.passed)),
            *(f"{row.seconds:.0f}", f"{row.passes:,}", *alone, f"{row.test_s:.0f} s"),
        )
    return table


def drafters_tables(rows: Sequence[Mapping[str, Any]]) -> list[RenderableType]:
    """A table for each workload: what each drafter made of it; before them, all side by side."""
    made: list[RenderableType] = []
    loads = list(dict.fromkeys(row["workload"] for row in rows))
    if len(loads) > 1:
        all_of = _table("times plain", *loads)
        times = {(row["row"], row["workload"]): row["times_plain"] for row in rows}
        for name in dict.fromkeys(row["row"] for row in rows):
            all_of.add_row(name, *(_number(times.get((name, load))) for load in loads))
        made += [all_of, Text()]
    for workload in loads:
        mine = [row for row in rows if row["workload"] == workload]
        head = f"{workload}: {mine[0]['cases']} cases, {mine[0]['tokens']:,} tokens"
        columns = ("tokens/pass", "accepted at 1, 2, 3, 4", "drafting ms", "ms a token", "as plain")
        table = _table("drafters", *columns)
        for row in mine:
            depths = ["-" if at is None else f"{at:.0%}" for at in row["acceptance"][:4]]
            table.add_row(
                *(row["row"], _number(row["tokens_a_pass"]), " ".join(depths)),
                *(f"{row['drafting_ms']:.1f}", f"{row['ms_a_token']:.1f}"),
                _number(row["times_plain"]) + ("" if row["same"] else " (another text)"),
            )
        made += [Text(head, style="bold"), table, Text()]
    return made


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def gate_table(groups: Mapping[str, Tallied]) -> RenderableType:
    """What the gate said of each group: the sums, then each kind with the answers that have it."""
    table = _table("kind", *groups)
    sums = {"answers": [str(group.answers) for group in groups.values()]}
    for name in ("refused", "noted"):
        numbers = [(group, int(getattr(group, name))) for group in groups.values()]
        sums[name] = [f"{number} ({group.share(number):.1%})" for group, number in numbers]
    for name, row in sums.items():
        table.add_row(Text(name, "bold"), *row)
    for kind in dict.fromkeys(kind for group in groups.values() for kind in group.kinds):
        table.add_row(kind, *(str(group.kinds[kind] or "") for group in groups.values()))
    return table


def conclusion(rows: Sequence[SideRow], bound: Bound | None) -> str:
    """One line: how many times as fast as each kind of peer, over all cases."""
    parts = []
    for label, beginning, fastest in KINDS:
        ratios = [r for row in rows if (r := _ratio(row, beginning, fastest)) is not None]
        if ratios:
            parts.append(f"{geometric(ratios):.1f}x {label}")
    if bound is not None:
        over = [r for row in rows if (r := over_bound(row, bound)) is not None]
        if over:
            parts.append(f"{geometric(over):.1f} times the machine's bound")
    said = ", ".join(parts) or "nothing to compare with"
    return f"specedit, end to end, {_counted(rows)}: {said}"


def _counted(rows: Sequence[SideRow]) -> str:
    return "1 case" if len(rows) == 1 else f"{len(rows)} cases"


KINDS = (
    ("specedit plain", "specedit-plain", False),
    ("transformers greedy", "transformers-greedy", False),
    ("transformers' best lookup", "transformers-lookup", True),
    ("llama.cpp plain", "llama.cpp-plain", False),
    ("llama.cpp's best lookup", "llama.cpp-lookup", True),
    ("OpenVINO plain", "openvino-plain", False),
    ("OpenVINO's lookup", "openvino-lookup", True),
)


def differences(rows: Sequence[SideRow]) -> list[str]:
    """For each peer with a plain way: in how many files its answer is not its own plain one."""
    said = []
    for peer in dict.fromkeys(m.peer for row in rows for m in row.measured):
        asked = [m.same for row in rows if (m := row.of(peer)) and m.same is not None]
        if asked:
            said.append(
                f"{peer}: {asked.count(False)} of {len(asked)} answers differ from its own plain"
            )
    return said


def told(rows: Sequence[SideRow]) -> RenderableType:
    """Whose answers these are."""
    if any(row.task.dictated for row in rows):
        text = "every peer writes the same given answer; with --own each writes its own"
    else:
        text = "\n".join(["each peer writes its own answer", *differences(rows)])
    return Text(text, style="dim")


def _ratio(row: SideRow, beginning: str, fastest: bool) -> float | None:
    if not fastest:
        return speedup(row.measured, OWN, beginning)
    found = best(row.measured, beginning)
    return None if found is None else speedup(row.measured, OWN, found.peer)


def over_bound(row: SideRow, bound: Bound) -> float | None:
    """How many times the least possible seconds specedit took."""
    own = row.of(OWN)
    if own is None:
        return None
    return own.seconds("total_s") / bound.seconds(len(row.task.prompt), own.tokens)


def show(*parts: RenderableType) -> None:
    """On stdout: what was asked for."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = WIDE
    console.print(Group(*parts))


def widths_table(widths: Mapping[str, Sequence[tuple[int, float]]]) -> RenderableType:
    """Milliseconds of a pass: an engine a row, a width a column."""
    wide = sorted({w for points in widths.values() for w, _ in points})
    table = _table("ms at width", *(str(w) for w in wide))
    for engine, points in widths.items():
        known = dict(points)
        table.add_row(engine, *(f"{1000 * known[w]:.0f}" if w in known else "" for w in wide))
    return table


def cost_line(cost: Mapping[str, Any]) -> RenderableType:
    """The hosted bill, in cents, of all edits."""
    plain, predicted = 100 * cost["plain_dollars"], 100 * cost["predicted_dollars"]
    return Text(
        f"hosted, at {cost['price_input']:g} and {cost['price_output']:g} dollars a million: "
        f"{plain:.4f} cents without a prediction, {predicted:.4f} with one "
        f"({cost['rejected']} rejected tokens billed); here: nothing"
    )


def load_table(levels: Sequence[Mapping[str, Any]]) -> RenderableType:
    """A server, a way and a load a row."""
    columns = ("at once", "requests", "steps", "tokens", "tokens/s", "p50 s", "p95 s", "first s")
    found = _table("server", "predictions", *columns, "same texts")
    for one in levels:
        failed = len(one["failed"])
        found.add_row(
            one["server"],
            one["predictions"],
            str(one["at_once"]),
            f"{one['requests']}" + (f" ({failed} failed)" if failed else ""),
            "" if one["steps"] is None else str(one["steps"]),
            str(one["tokens"]),
            f"{one['tokens_per_second']:.1f}",
            f"{one['p50_s']:.2f}",
            f"{one['p95_s']:.2f}",
            f"{one['first_text_s']:.2f}",
            f"{one['same_texts']} of {one['requests']}",
        )
    return found


def load_conclusion(levels: Sequence[Mapping[str, Any]]) -> str:
    """One line a server with predictions: tokens a second, times those without, at each load."""
    said = []
    for server in dict.fromkeys(one["server"] for one in levels):
        rate = {
            (one["predictions"], one["at_once"]): one["tokens_per_second"]
            for one in levels
            if one["server"] == server
        }
        times = [
            f"{rate['with', n] / rate['without', n]:.2f} at {n}"
            for way, n in rate
            if way == "with" and rate.get(("without", n))
        ]
        if times:
            said.append(f"{server}, tokens/s with predictions over without: {', '.join(times)}")
    return "\n".join(said) or "no server was measured with predictions"


def agreement_table(found: Mapping[str, Any]) -> RenderableType:
    """A file a row: how often int8 chose as bf16 did, and both perplexities."""
    table = _table("file", "tokens", "same choice", "perplexity", "of bf16", "ratio")
    for name, one in (*found["files"].items(), ("all", found["total"])):
        table.add_row(
            name,
            str(one["tokens"]),
            f"{one['agreement']:.2%}",
            f"{one['perplexity']:.3f}",
            f"{one['perplexity_bf16']:.3f}",
            f"{one['ratio']:.4f}",
        )
    return table
