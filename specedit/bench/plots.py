"""Results as plots: SVG for reading closely, PNG for everywhere else.

Draws from the JSON that `specedit bench --json` prints. Knows matplotlib, which comes with
`pip install 'specedit[bench]'`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from specedit.bench.widths import PART
from specedit.errors import UsageError

OWN = "specedit"
COLOURS = {
    "specedit": "#0b6e4f",
    "specedit-plain": "#7fb69e",
    "transformers-greedy": "#c44536",
    "transformers-lookup-10": "#e28413",
    "transformers-lookup-32": "#f2b56b",
    "transformers-assisted": "#8f2d56",
    "llama.cpp-plain": "#3d5a80",
    "llama.cpp-lookup-2": "#5f87b5",
    "llama.cpp-lookup-5": "#6f8fb3",
    "llama.cpp-lookup-10": "#7d97b8",
    "llama.cpp-lookup-20": "#a9bcd3",
    "openvino-plain": "#6d597a",
    "openvino-lookup": "#a893b8",
}
LOADS = ("#c44536", "#0b6e4f", "#3d5a80", "#e28413", "#6d597a", "#5f87b5")
BOUND = "the machine's bound"
SMALL = 0.1  # of a file changed, at most, in an edit that is called small
ENGINES = {"exact": "specedit, exact int8", "bf16": "transformers, bf16", "llama": "llama.cpp"}
Result = Mapping[str, Any]


def draw(results: Sequence[Result], folder: Path) -> list[Path]:
    """Every plot the results have data for; returns the files written."""
    plot = _pyplot()
    folder.mkdir(parents=True, exist_ok=True)
    cases = [c for r in results for c in r["cases"]]
    loads = [one for r in results for one in r.get("load") or ()]
    widths = [r for r in results if r["widths"]]
    written: list[Path] = []
    small = [c for c in cases if c["changed"] <= SMALL]
    for name, wanted, paint in (
        ("speedup", [c for c in cases if len(c["peers"]) > 1], _speedup),
        ("seconds", small, _seconds),
        ("widths", widths, _widths),
        ("tries", [r for r in results if r.get("tries")], _tries),
        ("drafters", [row for r in results for row in r.get("drafters") or ()], _drafters),
        ("load-rate", loads, _load_rate),
        ("load-seconds", loads, _load_seconds),
    ):
        if wanted:
            figure, axes = plot.subplots(figsize=(7, 4.2), layout="constrained")
            paint(axes, wanted)
            axes.grid(alpha=0.25)
            axes.spines[["top", "right"]].set_visible(False)
            axes.set_title(caption(results), loc="right", fontsize=6, color="#777777")
            for ending in ("svg", "png"):
                path = folder / f"{name}.{ending}"
                figure.savefig(path, dpi=130, metadata=_still(ending))
                written.append(path)
            plot.close(figure)
    return written


def caption(results: Sequence[Result]) -> str:
    """Where and when; all of them, when results of several machines are drawn together."""
    measured = (
        f"{r['model']} · {r['machine']['processor']} · {r['machine']['threads']} threads · "
        f"{r['date']}"
        for r in results
    )
    return " · ".join([*dict.fromkeys(measured), "specedit bench --plots"])


def _speedup(axes: Any, cases: Sequence[Mapping[str, Any]]) -> None:
    """How many times as fast as each peer, against the share of the file that changed."""
    for peer, points in sorted(ratios(cases).items()):
        middle = middles(points)
        axes.plot(
            [100 * x for x, _ in points],
            [y for _, y in points],
            "o",
            ms=3,
            alpha=0.35,
            color=_colour(peer),
        )
        axes.plot(
            [100 * x for x, _ in middle],
            [y for _, y in middle],
            "-",
            lw=1.6,
            label=peer,
            color=_colour(peer),
        )
    axes.axhline(1, color="#999999", lw=0.8, ls=":")
    axes.set_yscale("log")
    _plain_numbers(axes.yaxis, (1, 2, 3, 5, 10, 20))
    axes.set_xlabel("share of the file that changed, %")
    axes.set_ylabel("times as fast, end to end")
    axes.set_title("specedit against …", loc="left", fontsize=10)
    axes.legend(fontsize=7, frameon=False)


def _seconds(axes: Any, cases: Sequence[Mapping[str, Any]]) -> None:
    """Seconds end to end against the file's length."""
    for peer, points in sorted(seconds(cases).items()):
        axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            "v--" if peer == BOUND else "o-",
            ms=4,
            lw=1.5,
            label=peer,
            color=_colour(peer),
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    _plain_numbers(axes.xaxis, sorted({c["lines"] for c in cases}), most=6)
    _plain_numbers(axes.yaxis, (1, 2, 5, 10, 20, 50, 100, 200, 500))
    axes.set_xlabel("lines of the file")
    axes.set_ylabel("seconds, end to end")
    axes.set_title("A small edit of a whole file", loc="left", fontsize=10)
    axes.legend(fontsize=7, frameon=False)


