"""`specedit rename OLD NEW [FILE...]`"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from specedit.cli.options import (
    SHARED,
    Changed,
    Since,
    Staged,
    argument,
    flag,
    option,
    settings_options,
)
from specedit.cli.streams import put_json
from specedit.settings import Resolved
from specedit.view.terminal import harmless

if TYPE_CHECKING:
    from specedit.cli.targets import ResolvedTargets, Targets
    from specedit.edit.job import Job
    from specedit.edit.report import Edit
    from specedit.edit.request import Planner
    from specedit.settings import Settings


@settings_options("scope", "no_model", *SHARED, asks=True)
def rename(
    old: str = argument("OLD", "The identifier, or Class.member; or a file to move"),
    new: str = argument("NEW", "The new name, or the file's new place"),
    files: list[str] | None = argument("FILE", "Files; without them: the whole work tree", None),
    line: int | None = option(
        None, "Rename only the definition that the name on line N of FILE refers to", metavar="N"
    ),
    dry_list: bool = flag(
        "--dry-list", "List every place with its reason; write nothing and ask no model"
    ),
    staged: Staged = False,
    changed: Changed = False,
    since: Since = None,
    *,
    resolved: Resolved,
) -> int:
    """Rename an identifier in code, comments and documentation."""
    import gc
    from dataclasses import replace

    from specedit.cli.file_move import is_move, move
    from specedit.cli.run_command import run_command
    from specedit.cli.targets import Targets, resolve_targets
    from specedit.edit.report import Report
    from specedit.errors import UsageError
    from specedit.files.recorder import Wish
    from specedit.syntax.identifiers import sought

    gc.disable()  # a tenth of the time went into looking through syntax trees
    if is_move(old, new):
        if files or line is not None or staged or changed or since:
            raise UsageError("When a file is moved, neither other files nor --line can be named.")
        return move(old, new, replace(resolved.values, check=resolved.values.check or dry_list))
    derived = resolved.values.scope == "derived"
    wanted = Targets(
        tuple(files or ()),
        staged=staged,
        changed=changed,
        since=since,
        containing=sought(old, derived=derived),
        any_case=derived,
    )
    _refuse_kinds(resolved)
    targets = resolve_targets(wanted, resolved)
    names, settings = targets.names, targets.settings
    if not names and wanted.from_git:
        if settings.json:
            put_json(Report("rename", ()))
        return 0
    settings = replace(settings, no_model=True) if dry_list else settings
    planner = _planner(names, wanted, old, new, line, settings)
    if dry_list:
        return _list_places(targets, planner, settings)
    wish, together = Wish(f"{old} to {new}"), len(names) > 1
    return run_command("rename", targets, planner, wish, together=together)


def _refuse_kinds(resolved: Resolved) -> None:
    """Of flags that speak of what a rename cannot do; settings are for edits, too."""
    from specedit.check.finding import OF_RENAMES, parsed_verdicts
    from specedit.errors import UsageError

    allowed = resolved.values.allow.replace(",", " ").split()
    gate = list(parsed_verdicts(resolved.values.gate))
    for setting, kinds in (("gate", gate), ("allow", allowed)):
        others = [one for one in kinds if one not in OF_RENAMES]
        if others and resolved.origins[setting] == "flag":
            raise UsageError(
                f"--{setting} {others[0]}: a rename has no findings of this kind.",
                hint=f"The kinds of a rename are {' and '.join(OF_RENAMES)}.",
            )


def _planner(
    names: tuple[str, ...],
    targets: Targets,
    old: str,
    new: str,
    line: int | None,
    settings: Settings,
) -> Planner:
    """One file as it stands, or the files as one change."""
    from functools import partial

    from specedit.errors import UsageError
    from specedit.rename.planning import plan_rename

    one = partial(plan_rename, old=old, new=new, settings=settings, line=line)
    if names == ("-",):
        return one
    from specedit.rename.tree import Tree, plan, with_mention

    tree = Tree.around(names)
    if len(targets.names) == 1:
        return lambda source: with_mention(
            one(source), tree.elsewhere(source.name, old, line) if tree is not None else None
        )
    if line is not None:
        raise UsageError("--line needs the name of one file.", hint="rename OLD NEW FILE --line N")
    tree = tree or Tree.of_files(names)
    some = bool(targets.names) or targets.from_git
    result = tree.rename(names, old, new, settings, some=some)
    return lambda source: plan(tree, result, source, settings)


SIGNS = {"undecided": "?", "other": "=", "outside": "=", "left": "="}  # by kind of finding


def _list_places(targets: ResolvedTargets, planner: Planner, settings: Settings) -> int:
    """Print every place that a rename would change or leave, by file, with its reason. No model
    runs."""
    from specedit.cli.targets import allowed_links
    from specedit.edit.outcome import failed
    from specedit.edit.report import Edit, Report
    from specedit.edit.request import of_files
    from specedit.errors import FileError

    edits: list[Edit] = []
    names = targets.names
    for item in of_files(names, (), allowed_links(names), skips=targets.searched):
        try:
            planned = planner(item.read())
            edits.append(planned if isinstance(planned, Edit) else _by_rule(planned))
        except FileError as problem:
            edits.append(failed(item.name, problem))
    report = Report("rename", tuple(edits))
    if settings.json:
        put_json(report)
        return report.exit_code()
    for line in (line for edit in edits for line in _lines(edit)):
        print(harmless(line))
    places, files = sum(len(edit.changes) for edit in edits), sum(bool(e.changes) for e in edits)
    undecided = sum(one.kind == "undecided" for edit in edits for one in edit.findings)
    more = f", {undecided} undecided" if undecided else ""
    text = f"{places} places in {files} files{more}; nothing was asked or written"
    print(text, file=sys.stderr)
    return report.exit_code()


def _by_rule(job: Job) -> Edit:
    """The Edit by rule, without a model."""
    from dataclasses import replace

    from specedit.edit.outcome import outcome

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
