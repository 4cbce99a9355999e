"""One request's drafts inside a server whose steps others share."""

import itertools
import math
from typing import Any

import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from scripted_engine import WordTokenizer

from specedit.errors import UsageError
from specedit.integrations.vllm import launch
from specedit.integrations.vllm.drafting import (
    MAX_DRAFT_IDS,
    Drafting,
    RequestBudget,
    Steps,
    joined,
    parted,
)
from specedit.integrations.vllm.launch import Proposer

ALONE = 40.0  # ids: what a step costs besides its own, with nobody beside


def written(
    drafting: Drafting,
    after: list[int],
    ratio: float = ALONE,
    taken: int = MAX_DRAFT_IDS,
    share: float = math.inf,
) -> list[tuple[int, int]]:
    """(offered, accepted) of each step that writes `after`; at most `taken` ids are taken."""
    drafting.commit(after[:1])
    at, result = 1, []
    while at < len(after):
        ids = drafting.propose(min(MAX_DRAFT_IDS, len(after) - at - 1), ratio, share)[:taken]
        drafting.offered(len(ids))
        held = 0
        while held < len(ids) and ids[held] == after[at + held]:
            held += 1
        drafting.commit(after[at : at + held + 1])
        at += held + 1
        result.append((len(ids), held))
    assert drafting.written == len(after)
    return result


def steps(before: list[int], after: list[int], **named: Any) -> list[tuple[int, int]]:
    return written(Drafting([1, 2, 3], [before]), after, **named)


def test_a_copy_takes_a_step_for_every_129_ids():
    text = list(range(10, 1000))
    assert len(steps(text, text)) <= 3 + len(text) // (MAX_DRAFT_IDS + 1)


def test_a_change_is_followed_and_learned():
    words = WordTokenizer()
    before = words.encode("".join(f"self.username = row[{n}]\n" for n in range(30)))
    after = words.encode("".join(f"self.email = row[{n}]\n" for n in range(30)))
    assert len(written(Drafting([1, 2, 3], [before], words), after)) < 12


def test_the_fuller_the_step_the_shorter_the_draft():
    guess = [token for n in range(40) for token in (7, 8, 9, 1000 + n)]
    answer = [token for n in range(40) for token in (7, 8, 9, 3000 + n)]
    alone = sum(offered for offered, _ in steps(guess, answer, ratio=ALONE))
    crowded = sum(offered for offered, _ in steps(guess, answer, ratio=0.25))
    assert crowded < alone


@examples(60)
@given(
    st.lists(st.integers(0, 5), max_size=60),
    st.lists(st.integers(0, 5), min_size=1, max_size=60),
    st.integers(0, MAX_DRAFT_IDS),
)
def test_never_more_steps_than_plain_whatever_is_taken(before, after, taken):
    assert len(steps(before, after, taken=taken)) <= max(0, len(after) - 1)


class Ticking:
    """A clock of which each look takes so long."""

    def __init__(self, seconds: float) -> None:
        self.now, self.seconds = 0.0, seconds

    def __call__(self) -> float:
        self.now += self.seconds
        return self.now


def drafted(before: list[int], after: list[int], share: float) -> tuple[int, float]:
    """Steps that write `after`, and seconds that drafting took: 10 ms for each look."""
    clock = Ticking(0.01)
    drafting = Drafting([1, 2, 3], [before], budget=RequestBudget(clock))
    return 1 + len(written(drafting, after, share=share)), clock.now / 2


@pytest.mark.parametrize("share", [1.0, 0.1, 0.001], ids=str)
def test_drafting_that_saves_nothing_takes_a_few_hundredths_of_the_time(share):
    answer = list(range(10, 2000))
    count, seconds = drafted(list(range(3000, 5000)), answer, share)
    assert count == len(answer)
    assert seconds <= 0.03 + 2 * share + 0.01 * share * len(answer)


@pytest.mark.parametrize("ratio", [0.25, 3.0, ALONE, 1000.0], ids=str)
def test_a_rest_costs_no_steps_and_earns_no_drafts(ratio):
    """Asked again only where it says so, a wrong prediction is offered a fiftieth at most."""
    answer, asked, offered = list(range(10, 3000)), 0, 0
    drafting = Drafting([1, 2, 3], [list(range(5000, 9000))], budget=RequestBudget(Ticking(0.001)))
    drafting.commit(answer[:1])
    for at in range(1, len(answer)):
        if at - drafting.written < drafting.rest:
            continue
        drafting.commit(answer[drafting.written : at])
        asked += 1
        ids = drafting.propose(MAX_DRAFT_IDS, ratio, 0.01)
        drafting.offered(len(ids))
        offered += len(ids)
    assert offered <= (2 + 0.02 * len(answer)) * (ratio + 1)
    assert asked < len(answer) / 4


def test_what_was_written_asleep_is_read_on_waking():
    """The prediction becomes right in the answer's second half, and is found again there."""
    right = list(range(5000, 6000))
    answer = [*range(10, 1000), *right]
    count, _ = drafted([*range(2000, 3000), *right], answer, 0.05)
    assert count < 990 + 200


def test_no_more_is_read_of_predictions_than_an_answer_can_use():
    many = [[n] * 50 for n in range(100)]
    assert joined(many, 7) == joined(many[:16], 7)
    assert parted(iter(joined(many, 50)), 7) == [[n] * 7 for n in range(3)]
    endless = itertools.repeat(5)
    assert parted(endless, 7) == [[5] * 7]


def test_the_line_of_the_steps_is_found_from_steps():
    measured = Steps()
    for ids in (1, 1, 1, 9, 9, 33, 33, 130, 130, 130, 64, 64, 17, 17, 5, 5):
        measured.add(ids, 0.07 + 0.0055 * ids)
    assert measured.start == pytest.approx(0.07, rel=0.02)
    assert measured.each == pytest.approx(0.0055, rel=0.02)
    assert measured.ratio(1) == pytest.approx(0.07 / 0.0055, rel=0.1)


def test_one_size_alone_scales_the_line_that_was_believed():
    measured = Steps()
    assert not measured.known
    for _ in range(8):
        measured.add(1, 0.02)
        assert measured.known and measured.share(1) == pytest.approx(0.02, rel=0.01)
    assert measured.ratio(1) == pytest.approx(40.0, rel=0.1)


def test_the_proposer_proposes_nothing_for_each_row():
    assert Proposer(None).propose([[1], [], [2, 3]], object(), slot_mappings=None) == [[], [], []]


def test_the_flags_name_what_can_be_imported():
    from importlib import import_module

    words = launch.flags()
    assert "--no-async-scheduling" in words
    for path in (launch.MIDDLEWARE, launch.PROPOSER):
        module, _, name = path.rpartition(".")
        assert callable(getattr(import_module(module), name))
        assert any(path in word for word in words)


@pytest.mark.parametrize(
    "flag", ["--scheduler-cls=x.Y", "--speculative-config", "--speculative_config", "--spec-method"]
)
def test_a_flag_that_is_ours_is_refused_by_name(flag):
    with pytest.raises(UsageError, match="specedit sets"):
        launch.flags([flag, "{}"])
