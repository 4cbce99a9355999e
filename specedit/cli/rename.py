"""`specedit rename OLD NEW [FILE...]`, and `specedit rename OLD.ext NEW.ext`, which moves a file or
a folder, with the imports of the others."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from specedit.check.finding import EXISTING_NAME, OF_RENAMES, SEVERAL, Finding
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
from specedit.cli.streams import put_json, say
from specedit.errors import FileError, InputError, UsageError
from specedit.settings import Settings
from specedit.view.terminal import name as one_line

if TYPE_CHECKING:
    from specedit.edit.report import Edit
    from specedit.edit.request import Planner
    from specedit.rename.tree_rename import UseLeft
    from specedit.settings import Settings


def is_move(old: str, new: str) -> bool:
    """Whether OLD is a file or a folder, and NEW can be its new place."""
    place = Path(old)
    is_alike = Path(new).suffix == place.suffix != ""
    is_path = "/" in new or is_alike
    if is_path and (is_alike or "/" in old) and not place.exists():
        raise InputError("no such file", file=old)
    return place.exists() and (is_path or (place.is_dir() and "/" in old))


@settings_options(
    *("scope", "no_model", "stdin_filename", *SHARED),
    asks=True,
    helps={"no_model": "Decide by rule: words that may be ordinary language stay"},
)
def rename(
    old: str = argument("OLD", "The identifier, or Class.member; or a file to move"),
    new: str = argument("NEW", "The new name, or the file's new place"),
    files: list[str] | None = argument("FILE", "Files; without them: the whole work tree", None),
    line: str | None = option(
        None, "Rename what line N of FILE refers to; FILE:N: everywhere", metavar="N"
    ),
    dry_list: bool = flag("--dry-list", "List every place with its reason; write nothing"),
    incomplete: bool = flag("--incomplete", "Rename although some uses stay that may be meant"),
    verify: bool = flag(
        "--verify", "Run the project's compiler before and after; undo what breaks it"
    ),
    staged: Staged = False,
    changed: Changed = False,
    since: Since = None,
    *,
    settings: Settings,
) -> int:
    """Rename an identifier in code, comments and documentation."""
    from specedit.cli.run_command import run_command
    from specedit.cli.targets import consistent, files_of, is_confirmed
    from specedit.files.recorder import Wish
    from specedit.syntax.identifiers import sought

    gc.disable()  # a tenth of the time went into looking through syntax trees
    if is_move(old, new):
        if files or line is not None or staged or changed or since:
            raise UsageError("When a file is moved, neither other files nor --line can be named.")
        from specedit.cli.move import move

        return move(old, new, replace(settings, check=settings.check or dry_list))
    derived = settings.scope == "derived"
    _refuse_kinds(settings)
    from_git = staged or changed or since is not None
    settings = consistent(settings, files or (), from_git=from_git)
    names = files_of(
        files or (),
        staged=staged,
        changed=changed,
        since=since,
        containing=sought(old, derived=derived),
        any_case=derived,
    )
    if not names and from_git:
        return _put_report((), shown=settings.json)
    settings = replace(settings, no_model=True) if dry_list else settings
    some = bool(files) or from_git
    plan = _plan(names, old, new, line, settings, alone=len(files or ()) == 1, some=some)
    if dry_list:
        return _list_places(names, plan.planner, settings, searched=not files)
    previews = settings.check or settings.diff
    asks = sys.stdin.isatty() and sys.stderr.isatty() and not (previews or is_confirmed(settings))
    if plan.several and asks and not settings.json:
        _confirm(plan.several, f"Rename the {plan.size}?")
    if plan.left and not incomplete:
        if settings.json:
            return _refuse_in_json(names, plan, searched=not files)
        left = partial(_left_text, plan.left, verbose=settings.verbose)
        if not asks:
            raise UsageError(
                left(end="; nothing was written"),
                hint=f"--dry-list shows them; --incomplete renames {plan.size}.",
            )
        _confirm(left(), f"Rename the {plan.size}, and leave these as they are?")
    if plan.moves and settings.test:
        raise UsageError("--test does not work when a file moves with its class.")
    wish = Wish(f"{old} to {new}")
    run = partial(
        run_command,
        "rename",
        names,
        settings,
        plan.planner,
        wish,
        searched=not files,
        moves=plan.moves,
    )
    if verify:
        return _verified(old, new, names, settings, plan, run)
    return run(together=len(names) > 1 or bool(plan.moves))


def _verified(
    old: str,
    new: str,
    names: Sequence[str],
    settings: Settings,
    plan: _Plan,
    run: Callable[..., int],
) -> int:
    """Rename, and undo it where a compiler or type checker of the project reports a new error."""
    from specedit.check.project_checks import Verification, checks_of
    from specedit.files.git import real, top_of
    from specedit.syntax.languages import language_of

    if settings.check or settings.diff or settings.test or names == ("-",):
        raise UsageError("--verify needs files to write: not --check, --diff, --test or stdin.")
    here = real(Path.cwd())
    root = top_of(here) or here
    changed = [
        (PurePosixPath(real(Path(name)).relative_to(root).as_posix()), language.name)
        for name in plan.changed or names
        if (language := language_of(name)) is not None
    ]
    checks = checks_of(root, changed)
    if not checks:
        languages = ", ".join(sorted({language for _, language in changed})) or "these files"
        raise UsageError(
            f"--verify: no compiler or type checker for {languages} is installed and set up here.",
            hint="specedit help rename lists them. --test COMMAND runs a command of yours.",
        )
    words = "|".join(re.escape(name.rpartition(".")[2]) for name in (old, new))
    about = re.compile(rf"\b({words})\b")
    with Verification(checks, lambda text: about.sub("", text)) as verification:
        code = run(together=True, verification=verification)
        if code == 0 and not settings.quiet:
            say(f"verified: {verification}")
    return code


def _refuse_kinds(settings: Settings) -> None:
    """Of flags that speak of what a rename cannot do; settings are for edits, too."""

    known = (*OF_RENAMES, EXISTING_NAME)
    others = [kind for kind in settings.allowed if kind not in known]
    if others and settings.is_flag("allow"):
        raise UsageError(
            f"--allow {others[0]}: a rename has no findings of this kind.",
            hint=f"The kinds of a rename are {', '.join(known)}.",
        )


@dataclass(frozen=True, slots=True)
class _Plan:
    """A rename before it is run. Of a whole work tree: how many places it changes in which files,
    and the uses that stay although they may mean what is renamed."""

    planner: Planner
    places: int = 0
    changed: Sequence[str] = ()
    left: Sequence[UseLeft] = ()
    several: str = ""  # that the name means several things; "" where the user named the files
    moves: Mapping[str, str] = field(default_factory=dict)  # of files named after a renamed class

    @property
    def size(self) -> str:
        from specedit.view.colours import count  # rich takes 30 ms

        return f"{count(self.places, 'place')} in {count(len(self.changed), 'file')}"


def _plan(
    names: tuple[str, ...],
    old: str,
    new: str,
    line: str | None,
    settings: Settings,
    *,
    alone: bool,
    some: bool,
) -> _Plan:
    """Plans one file as it stands, or the files as one change, whose places are known already.
    `alone`: the user named one file; `some`: files were named, or chosen by git."""
    from specedit.rename.tree import Tree, plan_rename

    place, _, digits = (line or "").rpartition(":")
    number = int(digits) if digits.isdecimal() else None
    if line is not None and (number is None or not (place or alone)):
        raise UsageError(
            "--line needs a line and its file.",
            hint="rename OLD NEW FILE --line N in one file; rename OLD NEW --line FILE:N in all",
        )
    plan_file = partial(plan_rename, old=old, new=new, settings=settings, line=number)
    if names == ("-",):
        return _Plan(plan_file)
    tree = Tree.around(names)
    if alone and not place:
        if tree is None:
            return _Plan(plan_file)
        noted = tree.with_other_uses
        return _Plan(lambda source: noted(plan_file(source), source.name, old, number))
    tree = tree or Tree.of_files(names)
    target = tree.target(tree.path(place), old, number) if place and number is not None else None
    result = tree.rename(names, old, new, settings, target, some=some)
    notes = (note for guess in result.files.values() for note in guess.notes)
    return _Plan(
        lambda source: tree.plan(result, source, settings),
        sum(len(guess.places) for guess in result.files.values()),
        [tree.shown(path) for path in result.files],
        [replace(use, path=tree.shown(use.path)) for use in result.left],
        "" if some else next((note.text for note in notes if note.kind == SEVERAL), ""),
        {tree.shown(path): tree.shown(to) for path, to in result.moves.items()},
    )


SHOWN_FILES = 3  # that one line names
MAX_SHOWN_FILES = 20  # that a question or an error names, each on its own line
SHOWN_LINES = 5  # of each file


def _left_text(left: Sequence[UseLeft], *, verbose: bool = False, end: str = "") -> str:
    """The uses that stay although they may mean what is renamed, by file. `verbose`: all of them.
    `end`: what follows the count, and comes before a long list."""
    from specedit.view.colours import count  # rich takes 30 ms

    lines: dict[str, list[int]] = {}
    for use in left:
        lines.setdefault(use.path, []).append(use.line)
    most = None if verbose else SHOWN_LINES
    files = [
        f"{path}:{','.join(map(str, numbers[:most]))}{',…' if numbers[:most] != numbers else ''}"
        for path, numbers in lines.items()
    ]
    uses = f"left: {count(len(left), 'use')} in {count(len(lines), 'file')} that may be meant"
    if len(files) <= SHOWN_FILES:
        return f"{uses}: {', '.join(files)}{end}"
    shown = files if verbose else files[:MAX_SHOWN_FILES]
    rest = count(len(files) - len(shown), "more file")
    more = [f"and {rest} (-v names them)"] if shown != files else []
    return "\n  ".join([f"{uses}{end}:", *shown, *more])


def _confirm(doubt: str, question: str) -> None:
    """Ask about a doubt; an error after no."""
    from specedit.cli.targets import confirmed

    say(doubt)
    if not confirmed(question):
        raise UsageError("Cancelled; nothing was changed.")


def _refuse_in_json(names: Sequence[str], plan: _Plan, *, searched: bool) -> int:
    """Print the report of a rename that is refused because it would be incomplete."""
    text = _left_text(plan.left, verbose=True, end="; nothing was written")
    why = Finding("incomplete", text, refuses=True)
    return _put_report(
        replace(edit, status="refused").noting(why) if edit.changed else edit
        for edit in _edits_by_rule(names, plan.planner, searched=searched)
    )


def _put_report(edits: Iterable[Edit], *, shown: bool = True) -> int:
    """Print the report as JSON if it is `shown`; the exit code."""
    from specedit.edit.report import Report

    report = Report("rename", tuple(edits))
    if shown:
        put_json(report)
    return report.exit_code()


SIGNS = {"undecided": "?", **dict.fromkeys(("other", "outside", "left", "prose"), "=")}  # by kind


def _list_places(
    names: Sequence[str], planner: Planner, settings: Settings, *, searched: bool
) -> int:
    """Print every place that a rename would change or leave, by file, with its reason. No model
    runs."""
    from specedit.view.colours import count

    edits = _edits_by_rule(names, planner, searched=searched)
    code = _put_report(edits, shown=settings.json)
    if settings.json:
        return code
    for line in (line for edit in edits for line in _lines(edit)):
        print(one_line(line))  # a file's name may have line breaks
    places, files = sum(len(edit.changes) for edit in edits), sum(bool(e.changes) for e in edits)
    left = sum(len(edit.left) for edit in edits)
    more = f", {count(left, 'use')} left that may be meant" if left else ""
    text = f"{places} places in {files} files{more}; nothing was asked or written"
    print(text, file=sys.stderr)
    return code


def _edits_by_rule(names: Sequence[str], planner: Planner, *, searched: bool) -> list[Edit]:
    """The Edit of each file, without a model."""
    from specedit.cli.targets import allowed_links
    from specedit.edit.report import Edit, failed, outcome
    from specedit.edit.request import read_file

    edits: list[Edit] = []
    links = allowed_links(names)
    for name in names:
        try:
            planned = planner(read_file(name, links, skips=searched))
            if not isinstance(planned, Edit):
                checked = planned.check(planned.known or planned.source.text)
                edit = replace(outcome(planned.source, checked.text), changes=checked.changes)
                planned = edit.noting(*planned.findings, *checked.findings)
            edits.append(planned)
        except FileError as problem:
            edits.append(failed(name, problem))
    return edits


def _lines(edit: Edit) -> Iterator[str]:
    for change in edit.changes:
        why = f"{change.kind}: {change.why}" if change.kind == "code" else change.why
        old = " ".join(change.old.split())
        yield f"{edit.path}:{change.line}:{change.column}: {old} -> {change.new}  ({why})"
    for finding in edit.findings:
        if finding.kind != "by-rule":  # a list never asks a model
            at = f"{edit.path}:{finding.places[0].line}" if finding.places else edit.path
            yield f"{at}: {SIGNS.get(finding.kind, '!')} {finding.text}"
