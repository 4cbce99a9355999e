"""Moving files: how the imports of a work tree follow them. Writes nothing.

Imports of Python, JavaScript and TypeScript are rewritten; in Java and C# the class that the file
is named after is renamed. Files that name a moved file in another way are reported.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from specedit.errors import InputError, UsageError
from specedit.rename.follow_python import PythonImports, module_place
from specedit.rename.rewritten import put
from specedit.rename.tree import Tree
from specedit.scoping.languages import javascript_paths, python_modules
from specedit.scoping.project import Project
from specedit.scoping.rewrite import Rewrite
from specedit.scoping.typing import Typing
from specedit.settings import Settings
from specedit.syntax.branch import Branch

CALLS = frozenset({"require", "import", "jest.mock", "vi.mock", "require.resolve"})
BY_CLASS = (".java", ".cs")  # a file is named after its class
IN_FOLDER = (".go",)  # the files of a folder are one package
SCRIPTS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")


@dataclass
class MovePlan:
    """The new texts by path (from the tree's top), and what does not follow."""

    moved: Mapping[str, str]
    texts: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)


def follow(tree: Tree, moved: Mapping[str, str], settings: Settings) -> MovePlan:
    """The texts of all files of a tree after a move."""
    for old, new in moved.items():
        _refuse_unknown(tree.project, old, new)
    old, new = next(iter(moved.items()))
    if len(moved) == 1 and old.endswith(BY_CLASS):
        return _class_renamed(tree, old, new, settings)
    names = {posixpath.basename(module_place(path)) for path in moved}
    if len(moved) > 1:  # a folder: what is outside names it, or its way down
        folder = posixpath.commonpath([posixpath.dirname(path) for path in moved])
        names = {posixpath.basename(folder)}
    if any(posixpath.basename(path).startswith("index.") for path in moved):
        names |= {posixpath.basename(posixpath.dirname(path)) for path in moved} - {""}
    holding = [path for name in sorted(names) for path in tree.holding(name, derived=False)]
    return plan_move(tree.project, moved, list(dict.fromkeys(holding)))


def _refuse_unknown(project: Project, old: str, new: str) -> None:
    """An error for code whose imports cannot be followed."""
    followed = (*python_modules.ENDS, *SCRIPTS)
    beside = posixpath.dirname(old) == posixpath.dirname(new)
    alone = old.endswith((*IN_FOLDER, *BY_CLASS)) and (beside or old.endswith(".cs"))
    if project.language(old) is not None and not old.endswith(followed) and not alone:
        language = project.language(old)
        raise InputError(
            f"the imports of {language.name if language else ''} are not followed to another "
            "folder; nothing was moved",
            file=old,
            hint="git mv moves the file alone.",
        )


def _class_renamed(tree: Tree, old: str, new: str, settings: Settings) -> MovePlan:
    """The class of the file's name is renamed as the file is."""
    plan = MovePlan({old: new})
    names = [posixpath.splitext(posixpath.basename(path))[0] for path in (old, new)]
    typing = tree.project.typing(old)
    owners = typing.scopes.owners if typing is not None else []
    if names[0] != names[1] and any(owner.name == names[0] for owner in owners):
        end = posixpath.splitext(old)[1]  # other languages have classes of their own
        paths = [one for one in tree.holding(names[0], derived=False) if one.endswith(end)]
        result = tree.rename_in(paths, names[0], names[1], settings)
        tree.refuse_taken(result, settings)
        plan.texts = {path: guess.text for path, guess in result.files.items()}
    return plan


def plan_move(project: Project, moved: Mapping[str, str], holding: list[str]) -> MovePlan:
    """The texts of all files after a move. `holding`: the files that may name a moved file."""
    plan = MovePlan(moved)
    for path in dict.fromkeys((*moved, *holding)):
        typing = project.typing(path)
        text = project.text(path)
        if text is None or typing is None:
            continue
        if path.endswith(python_modules.ENDS):
            rewrites = list(PythonImports(project, moved, path, typing).rewrites())
        elif path.endswith(SCRIPTS):
            rewrites = list(_script(project, moved, path, typing))
        else:
            continue
        if rewrites:
            plan.texts[path] = put(typing.scopes.data, rewrites)[1].decode("utf-8", "surrogatepass")
    for path in holding:
        if note := _left(plan.texts.get(path) or project.text(path) or "", path, moved):
            plan.notes[path] = note
    return plan


