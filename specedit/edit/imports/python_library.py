"""Which names the modules of Python's standard library have, read without running a file that a
work tree may hold under the same name.
"""

from __future__ import annotations

import ast
import importlib
import sys
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path

from specedit.check.builtin_names import words

NOT_OFFERED = ("antigravity", "this", "test", "idlelib", "__main__", "lib2to3", "turtledemo")
FROM_MODULES = (  # whose names are imported one by one; the first that has a name offers it
    *("pathlib", "dataclasses", "collections", "collections.abc", "functools", "itertools"),
    *("contextlib", "abc", "enum", "datetime", "decimal", "typing"),
)
CALLED = words(  # names of `typing` that code calls
    "TypeVar NamedTuple TypedDict NewType ParamSpec TypeVarTuple cast overload"
)
OF_CLASS = words(  # called on the class `datetime`, not on the module
    "now utcnow today strptime fromisoformat fromtimestamp utcfromtimestamp combine"
)


@lru_cache(maxsize=64)
def module_names(module: str) -> frozenset[str]:
    """The names of a module; empty for one that is not of the standard library."""
    if module.partition(".")[0] not in sys.stdlib_module_names or module in NOT_OFFERED:
        return frozenset()
    if module in sys.builtin_module_names:  # found before any folder is looked at
        return frozenset(dir(importlib.import_module(module)))
    library = sysconfig.get_path("stdlib")
    folder, _, last = module.rpartition(".")
    spec = PathFinder.find_spec(last, [str(Path(library, folder)), f"{library}/lib-dynload"])
    if spec is None or not spec.origin:
        return frozenset()
    loaded = sys.modules.get(module)
    if loaded is not None and getattr(loaded, "__file__", None) == spec.origin:
        return frozenset(dir(loaded))
    if not spec.origin.endswith(".py"):
        return frozenset()
    return frozenset(_top_level(ast.parse(Path(spec.origin).read_bytes()).body))


def _top_level(body: list[ast.stmt]) -> Iterator[str]:
    for one in body:
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield one.name
        elif isinstance(one, ast.Assign | ast.AnnAssign):
            targets = one.targets if isinstance(one, ast.Assign) else [one.target]
            for target in targets:
                yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name))
        elif isinstance(one, ast.Import | ast.ImportFrom):
            for alias in one.names:
                if alias.name == "*" and isinstance(one, ast.ImportFrom) and one.module:
                    yield from module_names(one.module)
                yield (alias.asname or alias.name).partition(".")[0]
        elif isinstance(one, ast.If | ast.Try):
            handlers = one.handlers if isinstance(one, ast.Try) else []
            bodies = [one.body, one.orelse, *(handler.body for handler in handlers)]
            for part in bodies:
                yield from _top_level(part)


@lru_cache(maxsize=32)
def offered_names(module: str) -> frozenset[str]:
    """The public names that a module of FROM_MODULES defines itself."""
    loaded = importlib.import_module(module)  # the package imports these itself
    names = getattr(loaded, "__all__", None) or [
        name
        for name, value in vars(loaded).items()
        if not name.startswith("_") and getattr(value, "__module__", module) == module
    ]
    return frozenset(names)


def modules_offering(name: str) -> list[str]:
    """The modules of FROM_MODULES that have a name, the preferred one first."""
    return [module for module in FROM_MODULES if name in offered_names(module)]
