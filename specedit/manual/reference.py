"""The commands with every option, as manual pages (man 1) and as one HTML page.

Both are made from the command definitions: hatch_build.py puts the manual pages into the wheel.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from specedit.version import VERSION


@dataclass(frozen=True)
class CommandHelp:
    """What --help-all says about one command."""

    name: str  # "specedit edit"
    usage: str
    about: str
    options: tuple[tuple[str, str], ...]
    commands: tuple[tuple[str, str], ...]


def commands(command: Any, name: str = "specedit", parent: Any = None) -> Iterator[CommandHelp]:
    """A command, then those below it."""
    context = command.context_class(command, info_name=name.split()[-1], parent=parent)
    below = {one.name: one for one in getattr(command, "commands", {}).values()}
    records = (parameter.get_help_record(context) for parameter in command.params)
    yield CommandHelp(
        name=name,
        usage=" ".join([name, *command.collect_usage_pieces(context)]),
        about=" ".join((command.help or "").split()),
        options=tuple(record for record in records if record),
        commands=tuple((key, " ".join((one.help or "").split())) for key, one in below.items()),
    )
    for key, one in below.items():
        yield from commands(one, f"{name} {key}", context)


def man_pages(command: Any) -> Iterator[tuple[str, str]]:
    """The file names and texts of all manual pages."""
    for one in commands(command):
        title = one.name.replace(" ", "-")
        first = one.about.partition(". ")[0].removesuffix(".")
        lines = [
            f'.TH {title.upper()} 1 "" "specedit {VERSION}"',
            *(".SH NAME", rf"{title} \- {_roff(first)}"),
            *(".SH SYNOPSIS", f".B {_roff(one.usage)}", ".SH DESCRIPTION", _roff(one.about)),
        ]
        for heading, rows in (("OPTIONS", one.options), ("COMMANDS", one.commands)):
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


def html_section(one: CommandHelp) -> str:
    """One command, for the page of all commands."""
    anchor = one.name.replace(" ", "-")
    parts = [f'<h2 id="{anchor}">{one.name}</h2>\n<p>{html.escape(one.about)}</p>']
    parts.append(f"<pre><code>{html.escape(one.usage)}</code></pre>")
    rows = [
        *((f"<code>{html.escape(term)}</code>", text) for term, text in one.options),
        *((f'<a href="#{anchor}-{key}">{key}</a>', text) for key, text in one.commands),
    ]
    cells = (f"<tr><td>{term}</td><td>{html.escape(text)}</td></tr>" for term, text in rows)
    return "\n".join([*parts, "<table>", *cells, "</table>", ""])
