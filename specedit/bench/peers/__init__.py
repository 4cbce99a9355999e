"""The peers: specedit, and what people use instead, all behind `peers.task.Peer`.

Every peer runs from the same weights and the same prompt ids.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec

from specedit.errors import UsageError


@dataclass(frozen=True)
class PeerName:
    """One peer. `module` has its `open_peer`; `way` is how it decodes."""

    name: str
    module: str
    way: str
    library: str = ""  # what must be installed: a module, and the command that installs it
    install: str = ""
    lookup: bool = False  # opened for a prompt lookup, where that is a way of opening

    @property
    def process(self) -> tuple[str, bool]:
        """Peers that share weights share a process."""
        return self.module, self.lookup

    @property
    def missing(self) -> bool:
        return bool(self.library) and find_spec(self.library) is None


PREDICTED, PLAIN, ASSISTED = "predicted", "plain", "assisted"
OWN_MODULE = f"{__name__}.own"
TORCH = (f"{__name__}.transformers", "transformers", "pip install 'specedit[torch]'")
LLAMA = (f"{__name__}.llama", "llama_cpp", "pip install llama-cpp-python")


def _peers(
    name: str, ways: Iterable[str], of: tuple[str, str, str], *, lookup: bool = False
) -> list[PeerName]:
    module, library, install = of
    return [PeerName(f"{name}{way}", module, way, library, install, lookup) for way in ways]


NAMES = [
    PeerName("specedit", OWN_MODULE, PREDICTED),
    PeerName("specedit-plain", OWN_MODULE, PLAIN),
    *_peers("transformers-", (PLAIN, ASSISTED), TORCH),  # the latter needs --draft-model
    *_peers("transformers-lookup-", ("10", "32"), TORCH),
    *_peers("llama.cpp-", (PLAIN,), LLAMA),
    *_peers("llama.cpp-lookup-", ("2", "5", "10", "20"), LLAMA, lookup=True),
]
OWN = NAMES[0].name


def selected(against: str) -> list[PeerName]:
    """specedit and the peers of `--against`: `all`, `none`, whole names, or their beginnings.

    Assisted generation needs a draft model, so only its whole name selects it."""
    names = [NAMES[0]]
    for word in (w.strip() for w in against.split(",")):
        if word in ("", "none"):
            continue
        hits = [
            n
            for n in NAMES
            if n.name == word
            or (n.way != ASSISTED and (word == "all" or n.name.startswith(f"{word}-")))
        ]
        if not hits:
            raise UsageError(
                f"--against {word}: there is no such peer.",
                hint=f"Known: all, none, {', '.join(n.name for n in NAMES)}",
            )
        names += [n for n in hits if n not in names]
    return names
