"""Which models can draft for which."""

from dataclasses import replace

import pytest

from specedit.errors import ModelError
from specedit.models.resolve import check_drafts, vocabulary_difference
from specedit.models.tokenizer import Tokenizer

WORDS = Tokenizer(
    ids_of=lambda text: [], pieces=[b"a", b"b", b""], specials={"<end>": 2}, ends=frozenset({2})
)


def test_equal_vocabularies_are_kin():
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
def test_others_are_not(other, why):
    assert why in (vocabulary_difference(replace(WORDS, **other), WORDS) or "")


def test_a_draft_model_is_refused_by_name():
    check_drafts("tiny", WORDS, "big", WORDS)
    with pytest.raises(ModelError, match="tiny cannot draft for big"):
        check_drafts("tiny", replace(WORDS, pieces=[]), "big", WORDS)
