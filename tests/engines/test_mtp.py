"""The layer that predicts the id after the next one (MTP): what transformers' parts compute, drafts
that never change the text, and files whose layer is not whole."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from drafting import Branching
from exact_models import kernels_here, mtp_of, save, save_gguf, save_mtp
from safetensors.torch import load_file, save_file

from specedit.decode import Chunk, Done, Draft
from specedit.decode.cost import Curve
from specedit.decode.drafters import build
from specedit.decode.drafters.heads_drafter import HeadsDrafter
from specedit.decode.loop import decode
from specedit.decode.width import Widths
from specedit.engines.base import GREEDY, Sampling
from specedit.engines.exact import engine as exact_engine
from specedit.engines.exact import guessing, weights
from specedit.engines.exact.conversion import is_converted
from specedit.engines.exact.engine import ExactEngine, open_exact
from specedit.engines.exact.guessing import Guess, MtpGuesser
from specedit.errors import UsageError
from specedit.inference.loading import choose_heads
from specedit.models.store import ModelFiles

IDS = random.Random(4).choices(range(517), k=90)
pytestmark = pytest.mark.skipif(not kernels_here(), reason="no kernels were built here")
Small = tuple[Any, Any, ExactEngine]


@pytest.fixture(scope="module", params=["qwen3.5", "qwen3.5, experts", "qwen3.5 in a GGUF file"])
def small(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Small:
    """A small model, its MTP layer, and both in an engine."""
    folder = tmp_path_factory.mktemp("model")
    model, files = save(request.param.removesuffix(" in a GGUF file"), folder / "folder")
    mtp = mtp_of(model)
    save_mtp(mtp, folder / "folder")
    if "GGUF" in request.param:
        files = save_gguf(model, folder / "small.gguf", mtp=mtp)
    return model, mtp, open_exact(files, store=folder, precision="close", weights="int8")


def states_of(engine: ExactEngine, ids: Sequence[int]) -> list[bytes]:
    """The states behind all ids but the last."""
    engine.crop(0)
    engine.watch(True)
    list(engine.begin(ids[:1]))
    return [bytes(row) for row in engine.forward(ids[:-1]).states or ()]


def guessed(
    guesser: MtpGuesser, ids: Sequence[int], states: Sequence[bytes], widths: Sequence[int]
) -> list[Guess]:
    """The guesses after all ids, which are committed by so many."""
    guesser.begin(ids[:1])
    at = 0
    for width in widths:
        guesser.add(ids[at + 1 : at + 1 + width], states[at : at + width])
        at += width
    found = [guesser.guess(0, [states[at - 1]], ids[at : at + 1], 1)[0]]
    for step in range(1, 3):
        found.append(guesser.guess(step, [found[-1].state], found[-1].ids, 1)[0])
    return found


def test_the_layer_computes_what_transformers_parts_do(small):
    model, mtp, engine = small
    states = states_of(engine, IDS)
    passes, count = engine.passes.mtp, len(IDS) - 1
    made = bytearray(4 * count * model.config.hidden_size)
    before = bytearray(b"".join(states))
    _, rows = passes.choose(IDS[1:], passes.new_cache(), rows=True, states=made, before=before)
    with torch.inference_mode():
        theirs = model.model(torch.tensor([IDS[:-1]]), use_cache=False).last_hidden_state
        expected = mtp(theirs, torch.tensor([IDS[1:]]))[0]
        logits = model.lm_head(expected).numpy()
    found = np.stack([np.frombuffer(row, np.float32) for row in rows])
    error = np.median(np.abs(found - logits).mean(-1)) / np.abs(logits).mean()
    assert error < 0.05
    assert (found.argmax(-1) == logits.argmax(-1)).mean() > 0.9
    own = np.frombuffer(made, np.float32).reshape(count, -1)
    assert np.median(np.abs(own - expected.numpy())) < 0.05 * np.abs(expected.numpy()).mean()


def test_guesses_do_not_depend_on_how_ids_were_committed(small, monkeypatch):
    _, _, engine = small
    states = states_of(engine, IDS)
    guesser = MtpGuesser(engine)
    whole = guessed(guesser, IDS, states, [89])
    assert guessed(guesser, IDS, states, [1] * 89) == whole
    numbers, left = random.Random(1), 89
    for _ in range(5):  # some of them while guesses were asked for
        guesser.begin(IDS[:1])
        left = 89
        while left:
            width, at = min(numbers.randrange(1, 14), left), 89 - left
            guesser.add(IDS[at + 1 : at + 1 + width], states[at : at + width])
            left -= width
            if numbers.random() < 0.5 or not left:
                one = guesser.guess(0, [states[at]], [1], 1)[0]
                two = guesser.guess(1, [one.state], one.ids, 1)[0]
        assert [one, two] == whole[:2]
    monkeypatch.setattr(guessing, "CONTEXT_IDS", 20)
    assert guessed(guesser, IDS, states, [30, 30, 29]) == guessed(
        guesser, IDS[69:], states[69:], [20]
    )


class Proposing(Branching):
    """Chains: what the answer is, and other ids."""

    name = "proposing"

    def propose(self, most: int) -> Draft | None:
        draft = super().propose(most)
        return draft and Draft(draft.ids, draft.chances, self.name)


@pytest.mark.parametrize("sampling", [GREEDY, Sampling(0.8, seed=3)], ids=["greedy", "sampled"])
def test_guarantee_1_the_layer_changes_the_speed_and_never_the_text(small, sampling):
    engine = small[2]

    def answer(drafters: list[Any], prompt: int) -> tuple[list[int], str | None, int]:
        engine.crop(0)
        found, proposed = list[int](), 0
        for event in decode(
            engine,
            IDS[:prompt],
            drafters=drafters,
            widths=Widths(Curve.line(1.0, 0.001)),
            ends=lambda id: False,
            limit=60,
            sampling=sampling,
            audit=True,
        ):
            if isinstance(event, Chunk):
                found += event.tokens
                proposed += event.proposed if event.source == "mtp" else 0
            elif isinstance(event, Done):
                digest = event.logits_digest
        return found, digest, proposed

    for prompt in (1, 20):
        plain = answer([], prompt)
        mtp = HeadsDrafter(MtpGuesser(engine))
        for seed in range(4):
            others = [Proposing(plain[0], seed, 517)] if seed else []
            found = answer([*others, mtp], prompt)
            assert found[:2] == plain[:2]
            assert found[2] > 0


def test_the_last_pass_over_a_prompt_is_read_too(small, monkeypatch):
    """Guesses are those after a text of which the prompt's last pass and the answer are known."""
    engine = small[2]
    monkeypatch.setattr(exact_engine, "PREFILL", 32)
    states, guesser = states_of(engine, IDS), MtpGuesser(engine)
    expected = guessed(guesser, IDS[64:], states[64:], [25])
    for kept in (0, 10):  # what the cache holds already
        engine.crop(kept)
        guesser.begin(IDS[:70])
        list(engine.begin(IDS[:75]))
        guesser.add(IDS[75:], states[74:])
        found = guesser.guess(0, [states[-1]], IDS[-1:], 1)
        assert found == expected[:1]
    guesser.add(IDS[:3])  # the answer continues with ids that no pass read
    assert guesser.guess(0, [states[-1]], IDS[:1], 1)[0].ids == []


