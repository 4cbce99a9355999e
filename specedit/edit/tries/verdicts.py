"""The command's report on each try, for the user and for the model, and which try is best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from specedit.edit.report import Figures, Judgement, Try
from specedit.edit.tries import failure
from specedit.edit.tries.command import Ran


class Failures:
    """The command's report on each try: a line for the user, more lines for the model."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}
        self.seconds = 0.0  # of the last run

    def verdict(self, ran: Ran, root: Path, number: int) -> Judgement:
        self.seconds = ran.seconds
        if ran.code == 0:
            return Judgement(0)
        result = failure.read(ran.output, root)
        line = result.line or f"exit code {ran.code}"
        if ran.problem:
            line = f"{ran.problem}; its last line: {result.line}" if result.line else ran.problem
        self._texts[number] = "\n".join(one for one in (ran.problem, result.text or line) if one)
        return Judgement(ran.code, line, result.failed)

    def text(self, whole: Try) -> str:
        """The feedback for a try that failed."""
        at = whole.number if whole.same_as is None else whole.same_as
        return self._texts.get(at, whole.line)


def whole_of(parts: Sequence[Try], names: Sequence[str]) -> Try:
    """One try over all files, from what it was for each of them."""
    named = "{name}: {why}" if len(names) > 1 else "{why}"
    refused = [
        named.format(name=name, why=one.refused)
        for name, one in zip(names, parts, strict=True)
        if one.refused
    ]
    return replace(
        parts[0],
        figures=sum((one.figures for one in parts), Figures()),
        after_sha256=" ".join(one.after_sha256 for one in parts),
        refused="; ".join(refused),
        with_feedback=any(one.with_feedback for one in parts),
        same_as=None,
    )


def best(wholes: Sequence[Try]) -> int:
    """The index of the best try: the fewest failures; where none are counted, the first that the
    command judged."""
    most_ = float("inf")

    def rank(at: int) -> tuple[bool, bool, float, int]:
        one = wholes[at]
        failures = one.test.failed if one.test and one.test.failed is not None else most_
        return bool(one.refused), one.same_as is not None, failures, at

    return min(range(len(wholes)), key=rank)


def none_passes(wholes: Sequence[Try], command: str, before: Judgement) -> str:
    """Why nothing is kept: what stands against the best of the tries."""
    nearest = wholes[best(wholes)]
    if nearest.refused:  # and so is every other: the command judged none of them
        return f"the checks refuse all {len(wholes)} tries; the first: {nearest.refused}"
    message = f"no try of {len(wholes)} passes {command!r}"
    if not before.passed:
        message += ", which failed before the edit, too"
    return f"{message}: {nearest.line}"
