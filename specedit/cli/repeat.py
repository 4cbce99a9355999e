"""`specedit repeat [REV|FILE...]`: repeat a change that was made once."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from specedit.cli.options import argument, option, settings_options
from specedit.cli.streams import put_json, say
from specedit.errors import FAILED
from specedit.settings import Resolved

if TYPE_CHECKING:
    from collections.abc import Callable

    from specedit.edit.job import Job
    from specedit.edit.report import Edit
    from specedit.files.source import Source
    from specedit.repeat.finding import Found
    from specedit.repeat.rewriting import Repeated

SHOWN = 12  # files that the list names
PROPOSED = 500  # places that may be meant, of one rule; --yes writes more


@settings_options(
    *("diff", "check", "ask", "json", "test", "test_timeout", "clean_only"),
    *("strict", "allow", "check_with", "quiet", "verbose"),
    asks=True,
    helps={"check": "Write nothing; exit 1 if a place is left"},
)
def repeat(
    words: list[str] | None = argument(
        "[REV] [FILE]...",
        "The commit that is the example (default: the uncommitted change), and where to look",
        None,
    ),
    example: tuple[str, str] | None = typer.Option(
        None, "--example", metavar="OLD NEW", help="A file before and after, or two patterns"
    ),
    hunk: str = option("", "Repeat these of several changes", metavar="N,…|all"),
    near: bool = typer.Option(
        False, "--near", help="Propose lines that are like the example's, too (at most 50)"
    ),
    save: str = option("", "Save the rule in pyproject.toml; change nothing", metavar="NAME"),
    *,
    resolved: Resolved,
) -> int:
    """Repeat a change that was made once, wherever it applies."""
    from dataclasses import replace

    from specedit.cli.run_command import run_command
    from specedit.cli.targets import Targets, answered, resolve_targets, says_yes
    from specedit.edit.report import Report
    from specedit.files.recorder import Wish
    from specedit.repeat import request
    from specedit.repeat.finding import planned, settled, without_broken

    settings = resolved.values
    wanted = request.understood(words or (), example, settings)
    found = request.found(wanted, hunk, settings, most=None if says_yes(resolved) else PROPOSED)
    if near:
        found = request.with_near(found, wanted)
    if wanted.saved is not None and wanted.saved.files:
        _keep_files(found, wanted.saved.files)
    if save:
        return _save(found, save, resolved)
    if not settings.quiet:
        for line in _lines(found):
            say(line)
    if not found.sure and not found.doubtful:
        if settings.json:
            put_json(Report("repeat", ()))
        say("nothing is left to repeat")
        return 0
    names = [name for name, file in found.files.items() if file.places]
    targets = resolve_targets(Targets(tuple(names)), resolved)
    previews = settings.check or settings.diff or settings.json or bool(settings.test)
    asks, writes_all = targets.settings.ask, targets.confirmed
    if found.doubtful and not (asks or writes_all):
        _say_proposals(found)
    if sys.stdin.isatty() and sys.stderr.isatty() and not (previews or asks or writes_all):
        answer = answered(_question(found))
        asks, writes_all = answer == "e", answer == "a"
        if answer not in ("y", "yes") and not (found.doubtful and answer in ("a", "e", "t")):
            say("nothing was written; --diff prints the change, --ask asks about each place")
            return FAILED
        if answer == "t" and found.doubtful:
            known = set(found.left)
            found = without_broken(settled(found, _is_meant(found)), settings)
            for name in found.left.keys() - known:
                say(f"left: {name}: {found.left[name]}")
            if not found.sure:
                say("nothing was written")
                return FAILED
        targets = replace(targets, settings=replace(targets.settings, ask=asks))
    if not found.sure and not (asks or writes_all):
        if settings.json:
            put_json(Report("repeat", ()))
        say("nothing was written; --ask asks about each place, --yes writes all of them")
        return FAILED

    def planner(source: Source) -> Job | Edit:
        return planned(source, found, settings, asks=asks, doubtful=writes_all)

    wish = Wish(" -> ".join(found.rules[0].shown()))
    return run_command("repeat", targets, planner, wish, together=True)


def _keep_files(found: Found, globs: tuple[str, ...]) -> None:
    """Leave out the places in files that a saved rule is not for."""
    import os
    from pathlib import Path

    from specedit.files import git
    from specedit.integrations.hook.hook_rules import Rule

    root, rule = git.top(Path.cwd()), Rule((), globs)
    for name in list(found.files):
        if not rule.wants(os.path.relpath(Path(name).absolute(), root).replace(os.sep, "/")):
            del found.files[name]


def _save(found: Found, name: str, resolved: Resolved) -> int:
    """Write the one rule into the repository's pyproject.toml."""
    from pathlib import Path

    from specedit.errors import UsageError
    from specedit.files import git
    from specedit.repeat.saved import save, table_of

    if len(found.rules) != 1:
        raise UsageError("--save takes one rule.", hint="--hunk N chooses one; name one language.")
    texts = {path: file.text for path, file in found.files.items()}
    table = table_of(found.rules[0], name, texts)
    pyproject = git.top(Path.cwd()) / "pyproject.toml"
    save(pyproject, name, table, resolved.values.repeat)
    say(f"saved in {pyproject}:")
    for line in table.splitlines():
        say(f"  {line}")
    say(f'specedit repeat {name} applies it; [[tool.specedit.hook]] repeat = "{name}" does so')
    return 0


