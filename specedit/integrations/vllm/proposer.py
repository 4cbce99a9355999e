"""A proposer that proposes nothing.

vLLM sets up its verification of drafts only where some proposer is named, and a proposer sees rows
of a batch without knowing whose they are. The drafts come from the scheduler, which knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Proposer:
    """`method: custom_class`, `model: specedit.integrations.vllm.proposer.Proposer`."""

    def __init__(self, vllm_config: Any) -> None:
        pass

    def propose(self, sampled: Sequence[Sequence[int]], *_: Any, **__: Any) -> list[list[int]]:
        return [[] for _ in sampled]

    def load_model(self, *_: Any, **__: Any) -> None:
        """There is none."""
