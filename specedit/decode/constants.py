"""The drafting constants that are fitted to data, and what each one means.

Fitted on 2026-11-21 to the replay of 130 commits (those of `resync` to 26,730 candidates in it).
`python -m benchmarks.fit CASES` prints values that are better for other cases. Limits that a
guarantee rests on (how much drafts may lose, how long they may be) are not fitted; they are defined
where they are used.
"""

from __future__ import annotations

from dataclasses import dataclass

Numbers = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Constants:
    """Probabilities, risks and priors."""

    # Lookup: the probability that a context's continuation is right, by its length (`LENGTHS` in
    # `lookup_drafter`). For short contexts: if it had been the only continuation so far.
    contexts: Numbers = (0.32, 0.5, 0.6, 0.68, 0.8, 0.89, 0.95, 0.98, 0.985)

    # Prediction: the probability that the next id of a learned change is right, once its first was.
    inside: float = 0.96
    # The probability that the next id leaves the prediction: after the first change, by the ids
    # that followed it in a row (`RUNS` in `prediction_drafter`); before it; and the share of the
    # latter that is left where the instruction's change is foreseen.
    risks: Numbers = (0.5, 0.5, 0.2, 0.1, 0.04, 0.008, 0.004, 0.002, 0.001, 0.0008, 0.0006, 0.0003)
    first_risk: float = 0.0011
    foreseen: float = 0.2
    # The further probability of that in a line with a word of the instruction that few lines have.
    named_line: float = 0.016

    # Learned rules: how often one is taken to have held before any trial (and to have failed once):
    # the word itself, a part of a longer one, another case; learned, or asked for. Of a context
    # rule: held, failed.
    learned_words: Numbers = (1.6, 0.9, 0.9)
    asked_words: Numbers = (1.6, 0.5, 0.5)
    context_rule: Numbers = (0.4, 1.4)

    # Resync: log odds that the prediction continues at a position, by the evidence: ids of the
    # answer's tail that precede it, how far ahead of the divergence or behind it, occurrences of
    # such a tail, ids since the change began, and whether a line has just begun.
    start: float = 0.66
    held: Numbers = (-2.1, -1.6, -0.9, -0.2, 0.3, 0.9, 1.2, 1.3, 1.4, 1.6)
    forward: Numbers = (-0.4, 1.3, 1.3, 0.9, 0.4, 0.2, -0.2, -0.2, -0.5, -0.6, -0.6)
    behind: Numbers = (0.6, 0.5, 0.1, -0.1, -0.1, -0.2, -0.3, -0.5, -0.5, -0.5)
    occurrences: Numbers = (-2.1, 1.0, 0.9, 0.5, 0.2)
    since: Numbers = (0.2, 0.3, 0.2, 0.2, 0.0, 0.0, -0.3)
    fresh_line: Numbers = (-0.8, 0.9, 0.0, 0.4)

    # Width: the cost of a copied id, over its cost in the best pass; and the expected failures that
    # a stated probability is worth before any trial.
    overhead: float = 1.2
    inertia: float = 3.0


FITTED = Constants()
