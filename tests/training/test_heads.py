"""Heads: their files, what they learn, the drafts they make, on tiny random models."""

import json
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from drafting import answered
from effort import ends, in_full, some
from exact_models import kernels_here, save
from git_repository import Repository
from pathspec import GitIgnoreSpec

from specedit.decode.cost import Curve
from specedit.decode.drafters.heads_drafter import HeadsDrafter
from specedit.engines.exact.conversion import converted_path, source_of
from specedit.engines.exact.engine import ExactEngine, open_exact
from specedit.engines.exact.guessing import Guesser
from specedit.engines.exact.weights import open_weights
from specedit.errors import UsageError
from specedit.models import head_file
from specedit.models.head_file import (
    KINDS,
    About,
    DamagedHeads,
    Heads,
    HeadsFolder,
    HeadsSizes,
    open_heads,
)
from training.heads import reading
from training.heads import run as train
from training.heads import texts as requests
from training.heads.learning import HeldOut, Learner, Teacher
from training.heads.network import Network
from training.heads.reading import AnswerWriter, HeadsTarget, Rows, RowStore, rows_of
from training.heads.run import evaluate, write
from training.heads.texts import read_texts

pytestmark = pytest.mark.skipif(not kernels_here(), reason="heads need the kernels")
HIDDEN, VOCABULARY = 88, 517
LIKELY = np.arange(VOCABULARY)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    folder = tmp_path_factory.mktemp("model")
    return save("qwen2, grouped, tied", folder)[1], folder


@pytest.fixture(scope="module")
def engine(small: tuple[Any, Path]) -> ExactEngine:
    files, store = small
    return open_exact(files, store=store)


@pytest.fixture(scope="module")
def weights(small: tuple[Any, Path], engine: ExactEngine) -> Any:
    files, store = small
    return open_weights(converted_path(files, store), source_of(files))


class Words:
    """A tokenizer for the tiny model: a byte is an id."""

    ends = frozenset({516})
    template = "{% for m in messages %}{{ m.content }}{% endfor %}"
    rendered = ""

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def piece(self, token: int) -> bytes:
        return bytes([token % 256])

    def special(self, name: str) -> int | None:
        return None

    specials: ClassVar[dict[str, int]] = {}
    begin = None
    texts: ClassVar[dict[str, str]] = {}

    def encode_template(self, text: str) -> list[int]:
        return self.encode(text)


def language(weights: Any, texts: int, seed: int, words: int = 40) -> Rows:
    """Texts in which each id is followed by one of its own, now and then by another; the rows are
    such that the model's output layer says the id that follows."""
    random_ = np.random.default_rng(seed)
    after = np.random.default_rng(7 if words == 40 else words).permutation(words)
    output = Teacher(weights).output(np.arange(words)).float().numpy()
    output *= 12.0 / np.linalg.norm(output, axis=1, keepdims=True)
    states, metas = [], []
    for number in range(texts):
        ids = [int(random_.integers(words))]
        for _ in range(40):
            stray = random_.random() < 0.1
            ids.append(int(random_.integers(words)) if stray else int(after[ids[-1]]))
        noise = random_.standard_normal((40, HIDDEN)) * 0.3
        states.append((output[ids[1:]] + noise).astype(np.float16))
        metas.append(np.array([ids[:-1], ids[1:], [number] * 40], np.int32))
    return Rows(np.concatenate(states), np.concatenate(metas, 1))


@pytest.fixture(scope="module")
def learnt(weights: Any) -> tuple[Rows, Rows]:
    return language(weights, 60, 1), language(weights, 8, 2)


def sizes(kind: str, depth: int = 3) -> HeadsSizes:
    return HeadsSizes(kind, HIDDEN, 64, depth)


def everywhere(of: Rows) -> Any:
    return np.ones(of.meta.shape[1], bool)


def learner_of(of: Rows, teacher: Teacher, kind: str = "chained", seed: int = 0) -> Learner:
    return Learner(sizes(kind), of, everywhere(of).astype(int), teacher, LIKELY, seed)


