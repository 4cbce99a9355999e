"""The folders that a client has open: a tool reads and writes in them, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from specedit.errors import InputError, UsageError
from specedit.files.worktree import real
from specedit.integrations.lsp.documents import path_of
from specedit.view.terminal import name as shown


@dataclass(frozen=True)
class Workspace:
    """The roots of one call, links followed; at least one."""

    roots: tuple[Path, ...]

    @classmethod
    def of_client(cls, uris: Iterable[str]) -> Workspace:
        """The folders on this machine among the roots of a client."""
        own = (uri for uri in uris if urlsplit(uri)[:2] in (("file", ""), ("file", "localhost")))
        roots = tuple(dict.fromkeys(real(path_of(uri)) for uri in own if "%00" not in uri))
        if not (roots := tuple(root for root in roots if root.is_dir())):
            raise UsageError(
                "The client names no folder as a workspace root.",
                hint="Open the project's folder in the client, then call the tool again.",
            )
        return cls(roots)

    @classmethod
    def of_process(cls, folder: Path | None) -> Workspace:
        """The folder that the server was started in, for a client that names no roots. Over HTTP
        there is none: such a server is not started for one project."""
        if folder is None:
            raise UsageError(
                "The client names no workspace roots, and over HTTP it must.",
                hint="Use a client that does, or `specedit mcp` in the project's folder.",
            )
        if folder in (folder.parent, real(Path.home())):
            raise UsageError(
                f"The client names no workspace root, and the server was started in {folder}.",
                hint="Start `specedit mcp` in the project's folder (`cwd` in many clients).",
            )
        return cls((folder,))

    def root_of(self, path: str) -> tuple[Path, Path]:
        """The root that a path is in, and the path with links followed. A relative path is looked
        for in every root; the empty one means the only root."""
        names = ", ".join(map(str, self.roots))
        if not path and len(self.roots) > 1:
            raise UsageError(f"`path` must name a file in one of the roots: {names}")
        if shown(path) != path:
            raise InputError("the path has control characters", file=shown(path))
        places = [real(root / path) for root in self.roots]
        if ".." in Path(path).parts or not (inside := [one for one in places if self.holds(one)]):
            raise InputError("outside of the workspace", file=path, hint=f"The roots: {names}")
        place = next((one for one in inside if one.exists()), inside[0])
        return next(root for root in self.roots if place.is_relative_to(root)), place

    def holds(self, place: Path) -> bool:
        """Whether a place, links followed, is in a root and not in a `.git`."""
        inside = (place.relative_to(root) for root in self.roots if place.is_relative_to(root))
        return any(".git" not in map(str.lower, one.parts) for one in inside)
