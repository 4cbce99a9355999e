"""Fitting the constants of drafting: what one half of the cases finds, the other confirms."""

from __future__ import annotations

import runpy
from dataclasses import fields, replace
from pathlib import Path

import pytest
from replaying import CURVE, WordTokenizer

from benchmarks import fit as fitting
from specedit.bench.cases import Case
from specedit.decode import fitted
from specedit.decode.constants import Constants, Origin
from specedit.engines.scripted import END

LINES = [f"v{n} = f(a, b, {n})\n" for n in range(3)]
BEFORE = "".join(LINES)


def case(number: int) -> Case:
    """One line of a file gets other words."""
    after = [*LINES]
    after[number % len(LINES)] = f"w{number} = g(a, {number}, b)\n"
    return Case(str(number), "a.py", "", BEFORE, "".join(after))


CASES = [case(number) for number in range(4)]
SPOILT = replace(fitted.FITTED, risks=(0.5,) * len(fitted.FITTED.risks), first_risk=0.4)


def found(cases: list[Case], constants: Constants) -> tuple[list[fitting.Move], fitting.Fit]:
    price = fitting.price(WordTokenizer(), END, ("prediction", "lookup"), CURVE)
    *moves, last = fitting.fit(cases, constants, price)
    assert isinstance(last, fitting.Fit)
    return [one for one in moves if isinstance(one, fitting.Move)], last


def test_the_file_is_what_the_command_writes() -> None:
    written = fitting.module(fitted.FITTED, fitted.ORIGINS)
    assert Path(fitted.__file__).read_text("utf-8") == written
    assert set(fitted.ORIGINS) == {one.name for one in fields(Constants)}
    assert all(origin.data and origin.date for origin in fitted.ORIGINS.values())


def test_spoilt_constants_are_mended_on_both_halves() -> None:
    moves, fit = found(CASES, SPOILT)
    assert {"risks", "first_risk"} & {one.name for one in moves}
    assert [one.seconds for one in moves] == sorted((m.seconds for m in moves), reverse=True)
    assert fit.cases == (2, 2)
    assert fit.after[0] < fit.before[0] and fit.confirmed
    price = fitting.price(WordTokenizer(), END, ("prediction", "lookup"), CURVE)
    assert sum(price(one, fit.constants) for one in CASES[::2]) == pytest.approx(fit.after[0])


def test_only_what_was_moved_gets_another_origin() -> None:
    fit = fitting.Fit(replace(fitted.FITTED, inertia=9.0), (2.0, 2.0), (1.0, 1.0), (1, 1))
    now = Origin("these cases", "2030-01-01")
    origins = fitting.origins(fitted.ORIGINS, fit, fitted.FITTED, now)
    assert [name for name, origin in origins.items() if origin == now] == ["inertia"]


@pytest.mark.parametrize("constant", [one.name for one in fields(Constants)])
def test_a_move_stays_within_what_is_possible(constant: str) -> None:
    moved = fitted.FITTED
    for _ in range(40):
        moved = fitting.move(moved, constant, -1, 0.6)
    value = getattr(moved, constant)
    kind = next(one.metadata["kind"] for one in fields(Constants) if one.name == constant)
    for number in value if isinstance(value, tuple) else (value,):
        assert kind != "chance" or 0 <= number < 1
        assert kind != "amount" or number > 0


@pytest.mark.parametrize("confirmed", [True, False])
def test_the_script_writes_what_the_other_half_confirms(confirmed: bool, tmp_path: Path) -> None:
    rest = CASES if confirmed else [replace(one, after=one.before) for one in CASES]
    mixed = [one if n % 2 == 0 else rest[n] for n, one in enumerate(CASES)]
    path = tmp_path / "fitted.py"
    path.write_text("as it was")
    start = SPOILT if confirmed else replace(fitted.FITTED, first_risk=0.0001)
    price = fitting.price(WordTokenizer(), END, ("prediction", "lookup"), CURVE)
    fitting.fitted_to(mixed, "cases.jsonl", price, path, start)
    if confirmed:
        names = runpy.run_path(str(path))
        assert names["FITTED"] != start
        assert Origin("cases.jsonl, 2 of 4 cases", names["ORIGINS"]["risks"].date) in (
            names["ORIGINS"].values()
        )
    else:
        assert path.read_text() == "as it was"


def test_an_interrupt_ends_the_search_and_keeps_what_it_found() -> None:
    price = fitting.price(WordTokenizer(), END, ("prediction", "lookup"), CURVE)
    moves = 0

    def interrupted(one: Case, constants: Constants) -> float:
        if moves == 1 and constants not in tried:
            tried.append(constants)
            if len(tried) == 2:
                raise KeyboardInterrupt
        return price(one, constants)

    tried: list[Constants] = []
    for step in fitting.fit(CASES, SPOILT, interrupted):
        if isinstance(step, fitting.Fit):
            break
        moves += 1
    assert moves == 1 and isinstance(step, fitting.Fit)
    assert step.after[0] < step.before[0]