def written(
    path: Path, network: Network, digest: str, sharpness: float = 1.0, **more: Any
) -> Heads:
    ids = np.zeros(-(-VOCABULARY // 16) * 16, np.int32)
    ids[:VOCABULARY] = LIKELY
    about = About(
        network.sizes, "small", digest, (sharpness,) * network.sizes.depth, VOCABULARY, **more
    )
    write(path, about, {**network.packed(), "ids": ids})
    return open_heads(path)


def fresh(kind: str, depth: int = 3) -> Network:

    torch.manual_seed(3)
    return Network(sizes(kind, depth), np.full(HIDDEN, 2.0, np.float32), 0.2).eval()


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_comes_back_as_it_was_written(kind, tmp_path):
    heads = written(tmp_path / "h.safetensors", fresh(kind), "d" * 64, texts=3, accepted=(0.5,))
    assert heads.about.sizes == sizes(kind) and heads.ids == LIKELY.tolist()
    assert heads.about.texts == 3 and heads.about.accepted == (0.5,)


def test_heads_of_another_model_are_refused_by_name(tmp_path):
    folder = HeadsFolder(tmp_path, "d" * 64)
    written(folder.file("medusa"), fresh("medusa"), "e" * 64)
    with pytest.raises(UsageError, match="heads of small, and the model is other") as error:
        folder.open("medusa", "other")
    assert "training.heads" in error.value.hint


def test_a_model_with_an_adapter_has_its_own_heads_else_those_of_the_model_alone(tmp_path):
    model, merged = (
        HeadsFolder(tmp_path, digest) for digest in ("d" * 64, f"{'d' * 64}+{'e' * 64}")
    )
    assert merged.open("chained", "small") is None
    written(model.file("chained"), fresh("chained"), model.digest, texts=1)
    assert merged.open("chained", "small").about.texts == 1
    written(merged.file("chained"), fresh("chained"), merged.digest, texts=2)
    assert merged.open("chained", "small").about.texts == 2
    assert model.open("chained", "small").about.texts == 1


def framed(header: bytes) -> bytes:
    header += b" " * (-(8 + len(header)) % 64)
    return struct.pack("<Q", len(header)) + header


def flipped(data: bytes, share: float) -> bytes:
    at = int(len(data) * share)
    return data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]


FOREIGN = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    **{f"cut at {n}": lambda d, n=n: d[: int(len(d) * n)] for n in (0.0, 0.001, 0.02, 0.5, 0.999)},
    **{f"a byte at {n}": lambda d, n=n: flipped(d, n) for n in (0.0, 0.001, 0.003, 0.3, 0.99)},
    "foreign": lambda _: framed(FOREIGN) + b"\0" * 4,
    "lists too deep": lambda _: framed(b"[" * 100_000),
    "objects too deep": lambda _: framed(b'{"a":' * 100_000),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_or_foreign_file_is_refused(how, tmp_path):
    path = tmp_path / "h.safetensors"
    written(path, fresh("chained"), "d" * 64)
    path.write_bytes(DAMAGE[how](path.read_bytes()))
    with pytest.raises(DamagedHeads, match="too deep" if "deep" in how else r"h\.safetensors"):
        open_heads(path)


def test_a_file_whose_numbers_do_not_fit_its_tensors_is_refused(tmp_path):
    network = fresh("chained")
    about = About(replace(network.sizes, inner=128), "small", "d", (1.0,) * 3, VOCABULARY)
    path = tmp_path / "h.safetensors"
    write(path, about, {**network.packed(), "ids": np.zeros(528, np.int32)})
    with pytest.raises(DamagedHeads, match="another shape"):
        open_heads(path)


# -- arithmetic ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_kernels_guess_what_the_network_says(kind, engine, weights, tmp_path):

    network = fresh(kind)
    heads = written(tmp_path / "h.safetensors", network, weights.source)
    guesser = Guesser(engine.passes, heads)
    random_ = np.random.default_rng(5)
    states = random_.standard_normal((5, HIDDEN)).astype(np.float32) * 2
    ids = [3, 99, 516, 0, 7]
    teacher = Teacher(weights)
    for depth in range(3):
        found = guesser.guess(depth, list(states), ids, 4)
        with torch.no_grad():
            embedded = network.embedded(teacher.embedding[torch.tensor(ids)].float())
            made = network.next(depth, torch.from_numpy(states) / network.spread, embedded)
            made = made * network.spread
            expected = (made @ teacher.output(LIKELY).float().T).log_softmax(-1)
        for row, guess in enumerate(found):
            state = np.frombuffer(guess.state, np.float32)
            assert np.abs(state - made[row].numpy()).mean() < 0.05 * np.abs(made.numpy()).mean()
            assert guess.chances == sorted(guess.chances, reverse=True)
            near = [float(expected[row, id]) for id in guess.ids]
            assert np.allclose(guess.chances, near, atol=0.35)


def test_a_texts_own_ids_may_be_guessed_and_are_forgotten(engine, weights, tmp_path):
    network = fresh("chained")
    about = About(network.sizes, "small", weights.source, (1.0,) * 3, 16)
    write(tmp_path / "h", about, {**network.packed(), "ids": np.arange(16, dtype=np.int32)})
    guesser = Guesser(engine.passes, open_heads(tmp_path / "h"))
    state = np.ones(HIDDEN, np.float32)
    assert set(guesser.guess(0, [state], [1], 40)[0].ids) == set(range(16))
    guesser.add([400, 5, 400, 401])
    assert set(guesser.guess(0, [state], [1], 40)[0].ids) == {*range(16), 400, 401}
    guesser.begin()
    assert set(guesser.guess(0, [state], [1], 40)[0].ids) == set(range(16))


# -- learning --------------------------------------------------------------------------------------


@in_full
@pytest.mark.parametrize("kind", ends(KINDS))
def test_training_lowers_the_loss_and_raises_acceptance(kind, learnt, weights):
    learn, held = learnt
    teacher = Teacher(weights)
    learner = learner_of(learn, teacher, kind)
    watched = HeldOut(held, everywhere(held), teacher, LIKELY, 3)
    before = watched.accepted(learner.network)
    starts = learner._starts[:8]
    first = float(learner.loss(starts, 4, 3).detach())
    for _ in range(60):
        learner.one_step(3)
    after = watched.accepted(learner.network)
    assert float(learner.loss(starts, 4, 3).detach()) < 0.8 * first
    assert after[0] > before[0] + 0.1, (before, after)
    assert all(0.2 < s < 2.1 for s in watched.sharpness(learner.network))


# -- drafting --------------------------------------------------------------------------------------


def answer(
    engine: ExactEngine, drafters: list[Any], count: int = 60, prompt: Sequence[int] = (5, 6, 7)
) -> tuple[list[int], int]:
    curve = Curve.line(0.1, 0.0001)
    found, _, chunks = answered(engine, prompt, drafters, curve=curve, limit=count, audit=False)
    return found, len(chunks)


@pytest.mark.parametrize("kind", KINDS)
def test_guarantee_1_heads_change_the_speed_and_never_the_text(kind, engine, weights, tmp_path):
    heads = written(tmp_path / "h.safetensors", fresh(kind), weights.source)
    guesser = Guesser(engine.passes, heads)
    drafter = HeadsDrafter(guesser)
    engine.crop(0)
    plain = answer(engine, [])
    engine.crop(0)
    found, passes = answer(engine, [drafter])
    assert found == plain[0]
    assert passes <= plain[1]  # weights are random: at worst nothing is gained


@pytest.mark.parametrize("sharpness", [0.5, 20.0])
@pytest.mark.parametrize("kind", KINDS)
def test_guarantee_2_heads_of_random_weights_cost_a_twentieth_and_two_passes_at_most(
    kind, sharpness, engine, weights, tmp_path
):
    """Also where they are sure of themselves."""
    heads = written(tmp_path / "h.safetensors", fresh(kind), weights.source, sharpness)
    guesser = Guesser(engine.passes, heads)
    curve = Curve.line(0.1, 0.01)
    ids, _, chunks = answered(
        engine, [5, 6, 7], [HeadsDrafter(guesser)], curve=curve, limit=80, audit=False
    )
    spent = sum(curve.seconds(chunk.width) for chunk in chunks)
    assert spent <= (1.05 * len(ids) + 2) * curve.seconds(1)


# -- training --------------------------------------------------------------------------------------


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made_here = Repository.init(tmp_path / "repository")
    folder = made_here.root
    for number in range(6):
        body = "".join(f"def f{number}_{n}(x):\n    return x + {n}\n\n\n" for n in range(30))
        (folder / f"m{number}.py").write_text(body)
    (folder / "data.json").write_text("[" + "1, " * 400 + "1]")
    made_here.git("add", ".")
    (folder / "untracked.py").write_text("secret = 1\n" * 100)
    return folder


def test_only_tracked_code_is_learnt_from(repository):
    found = read_texts([repository])
    assert {Path(text.name).name for text in found} == {f"m{n}.py" for n in range(6)}
    assert 0 < sum(text.held for text in found) < len(found)
    assert read_texts([repository]) == found
    with pytest.raises(UsageError, match="not tracked"):
        read_texts([repository / "untracked.py"])


def target(engine: ExactEngine, weights: Any) -> HeadsTarget:
    return HeadsTarget(engine, weights, Words(), "small")


def test_training_reads_answers_learns_and_continues(
    engine, weights, repository, tmp_path, monkeypatch
):
    monkeypatch.setattr(reading, "ANSWER", 12)
    texts, folder = read_texts([repository]), HeadsFolder(tmp_path / "store", weights.source)
    stages = list(train.train(target(engine, weights), texts, folder, sizes("chained"), 0.5))
    assert {"read", "answer", "learn", "write"} <= {stage.what for stage in stages}
    first = open_heads(folder.file("chained")).about
    assert first.positions > first.answered > 0 and first.steps > 0 and first.texts > 0
    again = list(train.train(target(engine, weights), texts, folder, sizes("chained"), 0.2))
    assert again[-1].what == "write" and "from step" in next(
        stage.text for stage in again if stage.what == "learn"
    )
    second = open_heads(folder.file("chained")).about
    assert second.steps > first.steps and second.positions >= first.positions
    assert folder.kinds() == ["chained"]
    folder.file("chained").write_bytes(b"damaged")
    list(train.train(target(engine, weights), texts, folder, sizes("chained"), 0.2))
    heads = folder.open("chained", "small")
    assert heads is not None and heads.about.steps > 0
    score = evaluate(target(engine, weights), texts, heads, 500)
    assert score.places >= 500 and 1 <= score.ids_per_pass <= 4


def test_answers_written_at_once_are_those_of_each_alone(engine):
    prompts = [[5, 6, 7], [9], [*range(30)], [3, 3, 3, 3]]
    alone = [answer(engine, [], 16, prompt)[0] for prompt in prompts]
    end = alone[0][9]
    expected = [one[: one.index(end) + 1] if end in one else one for one in alone]
    writer = AnswerWriter(engine.passes, {end}, 16)
    done = {}
    for number, prompt in enumerate(prompts):  # one more begins before every pass
        writer.begin(requests.TeacherRequest(str(number), False, [], ""), prompt)
        done.update({one.request.name: one for one in writer.step()})
    while writer.under_way:
        done.update({one.request.name: one for one in writer.step()})
    assert [done[str(number)].ids for number in range(4)] == expected
    for number, prompt in enumerate(prompts):
        states, ids, choices = done[str(number)].rows()
        assert [*ids, choices[-1]] == [prompt[-1], *choices]
        read, read_ids, read_choices = rows_of(engine.passes, prompt, choices[:-1])
        assert states.tobytes() == read.tobytes()
        assert (ids, choices) == (read_ids, read_choices)


@pytest.mark.parametrize("when", some(["read", "learn"], 2))
def test_an_interrupted_run_loses_nothing(when, engine, weights, repository, tmp_path):
    texts, folder = read_texts([repository]), HeadsFolder(tmp_path / "store", weights.source)
    stages = train.train(target(engine, weights), texts, folder, sizes("chained"), 6.0)
    for stage in stages:
        if stage.what == when and (when == "read" or stage.loss):
            break
    with pytest.raises(KeyboardInterrupt):
        stages.throw(KeyboardInterrupt())
    assert RowStore(folder.unfinished, HIDDEN).places > 0
    assert folder.file("chained").is_file() == (when == "learn")
    assert not list(folder.path.rglob("*.tmp"))


# -- those in the package --------------------------------------------------------------------------


def test_the_packages_own_heads_are_small_and_of_a_model_of_the_catalogue():
    from specedit.models import catalogue

    found = [item for item in head_file.entries(Path("/nowhere")) if item.shipped]
    assert found, "the package comes with heads for its own model"
    known = {entry.sha256: entry.name for entry in catalogue.entries()}
    for item in found:
        about = item.about
        assert about is not None, item.problem
        assert known[about.digest] == about.model
        assert item.path.parent.name == about.digest[:16]
        assert item.path.stat().st_size <= 8_000_000
        assert about.note.startswith("Learnt from") and about.accepted[0] > 0.3


def test_guarantee_7_drafting_with_heads_loads_neither_torch_nor_numpy(tmp_path):
    path = tmp_path / "h.safetensors"
    written(path, fresh("chained"), "d" * 64)
    code = (
        "import sys; from pathlib import Path; "
        "from specedit.models import head_file; "
        "from specedit.inference import loading;"
        f"head_file.open_heads(Path({str(path)!r})).ids;"
        "list(head_file.entries(Path('/nowhere')));"
        "print([m for m in ('torch', 'numpy', 'transformers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_heads_of_the_package_are_in_its_wheel():
    """The build leaves out what `.gitignore` names."""
    root = Path(__file__).parents[2]
    lines = (root / ".gitignore").read_text(encoding="utf-8").splitlines()
    ignored = GitIgnoreSpec.from_lines(lines)
    shipped = list((root / "specedit/models/shipped_heads").rglob("*.safetensors"))
    assert shipped
    assert not [path for path in shipped if ignored.match_file(path.relative_to(root))]
