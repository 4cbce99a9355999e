"""Where a tree has the new name already: in a class of the family, or in the same package.

What one file shows of it is found with that file's places; here is what only another one has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.rename.guess import Collision
from specedit.rename.project.resolution import ResolvedName
from specedit.rename.rewritten import taken
from specedit.scoping.project import Project
from specedit.scoping.typing import Typing


def taken_elsewhere(
    project: Project, one: ResolvedName, old: str, new: str
) -> Iterator[tuple[str, Collision]]:
    """Where NEW stands in another file's way: in a class of the family, or in the same package."""
    owners = {id(owner) for each in one.chosen for owner in each.owners if owner.module is None}
    suffixes = tuple({re.sub(r".*(\.\w+)$", r"\1", path) for path in one.typings})
    word = rf"(?<!\w){re.escape(new)}(?!\w)"
    for path in project.matching(word, suffixes) if owners else ():
        typing = project.typing(path)
        for owner in typing.scopes.owners if typing is not None else ():
            assert typing is not None
            above = [owner, *typing.above(owner)]
            for declared in owner.members.get(new, ()):
                home = next((up for up in above if id(up) in owners), None)
                if home is None or declared.home is home.home:
                    continue
                where = next(iter(one.typings))
                first = project.path(home.home)
                at = first if first in one.typings else where
                line, text = taken(declared.leaf.line, new, declared.kind)
                yield at, Collision(line, f"{path}, {text}")
    for each in one.chosen:
        for declared in each.declared:
            here = project.at(declared.home)
            local = declared.owner is not None or declared.kind in ("import", "module", "export")
            if (
                local
                or not isinstance(here, Typing)
                or declared.scope is None
                or declared.scope.is_local
            ):
                continue
            for other in here.rules.shared(project, here, new, declared.node):
                path = project.path(other.home)
                line, text = taken(other.leaf.line, new, other.kind)
                yield project.path(declared.home), Collision(line, f"{path}, {text}")
                break
