"""`rename --dry-list`: every place of a rename by file, with its reason. No model runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

from specedit.cli.streams import put_json
from specedit.cli.targets import allowed_links
from specedit.edit.inputs import Planner, of_files
from specedit.edit.job import Job
from specedit.edit.outcome import failed, outcome
from specedit.edit.report import Edit, Report
from specedit.errors import FileError
from specedit.settings import Settings
from specedit.view.terminal import harmless

SIGNS = {"undecided": "?", "other": "=", "outside": "=", "left": "="}  # by kind of finding


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
    for item in of_files(names, (), allowed_links(names)):
        try:
            planned = planner(item.read())
            yield planned if isinstance(planned, Edit) else _expected(planned)
        except FileError as problem:
            yield failed(item.name, problem)


def _expected(job: Job) -> Edit:
    """The Edit by rule, without a model."""
    judged = job.judge(job.known or job.source.text)
    edit = replace(outcome(job.source, judged.text), changes=judged.changes)
    return edit.noting(*job.findings, *judged.findings)


def _lines(edit: Edit) -> Iterator[str]:
    for one in edit.changes:
        why = f"{one.kind}: {one.why}" if one.kind == "code" else one.why
        old = " ".join(one.old.split())
        yield f"{edit.path}:{one.line}:{one.column}: {old} -> {one.new}  ({why})"
    for finding in edit.findings:
        if finding.kind != "by-rule":  # a list never asks a model
            at = f"{edit.path}:{finding.places[0].line}" if finding.places else edit.path
            yield f"{at}: {SIGNS.get(finding.kind, '!')} {finding.text}"


def _sum(edits: tuple[Edit, ...]) -> str:
    places = sum(len(edit.changes) for edit in edits)
    files = sum(bool(edit.changes) for edit in edits)
    undecided = sum(one.kind == "undecided" for edit in edits for one in edit.findings)
    more = f", {undecided} undecided" if undecided else ""
    return f"{places} places in {files} files{more}; nothing was asked or written"