def _widths(axes: Any, results: Sequence[Result]) -> None:
    """Milliseconds of a pass against its width."""
    for result in results:
        whole = {e: p for e, p in result["widths"].items() if not e.startswith(PART)}
        for engine, points in whole.items():
            x, y = [p["width"] for p in points], [p["ms"] for p in points]
            machine = f", {result['machine']['processor']}" if len(results) > 1 else ""
            axes.plot(x, y, "o-", ms=4, label=f"{ENGINES.get(engine, engine)}{machine}")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    _plain_numbers(axes.xaxis, (1, 2, 4, 8, 16, 32, 64, 128, 256))
    _plain_numbers(axes.yaxis, (20, 50, 100, 200, 500, 1000, 2000))
    axes.set_xlabel("width of the pass, tokens")
    axes.set_ylabel("milliseconds")
    axes.set_title("What a pass costs", loc="left", fontsize=10)
    axes.legend(fontsize=7, frameon=False)


def _tries(axes: Any, results: Sequence[Result]) -> None:
    """The share of cases that pass, by how many tries there are at most; at each point the passes,
    over those of one try."""
    for at, result in enumerate(results):
        rows = result["tries"]["curve"]
        x, y = [row["k"] for row in rows], [100 * row["passed"] / row["cases"] for row in rows]
        judge = f"judged by the {result['tries']['judge']}"
        axes.plot(x, y, "o-", ms=4, label=judge, color=LOADS[at % len(LOADS)])
        for row, left, up in zip(rows, x, y, strict=True):
            cost = row["passes"] / rows[0]["passes"] if rows[0]["passes"] else 0.0
            axes.annotate(
                f"×{cost:.2f}",
                (left, up),
                fontsize=6,
                xytext=(2, -9 if at % 2 else 5),  # two lines may go the same way
                textcoords="offset points",
            )
    _plain_numbers(axes.xaxis, sorted({row["k"] for r in results for row in r["tries"]["curve"]}))
    axes.set_xlabel("tries at most (×: passes of the model, over those of one try)")
    axes.set_ylabel("cases that pass, %")
    axes.set_title("pass@k", loc="left", fontsize=10)
    axes.legend(fontsize=7, frameon=False)


