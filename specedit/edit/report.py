"""The outcome: an Edit for one file, a Report for a run; and what makes an answer an Edit: the new
text after its checks. Nothing here prints, or writes to a source file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from specedit.check.finding import CHECKER, DECLINED, NOTHING, REMOVAL, UNSURE, Checks, verdicts
from specedit.check.finding import Finding as Finding
from specedit.check.finding import Spot as Spot
from specedit.decode import FREE, Tally
from specedit.edit.backend import Answer, Certainty, ModelInfo
from specedit.engines.base import Sampling
from specedit.errors import FileError
from specedit.files import stored
from specedit.files.git import patch_name, real, top_of
from specedit.files.source import Source
from specedit.files.startup import home

if TYPE_CHECKING:
    from specedit.edit.prompt import Beside
    from specedit.settings import Settings


@dataclass(frozen=True, slots=True)
class EditedRegion:
    """One region of a large file that was edited on its own."""

    lines: tuple[int, int]  # of the text that was there, from 1, both in
    symbol: str  # what is defined there; "" where nothing is
    chance: float  # that the change belongs there, as it was thought before
    changed: bool
    passes: int
    why: str = ""  # why it was open to change


@dataclass(frozen=True, slots=True)
class Figures:
    """The cost of one run, or of a sum of runs."""

    prompt: int = 0
    reused: int = 0
    completion: int = 0
    passes: int = 0
    drafts: Mapping[str, Tally] = field(default_factory=dict)
    load_s: float = 0.0
    prefill_s: float = 0.0
    decode_s: float = 0.0
    total_s: float = 0.0
    logits_digest: str | None = None
    regions: tuple[EditedRegion, ...] = ()  # none: the whole answer was one
    certainty: Certainty | None = None  # of the answer; None for a sum of several

    @classmethod
    def of(cls, answer: Answer, total_s: float) -> Figures:
        """The cost of an answer."""
        digest, certainty = answer.logits_digest, answer.certainty
        own = counted([answer])
        return cls(**own, total_s=total_s, logits_digest=digest, certainty=certainty)

    @property
    def prediction(self) -> Tally:
        return self.drafts.get("prediction", Tally())

    @property
    def drafted(self) -> Tally:
        return sum((t for n, t in self.drafts.items() if n != FREE), Tally())

    def __add__(self, other: Figures) -> Figures:
        return Figures(**counted([self, other]), total_s=self.total_s + other.total_s)

    def beside(self, other: Figures) -> Figures:
        """With what something else cost that the same answer needed."""
        return (self + other).of_answer(self)

    def of_answer(self, own: Figures) -> Figures:
        """With what belongs to one answer, and is no sum."""
        return replace(
            self, logits_digest=own.logits_digest, regions=own.regions, certainty=own.certainty
        )


COUNTED = ("prompt", "reused", "completion", "passes", "load_s", "prefill_s", "decode_s")


def counted(items: Sequence[Answer | Figures]) -> dict[str, Any]:
    """The sums of what answers, and figures of them, count."""
    drafts: dict[str, Tally] = {}
    for item in items:
        for name, tally in item.drafts.items():
            drafts[name] = drafts.get(name, Tally()) + tally
    return {name: sum(getattr(item, name) for item in items) for name in COUNTED} | {
        "drafts": drafts
    }


@dataclass(frozen=True, slots=True)
class Compared:
    """The same edit once more without any draft: two measured runs, never an estimate."""

    decode_s: float
    total_s: float
    passes: int
    identical: bool
    speedup_decode: float
    speedup_total: float
    digests_equal: bool | None = None

    @classmethod
    def of(
        cls,
        own: Figures,
        decode_s: float,
        total_s: float,
        passes: int,
        identical: bool,
        digests_equal: bool | None,
    ) -> Compared:
        """`own`: what the same edit costs with drafts."""
        ours = own.prefill_s + own.decode_s
        faster = decode_s / own.decode_s if own.decode_s else 0.0, total_s / ours if ours else 0.0
        return cls(decode_s, total_s, passes, identical, *faster, digests_equal)


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What the user's command says of a try."""

    code: int | None  # None: it had to be ended, or could not be started
    line: str = ""  # that says most of a failure
    failed: int | None = None  # failures that it counted
    seconds: float = 0.0
    text: str = ""  # of its output what is worth showing to a model

    @property
    def passed(self) -> bool:
        return self.code == 0


