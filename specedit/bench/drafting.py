"""Drafters side by side: the same answers by each of them, in turn, on one loaded model.

Knows the rows of the table and what one run of them is; shows nothing. Each case goes through all
rows before the next one, so that whatever else the machine does meets all of them. What was
measured can be kept in a file, and is not measured again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from specedit.backends.heads import usable
from specedit.bench import newtext
from specedit.bench.cases import Case, read_cases, records
from specedit.bench.peers import Name
from specedit.bench.peers.base import Task
from specedit.bench.peers.own import Dictated, load, unending
from specedit.bench.side import Bench, PeerLine
from specedit.bench.tasks import Words, task
from specedit.bench.workloads import workloads as generated
from specedit.decode.drafters import HEADS_NAMES
from specedit.edit.backend import Written
from specedit.edit.plan import Message, Plan
from specedit.errors import ModelError, UsageError
from specedit.models.store import store_path
from specedit.settings import Settings

CHAINED, CANDIDATES_OF_HEADS = HEADS_NAMES[0], "candidates (heads)"
ROWS: dict[str, tuple[str, ...]] = {
    "none": (),
    "lookup": ("lookup",),
    "prediction": ("prediction",),
    "prediction, lookup": ("prediction", "lookup"),
    "model": ("model",),
    "blockwise": ("blockwise",),
    "medusa": ("medusa",),
    "chained": ("chained",),
    "candidates": ("candidates",),
    CANDIDATES_OF_HEADS: (),  # the first heads that are there, all that they guess
    "all": ("auto",),
}
PLAIN = "none"
RENAMES = "renames"  # edits of our own making, of that kind
DEPTHS = 8  # of which the acceptance is told
LIMIT = 200  # tokens of an answer, where nothing is said


@dataclass(frozen=True)
class Drafted:
    """One case by one row."""

    workload: str
    case: str
    row: str
    tokens: int
    passes: int
    decode_s: float
    drafting_s: float = 0.0
    proposed: int = 0
    accepted: int = 0
    depths: tuple[tuple[int, int], ...] = ()  # passes that offered an id so deep, and accepted one
    same: bool = True  # the text that plain decoding wrote


@dataclass
class DrafterRow:
    """All cases of a workload by one row."""

    workload: str
    row: str
    runs: list[Drafted] = field(default_factory=list)

    def sum(self, name: str) -> float:
        return float(sum(getattr(one, name) for one in self.runs))

    @property
    def each(self) -> float:
        """Seconds of a token."""
        return self.sum("decode_s") / max(self.sum("tokens"), 1)

    def depths(self) -> list[float | None]:
        """At each depth, how often an id offered there was accepted; None where few were."""
        found: list[float | None] = []
        for depth in range(DEPTHS):
            at = [one.depths[depth] for one in self.runs if len(one.depths) > depth]
            tried, held = sum(t for t, _ in at), sum(h for _, h in at)
            found.append(held / tried if tried else None)
        return found


def workloads(names: Sequence[str]) -> dict[str, list[Case]]:
    """Each file's cases, or those of a name of ours."""
    found = {}
    for name in names:
        if name in newtext.NAMES:
            found[name] = newtext.cases(name)
        elif name == RENAMES:
            found[name] = list(generated((name[:-1],), (50, 200), ("python", "go")))
        else:
            found[Path(name).stem] = read_cases(Path(name))
    return found


def measure(
    loads: Mapping[str, Sequence[Case]],
    settings: Settings,
    *,
    own: bool,
    limit: int,
    kept: Path | None,
    peers: Sequence[Name],
    said: Callable[[str], None],
    skipped: list[PeerLine],
) -> Iterator[Drafted]:
    """Every run of every case, as it is made; those in `kept` first."""
    known = {(one.workload, one.case, one.row): one for one in read(kept)}
    loaded = load(replace(settings, draft="auto"))
    loaded.heads = {**dict(usable(loaded.engine, loaded.line.name, store_path())), **loaded.heads}
    words = Words(loaded.tokenizer, loaded.prompt)
    rows = dict(_there(loaded, skipped))
    tasks = {
        workload: [_task(case, words, settings, own=own, limit=limit or LIMIT) for case in cases]
        for workload, cases in loads.items()
    }
    room = loaded.engine.info.window
    most = max(len(one.prompt) + one.limit for made in tasks.values() for one in made)
    with ExitStack() as stack:
        bench: Bench | None = None
        for workload, all_of in tasks.items():
            for made in all_of:
                if len(made.prompt) + made.limit > room:
                    skipped.append(PeerLine(made.id, skipped="does not fit the model's window"))
                    continue
                plain: tuple[int, ...] | None = None
                for row in (*rows, *(peer.name for peer in peers)):
                    if (one := known.get((workload, made.id, row))) is not None:
                        yield one
                        continue
                    said(f"{workload}: {made.id} by {row}")
                    if row in rows:
                        one, text = _run(loaded, made, workload, row, rows[row], plain)
                        plain = text if row == PLAIN else plain
                    else:
                        if bench is None:
                            options = _options(settings, most)
                            bench = stack.enter_context(Bench(peers, options, said))
                        peer = next(name for name in peers if name.name == row)
                        ran = bench.run(peer, made)
                        if ran is None:
                            continue
                        one = Drafted(
                            *(workload, made.id, row, len(ran.tokens), ran.passes, ran.decode_s)
                        )
                    keep(kept, one)
                    yield one
        if bench is not None:
            skipped.extend(line for line in bench.lines() if line.skipped)


