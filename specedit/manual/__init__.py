"""The manual: a page a topic, as Markdown beside this file, the same on the web and in a terminal.

A page's first line is `# topic: what it is about`, and what stands behind the colon is its line in
the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from specedit.errors import UsageError
from specedit.settings import nearest

# Pages in the order in which one reads them; any other page of the folder comes behind.
READING = (
    "rename",
    "edit",
    "hook",
    "editors",
    "server",
    "models",
    "heads",
    "settings",
    "trust",
    "vllm",
    "engine",
    "drafters",
)
# Where a command has no page of its own name: the topic of the same subject.
SUBJECTS = {
    "model": "models",
    "serve": "server",
    "warm": "server",
    "editor": "editors",
    "lsp": "editors",
    "ask": "edit",
    "undo": "edit",
    "refine": "edit",
    "view": "edit",
    "config": "settings",
    "bench": "numbers",
    "replay": "numbers",
}


def topics() -> list[str]:
    """Every page there is."""
    found = {
        page.name.removesuffix(".md")
        for page in files(__name__).iterdir()
        if page.name.endswith(".md")
    }
    known = [name for name in READING if name in found]
    return [*known, *sorted(found.difference(known))]


def topic(word: str) -> str:
    """The topic that a person means by its name or by a command's."""
    wanted = word.lower()
    known = topics()
    found = wanted if wanted in known else SUBJECTS.get(wanted, "")
    if found not in known:
        raise UsageError(f"There is no topic {word!r}.", hint=nearest(wanted, [*known, *SUBJECTS]))
    return found


def page(name: str) -> str:
    """The Markdown of a topic."""
    return (files(__name__) / f"{name}.md").read_text("utf-8")


def about(name: str) -> str:
    """What a topic is about, in one line."""
    title = page(name).partition("\n")[0].lstrip("# ")
    return title.partition(":")[2].strip() or title


def listing() -> Sequence[tuple[str, str]]:
    """Each topic with its line."""
    return [(name, about(name)) for name in topics()]
