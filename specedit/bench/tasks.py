"""Cases to tasks: the prompt ids that every peer gets, and the answer they write.

Knows the model's tokenizer and template; loads no weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specedit.bench.cases import Case
from specedit.bench.peers.base import Task
from specedit.edit import prompt
from specedit.edit.answer import whole_answer
from specedit.edit.job import plan_edit
from specedit.edit.plan import Plan
from specedit.files.source import Source
from specedit.settings import Settings

if TYPE_CHECKING:
    from specedit.models.files import ModelFiles

ROOM = 1024  # tokens that an answer of its own may have beyond the file
WARM = Case(
    id="warm-up",
    filename="warm.py",
    instruction="Return 2.",
    before="def one():\n    return 1\n",
    after="def one():\n    return 2\n",
)


PromptOf = Callable[[Plan], list[int]]


@dataclass(frozen=True)
class Words:
    """Text to ids, as the model's own files say."""

    tokenizer: Any
    prompt_of: PromptOf

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer.encode(text)
        return ids

    def prompt(self, plan: Plan) -> tuple[int, ...]:
        return tuple(self.prompt_of(plan))

    def answer(self, text: str, plan: Plan) -> tuple[int, ...]:
        """The ids of a whole answer: the text, the closing line, the end."""
        return tuple(whole_answer(prompt.finished(text), plan.closing, self.tokenizer))


def words_of(files: ModelFiles) -> Words:
    from specedit.models.template import load_template, prompt_ids
    from specedit.models.vocabulary import load_tokenizer

    tokenizer, template = load_tokenizer(files), load_template(files)

    def prompt_of(plan: Plan) -> list[int]:
        turns = [(m.role, m.segments) for m in plan.messages]
        return prompt_ids(tokenizer, template, turns, plan.opening)

    return Words(tokenizer, prompt_of)


def task(case: Case, words: Words, settings: Settings, *, own: bool, limit: int = 0) -> Task:
    source = Source.from_bytes(case.filename, case.before.encode("utf-8"))
    plan = plan_edit(source, case.instruction, settings).plan
    ids = words.prompt(plan)
    answer: tuple[int, ...] = ()
    if case.after is not None and not own:
        text = Source.from_bytes(case.filename, case.after.encode("utf-8")).text
        answer = words.answer(text, plan)
        answer = answer[:limit] if limit else answer
    most = len(answer) or limit or len(words.encode(source.text)) + ROOM
    return Task(case.id, plan, ids, answer, most)


def longest(found: Sequence[Task]) -> int:
    """Positions that the longest task needs."""
    return max(len(t.prompt) + t.limit for t in found)