def _there(loaded: Any, skipped: list[PeerLine]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The rows that can be made here; of the others, why not."""
    bare = Plan((Message("user", ("x",)),), opening="", max_tokens=1)
    for row, names in ROWS.items():
        if row == CANDIDATES_OF_HEADS:
            if found := [name for name in HEADS_NAMES if name in loaded.heads]:
                yield row, (found[0],)
            else:
                skipped.append(PeerLine(row, skipped="there are no heads for this model"))
            continue
        try:
            for _ in loaded.run(replace(bare, draft=names)):
                pass
        except UsageError as problem:
            skipped.append(PeerLine(row, skipped=problem.message))
        else:
            yield row, names


def _task(case: Case, words: Words, settings: Settings, *, own: bool, limit: int) -> Task:
    if case.kind == "text":
        plan = Plan(
            (Message("user", (case.instruction,)),),
            opening="```python\n",
            closing="```",
            instruction=case.instruction,
        )
        return Task(case.id, plan, words.prompt(plan), (), limit)
    return task(case, words, settings, own=own, limit=limit)


def _run(
    loaded: Any,
    made: Task,
    workload: str,
    row: str,
    names: tuple[str, ...],
    plain: tuple[int, ...] | None,
) -> tuple[Drafted, tuple[int, ...]]:
    """One case by one row; a given answer is written whatever the model would say."""
    plan = replace(made.plan, draft=names, fresh=True, max_tokens=made.limit)
    if not {"prediction", "auto"} & {*names}:
        plan = replace(plan, prediction=None)
    engine, heads = loaded.engine, loaded.heads
    if row == CHAINED:  # one guess of each depth; all of them are a row of their own
        loaded.heads = {name: replace(found, most=1) for name, found in heads.items()}
    if loaded.small is not None:
        loaded.small.forget()  # what an earlier row read is not free
    if made.dictated:
        loaded.engine = Dictated(engine, len(made.prompt), made.answer)
        plan = unending(plan)
    try:
        chunks = [event.chunk for event in loaded.run(plan) if isinstance(event, Written)]
    finally:
        loaded.engine, loaded.heads = engine, heads
    if not chunks:
        raise ModelError(f"{made.id}: the model wrote nothing")
    tokens = tuple(token for chunk in chunks for token in chunk.tokens)
    depths = [
        (
            sum(chunk.depth > depth for chunk in chunks),
            sum(chunk.accepted > depth for chunk in chunks),
        )
        for depth in range(DEPTHS)
    ]
    one = Drafted(
        workload,
        made.id,
        row,
        len(tokens),
        len(chunks),
        round(sum(chunk.seconds for chunk in chunks), 5),
        round(sum(chunk.drafting for chunk in chunks), 5),
        sum(chunk.proposed for chunk in chunks),
        sum(chunk.accepted for chunk in chunks),
        tuple(depths),
        plain is None or tokens == plain,
    )
    return one, tokens


def _options(settings: Settings, window: int) -> Any:
    from specedit.bench.peers.base import PeerOptions
    from specedit.bench.side import threads_of

    return PeerOptions(settings, threads_of(settings), window)


def read(kept: Path | None) -> list[Drafted]:
    """The runs in a file that `keep` wrote."""
    if kept is None or not kept.exists():
        return []
    found = []
    for where, record in records(kept):
        try:
            depths = tuple((int(t), int(h)) for t, h in record.pop("depths"))
            found.append(Drafted(**record, depths=depths))
        except (TypeError, KeyError, ValueError):
            raise UsageError(
                f"{where}: not a run of --drafters", hint="Name another file."
            ) from None
    return found


def keep(kept: Path | None, one: Drafted) -> None:
    if kept is not None:
        with kept.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(one)) + "\n")


def folded(runs: Sequence[Drafted]) -> list[DrafterRow]:
    """The rows of each workload, in order."""
    found: dict[tuple[str, str], DrafterRow] = {}
    for one in runs:
        found.setdefault((one.workload, one.row), DrafterRow(one.workload, one.row)).runs.append(
            one
        )
    return list(found.values())


def as_json(runs: Sequence[Drafted]) -> list[dict[str, Any]]:
    """One object a row; `times` compares cases that plain decoding wrote, too."""
    rows = folded(runs)
    said = []
    for row in rows:
        plain = next((r for r in rows if (r.workload, r.row) == (row.workload, PLAIN)), None)
        said.append(
            {
                "workload": row.workload,
                "row": row.row,
                "cases": len(row.runs),
                "tokens": int(row.sum("tokens")),
                "passes": int(row.sum("passes")),
                "tokens_a_pass": _ratio(row.sum("tokens"), row.sum("passes")),
                "acceptance": [None if at is None else round(at, 3) for at in row.depths()],
                "drafting_ms": round(1000 * row.sum("drafting_s") / max(row.sum("tokens"), 1), 2),
                "ms_a_token": round(1000 * row.each, 2),
                "times_plain": _times(plain, row),
                "same": all(one.same for one in row.runs),
            }
        )
    return said


def _times(plain: DrafterRow | None, row: DrafterRow) -> float | None:
    """How many times as fast as plain decoding, on the cases that both have."""
    if plain is None:
        return None
    both = {one.case for one in plain.runs} & {one.case for one in row.runs}
    mine, its = (DrafterRow("", "", [o for o in r.runs if o.case in both]) for r in (row, plain))
    return _ratio(its.each, mine.each)


def _ratio(one: float, other: float) -> float | None:
    return round(one / other, 3) if other else None