@dataclass(frozen=True, slots=True)
class Try:
    """One answer for one file among several, and what became of it. `test` is None where nothing
    was run; `same_as`: the earlier try with its text, from 1; 0 for the text that was there."""

    number: int  # from 1
    seed: int = 0
    temperature: float = 0.0
    with_feedback: bool = False  # the model saw what was wrong with the try before
    second_choice: bool = False  # the model's second choice where the try before was least sure
    figures: Figures = field(default_factory=Figures)
    after_sha256: str = ""
    test: CommandResult | None = None
    test_s: float = 0.0  # of the command, where it was run for this try
    refused: str = ""
    noted: str = ""  # why it was asked again, though nothing refuses it
    same_as: int | None = None
    kept: bool = False

    @property
    def line(self) -> str:
        """The objection to it, in one line."""
        return self.refused or self.noted or (self.test.line if self.test else "")


@dataclass(frozen=True, slots=True)
class MergedPart:
    """A part of a change that was placed."""

    lines: tuple[int, int]  # of the new text, from 1, both in
    how: str  # "exact" | "matched"


@dataclass(frozen=True, slots=True)
class Replaced:
    """One place that a rename changes, of the text that was there, and why it is one."""

    line: int
    column: int
    kind: str  # "code" | "comment" | "string" | "derived"
    old: str
    new: str
    why: str


@dataclass(frozen=True, slots=True)
class Edit:
    """The outcome for one file. `after` is what the file should hold; nothing is written yet
    unless `written`."""

    path: str
    status: str  # "edited" | "unchanged" | "would-edit" | "refused" | "failed"
    before: bytes = b""
    after: bytes = b""
    diff: str = ""
    added: int = 0
    removed: int = 0
    hunks: int = 0
    findings: tuple[Finding, ...] = ()
    figures: Figures = field(default_factory=Figures)
    compared: Compared | None = None
    changes: tuple[Replaced, ...] = ()  # of a rename
    parts: tuple[MergedPart, ...] = ()  # of a change that was merged
    place: str = ""  # the part that the user named
    kept: str = ""  # where a refused answer can be looked at
    before_sha256: str = ""
    after_sha256: str = ""
    written: bool = False
    tries: tuple[Try, ...] = ()  # where there was, or could have been, more than one
    signals: tuple[float, ...] = ()  # what its confidence is computed from
    confidence: float | None = None  # the probability that it is right, where that is known
    sure: bool | None = None  # whether it may be written without being confirmed
    unrated: bool = False  # the model answered, and how likely its edits are right is not known

    @property
    def changed(self) -> bool:
        return self.before != self.after and self.status in ("edited", "would-edit")

    @property
    def why_unchanged(self) -> str:
        """The finding of an answer without a change; "" for any other answer."""
        kinds = (NOTHING, "whitespace")
        return next((finding.text for finding in self.findings if finding.kind in kinds), "")

    @property
    def is_unconfirmed(self) -> bool:
        """Whether it was not written because it is unsure."""
        return any(finding.kind == UNSURE and finding.refuses for finding in self.findings)

    @property
    def problems(self) -> tuple[str, ...]:
        """Why it was refused or failed."""
        return tuple(finding.text for finding in self.findings if finding.refuses)

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes that are no refusals."""
        return tuple(finding.text for finding in self.findings if not finding.refuses)

    @property
    def left(self) -> tuple[Spot, ...]:
        """Of a rename: the uses that may be meant and stay."""
        undecided = (finding for finding in self.findings if finding.kind == "undecided")
        return tuple(spot for finding in undecided for spot in finding.places)

    @property
    def mentions_left(self) -> int:
        """Of a rename: how many words of prose stay that may be ordinary language."""
        kinds = ("prose", "disagreed")
        return sum(len(finding.places) for finding in self.findings if finding.kind in kinds)

    def noting(self, *findings: Finding) -> Edit:
        return replace(self, findings=(*self.findings, *findings)) if findings else self


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a run over files, in the order they were given."""

    command: str
    edits: tuple[Edit, ...]
    model: ModelInfo | None = None
    server: str | None = None

    @property
    def figures(self) -> Figures:
        return sum((e.figures for e in self.edits), Figures())

    def count(self, *statuses: str) -> int:
        return sum(e.status in statuses for e in self.edits)

    @property
    def changed_nothing(self) -> bool:
        """Whether an instruction was given, and no file is changed by it."""
        asked = self.command in ("edit", "refine") and bool(self.edits)
        declined = any(finding.kind == DECLINED for edit in self.edits for finding in edit.findings)
        return asked and not declined and self.count("unchanged") == len(self.edits)

    def exit_code(self, *, check: bool = False) -> int:
        """0 done; 1 `--check` would change, or an instruction changed nothing; 2 something could
        not be done."""
        if self.count("refused", "failed") or any(e.written and e.problems for e in self.edits):
            return 2
        return int(any(e.changed for e in self.edits) if check else self.changed_nothing)


@dataclass(frozen=True, slots=True)
class Trying:
    """A try begins: its parameters."""

    number: int  # from 1
    most: int
    sampling: Sampling
    with_feedback: bool = False


