"""Which models can draft for which."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from exact_models import save

from specedit.errors import ModelError
from specedit.models.compatibility import check_drafts, parameters, vocabulary_difference
from specedit.models.tokenizer import Tokenizer

WORDS = Tokenizer(
    ids_of=lambda text: [],
    pieces=[b"a", b"b", b""],
    specials={"<end>": 2},
    ends=frozenset({2}),
)


def test_equal_vocabularies_are_kin() -> None:
    assert vocabulary_difference(WORDS, replace(WORDS, pieces=(b"a", b"b", b"", b""))) is None


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"pieces": [b"a", b"c"]}, "tokens differ"),
        ({"pieces": [b"a"]}, "1 tokens, not 2"),
        ({"specials": {"<stop>": 2}}, "special tokens"),
    ],
    ids=["another token", "fewer", "other specials"],
)
def test_others_are_not(other: dict[str, object], why: str) -> None:
    assert why in (vocabulary_difference(replace(WORDS, **other), WORDS) or "")


def test_a_draft_model_is_refused_by_name(tmp_path: Path) -> None:
    _, large = save("qwen2, grouped, tied", tmp_path / "large")
    _, small = save("qwen2, grouped, tied", tmp_path / "small", num_hidden_layers=1)
    large, small = replace(large, name="big"), replace(small, name="tiny")
    assert parameters(small) < parameters(large)
    check_drafts(small, WORDS, large, WORDS)
    check_drafts(large, WORDS, large, WORDS)
    with pytest.raises(ModelError, match="big is larger than tiny"):
        check_drafts(large, WORDS, small, WORDS)
    with pytest.raises(ModelError, match="tiny cannot draft for big"):
        check_drafts(small, replace(WORDS, pieces=[]), large, WORDS)
