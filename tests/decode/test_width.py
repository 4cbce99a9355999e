"""Widths and what they are chosen from: the cost curve, and what drafts were worth."""

import os
import time
from collections.abc import Sequence

import pytest
from replaying import CURVE
from scripted_engine import ScriptedEngine

from specedit.decode import Draft, cost
from specedit.decode.cost import Clock, Curve
from specedit.decode.width import Widths
from specedit.engines.base import Choices

NOISY = Curve.of([(1, 0.075), (8, 0.107), (16, 0.157), (32, 0.226), (64, 0.454), (128, 0.844)])


def draft(chance: float, size: int = 400) -> Draft:
    return Draft([7] * size, [chance] * size, "prediction", beyond=chance)


def choose(widths: Widths, *drafts: Draft, trees: bool = False) -> tuple[Draft, int]:
    chosen = widths.choose(drafts, trees=trees)
    assert chosen is not None
    return chosen


def trusted(curve: Curve = CURVE, passes: int = 40) -> Widths:
    """Widths whose drafts have saved enough to stake much."""
    widths = Widths(curve)
    for _ in range(passes):
        widths.learn(draft(0.99, 8), 8, [7] * 9, 0.1)
    return widths


@pytest.mark.parametrize(
    ("points", "width", "seconds"),
    [
        ([(1, 1.0)], 50, 1.0),
        ([(1, 1.0), (3, 2.0)], 2, 1.5),
        ([(1, 1.0), (3, 2.0)], 5, 3.0),
        ([(3, 2.0), (1, 1.0), (5, 1.5)], 5, 2.0),
        ([(4, 1.0), (8, 2.0)], 1, 1.0),
    ],
    ids=["one point", "between", "beyond", "never falling", "below"],
)
def test_a_curve_is_straight_between_points(points, width, seconds):
    assert Curve.of(points).seconds(width) == pytest.approx(seconds)


@pytest.mark.parametrize("curve", [CURVE, NOISY, Curve.line(0.035, 0.015), Curve.line(0.07, 0.001)])
def test_the_surer_the_draft_the_wider_the_pass(curve):
    lengths = [choose(trusted(curve), draft(c))[1] for c in (0.02, 0.5, 0.9, 0.99, 0.999)]
    assert lengths == sorted(lengths)
    assert lengths[0] < 8 < lengths[-1]


def test_a_likely_draft_is_not_put_off_until_a_wide_pass_may_be_risked():
    """Measured beside other work: a wide pass looks much cheaper for each id than a narrow one."""
    points = ((1, 0.084), (2, 0.15), (4, 0.228), (8, 0.302), (16, 0.468), (32, 0.861), (64, 1.25))
    widths, left, passes = Widths(Curve.of(points)), 120, 0
    while left > 0:
        proposed = min(choose(widths, draft(0.985, left))[1], left)
        widths.learn(draft(0.985, left), proposed, [7] * (proposed + 1), 0.1)
        left, passes = left - proposed - 1, passes + 1
    assert passes <= 8


def test_plain_ids_save_nothing_however_many_are_told_at_once():
    each, together = Widths(CURVE), Widths(CURVE)
    for widths in (each, together):
        wrong = draft(0.99, 30)
        widths.learn(wrong, 30, [8], 0.1)
        assert widths.wait > 0
    for _ in range(40):
        each.learn(None, 0, [8], 0.1)
    together.learn(None, 0, [8] * 40, 0.1)
    assert each.draft_limit == together.draft_limit and each.wait == together.wait


def test_the_drafter_that_holds_wins_over_the_one_that_claims():
    widths = trusted()
    boast = Draft([1] * 9, [0.9] * 9, "prediction")
    modest = Draft([2] * 9, [0.6] * 9, "lookup")
    for _ in range(20):
        widths.learn(boast, 9, [5], 0.1)
    assert choose(widths, boast, modest)[0] is modest


def test_the_clock_believes_a_machine_that_became_slower():
    clock = Clock(CURVE)
    widths = Widths(clock=clock)
    for _ in range(40):
        for width in (1, 32, 256):
            widths.learn(None, width - 1, [1], 3 * CURVE.seconds(width))
    for width in (1, 32, 256):
        assert widths.curve.seconds(width) == pytest.approx(3 * CURVE.seconds(width), rel=0.2)


