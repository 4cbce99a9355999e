"""What other files have of a name that is renamed in one: they are not renamed, and this is said.

Only what is sure to be the same thing is mentioned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from specedit.rename.choosing import said_lines
from specedit.rename.project.resolution import families, resolve_name
from specedit.rename.rewritten import called
from specedit.scoping.project import Project
from specedit.syntax import identifiers as names

SHOWN = 6  # files that are named in a sentence


@dataclass(frozen=True)
class Elsewhere:
    """Other files' places of the same thing, and where it is declared, if not here."""

    lines: dict[str, list[int]]
    declared: str = ""

    def __str__(self) -> str:
        files = [f"{path} ({said_lines(lines)})" for path, lines in self.lines.items()]
        more = f" and {len(files) - SHOWN} more files" if len(files) > SHOWN else ""
        message = f"used in {', '.join(files[:SHOWN])}{more}, which keep the old name"
        where = f"declared in {self.declared}; " if self.declared else ""
        return f"{where}{message}: name no file, and all are renamed"


def elsewhere(
    project: Project,
    paths: Iterable[str],
    path: str,
    old: str,
    line: int | None,
    is_here: Callable[[str, str], bool],
) -> Elsewhere | None:
    """What other files have of what `old` means in one (on `line`, if so)."""
    owner, name = names.split_member(old)
    typings = next((one for one in families(project, paths) if path in one), None)
    if typings is None:
        return None
    one = resolve_name(project, typings, name, owner, is_here)
    lines: dict[str, list[int]] = {}
    declared = ""
    for each in one.chosen:
        if not any(
            one.path_of(leaf) == path and line in (None, leaf.line) for leaf in each.leaves
        ) or not (each.declared or each.owners):
            continue
        for leaf in each.leaves:
            if (there := one.path_of(leaf)) != path:
                lines.setdefault(there, []).append(leaf.line)
        own = [d for d in each.declared if d.kind not in ("import", "module", "export")]
        if own and all(project.path(d.home) != path for d in own):
            declared = f"{project.path(own[0].home)}:{own[0].leaf.line} ({called(own[0])})"
    if not lines:
        return None
    return Elsewhere({key: sorted(set(result)) for key, result in sorted(lines.items())}, declared)
