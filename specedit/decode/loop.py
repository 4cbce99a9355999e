"""The loop: offer a draft, keep what the model chose itself, go on. Ids in, chunks out.

Knows token ids and the Engine's three verbs. Does not know text, files, prompts or torch.

The law it keeps: every committed id is the engine's own choice after nothing but committed ids.
A draft decides how many choices one pass settles, never which.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence

from specedit.decode.drafters.base import Drafter
from specedit.decode.events import FREE, Chunk, Done
from specedit.decode.width import Widths
from specedit.engines.base import GREEDY, Engine, Prefill, Sampling, common
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
    yield from engine.begin(prompt, sampling, audit=audit)
    digest = hashlib.sha256() if audit else None
    last = prompt[-1]
    left = min(limit, engine.info.window - engine.length)
    over = False
    while not over and left > 0:
        started = time.perf_counter()
        base = engine.length
        room = min(left - 1, widths.room)
        drafts = [d for drafter in drafters if room > 0 and (d := drafter.propose(room))]
        chosen = widths.choose(drafts)
        draft, offered = chosen if chosen else (None, 0)
        ids = list(draft.ids[:offered]) if draft else []
        forwarding = time.perf_counter()
        choices = engine.forward([last, *ids])
        forwarded = time.perf_counter()
        accepted = common(ids, choices.ids)
        tokens: list[int] = []
        for token in choices.ids[: accepted + 1]:
            tokens.append(token)
            if ends(token):
                over = True
                break
        accepted = min(accepted, len(tokens))
        if engine.length > base + len(tokens):
            engine.crop(base + len(tokens))
        if digest is not None:
            for row in (choices.rows or ())[: len(tokens)]:
                digest.update(row)
        last = tokens[-1]
        left -= len(tokens)
        widths.learn(draft, len(ids), tokens, forwarded - forwarding)
        for drafter in drafters:
            drafter.commit(tokens)
        yield Chunk(
            tokens=tuple(tokens),
            proposed=len(ids),
            accepted=accepted,
            source=draft.source if draft and ids else FREE,
            resynced=bool(draft and ids and draft.resynced),
            seconds=time.perf_counter() - started,
            which=draft.which if draft and ids else 0,
        )
    yield Done("stop" if over else "length", digest.hexdigest() if digest is not None else None)
