"""What an edit would cost at a hosted service that takes predictions: the bill of its rules.

Rejected prediction tokens are billed as completion tokens; accepted ones are part of the
completion anyway. Prices come from settings, in dollars a million tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from specedit.settings import Settings

MILLION = 1_000_000


@dataclass(frozen=True)
class Usage:
    """What a service counts. `completion` holds the text's own tokens, without rejected ones."""

    prompt: int
    completion: int
    accepted: int = 0
    rejected: int = 0

    @property
    def billed(self) -> int:
        """Completion tokens on the bill."""
        return self.completion + self.rejected

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.accepted + other.accepted,
            self.rejected + other.rejected,
        )


@dataclass(frozen=True)
class Bill:
    """The same edit, in dollars, with a prediction and without."""

    plain: float
    predicted: float

    @property
    def ratio(self) -> float:
        return self.predicted / self.plain if self.plain else 0.0


def dollars(usage: Usage, settings: Settings) -> float:
    total = usage.prompt * settings.price_input + usage.billed * settings.price_output
    return total / MILLION


def bill(plain: Usage, predicted: Usage, settings: Settings) -> Bill:
    return Bill(dollars(plain, settings), dollars(predicted, settings))


def predicted_usage(prompt: int, completion: int, prediction: int, appeared: int) -> Usage:
    """A run whose prediction had `prediction` tokens, of which `appeared` came in the text."""
    return Usage(prompt, completion, accepted=appeared, rejected=prediction - appeared)


def bill_json(b: Bill) -> dict[str, Any]:
    return {
        "plain_dollars": round(b.plain, 8),
        "predicted_dollars": round(b.predicted, 8),
        "ratio": round(b.ratio, 4),
    }
