"""The manual: one page per topic, Markdown next to this file; the same online and in a terminal.

The first line of a page is `# topic: what it is about`; the part after the colon is its line in
the list of topics. The commands with every option are also manual pages (man 1), which
hatch_build.py puts into the wheel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from specedit.errors import UsageError
from specedit.settings import check_removed, nearest
from specedit.version import VERSION


@dataclass(frozen=True, slots=True)
class CommandHelp:
    """The text of --help-all for one command."""

    name: str  # "specedit edit"
    usage: str
    about: str
    options: tuple[tuple[str, str], ...]
    commands: tuple[tuple[str, str], ...]


def commands(command: Any, name: str = "specedit", parent: Any = None) -> Iterator[CommandHelp]:
    """A command, then those below it."""
    context = command.context_class(command, info_name=name.split()[-1], parent=parent)
    below = {child.name: child for child in getattr(command, "commands", {}).values()}
    records = (parameter.get_help_record(context) for parameter in command.params)
    yield CommandHelp(
        name=name,
        usage=" ".join([name, *command.collect_usage_pieces(context)]),
        about=" ".join((command.help or "").split()),
        options=tuple(record for record in records if record),
        commands=tuple((key, " ".join((child.help or "").split())) for key, child in below.items()),
    )
    for key, child in below.items():
        yield from commands(child, f"{name} {key}", context)


def man_pages(command: Any) -> Iterator[tuple[str, str]]:
    """The file names and texts of all manual pages."""
    for page in commands(command):
        title = page.name.replace(" ", "-")
        first = page.about.partition(". ")[0].removesuffix(".")
        lines = [
            f'.TH {title.upper()} 1 "" "specedit {VERSION}"',
            *(".SH NAME", rf"{title} \- {_roff(first)}"),
            *(".SH SYNOPSIS", f".B {_roff(page.usage)}", ".SH DESCRIPTION", _roff(page.about)),
        ]
        for heading, rows in (("OPTIONS", page.options), ("COMMANDS", page.commands)):
            lines += [f".SH {heading}"] if rows else []
            for term, text in rows:
                lines += [".TP", f".B {_roff(term)}", _roff(text)]
        lines += [".SH SEE ALSO", r"The pages of the manual: specedit help"]
        yield f"{title}.1", "\n".join(lines) + "\n"


def _roff(text: str) -> str:
    """Text without roff's control characters, in ASCII."""
    text = " ".join(text.split()).replace("\\", r"\e").replace("-", r"\-")
    text = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in text)
    return rf"\&{text}" if text.startswith((".", "'")) else text


TOPICS = (  # in reading order
    *("edit", "rename", "apply", "hook", "editors", "agents", "server", "models"),
    *("settings", "trust", "vllm", "engine"),
)
SUBJECTS = {  # the topic of each command that has no page of its own name
    **dict.fromkeys(("refine", "undo", "view"), "edit"),
    **dict.fromkeys(("editor", "lsp"), "editors"),
    "mcp": "agents",
    **dict.fromkeys(("serve", "warm"), "server"),
    "model": "models",
    **dict.fromkeys(("config", "doctor"), "settings"),
}


def topic(word: str) -> str:
    """The topic of this name, or of the command of this name."""
    wanted = word.lower()
    if wanted not in TOPICS and wanted not in SUBJECTS:
        check_removed(f"specedit {wanted}")
        raise UsageError(f"There is no topic {word!r}.", hint=nearest(wanted, [*TOPICS, *SUBJECTS]))
    return SUBJECTS.get(wanted, wanted)


def page(name: str) -> str:
    """The Markdown of a topic."""
    return (files(__name__) / f"{name}.md").read_text("utf-8")


def about(name: str) -> str:
    """The subject of a topic, in one line."""
    title = page(name).partition("\n")[0].lstrip("# ")
    return title.partition(":")[2].strip() or title


def listing() -> Sequence[tuple[str, str]]:
    """Each topic with its line."""
    return [(name, about(name)) for name in TOPICS]