@dataclass(frozen=True, slots=True)
class CommandRunning:
    """The command runs; `line` is the last of its output. Number 0: before anything is edited."""

    number: int
    command: str
    line: str = ""


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the command says of the work tree as it was."""

    result: CommandResult


@dataclass(frozen=True, slots=True)
class Tried:
    """A try is over; what it cost over all files."""

    whole: Try
    most: int


# Characters of a text whose syntax tree is not kept for a second question
MAX_KEPT_TREE_CHARACTERS = 400_000


@dataclass(frozen=True, slots=True)
class Checked:
    """A text after the checks, and what they found."""

    text: str
    findings: tuple[Finding, ...] = ()
    changes: tuple[Replaced, ...] = ()  # of a rename
    parts: tuple[MergedPart, ...] = ()  # of a change that was merged

    @property
    def problems(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.refuses)


Check = Callable[[str], Checked]  # of the whole new text of a file


def checks_of(settings: Settings, beside: Iterable[Beside] = ()) -> Checks:
    """The checks as the settings choose them. `beside`: what the model saw next to the file."""
    allowed = settings.allowed
    chosen = verdicts(strict=settings.strict, allowed=allowed)
    shown = tuple((file.name, file.text) for file in beside)
    return Checks(REMOVAL in allowed, chosen, settings.check_with, shown)


def guarded(source: Source, instruction: str, checks: Callable[[], Checks], text: str) -> Checked:
    """`text` as what an instruction made of a file, with what the checks found."""
    from specedit.check.answer import check_answer  # 10 ms, while the model works
    from specedit.edit.prompt import repeats_example

    result = check_answer(
        source.text, text, source.language, instruction, checks(), partial(_place, source)
    )
    if repeats_example(source.text, text):
        result.append(Finding("copied", "it repeats a worked example of the prompt", refuses=True))
    return Checked(text, tuple(result))


def _place(source: Source) -> tuple[Path, PurePath]:
    """The work tree of a text, or its folder, and its path from there."""
    path = real(source.path if source.path is not None else source.name)
    root = top_of(path.parent) or path.parent
    return root, PurePath(path.relative_to(root))


def conclude(source: Source, checked: Checked, figures: Figures) -> Edit:
    """The Edit of a checked text, not written."""
    edit = replace(
        outcome(source, checked.text, figures),
        findings=checked.findings,
        changes=checked.changes,
        parts=checked.parts,
    )
    return replace(edit, status="refused") if checked.problems else edit


def outcome(source: Source, text: str, figures: Figures | None = None) -> Edit:
    """The Edit of a file that comes to hold `text`."""
    from specedit.syntax import trees
    from specedit.syntax.lines import counts, patch

    if len(text) > MAX_KEPT_TREE_CHARACTERS:
        trees.release()
    after = source.data if text == source.text else source.encode(text)
    added, removed, hunks = counts(source.text, text)
    return Edit(
        path=source.name,
        status="unchanged" if after == source.data else "would-edit",
        before=source.data,
        after=after,
        diff=patch(patch_name(source.name, source.path, source.root), source.data, after).decode(
            "utf-8", "surrogateescape"
        ),
        added=added,
        removed=removed,
        hunks=hunks,
        figures=figures or Figures(),
        before_sha256=source.sha256,
        after_sha256=hashlib.sha256(after).hexdigest(),
    )


def failed(name: str, problem: FileError) -> Edit:
    """The Edit of a file that could not be done."""
    refuses = problem.status != "unchanged"
    return Edit(
        name, problem.status, findings=(Finding(problem.kind, problem.why, refuses=refuses),)
    )


def keep(edit: Edit) -> Edit:
    """The Edit with the path of a file where the user can look at a refused answer."""
    if edit.status != "refused" or edit.after == edit.before:
        return edit
    return replace(edit, kept=stored.keep_refused(home(), edit.path, edit.before, edit.after))


def as_written(edit: Edit, uncommitted: bool) -> Edit:
    """The Edit of a file that was written. `uncommitted`: git could not restore its old text."""
    edit = replace(edit, status="edited", written=True)
    if not uncommitted:
        return edit
    message = "its text was in no commit: specedit undo puts it back, git cannot"
    return edit.noting(Finding("uncommitted", message))


def put_back(edit: Edit, errors: str) -> Edit:
    """The Edit of a file that was written and put back, since checkers report new errors."""
    back = replace(edit, status="refused", written=False)
    return back.noting(Finding(CHECKER, f"undone, since {errors}", refuses=True))


def with_others_failed(edit: Edit, broken: str) -> Edit:
    """The Edit of a file that is one change with a file that could not be done."""
    message = f"not written: it is one change with {broken}, which could not be done"
    refused = replace(edit, status="refused", written=False)
    return refused.noting(Finding("held", message, refuses=True))
