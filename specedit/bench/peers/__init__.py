"""The peers, specedit and what people use instead: a task in, a measured run out.

Every peer runs from the same weights and the same prompt ids. *Dictated*: `answer` holds the ids of
the answer. Every peer does all the work of choosing and then takes those ids, so all write the same
text and times compare. *Own*: `answer` is empty, and each peer writes what its own arithmetic
chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from specedit.bench.cases import Case
from specedit.edit import prompt
from specedit.edit.backend import Message, Plan
from specedit.edit.job import plan_edit
from specedit.edit.reader import Pieces, reader_of, whole_answer
from specedit.errors import UsageError
from specedit.files.source import Source
from specedit.settings import Settings


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


TEXT = "text"  # the kind of a case that is a request for new text, without a file
MARGIN = 1024  # tokens that a peer's own answer may have beyond the file


@dataclass(frozen=True)
class Task:
    """The same for every peer: prompt ids and where to stop. The Plan is for specedit."""

    id: str
    plan: Plan
    prompt: tuple[int, ...]
    answer: tuple[int, ...]  # () for the peer's own
    limit: int  # tokens to write

    @property
    def dictated(self) -> bool:
        return bool(self.answer)


@dataclass(frozen=True)
class PeerRun:
    """One peer's run of one task. `passes` is 0 where the peer does not count them."""

    prefill_s: float  # until the prompt is in the cache
    decode_s: float
    tokens: tuple[int, ...]
    passes: int = 0
    proposed: int = 0
    accepted: int = 0
    early: int = 0  # tokens that came within `prefill_s`

    @property
    def total_s(self) -> float:
        return self.prefill_s + self.decode_s


@dataclass(frozen=True)
class PeerOptions:
    """What every peer is opened with. The engine among the settings is specedit's."""

    settings: Settings
    threads: int
    window: int  # positions that the longest task needs
    lookup: bool = False  # open for a prompt lookup, where that is a way of opening


def stops(pieces: Pieces, task: Task) -> Callable[[int], bool]:
    """Whether a token ends the answer: a peer's own by the same rule for all, a dictated one at its
    length. Called with each token in order."""
    if not task.dictated:
        return reader_of(task.plan, pieces).ends
    left = len(task.answer)

    def ends(token: int) -> bool:
        nonlocal left
        left -= 1
        return left <= 0

    return ends


def cut(pieces: Pieces, task: Task, tokens: list[int]) -> tuple[int, ...]:
    """The ids up to the one that ends the answer."""
    ends = stops(pieces, task)
    last = next((at for at, token in enumerate(tokens) if ends(token)), len(tokens))
    return tuple(tokens[: last + 1])


@dataclass(frozen=True)
class Words:
    """A model's tokenizer and its prompt form."""

    tokenizer: Any
    prompt: Callable[[Plan], list[int]]

    def task(self, case: Case, settings: Settings, *, own: bool, limit: int = 0) -> Task:
        if case.kind == TEXT:
            plan = Plan((Message("user", (case.instruction,)),), "```python\n", closing="```")
            return Task(case.id, plan, tuple(self.prompt(plan)), (), limit)
        source = Source.from_bytes(case.filename, case.before.encode("utf-8"))
        plan = plan_edit(source, case.instruction, settings).plan
        answer: list[int] = []
        if case.after is not None and not own:
            after = prompt.finished(Source.from_bytes("", case.after.encode("utf-8")).text)
            answer = whole_answer(after, plan.closing, self.tokenizer)[: limit or None]
        most = len(answer) or limit or len(self.tokenizer.encode(source.text)) + MARGIN
        return Task(case.id, plan, tuple(self.prompt(plan)), tuple(answer), most)
