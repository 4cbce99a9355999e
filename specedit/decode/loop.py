"""The decoding loop: offer a draft, accept what the model chose itself, repeat. Ids in, chunks out.

Guarantee 1 holds here: every committed id is the engine's own choice after committed ids only. A
draft decides how many choices one pass settles, never which ones. (With `--sampling rejection`, the
distribution of each choice is what stays the same.)
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace

from specedit.decode import FREE, PREDICTION, Chunk, Costly, Done, Draft, Drafter, Watcher
from specedit.decode.tree import accepted_path, is_chain, likeliest_chain, main_part, pass_parents
from specedit.decode.width import Widths
from specedit.engines.base import GREEDY, Engine, Prefill, Sampling, common, depths
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
    unlike: Sequence[Sequence[int]] = (),
) -> Generator[Prefill | Chunk | Done, None, None]:
    """The engine's answer to `prompt`, pass by pass, at most `limit` tokens.

    `ends(token)` is called once for each committed id, in order; the answer ends with the id
    for which it is true. Without drafters this is plain decoding. `unlike`: earlier answers; one
    that is sampled begins as the first of them, and differs from all where it can.
    """
    if not prompt:
        raise UsageError("the prompt is empty", hint="give at least one token.")
    widths.begin()
    for drafter in drafters:
        drafter.begin(prompt)
    watchers = [drafter for drafter in drafters if isinstance(drafter, Watcher)]
    costly = [drafter for drafter in drafters if isinstance(drafter, Costly)]
    free = [drafter for drafter in drafters if drafter not in costly]
    engine.watch(bool(watchers))
    trees = engine.info.trees
    noise = random.Random(f"choices {sampling.seed}").random
    differs = bool(unlike) and sampling.temperature > 0 and not sampling.rejects
    if not sampling.rejects:
        yield from engine.begin(prompt, sampling, audit=audit or differs)
    else:  # choices are made here, from the logits
        yield from engine.begin(prompt, GREEDY, audit=True)
    digest = hashlib.sha256() if audit else None
    last = prompt[-1]
    left = min(limit, engine.info.window - engine.length)
    ended = False
    if differs:
        started = time.perf_counter()
        if begun := first_difference(engine, last, [ids[:left] for ids in unlike], sampling):
            digest = None  # of whole answers alone
            last, left = begun[-1], left - len(begun)
            for token in begun:  # of them only the last one can end it
                ended = ends(token)
            for drafter in drafters:
                drafter.commit(begun)
            taken = len(begun) - 1  # from an earlier answer
            source, seconds = PREDICTION if taken else FREE, time.perf_counter() - started
            yield Chunk(tuple(begun), taken, taken, source, False, seconds, depth=taken)
    while not ended and left > 0:
        # 1 propose: the ids that may come next, as many as are worth a wider pass
        started = time.perf_counter()
        base = engine.length
        most = min(left - 1, widths.draft_limit)
        drafts = _proposals(free, costly, widths, most, trees) if most > 0 else []
        chosen = widths.choose(drafts, trees=trees)
        draft, offered = chosen if chosen else (None, 0)
        ids = list(draft.ids[:offered]) if draft else []
        parents = None
        if draft and draft.parents and not is_chain(draft.parents[:offered]):
            parents = pass_parents(draft.parents[:offered])
        # 2 verify: one forward pass gives the model's choice after each of them
        forwarding = time.perf_counter()
        choices = engine.forward([last, *ids], parents)
        forwarded = time.perf_counter()
        # 3 accept: the ids that the model chose itself, and its own choice after the last of them
        path: Sequence[int]
        if sampling.rejects:
            from specedit.engines.sampling import settle

            samples = [draft.samples for draft in drafts if draft.samples is not None]
            path, chosen_ids = settle(
                [last, *ids], parents, choices.rows or (), samples, sampling, noise
            )
        elif parents is None:
            path = range(common(ids, choices.ids) + 1)
            chosen_ids = choices.ids[: len(path)]
        else:
            path = accepted_path([last, *ids], parents, choices.ids)
            chosen_ids = [choices.ids[row] for row in path]
        tokens: list[int] = []
        for token in chosen_ids:
            tokens.append(token)
            if ends(token):
                ended = True
                break
        accepted = min(len(path) - 1, len(tokens))
        path = path[: len(tokens)]
        if parents is not None:
            engine.keep(base, path)
        elif engine.length > base + len(tokens):
            engine.crop(base + len(tokens))
        # 4 learn: drafters and widths see what was committed
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
        accepted_rows = [row - 1 for row in path[1:]]
        part = main_part(draft, len(ids), accepted_rows) if draft and ids else None
        yield Chunk(
            tokens=tuple(tokens),
            proposed=len(ids),
            accepted=accepted,
            source=part.source if part else FREE,
            resynced=bool(part and part.resynced),
            seconds=time.perf_counter() - started,
            which=part.which if part else 0,
            depth=len(ids) if parents is None else max(depths(parents)),
            drafting=forwarding - started,
            margins=tuple(choices.margins[row] for row in path) if choices.margins else (),
        )
    yield Done("stop" if ended else "length", digest.hexdigest() if digest is not None else None)


def _proposals(
    free: Sequence[Drafter], costly: Sequence[Costly], widths: Widths, most: int, trees: bool
) -> list[Draft]:
    """The drafts for one pass. Drafters that cost time are asked last, only where the other drafts
    leave something to gain, and are charged for it."""
    drafts: list[Draft] = []
    for drafter in free:
        if draft := drafter.propose(most):
            drafts.append(draft if trees else _as_chain(draft))
    for drafter in costly:
        seconds = widths.budget_for(drafter.name, drafter.cost, drafts)
        if seconds <= 0:
            continue
        drafter.set_budget(seconds, *widths.prices, drafts)
        before = time.perf_counter()
        draft = drafter.propose(most)
        spent = draft.seconds if draft else time.perf_counter() - before
        widths.charge(drafter.name, spent, drafts)
        if draft:
            drafts.append(draft if trees else _as_chain(draft))
    return drafts


def _as_chain(draft: Draft) -> Draft:
    """The likeliest chain of a draft."""
    if draft.parents is None:
        return draft
    rows = likeliest_chain(draft.parents)
    ids, chances = [draft.ids[row] for row in rows], [draft.chances[row] for row in rows]
    return replace(draft, ids=ids, chances=chances, parents=None)


AUDIT_PASS_IDS = 32  # ids of one pass: each returns a row of logits
LEAST_REACHED = 1e-9  # chance of an answer's beginning below which no place after it is looked at


def first_difference(
    engine: Engine, last: int, earlier: Sequence[Sequence[int]], sampling: Sampling
) -> list[int]:
    """The ids of the first of the `earlier` answers up to a place where the model's distribution
    allows another id, and there an id that no earlier answer with the same beginning has. Empty
    where no place allows one.

    The place is sampled, too: an answer that continues from there is a sample of the model's
    distribution, on condition that it leaves the first earlier answer for none of the others.
    `engine` has begun with `audit`; `last` is the prompt's last id. The cache then holds all but
    the last of the ids, as after a pass.
    """
    from specedit.engines.sampling import distribution, sampled

    base, followed = engine.length, earlier[0]
    alike = [ids for ids in earlier if ids]  # the answers that begin as the first one does
    number = random.Random(f"difference {sampling.seed}").random
    reached, total = 1.0, 0.0  # the chance of this beginning; the chances of all differences
    best: tuple[int, int] | None = None
    most = min(len(followed), engine.info.window - base - 1)
    for start in range(0, most, AUDIT_PASS_IDS):
        fed = [last, *followed][start : min(start + AUDIT_PASS_IDS, most)]
        rows = engine.forward(fed).rows
        assert rows is not None, "the engine has begun without audit"
        for at, row in enumerate(rows, start):
            chances = distribution(row, sampling)
            follows = float(chances[followed[at]])
            chances[[ids[at] for ids in alike]] = 0.0
            differs = reached * float(chances.sum())
            total += differs
            aims = number(), number()
            if differs > 0 and aims[0] * total < differs:
                best = at, sampled(chances, aims[1])
            reached *= follows
            alike = [ids for ids in alike if ids[at] == followed[at] and len(ids) > at + 1]
        if reached < LEAST_REACHED:
            break
    engine.crop(base if best is None else base + 1 + best[0])
    return [] if best is None else [*followed[: best[0]], best[1]]
