"""The generic engine: the seam's arithmetic, and guarantee 1 on a tiny random model."""

import random

import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from tiny_model import VOCABULARY, tiny

from specedit.decode import Chunk, drafters
from specedit.decode.loop import decode
from specedit.decode.width import Widths
from specedit.engines.base import Engine, Sampling
from specedit.engines.huggingface.engine import HuggingFaceEngine
from specedit.errors import ModelError


def answer(
    engine: Engine,
    prompt: list[int],
    prediction: list[int] | None,
    sampling: Sampling,
    limit: int = 40,
) -> tuple[list[int], int]:
    """The ids said and the passes it took."""
    names = ("prediction", "lookup") if prediction else ()
    made = drafters.build(names, prediction=prediction, codec=None)
    events = decode(
        engine,
        prompt,
        drafters=made,
        widths=Widths(),
        ends=lambda token: token == 0,
        limit=limit,
        sampling=sampling,
    )
    chunks = [e for e in events if isinstance(e, Chunk)]
    return [t for c in chunks for t in c.tokens], len(chunks)


def test_begin_leaves_out_the_last_id_and_reuses_the_common_prefix():
    engine = tiny()
    engine.crop(0)
    list(engine.begin([1, 2, 3, 4]))
    assert engine.length == 3
    engine.forward([4])
    reports = list(engine.begin([1, 2, 9, 9, 9]))
    assert reports[-1].reused == 2
    assert (reports[-1].done, engine.length) == (4, 4)


def test_a_cropped_cache_answers_as_if_it_had_never_been_longer():
    engine = tiny()
    engine.crop(0)
    list(engine.begin([5, 6, 7]))
    plain = engine.forward([7, 8]).ids
    engine.crop(2)
    engine.forward([7, 60, 61, 62])
    engine.crop(3)
    assert engine.forward([8]).ids == plain[1:]


@examples(15)
@given(
    prompt=st.lists(st.integers(1, VOCABULARY - 1), min_size=1, max_size=20),
    noise=st.integers(0, 10),
    seed=st.integers(0, 5),
    temperature=st.sampled_from([0.0, 1.0]),
)
def test_guarantee_1_the_prediction_changes_the_speed_never_the_text(
    prompt, noise, seed, temperature
):
    sampling = Sampling(temperature, 0.95, seed)
    plain, passes = answer(tiny(), prompt, None, sampling)
    guess, chance = list(plain), random.Random(seed)
    for _ in range(noise):
        guess.insert(chance.randrange(len(guess) + 1), chance.randrange(VOCABULARY))
    predicted, fewer = answer(tiny(), prompt, guess, sampling)
    assert predicted == plain
    assert fewer <= passes


def test_a_cache_that_slides_is_refused(tmp_path):
    from transformers import MistralConfig, MistralForCausalLM

    config = MistralConfig(
        vocab_size=8,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        sliding_window=4,
        max_position_embeddings=32,
    )
    with pytest.raises(ModelError, match="MistralForCausalLM"):
        HuggingFaceEngine(MistralForCausalLM(config))
