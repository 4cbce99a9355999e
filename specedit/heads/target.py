"""The model that heads are made for: its engine, its weights, its words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specedit.engines.exact.engine import ExactEngine
    from specedit.engines.exact.weights import Weights


@dataclass(frozen=True)
class HeadsTarget:
    """The model that heads are made for."""

    engine: ExactEngine
    weights: Weights
    tokenizer: Any
    template: str
    name: str

    @property
    def digest(self) -> str:
        return self.weights.source
