"""`rename --dry-list`: every place of a rename by file, with its reason. No model is asked."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

from specedit.check.finding import Finding
from specedit.cli.links import allowed
from specedit.cli.output import put_json
from specedit.edit.inputs import Planner, of_files
from specedit.edit.job import Job
from specedit.edit.outcome import failed, outcome
from specedit.edit.report import Edit, Report
from specedit.errors import FileError
from specedit.settings import Settings
from specedit.view.terminal import harmless


def dry_list(names: tuple[str, ...], planner: Planner, settings: Settings) -> int:
    """Print the places that a rename would change, and those that it would leave."""
    edits = tuple(_edits(names, planner))
    report = Report("rename", edits)
    if settings.json:
        put_json(report)
    else:
        for edit in edits:
            for line in _lines(edit):
                print(harmless(line))
        print(_sum(edits), file=sys.stderr)
    return report.exit_code()


def _edits(names: tuple[str, ...], planner: Planner) -> Iterator[Edit]:
    for item in of_files(names, (), allowed(list(names))):
        try:
            source = item.read()
            planned = planner(source)
        except FileError as problem:
            yield failed(item.name, problem)
            continue
        if isinstance(planned, Edit):
            yield planned
            continue
        yield _expected(planned)


def _expected(job: Job) -> Edit:
    """What becomes of a file by rule."""
    judged = job.judge(job.known or job.source.text)
    edit = replace(outcome(job.source, judged.text), changes=judged.changes)
    return edit.noting(*job.findings, *judged.findings)


def _lines(edit: Edit) -> Iterator[str]:
    for one in edit.changes:
        why = f"{one.kind}: {one.why}" if one.kind == "code" else one.why
        old = " ".join(one.old.split())
        yield f"{edit.path}:{one.line}:{one.column}: {old} -> {one.new}  ({why})"
    for text in edit.findings:
        if text.kind == "by-rule":
            continue  # a list asks no model
        yield from _said(edit.path, text)


def _said(path: str, said: Finding) -> Iterator[str]:
    at = f"{path}:{said.places[0].line}" if said.places else path
    sign = {"undecided": "?", "other": "=", "outside": "=", "left": "="}.get(said.kind, "!")
    yield f"{at}: {sign} {said.text}"


def _sum(edits: tuple[Edit, ...]) -> str:
    places = sum(len(edit.changes) for edit in edits)
    files = sum(bool(edit.changes) for edit in edits)
    undecided = sum(one.kind == "undecided" for edit in edits for one in edit.findings)
    more = f", {undecided} undecided" if undecided else ""
    return f"{places} places in {files} files{more}; nothing was asked or written"
