"""The project's own uses of a name: where it is declared and used, in words for the report and
for errors; and whether a module that an import names is one of it.

A module of unknown origin counts as the project's: only names that are known to come from elsewhere
stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from specedit.errors import UsageError, listed
from specedit.files import regular
from specedit.rename.guess import called, lines_text
from specedit.rename.resolution import ResolvedName, families, family_of, resolve_name
from specedit.scoping.meaning import Meaning
from specedit.scoping.project import SOURCE_FOLDERS, Project
from specedit.scoping.scope import Declared
from specedit.syntax import identifiers as names

MAX_NAMED_PLACES = 4  # declarations, or files, that are named in a sentence


def declared_in(project: Project, every: Sequence[ResolvedName]) -> Iterator[tuple[str, int, str]]:
    for resolved in every:
        for each in resolved.chosen:
            own = [declared for declared in each.declared if declared.is_own]
            for declared in own:
                yield project.path(declared.home), declared.leaf.line, _described(declared)
            owner = next((up for up in each.owners if up.module is None), None)
            if not own and owner is not None:  # `self.x = 0` declares nothing
                homes = [
                    leaf
                    for leaf in each.leaves
                    if resolved.path_of(leaf) == project.path(owner.home)
                ]
                first = (homes or each.leaves)[0]
                yield resolved.path_of(first), first.line, f"member of {owner.name}"


def _described(declared: Declared) -> str:
    of = f" of {declared.member_of.name}" if declared.member_of and declared.member_of.name else ""
    return called(declared) + of


def several(project: Project, name: str, every: Sequence[ResolvedName]) -> str:
    """That more than one thing is renamed, and how to say which."""
    chosen = (each for resolved in every for each in resolved.chosen)
    things = [each for each in chosen if any(declared.is_own for declared in each.declared)]
    if len(things) < 2:
        return ""
    shown = []
    for each in things:
        first = next(declared for declared in each.declared if declared.is_own)
        shown.append(f"{_described(first)} ({project.path(first.home)}:{first.leaf.line})")
    more = f" and {len(shown) - MAX_NAMED_PLACES} more" if len(shown) > MAX_NAMED_PLACES else ""
    named = "; ".join(shown[:MAX_NAMED_PLACES])
    message = f"`{name}` means {len(things)} things, all renamed: {named}{more}"
    holders = [
        o.name for each in things for o in {id(o): o for o in each.owners}.values() if o.name
    ]
    holder = next((name for name in holders if holders.count(name) == 1), "")
    return f"{message}; `{holder}.{name}` means one" if holder else message


def refuse_nothing(
    project: Project, owner: str, name: str, every: Sequence[ResolvedName]
) -> NoReturn:
    """An error: the tree does not declare the name; with the nearest that it does."""
    if owner:
        holders = {
            up.name for resolved in every for each in resolved.candidates for up in each.owners
        } - {""}
        hint = (
            f"It is a member of {', '.join(sorted(holders)[:MAX_NAMED_PLACES])}." if holders else ""
        )
        raise UsageError(f"`{owner}` has no member `{name}` in this work tree.", hint=hint)
    used = [
        f"{path}:{part.lines[0]}"
        for resolved in every
        for path in resolved.typings
        for part in resolved.here(path, resolved.candidates)[:1]
    ]
    hint = (
        f"It is used in {', '.join(used[:MAX_NAMED_PLACES])}: name a file to rename it there alone."
        if used
        else _near(project, name)
    )
    if name in project.folders:
        hint = f"To move the folder: specedit rename ./{name} ./NEW"
    raise UsageError(f"`{name}` is not declared in this work tree.", hint=hint)


def refuse_several(project: Project, module: str, name: str, meant: Iterable[Meaning]) -> NoReturn:
    """An error: several modules of one name have what is to be renamed."""
    declared = (declared for meaning in meant for declared in meaning.declared)
    places = sorted({f"{project.path(x.home)}:{x.leaf.line}" for x in declared})
    named = ", ".join(places[:MAX_NAMED_PLACES])
    raise UsageError(
        f"`{module}.{name}` may be each of {named}; nothing was renamed.",
        hint=f"Rename `{name}` without `{module}`, or in one file with FILE and --line.",
    )


def _near(project: Project, name: str) -> str:
    known: set[str] = set()
    for path in sorted(project.paths)[:2000]:
        if project.language(path) is not None:
            known.update(names.NAME.findall(project.text(path) or ""))
    return names.near(name, known - {name})


def used_elsewhere(lines: Mapping[str, Iterable[int]], declared: str) -> str:
    """That other files keep the name, and where it is declared, if in one of them."""
    files = [f"{path} ({lines_text(sorted(set(at)))})" for path, at in lines.items()]
    where = f"declared in {declared}; " if declared else ""
    return (
        f"{where}used in {listed(files, MAX_NAMED_PLACES, 'more files')}, which keep the old name"
    )


def elsewhere(
    project: Project,
    paths: Iterable[str],
    path: str,
    old: str,
    line: int | None,
    is_here: Callable[[str, str], bool],
) -> str:
    """The uses in other files of what `old` means in one (on `line`, if so); "" without any."""
    owner, name = names.split_member(old)
    family = family_of(project, path)
    related = {word for word in paths if family_of(project, word) == family}
    if not related - {path}:
        return ""  # before the file is read again
    typings = next((family for family in families(project, related) if path in family), None)
    if typings is None:
        return ""
    resolved = resolve_name(typings, name, owner, is_here)
    lines: dict[str, list[int]] = {}
    declared = ""
    for each in resolved.chosen:
        if not any(
            resolved.path_of(leaf) == path and line in (None, leaf.line) for leaf in each.leaves
        ) or not (each.declared or each.owners):
            continue
        for leaf in each.leaves:
            if (there := resolved.path_of(leaf)) != path:
                lines.setdefault(there, []).append(leaf.line)
        own = [declared for declared in each.declared if declared.is_own]
        if own and all(project.path(d.home) != path for d in own):
            declared = f"{project.path(own[0].home)}:{own[0].leaf.line} ({called(own[0])})"
    if not lines:
        return ""
    used = used_elsewhere(dict(sorted(lines.items())), declared)
    return f"{used}: name no file, and all are renamed"


ROOTS = (".git", "pyproject.toml", "package.json", "go.mod", "Cargo.toml", "pom.xml")
RELATIVE = re.compile(r"[.@~#/]|(?:crate|self|super)\b")  # `@/x`, `~/x`, `#x` are aliases of one
SCOPED = re.compile(r"@[\w-]+/[\w.-]+")  # npm's `@owner/package`


def is_here(module: str, file: Path | None) -> bool:
    """Whether a module may be one of the project that `file` is in."""
    parts = [part for part in re.split(r"[./\\:]+", module) if part]
    if file is None or not parts:
        return True
    root = next((up for up in file.absolute().parents if _is_root(up)), file.absolute().parent)
    if (scoped := SCOPED.match(module)) is not None:
        installed = root / "node_modules" / scoped[0]
        return installed.is_symlink() or not installed.exists()
    if RELATIVE.match(module):
        return True
    if ("/" in module or file.suffix == ".go") and (own := _go_module(root)):
        return module == own or module.startswith(own + "/")
    folders = [up for up in file.absolute().parents if up == root or root in up.parents]
    crate = "::" in module and parts[0] == root.name.replace("-", "_")
    if crate or _is_above(parts, [up.name for up in folders]):
        return True
    return any(
        _leads(folder, parts) for folder in [*folders, *(root / name for name in SOURCE_FOLDERS)]
    )


def _is_root(folder: Path) -> bool:
    return any((folder / mark).exists() for mark in ROOTS)


def _go_module(root: Path) -> str:
    """The path that Go's own modules begin with."""
    try:
        text = regular.read(root / "go.mod").decode()
    except (OSError, UnicodeDecodeError):
        return ""
    match = re.search(r"^module\s+\"?([^\s\"]+)", text, re.MULTILINE)
    return match[1] if match else ""


def _is_above(parts: list[str], folders: list[str]) -> bool:
    """Whether a package begins as the file's own folders do: `com.acme` of `com.acme.store.Item`.

    `folders`: their names, the innermost first."""
    first = parts[: 2 if len(parts) > 2 else 1]
    outer = list(reversed(folders))
    return any(outer[at : at + len(first)] == first for at in range(len(outer)))


def _leads(folder: Path, parts: list[str]) -> bool:
    """Whether a path is there: as a folder, as a file of any language, or as a name in one."""
    for steps in (parts, parts[:-1]) if len(parts) > 1 else (parts,):
        place = folder.joinpath(*steps)
        if place.is_dir() or next(place.parent.glob(f"{_plain(place.name)}.*"), None) is not None:
            return True
    return False


def _plain(name: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", name)
