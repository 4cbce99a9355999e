"""Commits as examples: the ids of a prompt, as edits have it, and of the right answer.

An edit shows the regions that the commit changed, of a small file all of it, and for some of them
the blocks next to these. Of a large file there is also the question about places. A weight says
what an id of an answer is: copied from the prompt, or changed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from specedit.edit import prompt as prompts
from specedit.edit.ask import plan_of
from specedit.edit.backend import Plan
from specedit.edit.job import Job, plan_edit
from specedit.edit.regions.blocks import MAX_BLOCK_LINES, Block, blocks_of, listing_of
from specedit.edit.regions.choice import grouped
from specedit.edit.regions.locate import is_large, may_divide, shared_beginnings
from specedit.edit.regions.together import merged, region_job
from specedit.errors import SpeceditError
from specedit.files.source import Source
from specedit.inference.reader import answer_ending
from specedit.models.tokenizer import prompt_ids
from specedit.settings import Settings
from specedit.syntax.lines import lines_of, opcodes
from training.edits.commits import Row, instructions_of

COPIED, CHANGED = 1, 2
WIDER = 0.25  # share of edits that show the blocks next to the changed ones, too
HELD = 40  # one commit of so many is for validation
SETTINGS = Settings(allow="question")


@dataclass(frozen=True, slots=True)
class Example:
    """One prompt with its answer. `kinds`: 0 for the prompt, then COPIED or CHANGED."""

    ids: list[int]
    kinds: list[int]
    held: bool


def examples_of(
    rows: Sequence[Row], written: Mapping[str, Row], tokenizer: Any, most: int
) -> Iterator[Example]:
    """The examples of these commits that have at most so many ids."""
    for row in rows:
        chance = random.Random(row["id"])
        held = chance.randrange(HELD) == 0
        source = Source.from_bytes(Path(row["path"]).name, row["before"].encode())
        for instruction in instructions_of(row, written):
            try:
                job = replace(plan_edit(source, instruction, SETTINGS), known=None)
            except SpeceditError:
                continue
            for plan, right in _questions(job, row["after"], chance):
                made = _example(plan, right, tokenizer, held)
                if len(made.ids) <= most:
                    yield made


def _questions(job: Job, after: str, chance: random.Random) -> Iterator[tuple[Plan, str]]:
    """Each question about an edit, with its right answer."""
    source = job.about
    if not (may_divide(job, SETTINGS) and is_large(source, SETTINGS)):
        yield job.plan, prompts.finished(after)
        return
    blocks = blocks_of(source.text, source.language)
    spans = [
        (a, max(a + 1, b))
        for tag, a, b, *_ in opcodes(lines_of(source.text), lines_of(after))
        if tag != "equal"
    ]
    changed = [any(a < block.last and block.first <= b for a, b in spans) for block in blocks]
    listing = listing_of(source.text, blocks)
    meant = {_name(block) for block, is_changed in zip(blocks, changed, strict=True) if is_changed}
    pairs = zip(listing.names, listing.blocks, strict=True)
    names = [name for name, block in pairs if _name(block) in meant]
    for plan in shared_beginnings(job, SETTINGS):
        if plan.choices and names:
            yield plan, "".join(f"{name}\n" for name in names[:3])
    wide = chance.random() < WIDER
    open_blocks = [
        block for at, block in enumerate(blocks) if any(changed[max(0, at - wide) : at + 1 + wide])
    ]
    regions = [region_job(source, group, 1.0) for group in grouped(open_blocks, MAX_BLOCK_LINES)]
    plan = replace(job.plan, predictions=(after,))  # as an answer to all of the file
    job = replace(job, plan=plan, regions=merged(source, regions))
    for group in job.questions:
        part = plan_of(job, group)
        yield part, part.predictions[0]


def _name(block: Block) -> object:
    return block.name or block


def _example(plan: Plan, right: str, tokenizer: Any, held: bool) -> Example:
    turns = [(message.role, message.segments) for message in plan.messages]
    prompt = prompt_ids(tokenizer, turns, plan.opening)
    answer = tokenizer.encode(right)
    kinds = [CHANGED] * len(answer)
    for tag, _, _, first, last in opcodes(tokenizer.encode(plan.prediction or ""), answer):
        if tag == "equal":
            kinds[first:last] = [COPIED] * (last - first)
    ending = answer_ending(plan.closing, tokenizer)
    kinds = [0] * len(prompt) + kinds + [COPIED] * len(ending)
    return Example([*prompt, *answer, *ending], kinds, held)


def save(path: Path, examples: Sequence[Example]) -> None:
    np.savez_compressed(
        path,
        ids=np.array([id for each in examples for id in each.ids], np.int32),
        kinds=np.array([kind for each in examples for kind in each.kinds], np.int8),
        ends=np.cumsum([len(each.ids) for each in examples]),
        held=np.array([each.held for each in examples]),
    )


def load(path: Path) -> list[Example]:
    data = np.load(path, allow_pickle=False)
    ids, kinds = (np.split(data[name], data["ends"][:-1]) for name in ("ids", "kinds"))
    facts = zip(ids, kinds, data["held"], strict=True)
    return [Example(a.tolist(), b.tolist(), bool(held)) for a, b, held in facts]
