"""Count the forward passes that edits would take; the wanted text plays the model.

    python -m benchmarks.replay CASES.jsonl --curve 70+6w

The result is the passes of a case and their cost on a curve. The bound is the cost with a drafter
that never offers a wrong id but cannot know a new played.
"""

from __future__ import annotations

import difflib
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from benchmarks.common import run
from benchmarks.speed.cases import read_cases
from specedit.cli.options import argument, option, settings_options
from specedit.decode import Chunk, Codec, drafters
from specedit.decode.cost import Curve
from specedit.decode.loop import decode
from specedit.decode.width import Widths
from specedit.errors import UsageError
from specedit.inference.reader import answer_ending
from specedit.models.resolve import resolve
from specedit.models.vocabulary import load_tokenizer
from specedit.settings import Settings
from tests.helpers.scripted_engine import ScriptedEngine

ENGINE = Curve.line(0.070, 0.006)  # the cost curve that widths are chosen by


@dataclass(frozen=True, slots=True)
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


CURVES = ("70+6w", "70+1w", "35+15w")  # int8 on two cores, a GPU, llama.cpp on two cores


@settings_options("model", "engine", "draft", "json", "quiet")
def main(
    cases: str = argument("CASES", "JSON lines with `before` and `after`"),
    limit: int = option(0, "Replay only the first N cases (0: all)"),
    curve: str | None = option(
        None, "Assume A+Bw milliseconds for a pass of width w, such as 70+6w", metavar="A+Bw"
    ),
    *,
    settings: Settings,
) -> int:
    """Count the forward passes that edits would take, without a model."""
    chosen = read_cases(Path(cases), "after", first=limit)
    names = [name.strip() for name in settings.draft.split(",")]
    tokenizer = tokenizer_of(settings)
    (end,) = answer_ending("", tokenizer)
    curves = [curve] if curve else list(CURVES[:1] if settings.json else CURVES)
    rows = []
    for name in curves:
        cost = curve_of(name)
        replays = []
        for case in chosen:
            before, after = tokenizer.encode(case.before), tokenizer.encode(case.after or "")
            played = replay(
                before,
                after,
                end,
                codec=tokenizer,
                instruction=tokenizer.encode(case.instruction),
                names=names,
                curve=cost,
            )
            replays.append(played)
            if settings.json:
                line = {
                    "id": case.id,
                    "tokens": played.tokens,
                    "passes": [list(counts) for counts in played.passes],
                    "bound": round(1000 * played.bound(cost), 3),  # milliseconds
                }
                print(json.dumps(line))
        rows.append(_row(name, replays, cost))
    if not (settings.json and settings.quiet):
        print("\n".join([HEAD, *rows]), file=sys.stderr if settings.json else sys.stdout)
    return 0


def curve_of(name: str) -> Curve:
    """`70+6w`: a pass of width w takes 70 + 6 w milliseconds."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\+(\d+(?:\.\d+)?)w", name)
    once, each = (float(part) / 1000 for part in match.groups()) if match else (0.0, 0.0)
    if once + each <= 0:
        raise UsageError(
            f"{name!r} is not a cost curve.", hint="A+Bw in milliseconds, such as 70+6w"
        )
    return Curve.line(once, each)


HEAD = (
    f"{'pass, ms':>9} {'cases':>6} {'tokens':>8} {'passes':>7} {'accepted':>9} "
    f"{'cost, s':>9} {'/bound':>7} {'/plain':>7} {'worst':>6}"
)


def _row(name: str, replays: Sequence[Replay], cost: Curve) -> str:
    """The sums on one curve; `worst` is the largest share of a case's own plain decoding."""
    passes = [counts for played in replays for counts in played.passes]
    proposed, accepted = sum(p for p, _ in passes), sum(a for _, a in passes)
    seconds, plain = (
        sum(played.seconds(cost) for played in replays),
        sum(played.plain(cost) for played in replays),
    )
    bound = sum(played.bound(cost) for played in replays)
    worst = max(played.seconds(cost) / played.plain(cost) for played in replays)
    return (
        f"{name:>9} {len(replays):>6} {sum(r.tokens for r in replays):>8} {len(passes):>7} "
        f"{accepted / max(1, proposed):>9.1%} {seconds:>9.1f} {seconds / bound:>7.3f} "
        f"{seconds / plain:>7.3f} {worst:>6.3f}"
    )


def tokenizer_of(settings: Settings) -> Any:
    """The model's tokenizer, without its weights."""
    return load_tokenizer(resolve(settings.model))


app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
app.command()(main)

if __name__ == "__main__":
    run(app)
