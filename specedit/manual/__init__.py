"""The manual: one page per topic, Markdown next to this file.

The first line of a page is `# topic: what it is about`; the part after the colon is its line in
the list of topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from specedit.errors import UsageError
from specedit.settings import check_removed, nearest

TOPICS = (  # in reading order
    *("edit", "rename", "apply", "hook", "editors", "agents", "server", "models"),
    *("settings", "trust", "vllm", "engine"),
)
SUBJECTS = {  # the topic of each command that has no page of its own name
    **dict.fromkeys(("refine", "undo", "view"), "edit"),
    **dict.fromkeys(("editor", "lsp"), "editors"),
    "mcp": "agents",
    **dict.fromkeys(("serve", "warm"), "server"),
    "model": "models",
    **dict.fromkeys(("config", "doctor"), "settings"),
}


def topic(word: str) -> str:
    """The topic of this name, or of the command of this name."""
    wanted = word.lower()
    if wanted not in TOPICS and wanted not in SUBJECTS:
        check_removed(f"specedit {wanted}")
        raise UsageError(f"There is no topic {word!r}.", hint=nearest(wanted, [*TOPICS, *SUBJECTS]))
    return SUBJECTS.get(wanted, wanted)


def page(name: str) -> str:
    """The Markdown of a topic."""
    return (files(__name__) / f"{name}.md").read_text("utf-8")


def about(name: str) -> str:
    """The subject of a topic, in one line."""
    title = page(name).partition("\n")[0].lstrip("# ")
    return title.partition(":")[2].strip() or title


def listing() -> Sequence[tuple[str, str]]:
    """Each topic with its line."""
    return [(name, about(name)) for name in TOPICS]
