"""Instructions that another program does exactly, and the command that does it."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Sequence

from specedit.syntax.languages import language_of

SHOWN = 5  # files that a command names
_IMPORTS = r"(?:imports?|import statements|usings|using directives|use statements)"
_THE = r"(?:(?:all|the|its|my|any|of|these|this) )*"
_WHERE = r"(?: (?:in|of|at the top of) (?:the|this) (?:whole )?(?:file|module))?"
_KINDS = {
    "sort": rf"(?:sort|organi[sz]e|order|reorder) {_THE}{_IMPORTS}(?: alphabetically)?",
    "unused": rf"(?:remove|delete|drop|clean up) {_THE}(?:unused|unneeded|unnecessary) {_IMPORTS}",
    "format": rf"(?:re)?format {_THE}(?:whole )?(?:file|code|source|module|it)",
}
_NAMED = (
    r"(?:(?:run|apply|use) (?P<a>[\w.-]+)(?: (?:on|to) (?:the|this) (?:file|code|module))?"
    r"|format (?:(?:it|the file|this file|the code) )?(?:with|using) (?P<b>[\w.-]+))"
)
_PRETTIER = ("prettier --write",)
_FORMAT = {
    "python": ("ruff format", "black"),
    "go": ("gofmt -w", "goimports -w"),
    "rust": ("rustfmt",),
    "c": ("clang-format -i",),
    "cpp": ("clang-format -i",),
    "java": ("google-java-format -i",),
    "csharp": ("csharpier format",),
    "bash": ("shfmt -w",),
    **dict.fromkeys(
        ("javascript", "typescript", "tsx", "json", "yaml", "css", "html", "markdown"), _PRETTIER
    ),
}
TOOLS = {  # kind and language -> commands, the preferred one first
    "format": _FORMAT,
    "sort": {
        "python": ("ruff check --select I --fix", "isort"),
        "go": ("goimports -w", "gofmt -w"),
        "rust": ("rustfmt",),
    },
    "unused": {
        "python": (
            "ruff check --select F401 --fix",
            "autoflake --in-place --remove-all-unused-imports",
        ),
        "go": ("goimports -w",),
    },
}


def exact_command(instruction: str, names: Sequence[str]) -> str | None:
    """The command of an installed program that does all of an instruction in these files; None
    where a model is needed."""
    kind, named = _kind(instruction)
    languages = {one.name if (one := language_of(name)) is not None else "" for name in names}
    if not kind or len(languages) != 1:
        return None
    for command in TOOLS[kind].get(languages.pop(), ()):
        program = command.split()[0]
        if named in ("", program) and shutil.which(program):
            files = [shlex.quote(name) for name in names[:SHOWN]]
            return " ".join([command, *files, *(["…"] if len(names) > SHOWN else [])])
    return None


def _kind(instruction: str) -> tuple[str, str]:
    """What an instruction asks for, where that is all that it asks for, and the program that it
    names; empty texts otherwise."""
    words = " ".join(instruction.lower().replace("please", " ").split()).strip(" .!")
    for kind, pattern in _KINDS.items():
        if re.fullmatch(pattern + _WHERE, words):
            return kind, ""
    if match := re.fullmatch(_NAMED, words):
        return "format", match["a"] or match["b"]
    return "", ""