def _left(text: str, path: str, moved: Mapping[str, str]) -> str:
    """Where a file names a moved one in a way that is not an import."""
    for old, new in moved.items():
        dotted = module_place(old).replace("/", ".")
        names = [old, *([dotted] if "." in dotted and old.endswith(".py") else [])]
        for name in names:
            hit = re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w-])", text)
            if hit is not None and path not in (old, new):
                return f"line {text.count(chr(10), 0, hit.start()) + 1}: names `{name}`; it stays"
    return ""


def refuse_taken(project: Project, moved: Mapping[str, str]) -> None:
    """An error where a file cannot be moved to its new name."""
    for old, new in moved.items():
        if old == new:
            raise UsageError(f"OLD and NEW are both {old!r}")
        same = new.lower() == old.lower()
        other = next((path for path in project.paths if path.lower() == new.lower()), None)
        if other is not None and not same:
            how = "exists already" if other == new else "differs from it only in case"
            raise InputError(f"{how}; nothing was moved", file=other)


def _script(
    project: Project, moved: Mapping[str, str], path: str, typing: Typing
) -> Iterator[Rewrite]:
    folder = posixpath.dirname(path)
    new_folder = posixpath.dirname(moved.get(path, path))
    for node in _specifiers(typing):
        source = typing.scopes.text(node)[1:-1]
        old = javascript_paths.resolve(project, path, source)
        if old is None:
            continue
        new = moved.get(old, old)
        if new == old and (folder == new_folder or not source.startswith(".")):
            continue
        written = _specifier(source, folder, old, new, new_folder)
        if written != source:
            yield Rewrite(node.start + 1, node.end - 1, source, written, "code")


def _specifiers(typing: Typing) -> Iterator[Branch]:
    """The strings that name modules."""
    for node in typing.scopes.root.walk():
        source = node.part("source") if node.type.endswith("_statement") else None
        if node.type == "call_expression":
            called, given = node.part("function"), node.part("arguments")
            if called is not None and typing.scopes.text(called) in CALLS and given is not None:
                source = next(iter(given.named_children()), None)
        elif node.type == "import_require_clause":
            source = node.part("source") or node.first("string")
        if source is not None and source.type == "string":
            yield source


def _specifier(source: str, folder: str, old: str, new: str, new_folder: str) -> str:
    """A module's new name, with an ending, a folder or an alias where the old one had that."""
    stem, end = posixpath.splitext(new)
    written = next((one for one in SCRIPTS if source.endswith(one)), "")
    if written in (".js", ".jsx", ".mjs", ".cjs") and end not in (written, ""):
        end = written  # TypeScript names what it compiles to
    old_stem = posixpath.splitext(old)[0]
    named_folder = old_stem.endswith("/index") and not re.search(r"(^|/)index(\.\w+)?$", source)
    if named_folder and stem.endswith("/index"):
        stem = posixpath.dirname(stem)
    target = stem + (end if written else "")
    if not source.startswith("."):
        bare = source[: len(source) - len(written)]
        parts = (posixpath.dirname(old_stem) if named_folder else old_stem).split("/")
        for at in range(len(parts)):
            tail, head = "/".join(parts[at:]), "/".join(parts[:at])
            inside = not head or target.startswith(f"{head}/")
            if inside and (bare == tail or bare.endswith(f"/{tail}")):
                return bare[: len(bare) - len(tail)] + target[len(head) + 1 if head else 0 :]
    relative = posixpath.relpath(target, new_folder or ".")
    return relative if relative.startswith(".") else f"./{relative}"
