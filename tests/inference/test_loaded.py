"""A loaded model: a request's prompt and prediction are tokenized once."""

from collections import Counter
from collections.abc import Sequence

import pytest
from scripted_engine import ScriptedEngine, ScriptedTokenizer

from specedit.decode.width import Widths
from specedit.edit.backend import Message, ModelInfo, Plan, unreported
from specedit.errors import ModelError
from specedit.inference.model import LoadedModel

TEXT = "class User:\n    name = 1\n"


class CountingTokenizer(ScriptedTokenizer):
    def __init__(self) -> None:
        super().__init__()
        self.encoded: Counter[str] = Counter()

    def encode(self, text: str) -> list[int]:
        self.encoded[text] += 1
        return super().encode(text)


@pytest.mark.parametrize("kept", [False, True], ids=["one cache", "prefixes as with --test"])
@pytest.mark.parametrize("count", [False, True], ids=["own protocol", "OpenAI's counts"])
def test_prompt_and_prediction_are_tokenized_once(kept, count):
    tokenizer, rendered = CountingTokenizer(), []

    def render(turns: Sequence[tuple[str, Sequence[str]]], opening: str) -> list[int]:
        rendered.append(opening)
        return ScriptedTokenizer().encode("".join("".join(parts) for _, parts in turns) + opening)

    engine = ScriptedEngine([*TEXT.replace("1", "2").encode(), *b"```\n"])
    loaded = LoadedModel(ModelInfo("scripted"), engine, tokenizer, render, Widths())
    if kept:
        loaded.keep_prefixes(1 << 20)
    plan = Plan((Message("user", ("Do it.", TEXT)),), prediction=TEXT, least=TEXT, closing="```")
    answer = loaded.answer(plan, unreported, count=count)
    assert answer.text == TEXT.replace("1", "2")
    assert len(rendered) == 1
    assert tokenizer.encoded[TEXT] == 1
    assert (answer.appeared, answer.absent) == ((len(TEXT) - 1, 1) if count else (0, 0))


@pytest.mark.parametrize("part", ["prompt", "prediction"])
def test_an_id_that_the_model_does_not_have_is_an_error(part):
    def render(turns: Sequence[tuple[str, Sequence[str]]], opening: str) -> list[int]:
        return [120 if part == "prompt" else 1]

    engine = ScriptedEngine(b"a", vocabulary=100)
    loaded = LoadedModel(ModelInfo("scripted"), engine, ScriptedTokenizer(), render, Widths())
    plan = Plan((), prediction="x" if part == "prediction" else None)
    with pytest.raises(ModelError, match="the id 120, and the model has ids up to 99"):
        loaded.answer(plan, unreported)