def _drafters(axes: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """How many times as fast as plain decoding each drafter is, by what is written."""
    names = list(dict.fromkeys(row["row"] for row in rows))
    loads = list(dict.fromkeys(row["workload"] for row in rows))
    high = 0.8 / len(loads)
    for at, workload in enumerate(loads):
        found = {row["row"]: row["times_plain"] for row in rows if row["workload"] == workload}
        places = [n + at * high for n, name in enumerate(names) if found.get(name)]
        times = [found[name] for name in names if found.get(name)]
        axes.barh(places, times, height=high, label=workload, color=LOADS[at % len(LOADS)])
    axes.set_yticks([n + 0.4 - high / 2 for n in range(len(names))], names, fontsize=7)
    axes.invert_yaxis()
    axes.axvline(1, color="#999999", lw=0.8, ls=":")
    axes.set_xlabel("times as fast as plain decoding")
    axes.set_title("Drafters, by what is written", loc="left", fontsize=10)
    axes.legend(fontsize=7, frameon=False)


def _load_rate(axes: Any, loads: Sequence[Mapping[str, Any]]) -> None:
    """Tokens a second of all requests together, against how many come at once."""
    _lines_of(axes, loads, "tokens_per_second", "-")
    axes.set_ylabel("tokens a second, all together")
    axes.set_title("Edits that arrive at a server", loc="left", fontsize=10)
    axes.legend(fontsize=7, frameon=False)


def _load_seconds(axes: Any, loads: Sequence[Mapping[str, Any]]) -> None:
    """Seconds of an edit: the median as a line, the 95th percentile dashed."""
    _lines_of(axes, loads, "p50_s", "-")
    _lines_of(axes, loads, "p95_s", "--", labelled=False)
    axes.set_yscale("log")
    _plain_numbers(axes.yaxis, (1, 2, 5, 10, 20, 50, 100, 200, 500))
    axes.set_ylabel("seconds of an edit: median, and dashed the 95th percentile")
    axes.set_title("Waiting for an edit", loc="left", fontsize=10)
    axes.legend(fontsize=7, frameon=False)


def _lines_of(
    axes: Any, loads: Sequence[Mapping[str, Any]], what: str, style: str, *, labelled: bool = True
) -> None:
    names = list(dict.fromkeys((one["server"], one["predictions"]) for one in loads))
    for n, (server, way) in enumerate(names):
        points = sorted(
            (one["at_once"], one[what])
            for one in loads
            if (one["server"], one["predictions"]) == (server, way)
        )
        label = f"{server}, {way} predictions" if labelled else None
        colour = LOADS[n % len(LOADS)]
        x, y = [x for x, _ in points], [y for _, y in points]
        axes.plot(x, y, f"o{style}", ms=4, lw=1.5, label=label, color=colour)
    axes.set_xscale("log", base=2)
    _plain_numbers(axes.xaxis, sorted({one["at_once"] for one in loads}))
    axes.set_xlabel("edits that arrive while one is written alone")


def ratios(cases: Sequence[Mapping[str, Any]]) -> dict[str, list[tuple[float, float]]]:
    """For each other peer: (share changed, its seconds over specedit's), in order of the share."""
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for case in cases:
        own = case["peers"].get(OWN)
        if own is None:
            continue
        for peer, m in case["peers"].items():
            if peer != OWN:
                found[peer].append((case["changed"], m["total_s"] / own["total_s"]))
    return {peer: sorted(points) for peer, points in found.items()}


def middles(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The median of each of a few bins: a line through many points."""
    edges = (0.0, 0.001, 0.01, 0.05, 0.15, 0.35, 0.65, 1.01)
    out = []
    for low, high in pairwise(edges):
        inside = [(x, y) for x, y in points if low <= x < high]
        if inside:
            out.append((median(x for x, _ in inside), median(y for _, y in inside)))
    return out


def seconds(cases: Sequence[Mapping[str, Any]]) -> dict[str, list[tuple[int, float]]]:
    """For each peer and for the bound: (lines, median seconds), in order of length."""
    found: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for case in cases:
        for peer, m in case["peers"].items():
            found[peer][case["lines"]].append(m["total_s"])
        if case.get("bound_s"):
            found[BOUND][case["lines"]].append(case["bound_s"])
    return {p: sorted((n, median(v)) for n, v in by.items()) for p, by in found.items()}


def _colour(peer: str) -> str:
    return COLOURS.get(peer, "#444444")


def _plain_numbers(axis: Any, ticks: Sequence[int], most: int = 20) -> None:
    step = max(1, -(-len(ticks) // most))
    shown = list(ticks)[::step]
    axis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_minor_formatter(lambda value, _: "")
    low, high = axis.get_view_interval()
    axis.set_ticks([t for t in shown if low <= t <= high])
    axis.set_view_interval(low, high, ignore=True)


def _still(ending: str) -> dict[str, Any]:
    """No date inside: the same results give the same file."""
    return {"Date": None} if ending == "svg" else {"Software": None}


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise UsageError(
            "Plots need matplotlib.", hint="pip install 'specedit[bench]', or leave out --plots"
        ) from None
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "specedit"
    matplotlib.rcParams["svg.fonttype"] = "none"  # text stays text: a tenth of the size
    import matplotlib.pyplot as plot

    return plot
