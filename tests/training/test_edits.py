"""Training on edits: from commits to an adapter that an engine merges, on a tiny random model."""

import json
from pathlib import Path

import pytest
import torch
from effort import in_full
from exact_models import model_of
from fruits import python
from git_repository import Repository
from model_sources import tiny_gguf
from typer.testing import CliRunner

from specedit.edit.prompt import EXAMPLES_OF_FILES
from specedit.models.adapter import merged, opened, with_adapter
from specedit.models.store import ModelFiles
from specedit.models.tokenizer import Tokenizer
from specedit.models.vocabulary import load_tokenizer
from training.edits import commits, examples, learning
from training.edits.__main__ import app
from training.edits.examples import CHANGED, COPIED, Example

SMALL = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a + b\n"
MENDED = SMALL[:-6] + "a - b\n"


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    path = tiny_gguf(tmp_path_factory.mktemp("model") / "tiny.gguf")
    return load_tokenizer(ModelFiles("tiny", path, "gguf"))


@pytest.fixture
def history(tmp_path: Path) -> Path:
    repository = Repository.init(tmp_path / "work")
    repository.commit({"small.py": SMALL, "large.py": python(), "notes.txt": "a\n"}, "first")
    repository.commit({"small.py": MENDED}, "Subtract in sub")
    repository.commit({"large.py": python().replace("total = 7\n", "total = 70\n")}, "Heavier")
    repository.commit({"notes.txt": "b\n"}, "no source")
    repository.commit({"small.py": SMALL, "large.py": python()}, "two files")
    repository.commit({"new.py": SMALL}, "a new file")
    return repository.root


def test_commits_of_one_file_become_edits_and_questions_about_places(history, tokenizer, tmp_path):
    out = tmp_path / "commits.jsonl"
    assert CliRunner().invoke(app, ["mine", str(history), "--out", str(out)]).exit_code == 0
    rows = commits.read_rows(out)
    assert [(row["path"], row["subject"]) for row in rows] == [
        ("large.py", "Heavier"),
        ("small.py", "Subtract in sub"),
    ]
    assert (rows[1]["before"], rows[1]["after"]) == (SMALL, MENDED)
    written = {rows[0]["id"]: {"short": "olive: 70", "explicit": "Let weigh_olive_7 add 70"}}
    made = list(examples.examples_of(rows, written, tokenizer, 1 << 20))
    texts = ["".join(tokenizer.piece(id).decode("latin-1") for id in each.ids) for each in made]
    answers = [
        "".join(
            tokenizer.piece(id).decode("latin-1")
            for id, kind in zip(each.ids, each.kinds, strict=True)
            if kind
        )
        for each in made
    ]
    assert answers[0] == answers[2] == "weigh_olive_7\n```"
    assert "def weigh_olive_7(" in answers[1] and "total = 70\n" in answers[1]
    assert answers[4] == f"{MENDED}```" and len(made) == 5
    assert "olive: 70" in texts[1] and "Let weigh_olive_7 add 70" in texts[3]
    assert EXAMPLES_OF_FILES[0].content in texts[4] and "Subtract in sub" in texts[4]
    changed = [
        tokenizer.piece(id)
        for id, kind in zip(made[4].ids, made[4].kinds, strict=True)
        if kind == CHANGED
    ]
    assert changed == [b"-"]
    examples.save(tmp_path / "examples.npz", made)
    assert examples.load(tmp_path / "examples.npz") == made
    assert not list(examples.examples_of(rows, written, tokenizer, 10))