def test_auto_takes_the_layer_and_other_models_say_that_they_have_none(small, tmp_path):
    engine, files = small[2], ModelFiles("small", tmp_path, "folder")
    heads, note = choose_heads({"auto"}, engine, files, tmp_path)
    assert [*heads] == ["mtp"] and not note
    for names in ("auto", "mtp"):
        drafters = build([names], prediction=None, codec=None, heads=heads)
        assert drafters[-1].name == "mtp"
    assert not choose_heads({"prediction"}, engine, files, tmp_path)[0]
    with pytest.raises(UsageError, match="there are none"):
        build(["mtp"], prediction=None, codec=None)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda of: of.clear(), r"it has no tensor mtp\.fc\.weight"),
        (lambda of: of.pop("mtp.norm.weight"), r"it has no tensor mtp\.norm\.weight"),
        (
            lambda of: of.pop("mtp.layers.0.self_attn.k_norm.weight"),
            r"it has no tensor mtp\.layers\.0\.self_attn\.k_norm\.weight",
        ),
        (
            lambda of: of.update({"mtp.fc.weight": torch.ones(88, 88)}),
            r"its tensor mtp\.fc\.weight has the shape \(88, 88\), not \(88, 176\)",
        ),
        (
            lambda of: of.update({"mtp.embed_tokens.weight": torch.ones(517, 88)}),
            r"its tensor mtp\.embed_tokens\.weight is not known",
        ),
        (None, r"its config\.json does not name it \(mtp_num_hidden_layers\)"),
    ],
    ids=["no tensors", "no norm", "no key norm", "a shape", "more tensors", "not named"],
)
def test_a_layer_that_is_not_whole_is_not_used_and_the_reason_is_said(change, said, tmp_path):
    model, files = save("qwen3.5", tmp_path / "folder")
    plain = states_of(open_exact(files, store=tmp_path / "a", weights="int8"), IDS[:20])
    save_mtp(mtp_of(model), tmp_path / "folder")
    path, config = (tmp_path / "folder" / name for name in ("mtp.safetensors", "config.json"))
    if change:
        tensors = load_file(path)
        change(tensors)
        save_file(tensors, path)
    else:
        config.write_text(config.read_text().replace('"mtp_num_hidden_layers": 1', '"x": 1'))
    engine = open_exact(files, store=tmp_path / "b", weights="int8")
    assert states_of(engine, IDS[:20]) == plain
    assert choose_heads({"auto"}, engine, files, tmp_path) == ({}, "")
    with pytest.raises(UsageError, match=f"needs a model with an MTP layer, .* has none: {said}"):
        choose_heads({"mtp"}, engine, files, tmp_path)


def test_a_gguf_file_that_lacks_the_layer_it_names_says_which_tensor(tmp_path):
    model, _ = save("qwen3.5", tmp_path / "folder")
    numbers = {"nextn_predict_layers": 1, "block_count": 5}
    files = save_gguf(model, tmp_path / "small.gguf", numbers)
    engine = open_exact(files, store=tmp_path, weights="int8")
    with pytest.raises(UsageError, match=r"it has no tensor blk\.4\.nextn\.eh_proj\.weight"):
        choose_heads({"mtp"}, engine, files, tmp_path)


@pytest.mark.parametrize(("family", "again"), [("qwen3.5", True), ("qwen3, head norms", False)])
def test_only_what_may_have_the_layer_is_converted_again(family, again, tmp_path, monkeypatch):
    """Files that were converted before the layer was kept."""
    _, files = save(family, tmp_path / "folder")
    about = weights.asdict
    monkeypatch.setattr(
        weights, "asdict", lambda config: {k: v for k, v in about(config).items() if k != "mtp"}
    )
    monkeypatch.setattr(weights, "HYBRID", ())
    open_exact(files, store=tmp_path, weights="int8")
    monkeypatch.undo()
    assert is_converted(files, tmp_path, "int8") != again
    open_exact(files, store=tmp_path, weights="int8")
    assert is_converted(files, tmp_path, "int8")
