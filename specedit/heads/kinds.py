"""The kinds of heads: what each takes, and how large it is.

Every kind is made of the same step (`engines.exact.guessing`): state and perhaps id to an inner
row, an activation, back to a state, and the output layer's rows for the ids that may be guessed.
Knows numbers; imports nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

BLOCKWISE, MEDUSA, CHAINED = "blockwise", "medusa", "chained"


@dataclass(frozen=True)
class HeadsKind:
    """What one kind of heads takes."""

    name: str
    chained: bool  # each takes the state made by the one before, and the id chosen
    gated: bool  # half of the inner row gates the other
    shared: bool  # all depths have the weights of one step, and a bias of their own
    most: int  # guesses behind one state
    says: str


KINDS = {
    kind.name: kind
    for kind in (
        HeadsKind(BLOCKWISE, False, False, False, 1, "independent heads, one guess each"),
        HeadsKind(MEDUSA, False, False, False, 10, "independent heads, several guesses each"),
        HeadsKind(CHAINED, True, True, True, 10, "each head goes on from the one before"),
    )
}


@dataclass(frozen=True)
class Sizes:
    """The numbers of trained heads."""

    kind: str
    hidden: int
    inner: int  # inputs of the way back to a state, a multiple of 64
    depth: int  # ids ahead

    @property
    def of(self) -> HeadsKind:
        return KINDS[self.kind]

    @property
    def outputs(self) -> int:
        """Of the way to the inner row."""
        return 2 * self.inner if self.of.gated else self.inner

    @property
    def steps(self) -> int:
        """Sets of weights; biases are one a depth."""
        return 1 if self.of.shared else self.depth
