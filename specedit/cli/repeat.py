"""`specedit repeat [REV|FILE...]`: repeat a change that was made once."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

import typer

from specedit.cli.options import argument, option, settings_options
from specedit.cli.streams import put_json, say
from specedit.errors import FAILED, listed
from specedit.settings import Resolved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from specedit.edit.job import Job
    from specedit.edit.report import Edit
    from specedit.files.source import Source
    from specedit.repeat.finding import Found
    from specedit.repeat.rewriting import Repeated

MAX_LISTED_FILES = 12  # files that the list names
MAX_PROPOSED = 500  # places that may be meant, of one rule; --yes writes more


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
    from specedit.view.colours import count

    settings = resolved.values
    wanted = request.understood(words or (), example, settings)
    found = request.found(wanted, hunk, most=None if says_yes(resolved) else MAX_PROPOSED)
    if near:
        found = request.with_near(found, wanted)
    if wanted.saved is not None and wanted.saved.files:
        _keep_files(found, wanted.saved.files)
    if save:
        return _save(found, save, resolved)
    if not settings.quiet:
        for line in _lines(found):
            say(line)
    if not found.places:
        if settings.json:
            put_json(Report("repeat", ()))
        say("nothing is left to repeat")
        return 0
    names = [name for name, file in found.files.items() if file.places]
    targets = resolve_targets(Targets(tuple(names)), resolved)
    asks, previews = targets.settings.ask, settings.check or settings.diff
    proposed = found.places - found.meant
    confirmed = asks or targets.confirmed or previews
    at_terminal = sys.stdin.isatty() and sys.stderr.isatty() and not (confirmed or settings.json)
    if at_terminal and (proposed or not settings.test):
        answer = answered(_question(found))
        if proposed and answer in ("", "y", "yes"):
            found = settled(found, _is_meant(found))
        elif answer not in (("a", "e") if proposed else ("y", "yes")):
            found = replace(found, files={})
        asks, confirmed = proposed > 0 and answer == "e", True
        if not found.places:
            say("nothing was written; --diff prints the change, --ask asks about each place")
            return FAILED
    elif proposed and not confirmed:
        what = count(proposed, "place")
        say(f"nothing was written: {what} may be meant; --yes writes them, --ask asks about each")
        if not settings.json:
            return FAILED
        targets = replace(targets, settings=replace(targets.settings, check=True))
    known = set(found.left)
    found = without_broken(settled(found, lambda *_: True), settings)
    broken = [(name, why) for name, why in found.left.items() if name not in known]
    for line in () if settings.quiet else _left(broken):
        say(line)
    if not found.places:
        say("nothing was written")
        return FAILED
    targets = replace(targets, settings=replace(targets.settings, ask=asks))

    def planner(source: Source) -> Job | Edit:
        return planned(source, found, settings, asks=asks)

    wish = Wish(" -> ".join(found.rules[0].shown()))
    code = run_command("repeat", targets, planner, wish, together=True)
    return code if confirmed or not proposed else FAILED


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
    """Show the rule, the places by file, and what is left."""
    from specedit.repeat.finding import kinds_of
    from specedit.view.colours import count

    rules = dict.fromkeys(" -> ".join(rule.shown()) for rule in found.rules)  # of each language
    lines = list(rules)
    lines += dict.fromkeys(rule.too_general for rule in found.rules if rule.too_general)
    if any(rule.fits_again for rule in found.rules):
        lines.append("what is written fits the rule again; each place is changed once")
    for places in kinds_of(found):
        files = Counter(name for name, _ in places)
        where = [f"{name} ({number})" for name, number in files.most_common()]
        kind = f": {places[0][1].kind}" if places[0][1].kind else ""
        total = f"{count(len(places), 'place')} in {count(len(files), 'file')}{kind}"
        lines.append(f"{total}: {listed(where, MAX_LISTED_FILES, 'more files')}")
    skipped = [
        (f"{name}:{n}", why) for name, file in found.files.items() for n, why in file.skipped
    ]
    return [*lines, *_left([*skipped, *found.left.items()])]


def _left(places: Iterable[tuple[str, str]]) -> list[str]:
    """The places or files that are left, by reason."""
    reasons: dict[str, list[str]] = {}
    for where, why in places:
        reasons.setdefault(why, []).append(where)
    return [f"left: {listed(left, 5)}: {why}" for why, left in reasons.items()]


def _question(found: Found) -> str:
    from specedit.view.colours import count

    every = count(found.places, "place")
    if found.meant:
        return f"Repeat it at {every}? [y/N]"
    return (
        f"Repeat it? Three places of each kind decide [Y]; or write all {every} [a], "
        "ask about each [e], write nothing [n]:"
    )


def _is_meant(found: Found) -> Callable[[str, Repeated], bool]:
    """Asks the user about one place."""
    from specedit.cli.targets import answered
    from specedit.repeat.rewriting import applied

    def ask(name: str, place: Repeated) -> bool:
        text = found.files[name].text
        last = place.line + place.old.count("\n")
        new = applied(text, [place]).split("\n")
        count = len(new) - text.count("\n") - 1
        say(f"{name}:{place.line}: {place.kind}")
        for line in text.split("\n")[place.line - 1 : last]:
            say(f"- {line}")
        for line in new[place.line - 1 : last + count]:
            say(f"+ {line}")
        return answered("Is it meant? [y/N]") in ("y", "yes")

    return ask
