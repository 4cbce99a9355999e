"""The events of tries while they run; every number is in a `Try`."""

from __future__ import annotations

from dataclasses import dataclass

from specedit.edit.report import Judgement, Try


@dataclass(frozen=True)
class Trying:
    """A try begins."""

    number: int  # from 1
    most: int
    seed: int
    temperature: float
    with_feedback: bool


@dataclass(frozen=True)
class Judging:
    """The command runs; `line` is the last that it said. Number 0: before anything is edited."""

    number: int
    command: str
    line: str = ""


@dataclass(frozen=True)
class Baseline:
    """What the command said of the work tree as it was."""

    verdict: Judgement
    seconds: float


@dataclass(frozen=True)
class Tried:
    """A try has its verdict; what it cost over all files."""

    whole: Try
    most: int


TryItem = Trying | Judging | Baseline | Tried
