"""Fitting the constants of drafting: what one half of the cases finds, the other confirms."""

from dataclasses import replace

import pytest
from effort import some
from replaying import CURVE
from scripted_engine import END, WordTokenizer

from benchmarks import fit as fitting
from benchmarks.speed.cases import Case
from specedit.decode import constants
from specedit.decode.constants import FITTED

LINES = [f"v{n} = f(a, b, {n})\n" for n in range(3)]
BEFORE = "".join(LINES)


def case(number: int) -> Case:
    """One line of a file gets other words."""
    after = [*LINES]
    after[number % len(LINES)] = f"w{number} = g(a, {number}, b)\n"
    return Case(str(number), "a.py", "", BEFORE, "".join(after))


CASES = [case(number) for number in range(4)]
SPOILT = replace(FITTED, risks=(0.5,) * len(FITTED.risks), first_risk=0.4)


@pytest.fixture(autouse=True)
def _same_constants_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "FITTED", FITTED)


@pytest.mark.parametrize("confirmed", some([True, False], 2))
def test_the_script_prints_what_the_other_half_confirms(confirmed, capsys):
    rest = CASES if confirmed else [replace(one, after=one.before) for one in CASES]
    mixed = [one if n % 2 == 0 else rest[n] for n, one in enumerate(CASES)]
    start = SPOILT if confirmed else replace(FITTED, first_risk=0.0001)
    price = fitting.price(WordTokenizer(), END, ("prediction", "lookup"), CURVE)
    fit = fitting.fitted_to(mixed, price, start)
    printed = capsys.readouterr().out
    assert fit.confirmed is confirmed and fit.cases == (2, 2)
    assert fit.after[0] < fit.before[0]
    assert sum(price(case, fit.constants) for case in CASES[::2]) == pytest.approx(fit.after[0])
    seconds = [float(line.split()[0]) for line in printed.splitlines() if " s  " in line]
    assert seconds == sorted(seconds, reverse=True)
    assert ("not confirmed" in printed) is not confirmed
    moved = [n for n in fitting.KINDS if getattr(fit.constants, n) != getattr(start, n)]
    shown = [f"{n} = {getattr(fit.constants, n)!r}" for n in moved]
    assert moved and all((line in printed) is confirmed for line in shown)
