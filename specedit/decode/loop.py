"""The loop: offer a draft, keep what the model chose itself, go on. Ids in, chunks out.

Knows token ids and the Engine's verbs. Does not know text, files, prompts or torch.

The law it keeps: every committed id is the engine's own choice after nothing but committed ids.
A draft decides how many choices one pass settles, never which. (By the rule `rejection`, which must
be asked for, what is kept is the distribution of each choice.)
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from specedit.decode import merge
from specedit.decode.drafters.base import Costly, Draft, Drafter, Guided, Watcher
from specedit.decode.events import FREE, Chunk, Done
from specedit.decode.tree import is_chain, shifted, straight, walk
from specedit.decode.width import Widths
from specedit.engines.base import GREEDY, Choices, Engine, Prefill, Sampling, common, depths
from specedit.errors import UsageError


def decode(
    engine: Engine,
    prompt: Sequence[int],
    *,
    drafters: Sequence[Drafter],
    widths: Widths,
    ends: Callable[[int], bool],
    limit: int,
    sampling: Sampling = GREEDY,
    audit: bool = False,
) -> Iterator[Prefill | Chunk | Done]:
    """The engine's answer to `prompt`, pass by pass, at most `limit` tokens of it.

    `ends(token)` is asked once for each committed id, in order; the answer is over with the id
    it is true for. With no drafters this is plain decoding.
    """
    if not prompt:
        raise UsageError("an empty prompt has no answer", hint="give at least one token.")
    widths.begin()
    for drafter in drafters:
        drafter.begin(prompt)
    watchers = [drafter for drafter in drafters if isinstance(drafter, Watcher)]
    engine.watch(bool(watchers))
    trees = engine.info.trees
    rejecting = _Rejecting(sampling) if sampling.rejects else None
    if rejecting is None:
        yield from engine.begin(prompt, sampling, audit=audit)
    else:  # the choices are made here, from rows
        yield from engine.begin(prompt, GREEDY, audit=True)
    digest = hashlib.sha256() if audit else None
    last = prompt[-1]
    left = min(limit, engine.info.window - engine.length)
    over = False
    while not over and left > 0:
        started = time.perf_counter()
        base = engine.length
        room = min(left - 1, widths.room)
        drafts = _proposed(drafters, widths, room, trees) if room > 0 else []
        chosen = widths.choose(drafts, trees=trees)
        draft, offered = chosen if chosen else (None, 0)
        ids = list(draft.ids[:offered]) if draft else []
        parents = _branching(draft, offered) if draft and ids else None
        forwarding = time.perf_counter()
        choices = engine.forward([last, *ids], parents)
        forwarded = time.perf_counter()
        path: Sequence[int]
        if rejecting is not None:
            path, said = rejecting.settled([last, *ids], parents, choices, drafts)
        elif parents is None:
            path = range(common(ids, choices.ids) + 1)
            said = choices.ids[: len(path)]
        else:
            path = walk([last, *ids], parents, choices.ids)
            said = [choices.ids[row] for row in path]
        tokens: list[int] = []
        for token in said:
            tokens.append(token)
            if ends(token):
                over = True
                break
        accepted = min(len(path) - 1, len(tokens))
        path = path[: len(tokens)]
        if parents is not None:
            engine.keep(base, path)
        elif engine.length > base + len(tokens):
            engine.crop(base + len(tokens))
        if digest is not None and choices.rows is not None:
            for row in path:
                digest.update(choices.rows[row])
        if choices.states is not None:
            states = [choices.states[row] for row in path]
            for drafter in watchers:
                drafter.see(states)
        last = tokens[-1]
        left -= len(tokens)
        widths.learn(draft, len(ids), tokens, forwarded - forwarding)
        for drafter in drafters:
            drafter.commit(tokens)
        told = merge.told(draft, len(ids), [row - 1 for row in path[1:]]) if draft and ids else None
        yield Chunk(
            tokens=tuple(tokens),
            proposed=len(ids),
            accepted=accepted,
            source=told.source if told else FREE,
            resynced=bool(told and told.resynced),
            seconds=time.perf_counter() - started,
            which=told.which if told else 0,
            depth=len(ids) if parents is None else max(depths(parents)),
            drafting=forwarding - started,
        )
    yield Done("stop" if over else "length", digest.hexdigest() if digest is not None else None)


def _proposed(drafters: Sequence[Drafter], widths: Widths, room: int, trees: bool) -> list[Draft]:
    """What the drafters offer. Those that cost time are asked where the others leave something to
    win, and pay for it."""
    drafts: list[Draft] = []
    costly: list[tuple[Drafter, Costly]] = []
    for drafter in drafters:
        if isinstance(drafter, Costly):
            costly.append((drafter, drafter))
        elif draft := drafter.propose(room):
            drafts.append(draft if trees else _straight(draft))
    for drafter, spender in costly:
        seconds = widths.allowance(drafter.name, spender.cost, drafts)
        if seconds > 0:
            spender.spend(seconds, *widths.prices)
            if isinstance(drafter, Guided):
                drafter.guide(drafts)
            before = time.perf_counter()
            draft = drafter.propose(room)
            spent = draft.seconds if draft else time.perf_counter() - before
            widths.paid(drafter.name, spent, drafts)
            if draft:
                drafts.append(draft if trees else _straight(draft))
    return drafts


class _Rejecting:
    """Choices by `decode.rejection`, with an answer's own noise."""

    def __init__(self, sampling: Sampling) -> None:
        from specedit.decode import rejection

        self._rule = rejection
        self._sampling = sampling
        self._noise = random.Random(f"choices {sampling.seed}").random

    def settled(
        self,
        ids: Sequence[int],
        parents: Sequence[int] | None,
        choices: Choices,
        drafts: Sequence[Draft],
    ) -> tuple[list[int], list[int]]:
        draws = [draft.drawn for draft in drafts if draft.drawn is not None]
        rows = choices.rows or ()
        return self._rule.settled(ids, parents, rows, draws, self._sampling, self._noise)


def _straight(draft: Draft) -> Draft:
    """The likeliest chain of a draft."""
    if draft.parents is None:
        return draft
    rows = straight(draft.parents)
    ids, chances = [draft.ids[row] for row in rows], [draft.chances[row] for row in rows]
    return replace(draft, ids=ids, chances=chances, parents=None)


def _branching(draft: Draft, offered: int) -> list[int] | None:
    """The parents of a pass; None where what is offered of the draft is a chain."""
    parents = None if draft.parents is None else draft.parents[:offered]
    return None if parents is None or is_chain(parents) else shifted(parents)
