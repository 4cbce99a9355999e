"""Decoding with the scripted engine, for the tests of drafting: bytes are ids."""

from collections.abc import Sequence
from dataclasses import dataclass

from drafting import CURVE, answered
from scripted_engine import END, ScriptedEngine, ScriptedTokenizer

from benchmarks.speed.peers import Words
from specedit.decode import Chunk, Done, drafters
from specedit.decode.cost import Curve
from specedit.edit.backend import Plan


def _prompt(plan: Plan) -> list[int]:
    turns = ["".join(message.segments) + "\n" for message in plan.messages]
    return TOKENIZER.encode("".join(turns) + plan.opening)


TOKENIZER = ScriptedTokenizer()
WORDS = Words(TOKENIZER, _prompt)  # of the scripted model, for `benchmarks.speed`


@dataclass(frozen=True)
class Run:
    tokens: list[int]
    done: Done
    chunks: list[Chunk]

    @property
    def passes(self) -> int:
        return len(self.chunks)

    def seconds(self, curve: Curve = CURVE) -> float:
        return sum(curve.seconds(chunk.width) for chunk in self.chunks)

    def plain(self, curve: Curve = CURVE) -> float:
        return len(self.tokens) * curve.seconds(1)


def run(
    answer: Sequence[int],
    prediction: Sequence[int] | None,
    *,
    predictions: Sequence[Sequence[int]] = (),
    prompt: Sequence[int] = (1, 2, 3),
    names: Sequence[str] = ("prediction", "lookup"),
    codec: drafters.Codec | None = TOKENIZER,
    instruction: Sequence[int] = (),
    curve: Curve = CURVE,
    limit: int = 1 << 20,
    audit: bool = False,
) -> Run:
    """The answer decoded, its end included."""
    engine = ScriptedEngine(answer, vocabulary=4096)
    made = drafters.build(
        names, prediction=prediction, predictions=predictions, codec=codec, instruction=instruction
    )
    return Run(*answered(engine, prompt, made, curve=curve, limit=limit, end=END, audit=audit))


def texts(before: str, after: str, codec: drafters.Codec = TOKENIZER, instruction: str = "") -> Run:
    """`before` is the prediction, `after` the answer; both are checked to come out."""
    answer = codec.encode(after)
    result = run(
        answer,
        [*codec.encode(before), END],
        prompt=[1],
        codec=codec,
        instruction=codec.encode(instruction),
        names=("prediction",),
    )
    assert result.tokens == [*answer, END]
    return result