def _lines(found: Found) -> list[str]:
    """Show the rule, and the places by file."""
    from specedit.view.colours import count

    rules = dict.fromkeys(
        " -> ".join(rule.shown()) for rule in found.rules
    )  # one for each language
    lines = list(rules)
    if any(rule.fits_again for rule in found.rules):
        lines.append("what is written fits the rule again; each place is changed once")
    files = [(name, file) for name, file in found.files.items() if file.sure]
    if files:
        where = [f"{name} ({len(file.sure)})" for name, file in files[:SHOWN]]
        more = f" and {len(files) - SHOWN} more files" if len(files) > SHOWN else ""
        total = f"{count(found.sure, 'place')} in {count(len(files), 'file')}"
        lines.append(f"{total}: {', '.join(where)}{more}")
    skipped: dict[str, list[str]] = {}
    for name, file in found.files.items():
        for line, why in file.skipped:
            skipped.setdefault(why, []).append(f"{name}:{line}")
    for name, why in found.left.items():
        skipped.setdefault(why, []).append(name)
    for why, places in skipped.items():
        more = f" and {len(places) - 5} more" if len(places) > 5 else ""
        lines.append(f"left: {', '.join(places[:5])}{more}: {why}")
    return lines


def _question(found: Found) -> str:
    from specedit.view.colours import count

    if not found.doubtful:
        return f"Repeat it at {count(found.sure, 'place')}? [y/N]"
    only = f" only at the {found.sure} sure [y]," if found.sure else ""
    every = count(found.sure + found.doubtful, "place")
    two = " where two of each kind tell [t]," if found.doubtful > 1 else ""
    return f"Repeat it at all {every} [a],{only}{two} asked about each [e], or nowhere [N]?"


def _is_meant(found: Found) -> Callable[[str, Repeated], bool]:
    """Asks the user about one place."""
    from specedit.cli.targets import answered
    from specedit.repeat.rewriting import applied

    def ask(name: str, place: Repeated) -> bool:
        text = found.files[name].text
        last = place.line + place.old.count("\n")
        new = applied(text, [place]).split("\n")
        count = len(new) - text.count("\n") - 1
        say(f"{name}:{place.line}: {place.doubt}")
        for line in text.split("\n")[place.line - 1 : last]:
            say(f"- {line}")
        for line in new[place.line - 1 : last + count]:
            say(f"+ {line}")
        return answered("Is it meant? [y/N]") in ("y", "yes")

    return ask


def _say_proposals(found: Found) -> None:
    """List the places that are not written unasked, with the reasons."""
    from specedit.repeat.finding import kinds_of
    from specedit.view.colours import count

    for places in kinds_of(found):
        more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
        where = ", ".join(f"{name}:{place.line}" for name, place in places[:SHOWN])
        why = places[0][1].doubt
        say(f"{count(len(places), 'place')} may be meant: {why}: {where}{more}")
