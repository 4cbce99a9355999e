"""Damaged files of our own store: none of them ends an edit; each is made again."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from model_sources import tiny_gguf

from specedit.decode import cost
from specedit.decode.cost import Curve
from specedit.files import stored
from specedit.models.store import ModelFiles, store_path
from specedit.models.vocabulary import load_tokenizer

DEEP = "[" * 100_000
DAMAGE = {  # whatever is done to any JSON file
    "empty": b"",
    "cut": b'{"a": [[1, 0.1], [2',
    "no json": b"\x7fELF",
    "no utf-8": b'{"\xff": 1}',
    "zeros": bytes(4096),
    "a list": b"[]",
    "a number": b"1",
    "null": b"null",
    "deep": DEEP.encode(),
    "deep objects": b'{"a":' * 100_000,
    "many digits": b'{"a": ' + b"9" * 10_000 + b"}",
    "large": b" " * (stored.LARGEST_FILE + 1),
}
CURVES = {  # of one key of curves.json
    "zero": [[1, 0.0], [8, 0.0]],
    "negative": [[1, -0.1]],
    "not a number": [[1, float("nan")]],
    "infinite": [[1, float("inf")]],
    "tiny": [[1, 1e-300]],
    "huge": [[1, 1e300]],
    "huge width": [[1, 0.1], [1 << 40, 0.2]],
    "width zero": [[0, 0.1]],
    "broken width": [[1.5, 0.1]],
    "texts": [["1", "0.1"]],
    "three": [[1, 0.1, 2]],
    "flat": [1, 0.1],
    "none": [],
    "null": None,
    "an object": {"1": 0.1},
    "true": [[True, 0.1]],
}


def damage(path: Path, how: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(DAMAGE[how])


@dataclass(frozen=True)
class Sample:
    name: str
    size: int
    share: float = 0.5
    parts: tuple[tuple[int, bool], ...] = ()
    files: dict[str, str] | None = None


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_file_counts_as_absent(how, tmp_path):
    damage(tmp_path / "cache.json", how)
    assert stored.read(tmp_path / "cache.json", dict[str, Sample]) is None


def test_what_was_written_is_read_with_its_types(tmp_path):
    data = {"name": "a", "size": 1, "share": 1, "parts": [[1, True]], "files": {"x": "y"}}
    (tmp_path / "cache.json").write_text(json.dumps(data))
    expected = Sample("a", 1, 1.0, ((1, True),), {"x": "y"})
    assert stored.read(tmp_path / "cache.json", Sample) == expected


@pytest.mark.parametrize("points", CURVES.values(), ids=CURVES)
def test_a_curve_that_no_machine_has_is_not_used(points, tmp_path):
    path = tmp_path / "curves.json"
    path.write_text(json.dumps({"a": points}))
    assert cost.load(path, "a") is None
    cost.save(path, "a", Curve.line(0.1, 0.01))
    assert cost.load(path, "a") == Curve.line(0.1, 0.01)


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_form_of_the_tokenizer_is_made_again(how, tmp_path):
    path = tiny_gguf(tmp_path / "model.gguf", tokenizer__chat_template="{{ messages[0].content }}")
    files = ModelFiles("m", path, "gguf", sha256="d" * 64)
    expected = load_tokenizer(files)
    (kept,) = (store_path() / "converted").iterdir()
    sound = kept.read_bytes()
    changed = (sound.replace(b"qwen2", b"qwen3"), sound[:-1] + b"?")
    for damaged in (DAMAGE[how], *changed, sound[:-1], sound + b"?"):
        kept.write_bytes(damaged)
        again = load_tokenizer(files)
        assert again.template == expected.template
        assert again.encode("int main") == expected.encode("int main")
        assert kept.read_bytes() == sound
