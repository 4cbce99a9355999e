"""The generic engine: the seam's arithmetic, guarantee 1 and every family on tiny random models."""

import random
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from drafting import answered
from effort import FULL, examples
from gguf import GGMLQuantizationType, quants
from hypothesis import given
from hypothesis import strategies as st
from tiny_families import FAMILIES, VOCABULARY, model_of, tiny

from benchmarks.card import SHAPES
from specedit.decode import drafters
from specedit.engines.base import Engine, Sampling, common
from specedit.engines.huggingface.dequantize import BLOCKS, dequantize
from specedit.engines.huggingface.engine import HuggingFaceEngine
from specedit.engines.huggingface.loading import check_memory
from specedit.engines.huggingface.passes import sample
from specedit.engines.sampling import choose
from specedit.errors import ModelError

LIMIT = 30


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
    tokens, _, chunks = answered(
        engine, prompt, made, sampling=sampling, limit=limit, end=0, audit=False
    )
    return tokens, len(chunks)


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


@cache
def family(name: str) -> tuple[Any, list[int], list[int]]:
    """A tiny model, a prompt, and transformers' own greedy answer."""
    model = model_of(name)
    prompt = [7 * n % (VOCABULARY - 3) + 3 for n in range(2, 30)]
    ids = list(prompt)
    with torch.inference_mode():
        for _ in range(LIMIT):  # without a cache: the plainest form
            logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits
            ids.append(int(logits[0, -1].argmax()))
    return model, prompt, ids[len(prompt) :]


def drafted(
    engine: HuggingFaceEngine, prompt: list[int], wanted: list[int], seed: int
) -> list[int]:
    """An answer with drafts that are partly right; what a pass rejects, and sometimes more, is
    forgotten."""
    chance = random.Random(seed)
    for _ in engine.begin(prompt):
        pass
    ids: list[int] = []
    while len(ids) < len(wanted):
        draft = wanted[len(ids) : len(ids) + chance.randrange(12)]
        if draft and chance.random() < 0.7:
            draft[chance.randrange(len(draft))] = chance.randrange(VOCABULARY)
        base = engine.length
        choices = engine.forward([[*prompt, *ids][-1], *draft]).ids
        ids += choices[: common(draft, choices) + 1]
        if chance.random() < 0.3:  # back to any place of the answer
            del ids[chance.randrange(max(1, len(ids) - 9), len(ids) + 1) :]
        engine.crop(len(prompt) + len(ids) - 1)
        assert engine.length <= base + len(draft) + 1
    return ids[: len(wanted)]


@pytest.mark.parametrize("padded", [False, True], ids=["exact widths", "padded"])
@pytest.mark.parametrize("name", FAMILIES)
def test_any_draft_gives_the_answer_of_a_model_without_a_cache(name, padded):
    model, prompt, wanted = family(name)
    engine = HuggingFaceEngine(model, padded=padded)
    for seed in range(40 if FULL else 1):
        assert drafted(engine, prompt, wanted, seed) == wanted
        other = [*prompt[: 5 + seed % 20], 9, 8, 7]  # another prompt in between, cut off somewhere
        list(engine.begin(other))
        assert engine.length == len(other) - 1


def test_a_model_that_is_wrong_with_every_cache_is_refused(monkeypatch):
    model = model_of("qwen3_moe")
    forward = model.forward

    def wrong(*ids: Any, use_cache: bool, **others: Any) -> Any:
        out = forward(*ids, use_cache=use_cache, **others)
        return out if not use_cache else type(out)(**{**out, "logits": -out.logits})

    monkeypatch.setattr(model, "forward", wrong)
    with pytest.raises(ModelError, match="other logits with a cache than without one"):
        HuggingFaceEngine(model)


def test_a_recurrent_model_reads_only_what_follows_a_kept_state():
    model, prompt, _ = family("qwen3_5_text")
    engine = HuggingFaceEngine(model)
    long = (prompt * 20)[:500]
    engine.read_fixed(long[:100])
    list(engine.begin(long))
    reused = [next(iter(engine.begin([*long[:kept], 3, 4]))).reused for kept in (450, 420, 300, 90)]
    assert reused == [435, 243, 243, 0]  # 64 and 256 before the end of the first prompt


def test_a_cache_that_is_full_grows():
    model, prompt, _ = family("qwen2")
    engine = HuggingFaceEngine(model)
    for length in (300, 4100):  # it begins with 4,096 positions
        ids = (prompt * 200)[:length]
        list(engine.begin(ids))
        with torch.inference_mode():
            wanted = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1].argmax()
        assert engine.forward(ids[-1:]).ids == [int(wanted)]


@pytest.mark.parametrize("top_p", [1.0, 0.9, 0.3])
def test_sampling_on_a_device_follows_the_rule_of_the_processor(top_p):
    rows = torch.randn(40, 3000, generator=torch.Generator().manual_seed(1)) * 3
    rows[:, 500:900] = rows[:, :1]  # ties
    for seed in range(50 if FULL else 3):
        sampling = Sampling(0.8, top_p, seed)
        wanted = [choose(row.numpy(), sampling, 11 + at) for at, row in enumerate(rows)]
        assert sample(rows, sampling, 11) == wanted


@pytest.mark.parametrize("name", ["qwen3_moe", "qwen3_5_text"])
def test_a_device_without_memory_is_an_error_and_the_next_run_works(name, monkeypatch):
    model, prompt, wanted = family(name)
    engine, forward = HuggingFaceEngine(model), model.forward
    list(engine.begin(prompt))

    def fails(*ids: Any, **others: Any) -> None:
        forward(*ids, **others)  # the cache may have changed
        raise torch.OutOfMemoryError("tried to allocate 2.00 GiB")

    with monkeypatch.context() as patched:
        patched.setattr(model, "forward", fails)
        with pytest.raises(ModelError, match="too little memory: tried to allocate"):
            engine.forward(prompt[-1:])
    assert drafted(engine, prompt, wanted, 1) == wanted


@pytest.mark.parametrize(
    ("free", "hint"),
    [(13e9, "Use --weights int8 or --weights int4."), (8e9, "Use --weights int4."), (2e9, "Close")],
)
def test_a_model_that_does_not_fit_on_a_card_says_what_would(free, hint, monkeypatch):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (int(free), int(free)))
    from transformers import Qwen2Config, Qwen2ForCausalLM

    with torch.device("meta"):
        hollow = Qwen2ForCausalLM(Qwen2Config(**SHAPES["7b"]))
    with pytest.raises(ModelError, match=r"needs 1\d\.\d GB in bf16") as refused:
        check_memory(Path("m"), hollow, "cuda", "")
    assert hint in str(refused.value.hint)


@pytest.mark.parametrize("kind", BLOCKS)
def test_blocks_are_the_numbers_of_the_gguf_package(kind):
    size, _ = BLOCKS[kind]
    raw = np.random.default_rng(5).integers(0, 256, (64, size), np.uint8)
    for at in {"Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,)}.get(kind, (0,)):
        raw[:, at + 1] = raw[:, at + 1] % 32 + 32  # halves that are numbers
    wanted = quants.dequantize(raw, GGMLQuantizationType[kind])
    assert np.array_equal(dequantize(torch.from_numpy(raw).reshape(-1), kind), wanted.reshape(-1))