def test_a_busy_moment_does_not_make_a_width_dear_for_ever():
    """What looks too dear is not tried again, so that nothing would say otherwise."""
    clock = Clock(CURVE)
    for width in (8, 16, 32):
        for _ in range(8):
            clock.add(width, 20 * CURVE.seconds(width))
    assert clock.curve.seconds(16) > 10 * CURVE.seconds(16)
    for _ in range(200):  # plain decoding goes on, and the machine is free again
        clock.add(1, CURVE.seconds(1))
    assert clock.curve.seconds(16) < 1.2 * CURVE.seconds(16)


def test_the_clock_ignores_a_single_hiccup():
    clock = Clock(CURVE)
    changed = [clock.add(1, CURVE.seconds(1) * (50 if n == 20 else 1)) for n in range(64)]
    assert not any(changed)
    assert clock.curve == CURVE


def test_a_branch_pays_by_its_share_of_a_pass_where_passes_settle_few():
    chances = [0.5, 0.3, 0.1, 0.02, 0.02]  # one place's ids
    tree = Draft([1, 2, 3, 4, 5], chances, "chained", parents=[-1] * 5)
    cost = Curve.line(0.06, 0.0007)  # 0.02 of a pass is more than that, 0.02 of half a pass less
    assert choose(trusted(cost), tree, trees=True)[1] == 3


def test_measuring_leaves_the_cache_as_it_was():
    engine = ScriptedEngine(list(b"abc"), delay_s=0.0005)
    list(engine.begin(list(b"prompt")))
    held = engine.length
    curve = cost.measure(engine, widest=32)
    assert engine.length == held
    assert [width for width, _ in curve.points] == [1, 2, 4, 8, 16, 17, 32]
    assert curve.seconds(1) >= 0.0005


def test_a_busy_moment_is_not_taken_for_what_a_width_costs(monkeypatch):
    now, passes = 0.0, 0

    class Timed(ScriptedEngine):
        def forward(self, ids: Sequence[int], parents: Sequence[int] | None = None) -> Choices:
            nonlocal now, passes
            passes += 1
            now += (0.06 + 0.001 * len(ids)) * (3 if 3 <= passes <= 5 else 1)
            return super().forward(ids, parents)

    engine = Timed(list(b"abc"))
    list(engine.begin(list(b"prompt")))
    monkeypatch.setattr("specedit.decode.cost.time.perf_counter", lambda: now)
    curve = cost.measure(engine, widest=32)
    for width, seconds in curve.points:
        assert seconds == pytest.approx(0.06 + 0.001 * width)


@pytest.mark.parametrize(
    ("start", "each", "widest"), [(0.06, 0.018, 32), (1.5, 0.5, 1), (0.003, 0.0001, 256)]
)
def test_measuring_takes_two_seconds_anywhere(start, each, widest, monkeypatch):
    now, widths = 0.0, []

    class Timed(ScriptedEngine):
        def forward(self, ids: Sequence[int], parents: Sequence[int] | None = None) -> Choices:
            nonlocal now
            widths.append(len(ids))
            now += start + each * len(ids)
            return super().forward(ids, parents)

    monkeypatch.setattr("specedit.decode.cost.time.perf_counter", lambda: now)
    curve = cost.measure(Timed(list(b"abc")))
    assert now <= 2.01 and max(widths) == widest
    assert [width for width, _ in curve.points][-3:] == [64, 128, 256]
    if widest > 1:
        assert curve.seconds(256) == pytest.approx(start + each * 256)
    else:  # the slope is the usual one
        assert curve.seconds(256) / curve.seconds(1) == pytest.approx(1.6 / 0.075)


def test_curves_are_kept_side_by_side(tmp_path):
    path = tmp_path / "new folder" / "curves.json"
    assert cost.load(path, "a") is None
    cost.save(path, "a", CURVE)
    cost.save(path, "b", NOISY)
    assert cost.load(path, "a") == CURVE
    assert cost.load(path, "b") == NOISY
    path.write_text("{ broken")
    assert cost.load(path, "a") is None
    cost.save(path, "a", NOISY)
    assert cost.load(path, "a") == NOISY


def test_a_doubted_curve_is_forgotten_once_an_hour(tmp_path):
    path = tmp_path / "curves.json"
    for key in ("one", "other"):
        cost.save(path, key, CURVE)
    cost.invalidate(path, "one")
    assert cost.load(path, "one") == CURVE
    an_hour_ago = time.time() - 3700
    os.utime(path, (an_hour_ago, an_hour_ago))
    cost.invalidate(path, "one")
    assert (cost.load(path, "one"), cost.load(path, "other")) == (None, CURVE)
