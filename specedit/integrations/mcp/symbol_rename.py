"""The places of a symbol in the files of a workspace, and their rename."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from specedit.errors import InputError, UsageError
from specedit.files.recorder import Wish
from specedit.files.worktree import top_of
from specedit.integrations.mcp.agent_call import Call
from specedit.integrations.mcp.schemas import ToolResult, ToRename
from specedit.rename.tree import Tree, plan
from specedit.rename.tree_rename import Target
from specedit.syntax.identifiers import split_member


def renamed(call: Call, to: ToRename, *, lists: bool = False) -> ToolResult:
    """Rename a symbol. `lists`: its places are wanted alone, so the new name may be taken."""
    root, place = call.workspace.root_of(to.path)
    if not place.exists():
        raise InputError("no such file", file=to.path)
    settings = call.settings(root, scope=to.scope, no_model=not to.ask_model)
    tree = _tree(root, place)
    path = tree.path(str(place))
    paths = tree.holding(to.name, derived=to.scope == "derived") if tree.tracks else [path]
    target = None
    if place.is_file():
        line = to.line
        if not line:
            declared = tree.rename_in(paths, to.name, to.new_name, settings).declared
            line = _line_in(path, to.name, declared)
        target = _target(tree, path, split_member(to.name)[1], line)
    result = tree.rename_in(paths, to.name, to.new_name, settings, target)
    if not lists:
        tree.refuse_taken(result, settings)
    if not to.ask_model:
        result = result.without_doubtful(tree.project)
    names = [tree.shown(one) for one in {**result.files, **result.undecided}]
    planner = partial(plan, tree, result, settings=settings)
    wish, writes = Wish(f"{to.name} to {to.new_name}"), to.write and not lists
    return call.run("rename", root, names, planner, settings, wish, writes=writes)


def _tree(root: Path, place: Path) -> Tree:
    """The files that a rename may change: those of the root that git knows, or of a work tree in
    the root that the place is in. Outside of git: the file alone."""
    top = top_of(place if place.is_dir() else place.parent)
    if top is not None:
        return Tree.within(top if top.is_relative_to(root) else root, root)
    if place.is_dir():
        raise UsageError(f"{place} is in no git work tree.", hint="`path` names a file of one.")
    return Tree.of_files([str(place)], root)


def _line_in(path: str, name: str, declared: Sequence[tuple[str, int, str]]) -> int:
    """The line of a file that declares a name; an error unless there is one such line."""
    lines = [line for where, line, _ in declared if where == path]
    if len(lines) == 1:
        return lines[0]
    if lines:
        problem = f"declares `{name}` {len(lines)} times; `line` chooses one: {_some(lines)}"
        raise InputError(problem, file=path)
    places = _some([f"{where}:{line}" for where, line, _ in declared])
    raise InputError(f"does not declare `{name}`; declared: {places or 'nowhere'}", file=path)


def _target(tree: Tree, path: str, name: str, line: int) -> Target:
    """The first use of a name in a line of a file."""
    if (text := tree.project.text(path)) is None:
        raise InputError("not text, or ignored by git", file=path)
    lines = text.split("\n")
    use = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    match = use.search(lines[line - 1]) if line <= len(lines) else None
    if match is None:
        known = _some([number for number, one in enumerate(lines, 1) if use.search(one)])
        problem = f"line {line} has no `{name}`; lines that have it: {known or 'none'}"
        raise InputError(problem, file=path)
    start = sum(len(one) + 1 for one in lines[: line - 1]) + match.start()
    return Target(path, start, start + len(name))


def _some(values: Sequence[object]) -> str:
    return ", ".join(map(str, values[:20])) + (", …" if len(values) > 20 else "")
