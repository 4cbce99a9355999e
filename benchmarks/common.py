"""What the scripts share: arguments, halves of the cases, and results as JSON lines."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from specedit import Editor
from specedit.edit.report import Edit
from specedit.errors import SpeceditError
from specedit.settings import Settings, resolve

T = TypeVar("T")
HALVES = {"all": slice(None), "even": slice(0, None, 2), "odd": slice(1, None, 2)}


def parser(description: str | None, *, cases: bool = True) -> argparse.ArgumentParser:
    """`--set KEY=VALUE` takes any setting of specedit."""
    made = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    made.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    if cases:
        made.add_argument("cases", type=Path, metavar="CASES", help="JSON lines")
        made.add_argument(
            "--half", choices=HALVES, default="all", help="even decides, odd confirms"
        )
        made.add_argument("--first", type=int, default=0, help="only the first N of them")
        made.add_argument("--out", type=Path, help="add a line for each case; skip those there")
    return made


def part(cases: list[T], options: argparse.Namespace) -> list[T]:
    """The cases of `--half` and `--first`."""
    return cases[HALVES[options.half]][: options.first or None]


def settings_of(options: argparse.Namespace, **more: Any) -> dict[str, Any]:
    """Settings as flags: those of `--set`, and `more`. No server and no retry unless asked for."""
    given = dict(pair.split("=", 1) for pair in options.set)
    values = {"server": "off", "tries": 1, **more}
    for name, text in given.items():
        values[name] = {"true": True, "false": False}.get(text, text)
    return {name: _typed(name, value) for name, value in values.items()}


def _typed(name: str, value: Any) -> Any:
    kind = type(getattr(Settings(), name, value))
    return kind(value) if isinstance(value, str) and kind in (int, float) else value


def resolved(options: argparse.Namespace, **more: Any) -> Settings:
    return resolve(settings_of(options, **more)).values


def recorded(
    out: Path | None, ids: Iterable[str], measure: Callable[[str], dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """A row for each id: from the file if it is there, else measured and added to the file."""
    known = {} if out is None or not out.exists() else {row["id"]: row for row in rows(out)}
    for number, name in enumerate(ids, 1):
        row = known.get(name)
        if row is None:
            if sys.stderr.isatty():
                print(f"\r\x1b[K{number}: {name}", end="", file=sys.stderr, flush=True)
            row = {"id": name, **measure(name)}
            if out is not None:
                with out.open("a", encoding="utf-8", errors="surrogatepass") as file:
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
        yield row


def edited_alone(
    editor: Editor, instruction: str, name: str, text: str, files: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """One edit of a file that is alone in a folder but for `files`: its status, the new text or the
    refused one (`answer`; None where nothing changed), the seconds, and its figures."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for path, content in {**(files or {}), name: text}.items():
            Path(path).write_bytes(content.encode("utf-8", "surrogatepass"))
        started = time.perf_counter()
        row: dict[str, Any]
        try:
            edit = editor.edit(instruction, Path(name))
        except SpeceditError as problem:
            row = {"status": "failed", "problems": [str(problem)], "answer": None}
        else:
            data = Path(edit.kept).read_bytes() if edit.kept else edit.after
            answer = data.decode("utf-8", "surrogatepass") if edit.kept or edit.changed else None
            row = {"status": edit.status, "answer": answer, **figures_of(edit)}
        return {**row, "seconds": round(time.perf_counter() - started, 2)}


def figures_of(edit: Edit) -> dict[str, Any]:
    """What an edit reports, for a row of results."""
    return {
        "problems": list(edit.problems),
        "notes": list(edit.notes),
        "prompt": edit.figures.prompt,
        "completion": edit.figures.completion,
        "passes": edit.figures.passes,
        "tries": len(edit.tries) or 1,
        "regions": [list(region.lines) for region in edit.figures.regions],
        "added": edit.added,
        "removed": edit.removed,
        "signals": list(edit.signals),
        "confidence": edit.confidence,
        "sure": edit.sure,
    }


def rows(path: Path) -> list[dict[str, Any]]:
    lines = path.read_text(encoding="utf-8", errors="surrogatepass").split("\n")
    return [json.loads(line) for line in lines if line]


def run(main: Callable[[], int | None]) -> None:
    """Run a script; an error of specedit is one line."""
    try:
        sys.exit(main() or 0)
    except SpeceditError as problem:
        sys.exit(str(problem))
