"""The outcome: an Edit for one file, a Report for a run, and the JSON the contract fixes.

`Figures` folds a run's events; nothing here measures, writes or prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from specedit.decode.events import FREE

SCHEMA = 1


@dataclass(frozen=True)
class Tally:
    """Draft ids offered to the model, and those it chose itself."""

    proposed: int = 0
    accepted: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.proposed + other.proposed, self.accepted + other.accepted)

    @property
    def rejected(self) -> int:
        return self.proposed - self.accepted

    @property
    def rate(self) -> float:
        return self.accepted / self.proposed if self.proposed else 0.0


@dataclass(frozen=True)
class Figures:
    """What one run (or a sum of runs) cost."""

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

    @property
    def prediction(self) -> Tally:
        return self.drafts.get("prediction", Tally())

    @property
    def drafted(self) -> Tally:
        return sum((t for n, t in self.drafts.items() if n != FREE), Tally())

    def __add__(self, other: Figures) -> Figures:
        names = list(dict.fromkeys([*self.drafts, *other.drafts]))
        return Figures(
            prompt=self.prompt + other.prompt,
            reused=self.reused + other.reused,
            completion=self.completion + other.completion,
            passes=self.passes + other.passes,
            drafts={n: self.drafts.get(n, Tally()) + other.drafts.get(n, Tally()) for n in names},
            load_s=self.load_s + other.load_s,
            prefill_s=self.prefill_s + other.prefill_s,
            decode_s=self.decode_s + other.decode_s,
            total_s=self.total_s + other.total_s,
        )


@dataclass(frozen=True)
class ModelLine:
    """What answered: the `model` object of the JSON."""

    name: str
    sha256: str = ""
    engine: str = ""
    device: str = ""
    threads: int = 0
    exact: bool = False
    note: str = ""


@dataclass(frozen=True)
class Compared:
    """The same edit once more without any draft: two measured runs, never an estimate."""

    decode_s: float
    total_s: float
    passes: int
    identical: bool
    speedup_decode: float
    speedup_total: float
    digests_equal: bool | None = None


@dataclass(frozen=True)
class Spot:
    """A place in a file, from 1; `column` 0 means the line. Of the new text where the finding is
    about what the model wrote (syntax, placeholder), else of the text that was there."""

    line: int
    column: int = 0


LOOK_TWICE = frozenset(
    (
        "not-checked",  # no grammar says whether the new text parses
        "unclosed",  # the model ended without its closing line
        "narrowed",  # only a part of the file was edited
        "unsure",  # of a rename: which places, or what was written there
        "left",  # the name itself stands in comments or strings, where the scope does not reach
        "disagreed",  # the model and tree-sitter say different things of a place
        "dropped",  # the model wanted more than the scope allows
        "uncommitted",  # the file's text before was in no commit
    )
)


@dataclass(frozen=True)
class Finding:
    """Something a person should know of an edit. `refuses`: why it was refused or failed.

    Kinds that refuse: those of the guard (`syntax.guard`) and of a `FileError`, and "cut-off".
    Others: those of LOOK_TWICE, "outside" (another name, or another thing of that name, that the
    scope leaves alone), "skipped" (nothing was asked, and why), "backend" (what answered)."""

    kind: str
    text: str
    places: tuple[Spot, ...] = ()
    refuses: bool = False

    @property
    def warns(self) -> bool:
        """Whether a reader should look at the edit twice."""
        return self.kind in LOOK_TWICE

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
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
    figures: Figures = Figures()
    compared: Compared | None = None
    kept: str = ""  # where a refused answer can be looked at
    before_sha256: str = ""
    after_sha256: str = ""
    written: bool = False

    @property
    def changed(self) -> bool:
        return self.before != self.after and self.status in ("edited", "would-edit")

    @property
    def problems(self) -> tuple[str, ...]:
        """Why it was refused or failed."""
        return tuple(one.text for one in self.findings if one.refuses)

    @property
    def notes(self) -> tuple[str, ...]:
        """Said to the person, no obstacle."""
        return tuple(one.text for one in self.findings if not one.refuses)

    def noting(self, *findings: Finding) -> Edit:
        return replace(self, findings=(*self.findings, *findings)) if findings else self


@dataclass(frozen=True)
class Report:
    """The outcome of a run over files, in the order they were given."""

    command: str
    edits: tuple[Edit, ...]
    model: ModelLine | None = None
    server: str | None = None
    wall_s: float = 0.0

    @property
    def figures(self) -> Figures:
        return sum((e.figures for e in self.edits), Figures())

    def count(self, *statuses: str) -> int:
        return sum(e.status in statuses for e in self.edits)

    def exit_code(self, *, check: bool = False) -> int:
        """0 done, 1 `--check` would change, 2 something could not be done."""
        if self.count("refused", "failed"):
            return 2
        return 1 if check and any(e.changed for e in self.edits) else 0


def _tally(t: Tally) -> dict[str, Any]:
    return {"proposed": t.proposed, "accepted": t.accepted}


def _prediction(t: Tally) -> dict[str, Any]:
    return {**_tally(t), "rejected": t.rejected, "acceptance_rate": round(t.rate, 4)}


def _finding(one: Finding) -> dict[str, Any]:
    places = [{"line": at.line, "column": at.column or None} for at in one.places]
    return {"kind": one.kind, "text": one.text, "places": places}


def _tokens(f: Figures) -> dict[str, int]:
    return {"prompt": f.prompt, "reused": f.reused, "completion": f.completion}


def _timing(f: Figures) -> dict[str, float]:
    return {
        "load_s": round(f.load_s, 4),
        "prefill_s": round(f.prefill_s, 4),
        "decode_s": round(f.decode_s, 4),
        "total_s": round(f.total_s, 4),
    }


def _compared(c: Compared) -> dict[str, Any]:
    return {
        "decode_s": round(c.decode_s, 4),
        "total_s": round(c.total_s, 4),
        "passes": c.passes,
        "identical": c.identical,
        "digests_equal": c.digests_equal,
        "speedup_decode": round(c.speedup_decode, 3),
        "speedup_total": round(c.speedup_total, 3),
    }


def edit_json(e: Edit) -> dict[str, Any]:
    f = e.figures
    return {
        "path": e.path,
        "status": e.status,
        "added": e.added,
        "removed": e.removed,
        "hunks": e.hunks,
        "diff": e.diff,
        "problems": list(e.problems),
        "notes": list(e.notes),
        "findings": [_finding(one) for one in e.findings],
        "kept": e.kept or None,
        "before_sha256": e.before_sha256,
        "after_sha256": e.after_sha256,
        "tokens": _tokens(f),
        "passes": f.passes,
        "prediction": _prediction(f.prediction),
        "drafts": {n: _tally(t) for n, t in f.drafts.items() if n != FREE},
        "timing": _timing(f),
        "logits_digest": f.logits_digest,
        "compared": _compared(e.compared) if e.compared else None,
    }


def _sum_compared(edits: Iterable[Edit]) -> dict[str, Any] | None:
    pairs = [(e, e.compared) for e in edits if e.compared]
    if not pairs:
        return None
    decode = sum(c.decode_s for _, c in pairs)
    total = sum(c.total_s for _, c in pairs)
    own_decode = sum(e.figures.decode_s for e, _ in pairs)
    own_total = sum(e.figures.prefill_s + e.figures.decode_s for e, _ in pairs)
    digests = [c.digests_equal for _, c in pairs if c.digests_equal is not None]
    return _compared(
        Compared(
            decode_s=decode,
            total_s=total,
            passes=sum(c.passes for _, c in pairs),
            identical=all(c.identical for _, c in pairs),
            speedup_decode=decode / own_decode if own_decode else 0.0,
            speedup_total=total / own_total if own_total else 0.0,
            digests_equal=all(digests) if digests else None,
        )
    )


def report_json(r: Report) -> dict[str, Any]:
    """The one object `--json` prints."""
    f = r.figures
    m = r.model
    return {
        "schema": SCHEMA,
        "command": r.command,
        "files": [edit_json(e) for e in r.edits],
        "totals": {
            "files": len(r.edits),
            "edited": r.count("edited", "would-edit"),
            "unchanged": r.count("unchanged"),
            "refused": r.count("refused"),
            "failed": r.count("failed"),
            "tokens": _tokens(f),
            "passes": f.passes,
            "prediction": _prediction(f.prediction),
            "timing": _timing(f),
        },
        "compared": _sum_compared(r.edits),
        "model": None
        if m is None
        else {
            "name": m.name,
            "sha256": m.sha256,
            "engine": m.engine,
            "device": m.device,
            "threads": m.threads,
            "exact": m.exact,
            "note": m.note,
        },
        "server": r.server,
    }
