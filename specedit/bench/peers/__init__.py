"""Who edits: specedit, and what people would use instead, all behind one seam.

`names` maps each peer to its module, its way of decoding and what must be installed for it. A
peer runs in a process of its own (`bench.worker`), from the same weights and the same prompt ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from specedit.errors import UsageError


@dataclass(frozen=True)
class Name:
    """One peer: `family` shares a process and its weights, `way` is how it decodes."""

    name: str
    family: str  # a module of this package
    way: str
    needs: str = ""  # the module that must be there
    install: str = ""

    @property
    def plain(self) -> bool:
        return self.way in ("plain", "greedy")


ASSISTED = "assisted"  # by --draft-model: asked for by its whole name
LLAMA = ("llama_cpp", "pip install llama-cpp-python")
OPENVINO = ("openvino_genai", "pip install openvino-genai")
NAMES = (
    Name("specedit", "own", "predicted"),
    Name("specedit-plain", "own", "plain"),
    Name("transformers-greedy", "transformers", "greedy"),
    Name("transformers-lookup-10", "transformers", "10"),
    Name("transformers-lookup-32", "transformers", "32"),
    Name("transformers-assisted", "transformers", ASSISTED),
    Name("llama.cpp-plain", "llama", "plain", *LLAMA),
    Name("llama.cpp-lookup-2", "llama_lookup", "2", *LLAMA),
    Name("llama.cpp-lookup-5", "llama_lookup", "5", *LLAMA),
    Name("llama.cpp-lookup-10", "llama_lookup", "10", *LLAMA),
    Name("llama.cpp-lookup-20", "llama_lookup", "20", *LLAMA),
    Name("openvino-plain", "openvino", "plain", *OPENVINO),
    Name("openvino-lookup", "openvino_lookup", "10", *OPENVINO),
)
OWN = "specedit"


def wanted(against: str) -> list[Name]:
    """The peers that `--against` names: whole names, or a beginning that means several."""
    words = [w.strip() for w in against.split(",") if w.strip()]
    if words in ([], ["none"]):
        words = []
    found = [NAMES[0]]
    for word in words:
        hits = [n for n in NAMES if n.name == word or (n.way != ASSISTED and _means(word, n))]
        if not hits:
            raise UsageError(
                f"--against {word}: there is no such peer.",
                hint=f"Known: all, {', '.join(n.name for n in NAMES)}",
            )
        found += [n for n in hits if n not in found]
    return found


def _means(word: str, name: Name) -> bool:
    return word == "all" or name.name.startswith(f"{word}-")


def missing(names: Sequence[Name]) -> list[Name]:
    """Those whose library is not installed."""
    return [n for n in names if n.needs and find_spec(n.needs) is None]
