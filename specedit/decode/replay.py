"""Replay: drafting without a model; the wanted text takes the place of the model's answer.

The result is the passes of a case and their cost on a curve. The bound is the cost with a drafter
that never offers a wrong id but cannot know a new one.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from specedit.decode import Chunk, drafters
from specedit.decode.cost import Curve
from specedit.decode.drafter import Codec
from specedit.decode.loop import decode
from specedit.decode.width import Widths
from specedit.engines.scripted import ScriptedEngine
from specedit.import_time import frozen

ENGINE = Curve.line(0.070, 0.006)  # the cost curve that widths are chosen by


@frozen
class Replay:
    """The passes of one case, and how much of its text is copied."""

    tokens: int  # of the after text, the end included
    passes: tuple[tuple[int, int], ...]  # (proposed, accepted); each commits one id more
    copied: int  # ids of after that difflib aligns with before
    blocks: int  # changed blocks

    def seconds(self, curve: Curve) -> float:
        return sum(curve.seconds(1 + proposed) for proposed, _ in self.passes)

    def plain(self, curve: Curve) -> float:
        return self.tokens * curve.seconds(1)

    def bound(self, curve: Curve) -> float:
        """A pass of width 1 for each new id and block; a share of a pass for each copied id."""
        each = curve.seconds(2) - curve.seconds(1)
        once = curve.seconds(1)
        new = self.tokens - self.copied
        return new * once + self.copied * each + self.blocks * (once - each)


def replay(
    before: Sequence[int],
    after: Sequence[int],
    end: int,
    *,
    codec: Codec | None = None,
    instruction: Sequence[int] = (),
    names: Sequence[str] = drafters.FREE_NAMES,
    curve: Curve = ENGINE,
) -> Replay:
    """Decode `after` with `before` as the prediction; both end with `end`."""
    prompt = [*before, end, *instruction, end]
    chunks = [
        event
        for event in decode(
            ScriptedEngine(after, end, vocabulary=1 + max((end, *before, *after))),
            prompt,
            drafters=drafters.build(
                names,
                prediction=[*before, end],
                codec=codec,
                instruction=instruction,
            ),
            widths=Widths(curve),
            ends=lambda token: token == end,
            limit=len(after) + 1,
        )
        if isinstance(event, Chunk)
    ]
    aligned = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return Replay(
        tokens=len(after) + 1,
        passes=tuple((chunk.proposed, len(chunk.tokens) - 1) for chunk in chunks),
        copied=sum(j2 - j1 for kind, _, _, j1, j2 in aligned if kind == "equal"),
        blocks=sum(kind != "equal" for kind, *_ in aligned),
    )