@in_full
def test_what_is_learnt_is_what_the_merged_adapter_computes(tmp_path):
    model = model_of("qwen2, grouped, tied", attn_implementation="eager")
    model.config.use_cache = False
    ids = [7, 8, 9, 10, 11, 12, 13, 14]
    kinds = [0, 0, 0, COPIED, COPIED, CHANGED, CHANGED, COPIED]
    lessons = [Example([start, *ids], [0, *kinds], start > 56) for start in range(50, 60)]
    layers = learning.with_low_rank(model, 4)
    assert len(layers) == 14
    before = learning.measured(model, lessons, 64)
    steps = learning.learn(model, lessons, 60.0, 0.02, 30, 20, lambda text: None)
    after = learning.measured(model, lessons, 64)
    assert steps > 20 and after[0] < 0.5 * before[0]
    with torch.inference_mode():
        learnt = model(torch.tensor([[50, *ids]])).logits
    learning.save(layers, tmp_path / "mine", "small", "ab" * 32)
    words = ["quantize", str(tmp_path / "mine"), "--out", str(tmp_path / "small")]
    assert CliRunner().invoke(app, [*words, "--licence", "MIT", "--origin", "tests"]).exit_code == 0
    files = ModelFiles("small", tmp_path, "folder", "ab" * 32)
    for name, error in (("mine", 0.01), ("small", 0.1)):
        plain = model_of("qwen2, grouped, tied", attn_implementation="eager")
        with torch.inference_mode():
            first = plain(torch.tensor([[50, *ids]])).logits
            state = plain.state_dict()
            dict(merged(state.items(), state, with_adapter(files, str(tmp_path / name)).adapter))
            own = plain(torch.tensor([[50, *ids]])).logits
        assert (own - learnt).abs().max() < error * (first - learnt).abs().max()
    config = json.loads((tmp_path / "small" / "adapter_config.json").read_text())
    assert (config["specedit"]["licence"], config["specedit"]["origin"]) == ("MIT", "tests")
    assert opened(tmp_path / "small").base == "small"


def test_a_beginning_that_is_computed_once_changes_no_loss():
    model = model_of("qwen2, grouped, tied")
    beginning = [*range(50, 60)]
    lessons = [
        Example([*beginning, *tail, 7, 8, 9], [0] * (10 + len(tail)) + [1, 2, 1], False)
        for tail in ([], [11, 12], [13])
    ]
    assert learning.shared_ids(model, lessons) == 9  # the first answer's id needs the last one
    together, changed = learning.losses(model, lessons)
    alone = torch.cat([learning.losses(model, [lesson])[0] for lesson in lessons])
    assert (
        torch.allclose(together, alone, atol=1e-5) and changed.tolist() == [False, True, False] * 3
    )


def test_the_command_trains_the_model_in_use(tmp_path, monkeypatch):
    model_of("qwen2, grouped, tied").save_pretrained(tmp_path / "model")
    lessons = [Example([start, 7, 8, 9], [0, 1, 2, 1], start == 50) for start in range(50, 60)]
    examples.save(tmp_path / "examples.npz", lessons)
    monkeypatch.setenv("SPECEDIT_MODEL", str(tmp_path / "model"))
    words = ["train", str(tmp_path / "examples.npz"), "--out", str(tmp_path / "mine")]
    done = CliRunner().invoke(app, [*words, "--seconds", "9", "--ids", "8", "--device", "cpu"])
    assert done.exit_code == 0 and "held-out loss of changed ids" in done.stderr
    assert opened(tmp_path / "mine").base == "model"


def test_a_gradient_that_is_not_a_number_ends_the_training_without_an_adapter(
    tmp_path, monkeypatch
):
    model = model_of("qwen2, grouped, tied")
    model.model.norm.weight.data[3] = float("nan")
    model.save_pretrained(tmp_path / "model")
    lessons = [Example([start, 7, 8, 9], [0, 1, 2, 1], start == 50) for start in range(50, 70)]
    examples.save(tmp_path / "examples.npz", lessons)
    monkeypatch.setenv("SPECEDIT_MODEL", str(tmp_path / "model"))
    words = ["train", str(tmp_path / "examples.npz"), "--out", str(tmp_path / "mine")]
    done = CliRunner().invoke(app, [*words, "--seconds", "9", "--ids", "8", "--device", "cpu"])
    assert done.exit_code and "not a number in 9 steps" in str(done.exception)
    assert not (tmp_path / "mine").exists()
