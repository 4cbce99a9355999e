"""Which file of the tree a JavaScript or TypeScript import means.

Relative paths, index files, `paths` of tsconfig.json, packages of the same tree. Installed
packages are not part of the tree.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from typing import Any

from specedit.scoping.project import Project

ENDS = ("", ".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
WRITTEN = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
CONFIGS = ("tsconfig.json", "jsconfig.json")


def resolve(project: Project, path: str, source: str) -> str | None:
    """The file of the tree that an import means; None outside of the tree."""
    folder = posixpath.dirname(path)
    if source.startswith("."):
        return _file(project, posixpath.normpath(posixpath.join(folder, source)))
    for place in (*_mapped(project, folder, source), *_packages(project, source)):
        result = _file(project, posixpath.normpath(place))
        if result is not None:
            return result
    return None


def _file(project: Project, place: str) -> str | None:
    place = "" if place == "." else place
    stem, end = posixpath.splitext(place)
    tries = [place + one for one in ENDS]
    tries += [stem + one for one in WRITTEN.get(end, ())]
    tries += [posixpath.join(place, "index" + one) for one in ENDS[1:]]
    return next((one for one in tries if one in project.paths), None)


def _mapped(project: Project, folder: str, source: str) -> Iterator[str]:
    """What the nearest tsconfig.json makes of a path."""
    for config in _configs(project, folder):
        base, paths = _options(project, config, 0)
        for pattern, targets in paths.items():
            before, star, after = pattern.partition("*")
            if star and source.startswith(before) and source.endswith(after):
                inner = source[len(before) : len(source) - len(after)]
            elif not star and source == pattern:
                inner = ""
            else:
                continue
            yield from (target.replace("*", inner) for target in targets)
        if base is not None:
            yield posixpath.join(base, source)
        return


def _configs(project: Project, folder: str) -> Iterator[str]:
    up = folder
    while True:
        for name in CONFIGS:
            if (path := posixpath.join(up, name)) in project.paths:
                yield path
        if not up:
            return
        up = posixpath.dirname(up)


def _options(project: Project, config: str, deep: int) -> tuple[str | None, dict[str, list[str]]]:
    """`baseUrl` and `paths` of a configuration, from the tree's top, with what it extends."""
    text = _json(project, config)
    folder = posixpath.dirname(config)
    base: str | None = None
    paths: dict[str, list[str]] = {}
    above = text.get("extends")
    if isinstance(above, str) and above.startswith(".") and deep < 5:
        place = posixpath.normpath(posixpath.join(folder, above))
        match = next((one for one in (place, place + ".json") if one in project.paths), None)
        if match is not None:
            base, paths = _options(project, match, deep + 1)
    options = text.get("compilerOptions")
    if isinstance(options, dict):
        if isinstance(options.get("baseUrl"), str):
            base = posixpath.normpath(posixpath.join(folder, options["baseUrl"]))
        own = options.get("paths")
        if isinstance(own, dict):
            start = base if base is not None else folder
            paths = {
                str(key): [posixpath.join(start, one) for one in each if isinstance(one, str)]
                for key, each in own.items()
                if isinstance(each, list)
            }
    return base, paths


def _packages(project: Project, source: str) -> Iterator[str]:
    """A package of the same tree, by the name that its package.json gives it."""

    def read() -> dict[str, tuple[str, dict[str, Any]]]:
        results: dict[str, tuple[str, dict[str, Any]]] = {}
        for path in sorted(project.paths):
            if posixpath.basename(path) == "package.json" and "node_modules" not in path:
                text = _json(project, path)
                if isinstance(text.get("name"), str):
                    results[text["name"]] = (posixpath.dirname(path), text)
        return results

    for name, (folder, text) in project.remembered("packages", read).items():
        if source == name:
            for field in ("types", "source", "module", "main"):
                if isinstance(text.get(field), str):
                    yield posixpath.join(folder, text[field])
            yield from (posixpath.join(folder, one) for one in ("src", "", "lib"))
        elif source.startswith(name + "/"):
            rest = source[len(name) + 1 :]
            yield from (posixpath.join(folder, rest), posixpath.join(folder, "src", rest))


def _json(project: Project, path: str) -> dict[str, Any]:
    """JSON with comments and commas too many, as these files are written."""
    text = project.text(path) or ""
    text = re.sub(
        r'("(?:[^"\\\n]|\\.)*")|/\*.*?\*/|//[^\n]*', lambda m: m[1] or "", text, flags=re.DOTALL
    )
    text = re.sub(r'("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])', lambda m: m[1] or "", text)
    try:
        spelling = json.loads(text)
    except ValueError:
        return {}
    return spelling if isinstance(spelling, dict) else {}
