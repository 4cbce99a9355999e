"""Constants that were fitted to data, each with the data and the date it came from.

`python -m benchmarks.fit CASES` writes this file; `decode.constants` says what they mean.
"""

from __future__ import annotations

from specedit.decode.constants import Constants, Origin

FITTED = Constants(
    contexts=(0.32, 0.5, 0.6, 0.68, 0.8, 0.89, 0.95, 0.98, 0.985),
    same_text=(0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.9, 0.0),
    inside=0.96,
    risks=(0.5, 0.5, 0.2, 0.1, 0.04, 0.008, 0.004, 0.002, 0.001, 0.0008, 0.0006, 0.0003),
    first_risk=0.0011,
    foreseen=0.2,
    learned_words=(1.6, 0.9, 0.9),
    asked_words=(1.6, 0.5, 0.5),
    context_rule=(0.4, 1.4),
    start=0.66,
    held=(-2.1, -1.6, -0.9, -0.2, 0.3, 0.9, 1.2, 1.3, 1.4, 1.6),
    forward=(-0.4, 1.3, 1.3, 0.9, 0.4, 0.2, -0.2, -0.2, -0.5, -0.6, -0.6),
    behind=(0.6, 0.5, 0.1, -0.1, -0.1, -0.2, -0.3, -0.5, -0.5, -0.5),
    occurrences=(-2.1, 1.0, 0.9, 0.5, 0.2),
    since=(0.2, 0.3, 0.2, 0.2, 0.0, 0.0, -0.3),
    fresh_line=(-0.8, 0.9, 0.0, 0.4),
    overhead=1.2,
    inertia=3.0,
)

ORIGINS = {
    "contexts": Origin("the replay of 130 commits", "2026-11-21"),
    "same_text": Origin("the replay of 130 commits", "2026-11-21"),
    "inside": Origin("the replay of 130 commits", "2026-11-21"),
    "risks": Origin("the replay of 130 commits", "2026-11-21"),
    "first_risk": Origin("the replay of 130 commits", "2026-11-21"),
    "foreseen": Origin("the replay of 130 commits", "2026-11-21"),
    "learned_words": Origin("the replay of 130 commits", "2026-11-21"),
    "asked_words": Origin("the replay of 130 commits", "2026-11-21"),
    "context_rule": Origin("the replay of 130 commits", "2026-11-21"),
    "start": Origin("26,730 candidates in the replay of 130 commits", "2026-11-21"),
    "held": Origin("26,730 candidates in the replay of 130 commits", "2026-11-21"),
    "forward": Origin("26,730 candidates in the replay of 130 commits", "2026-11-21"),
    "behind": Origin("26,730 candidates in the replay of 130 commits", "2026-11-21"),
    "occurrences": Origin("26,730 candidates in the replay of 130 commits", "2026-11-21"),
    "since": Origin("26,730 candidates in the replay of 130 commits", "2026-11-21"),
    "fresh_line": Origin("26,730 candidates in the replay of 130 commits", "2026-11-21"),
    "overhead": Origin("the replay of 130 commits", "2026-11-21"),
    "inertia": Origin("the replay of 130 commits", "2026-11-21"),
}
