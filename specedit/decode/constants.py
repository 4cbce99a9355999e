"""The drafting constants that are fitted to data: what each one means.

Their values are in `decode.fitted`, which `python -m benchmarks.fit CASES` writes. Limits that a
guarantee rests on (how much drafts may lose, how long they may be) are not fitted; they are defined
where they are used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

CHANCE, AMOUNT, ODDS = "chance", "amount", "odds"  # in (0, 1); above 0; any number


def _fitted(kind: str) -> Any:
    return field(metadata={"kind": kind})


@dataclass(frozen=True)
class Constants:
    """Probabilities, risks and priors. `kind` in a field's metadata gives the valid range."""

    # decode.drafters.lookup: the chance that a context's continuation is right, by its length
    # (`lookup.LENGTHS`). For short contexts: if it had been the only continuation so far.
    contexts: tuple[float, ...] = _fitted(CHANCE)

    # decode.drafters.prediction: the chance that so many ids after a change say the same text
    same_text: tuple[float, ...] = _fitted(CHANCE)
    inside: float = _fitted(CHANCE)  # of a learned change's next id, once its first held
    # the chance that the next id leaves the prediction, by the ids that followed it in a row
    risks: tuple[float, ...] = _fitted(CHANCE)  # (`prediction.RUNS`), after the first change,
    first_risk: float = _fitted(CHANCE)  # and before it;
    foreseen: float = _fitted(AMOUNT)  # of that, where the change asked for is foreseen

    # decode.drafters.learned: how often a rule is taken to have held before any trial (and to have
    # failed once): the word itself, a part of a longer one, another case; learned, or asked for
    learned_words: tuple[float, ...] = _fitted(AMOUNT)
    asked_words: tuple[float, ...] = _fitted(AMOUNT)
    context_rule: tuple[float, ...] = _fitted(AMOUNT)  # held, failed

    # decode.resync: log odds that the prediction goes on at a place, by the evidence
    start: float = _fitted(ODDS)
    held: tuple[float, ...] = _fitted(ODDS)  # ids of the answer's tail that precede the place
    forward: tuple[float, ...] = _fitted(ODDS)  # how far ahead of the lost place,
    behind: tuple[float, ...] = _fitted(ODDS)  # or behind it
    occurrences: tuple[float, ...] = _fitted(ODDS)  # of such a tail in the prediction
    since: tuple[float, ...] = _fitted(ODDS)  # ids since the change began
    fresh_line: tuple[float, ...] = _fitted(ODDS)  # whether a line has just begun

    # decode.width
    overhead: float = _fitted(AMOUNT)  # what a copied id costs, over what it costs in the best pass
    inertia: float = _fitted(AMOUNT)  # expected failures that a chance before any trial is worth


@dataclass(frozen=True)
class Origin:
    """The data that a constant was fitted to, and when."""

    data: str
    date: str
