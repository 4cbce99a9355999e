"""Draw what `python -m benchmarks.speed --json` measured, as SVG and PNG (pip install matplotlib).

python -m benchmarks.speed --kinds all --lines 50,200,800 --json > result.json
python -m benchmarks.plots result.json FOLDER
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import matplotlib

from benchmarks.speed.peers import OWN

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "specedit"
matplotlib.rcParams["svg.fonttype"] = "none"  # text stays text: a tenth of the size

from matplotlib import pyplot  # noqa: E402

TICKS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)
AXES = {  # of each plot: its title, x and y
    "speedup": ("specedit against …", "share of the file that changed, %", "times as fast"),
    "seconds": ("An edit of a whole file", "lines of the file", "seconds, end to end"),
    "widths": ("What a pass costs", "width of the pass, tokens", "milliseconds"),
}
Lines = dict[str, list[tuple[float, float]]]


def lines(result: Mapping[str, Any]) -> dict[str, Lines]:
    """The lines of each plot that the result has data for."""
    runs = [(c, peer, m["total_s"]) for c in result["cases"] for peer, m in c["peers"].items()]
    speedup = [
        (peer, max(100 * c["changed"], 0.1), seconds / c["peers"][OWN]["total_s"])
        for c, peer, seconds in runs
        if peer != OWN and OWN in c["peers"]
    ]
    widths = [(e, p["width"], p["ms"]) for e, points in result["widths"].items() for p in points]
    plots = {
        "speedup": _medians(speedup),
        "seconds": _medians((peer, c["lines"], seconds) for c, peer, seconds in runs),
        "widths": _medians(widths),
    }
    return {name: value for name, value in plots.items() if value}


def _medians(points: Iterable[tuple[str, float, float]]) -> Lines:
    """For each name: (x, median of y), in order of x."""
    by_name: dict[str, dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for name, x, y in points:
        by_name[name][x].append(y)
    return {name: sorted((x, median(y)) for x, y in by.items()) for name, by in by_name.items()}


def draw(result: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw every plot, with logarithmic axes; returns the files written."""
    machine = result["machine"]
    folder.mkdir(parents=True, exist_ok=True)
    about = f"{machine['processor']} · {machine['threads']} threads · {result['date']}"
    written = []
    for name, plot in lines(result).items():
        title, x, y = AXES[name]
        figure, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
        for label, points in sorted(plot.items()):
            axes.plot(*zip(*points, strict=True), "o-", ms=4, label=label)
        axes.set(xscale="log", yscale="log", xlabel=x, ylabel=y)
        for axis in (axes.xaxis, axes.yaxis):
            low, high = axis.get_view_interval()
            axis.set_ticks([t for t in TICKS if low <= t <= high])
            axis.set_major_formatter(lambda value, _: f"{value:g}")
            axis.set_minor_formatter(lambda value, _: "")
        axes.set_title(title, loc="left", fontsize=10)
        axes.set_title(f"{result['model']} · {about}", loc="right", fontsize=6)
        axes.grid(alpha=0.25)
        axes.legend(fontsize=7, frameon=False)
        # no date inside: the same result gives the same file
        for ending, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
            written.append(folder / f"{name}.{ending}")
            figure.savefig(written[-1], dpi=130, metadata=metadata)
        pyplot.close(figure)
    return written


if __name__ == "__main__":
    for path in draw(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])):
        print(path)
