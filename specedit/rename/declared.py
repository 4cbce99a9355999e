"""Where a tree declares and uses what is renamed: in words for the report and for errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NoReturn

from specedit.errors import UsageError
from specedit.rename.choosing import lines_text
from specedit.rename.resolution import ResolvedName, families, resolve_name
from specedit.rename.rewritten import called
from specedit.scoping.project import Project
from specedit.scoping.scope import Declared
from specedit.syntax import identifiers as names

SHOWN = 4  # declarations, or files, that are named in a sentence


def declared_in(project: Project, every: Sequence[ResolvedName]) -> Iterator[tuple[str, int, str]]:
    for one in every:
        for each in one.chosen:
            own = [d for d in each.declared if d.kind not in ("import", "module", "export")]
            for declared in own:
                yield project.path(declared.home), declared.leaf.line, _said(declared)
            owner = next((up for up in each.owners if up.module is None), None)
            if not own and owner is not None:  # `self.x = 0` declares nothing
                homes = [
                    leaf for leaf in each.leaves if one.path_of(leaf) == project.path(owner.home)
                ]
                first = (homes or each.leaves)[0]
                yield one.path_of(first), first.line, f"member of {owner.name}"


def _said(one: Declared) -> str:
    of = f" of {one.member_of.name}" if one.member_of and one.member_of.name else ""
    return called(one) + of


def several(project: Project, name: str, every: Sequence[ResolvedName]) -> str:
    """That more than one thing is renamed, and how to say which."""
    things = [
        each
        for one in every
        for each in one.chosen
        if any(d.kind not in ("import", "module", "export") for d in each.declared)
    ]
    if len(things) < 2:
        return ""
    shown = []
    for each in things:
        first = next(d for d in each.declared if d.kind not in ("import", "module", "export"))
        shown.append(f"{_said(first)} ({project.path(first.home)}:{first.leaf.line})")
    more = f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
    message = f"`{name}` means {len(things)} things, all renamed: {'; '.join(shown[:SHOWN])}{more}"
    holders = [
        o.name for each in things for o in {id(o): o for o in each.owners}.values() if o.name
    ]
    holder = next((one for one in holders if holders.count(one) == 1), "")
    return f"{message}; `{holder}.{name}` means one" if holder else message


def refuse_nothing(
    project: Project, owner: str, name: str, every: Sequence[ResolvedName]
) -> NoReturn:
    """An error: the tree does not declare the name; with the nearest that it does."""
    if owner:
        holders = {up.name for one in every for each in one.candidates for up in each.owners} - {""}
        hint = f"It is a member of {', '.join(sorted(holders)[:SHOWN])}." if holders else ""
        raise UsageError(f"`{owner}` has no member `{name}` in this work tree.", hint=hint)
    used = [
        f"{path}:{part.lines[0]}"
        for one in every
        for path in one.typings
        for part in one.here(path, one.candidates)[:1]
    ]
    hint = (
        f"It is used in {', '.join(used[:SHOWN])}: name a file to rename it there alone."
        if used
        else _near(project, name)
    )
    raise UsageError(f"`{name}` is not declared in this work tree.", hint=hint)


def _near(project: Project, name: str) -> str:
    known: set[str] = set()
    for path in sorted(project.paths)[:2000]:
        if project.language(path) is not None:
            known.update(names.NAME.findall(project.text(path) or ""))
    return names.near(name, known - {name})


def used_elsewhere(lines: Mapping[str, Iterable[int]], declared: str) -> str:
    """That other files keep the name, and where it is declared, if in one of them."""
    files = [f"{path} ({lines_text(sorted(set(at)))})" for path, at in lines.items()]
    more = f" and {len(files) - SHOWN} more files" if len(files) > SHOWN else ""
    where = f"declared in {declared}; " if declared else ""
    return f"{where}used in {', '.join(files[:SHOWN])}{more}, which keep the old name"


def elsewhere(
    project: Project,
    paths: Iterable[str],
    path: str,
    old: str,
    line: int | None,
    is_here: Callable[[str, str], bool],
) -> str:
    """What other files have of what `old` means in one (on `line`, if so); "" where nothing."""
    owner, name = names.split_member(old)
    typings = next((one for one in families(project, paths) if path in one), None)
    if typings is None:
        return ""
    one = resolve_name(typings, name, owner, is_here)
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
        return ""
    used = used_elsewhere(dict(sorted(lines.items())), declared)
    return f"{used}: name no file, and all are renamed"
