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
WORDS = "class|interface|object|trait|enum|fun|def|val|var|type|typealias|function|const"


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
    pattern = rf"\b(?:{WORDS})\b[^\n(={{]*\b{re.escape(name)}\b"
    for path in project.matching(pattern, here.scopes.language.extensions):
        if _package(project.text(path) or "") == package:
            found = project.top_level(path, name)
            yield from (declared for declared in found if declared.kind != "import")
