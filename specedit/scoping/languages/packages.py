"""Languages where a file names its package, and sees what other files of that declare."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.scoping.languages.rules import Rules
from specedit.scoping.project import Project
from specedit.scoping.scope import Declared
from specedit.scoping.typing import Typing

PACKAGE = re.compile(r"^\s*(?:package|namespace)\s+([\w.\\]+)", re.MULTILINE)
STAR = re.compile(r"^\s*import\s+([\w.]+)\.[*_](?!\w)", re.MULTILINE)
HEAD = re.compile(  # of a declaration
    r"\b(?:class|interface|object|trait|enum|fun|def|val|var|type|typealias|function|const)\b[^\n(={]*"
)


class PackageRules(Rules):
    def imports(self, project: Project, here: Typing, imported: Declared) -> list[Declared] | None:
        path = self.module_of(here.scopes, imported).replace("\\", ".").strip(".")
        package, _, name = path.rpartition(".")
        return list(_declared(project, here, package, name)) or None

    def shared(self, project: Project, here: Typing, name: str) -> Iterator[Declared]:
        text = project.text(project.path(here.scopes)) or ""
        for package in (_package(text), *STAR.findall(text)):
            shown = _declared(project, here, package, name)
            yield from (declared for declared in shown if declared.home is not here.scopes)


def _package(text: str) -> str:
    match = PACKAGE.search(text)
    return match[1].replace("\\", ".") if match else ""


def _declared(project: Project, here: Typing, package: str, name: str) -> Iterator[Declared]:
    ends = here.scopes.language.extensions

    def read() -> dict[tuple[str, str], set[str]]:
        results: dict[tuple[str, str], set[str]] = {}
        for path in (path for path in project.paths if path.endswith(ends)):
            text = project.text(path) or ""
            own = _package(text)
            for word in re.findall(r"\w+", " ".join(HEAD.findall(text))):
                results.setdefault((own, word), set()).add(path)
        return results

    heads = project.remembered(("declared in packages", ends), read)
    for path in sorted(heads.get((package, name), ())):
        found = project.top_level(path, name)
        yield from (declared for declared in found if declared.kind != "import")
