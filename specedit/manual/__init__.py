"""The manual: one page per topic, Markdown beside this file, the same on the web and in a terminal.

The first line of a page is `# topic: what it is about`; the part after the colon is its line in the
list of topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from specedit.errors import UsageError
from specedit.settings import nearest

# The pages in reading order; any other page of the folder comes after them.
READING = (
    *("edit", "rename", "apply", "hook", "editors", "agents", "server", "models", "settings"),
    *("trust", "vllm", "engine"),
)
# The topic of each command that has no page of its own name.
SUBJECTS = {
    "ask": "edit",
    "refine": "edit",
    "undo": "edit",
    "view": "edit",
    "editor": "editors",
    "lsp": "editors",
    "mcp": "agents",
    "serve": "server",
    "warm": "server",
    "model": "models",
    "heads": "models",
    "config": "settings",
    "doctor": "settings",
    "bench": "engine",
    "replay": "engine",
}


def topics() -> list[str]:
    """All pages."""
    pages = {
        page.name.removesuffix(".md")
        for page in files(__name__).iterdir()
        if page.name.endswith(".md")
    }
    known = [name for name in READING if name in pages]
    return [*known, *sorted(pages.difference(known))]


def topic(word: str) -> str:
    """The topic of this name, or of the command of this name."""
    wanted = word.lower()
    known = topics()
    result = wanted if wanted in known else SUBJECTS.get(wanted, "")
    if result not in known:
        raise UsageError(f"There is no topic {word!r}.", hint=nearest(wanted, [*known, *SUBJECTS]))
    return result


def page(name: str) -> str:
    """The Markdown of a topic."""
    return (files(__name__) / f"{name}.md").read_text("utf-8")


def about(name: str) -> str:
    """The subject of a topic, in one line."""
    title = page(name).partition("\n")[0].lstrip("# ")
    return title.partition(":")[2].strip() or title


def listing() -> Sequence[tuple[str, str]]:
    """Each topic with its line."""
    return [(name, about(name)) for name in topics()]
