"""Which parts of a large file an instruction is about: how often the model is right, and how many
lines the chosen regions open.

    python -m benchmarks.places large.jsonl --half even --out places.jsonl
    python -m benchmarks.places large.jsonl --half even --out places.jsonl --fit
    python -m benchmarks.places evals.json --first 53

CASES are JSON lines with `filename`, `instruction`, `before` and `after`; or a list of prompts with
`set`, `id`, `prompt` as ids and `gold`, the right names, of which those count whose `set` begins
with `place`. With `--free` the model answers freely. `--fit` shows what each weight of its answer
gives.
"""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.common import parser, part, recorded, resolved, rows, run
from specedit.connect import LocalBackend
from specedit.edit import prompt as prompts
from specedit.edit.backend import Answer, Emit, Plan, unreported
from specedit.edit.job import plan_edit
from specedit.edit.regions import choice
from specedit.edit.regions.blocks import Block, BlockListing, blocks_of
from specedit.edit.regions.locate import MAX_ANSWER_TOKENS, ask_model, locate
from specedit.edit.sink import Sink
from specedit.files.source import read
from specedit.models.resolve import resolve
from specedit.models.vocabulary import load_tokenizer
from specedit.settings import Settings
from specedit.syntax.lines import lines_of, opcodes

_QUESTION = re.compile(  # the file's name, the fence, the outline, the instruction
    r"Outline of the file `(.*?)`, each part by its name:\n\n(`{3,})\n(.*?)\2\n\n(.*?)"
    r"\n\nThat is what somebody",
    re.DOTALL,
)
_NAME = re.compile(r"(.*?): ")
WEIGHTS = [weight / 4 for weight in range(25)]  # that --fit tries
Row = dict[str, Any]


class FreeBackend(LocalBackend):
    """The model of this process, whose answers are free."""

    def run(self, plan: Plan, emit: Emit) -> Answer:
        return super().run(replace(plan, choices=()), emit)


def of_prompt(backend: LocalBackend, tokenizer: Any, row: Row) -> Row:
    """The answer to a prompt, against the names of `gold`."""
    text = b"".join(map(tokenizer.piece, row["prompt"])).decode("utf-8", "replace")
    asked = next(_QUESTION.finditer(text))
    names = [match[1] for line in asked[3].splitlines() if (match := _NAME.match(f"{line} "))]
    plan = Plan(
        messages=prompts.places(asked[1], asked[3], asked[4]),
        opening=prompts.opening(asked[2]),
        closing=asked[2],
        max_tokens=MAX_ANSWER_TOKENS,
        choices=tuple(dict.fromkeys(names)),
    )
    answer = backend.run(plan, unreported)
    numbered = tuple(Block(n, n, name) for n, name in enumerate(names, 1))
    free = BlockListing(tuple(names), tuple(names), numbered).named(answer.text)
    named = [*answer.ranked] or [block.name for block in free]
    gold = row["gold"].partition("```")[0].split("\n")[:-1]
    first, every = named[:1] and named[0] in gold, set(gold) <= set(named)
    seconds = round(answer.prefill_s + answer.decode_s, 2)
    return {"first": bool(first), "all": every, "named": named, "seconds": seconds}


def of_case(backend: LocalBackend, settings: Settings, row: Row) -> Row:
    """The regions chosen in a commit's file, and what the model says where it is asked."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, Path(row["filename"]).name)
        path.write_bytes(row["before"].encode("utf-8", "surrogatepass"))
        source = read(path)
    old, new = lines_of(source.text), lines_of(row["after"])
    spans = [(a + 1, max(a + 1, b)) for tag, a, b, *_ in opcodes(old, new) if tag != "equal"]
    job, figures = locate(
        plan_edit(source, row["instruction"], settings), backend, settings, Sink()
    )
    open_spans = [region.lines for region in job.regions] or [(1, len(old) + 1)]
    held = all(any(a <= first and last <= b for a, b in open_spans) for first, last in spans)
    lines = sum(min(b, len(old)) - a + 1 for a, b in open_spans)
    result: Row = {"lines": lines, "of": len(old), "held": held, "asked": figures is not None}
    if figures is None:
        return result
    blocks = blocks_of(source.text, source.language)
    evidence = choice.evidence_of(source.text, blocks, row["instruction"])
    places, _ = ask_model(job, blocks, evidence, backend, Sink())
    changed = [any(b.first <= last and first <= b.last for first, last in spans) for b in blocks]
    meant = {block for block, is_changed in zip(blocks, changed, strict=True) if is_changed}
    names = {block.name or block for block in places}
    result |= {"first": next(iter(places), None) in meant, "changed": changed}
    result["all"] = {block.name or block for block in meant} <= names
    rows_of_evidence = choice.with_asked(evidence, places)
    result["blocks"] = [[each.block.first, each.block.last] for each in evidence]
    return result | {"evidence": [list(each.row) for each in rows_of_evidence]}


def fit(measured: Sequence[Row]) -> None:
    """Of each weight: the mean logarithm of the chance of what was changed, and what is open."""
    usual = choice.AFTER_ASKING
    for weight in WEIGHTS:
        choice.AFTER_ASKING = (*usual[:-1], weight)
        score, lines, held = 0.0, 0, 0
        for row in measured:
            blocks = [Block(first, last) for first, last in row["blocks"]]
            pairs = zip(blocks, map(tuple, row["evidence"]), strict=True)
            evidence = [choice.Evidence(block, features) for block, features in pairs]
            chances = choice.spread(choice.likely(evidence, asked=True))
            meant = [b for b, changed in zip(blocks, row["changed"], strict=True) if changed]
            score += math.log(max(sum(chances[block] for block in meant), 1e-9))
            taken = choice.after_asking(chances).blocks or chances
            lines += sum(block.lines for block in taken)
            held += set(meant) <= set(taken)
        print(f"{weight:5.2f}: {score / len(measured):7.3f}, {held} held, {lines} lines open")
    choice.AFTER_ASKING = usual


def main() -> int:
    made = parser(__doc__)
    made.add_argument("--free", action="store_true", help="the model answers freely")
    made.add_argument("--fit", action="store_true", help="show what each weight gives")
    options = made.parse_args()
    settings = resolved(options)
    backend = FreeBackend(settings) if options.free else LocalBackend(settings)
    if options.cases.suffix == ".json":
        known = json.loads(options.cases.read_text("utf-8"))
        cases = [row | {"id": f"{row['set']} {row['id']}"} for row in known if "gold" in row]
        cases = [row for row in cases if row["set"].startswith("place")]
        measure = partial(of_prompt, backend, load_tokenizer(resolve(settings.model)))
    else:
        cases = rows(options.cases)
        measure = partial(of_case, backend, settings)
    by_id = {row["id"]: row for row in part(cases, options)}
    measured = list(recorded(options.out, by_id, lambda name: measure(by_id[name])))
    asked = [row for row in measured if row.get("asked", True)]
    print(f"{len(asked)} of {len(measured)} asked: first right in {sum(r['first'] for r in asked)}")
    print(f"all right in {sum(row['all'] for row in asked)}")
    if "lines" in measured[0]:
        lines = sum(row["lines"] for row in measured), sum(row["of"] for row in measured)
        held = sum(row["held"] for row in measured)
        print(f"all changes in what is open: {held}; {lines[0]} of {lines[1]} lines open")
    if options.fit:
        fit([row for row in asked if any(row.get("changed", ()))])
    return 0


if __name__ == "__main__":
    run(main)
