"""Is it right: edits under their tests, tries, the gate, renames, int8's choices, chosen places.

Each asks one question of a run of `specedit bench`. Knows no flags and no terminal.
"""

from __future__ import annotations

import sys
from contextlib import closing, nullcontext, suppress
from dataclasses import asdict

from specedit.bench import gate as verdicts
from specedit.bench import quality as scoring
from specedit.bench import table
from specedit.bench.cases import Case, read_cases
from specedit.bench.found import Found, cost, heard
from specedit.bench.results import Results, usages_of
from specedit.bench.side import INTERRUPTED, Note, PeerLine, Said, judged
from specedit.bench.tasks import Words, task
from specedit.bench.wanted import Wanted, chosen
from specedit.edit.judge import checks_of
from specedit.errors import UsageError
from specedit.settings import Settings


def quality(
    wanted: Wanted,
    words: Words,
    settings: Settings,
    results: Results,
    found: Found,
    said: Said,
) -> None:
    from specedit.bench import sandbox

    assert wanted.quality is not None
    if sys.platform == "win32":
        raise UsageError("--quality limits its tests as POSIX systems can, and this is Windows.")
    if sandbox.caution():
        found.notes.append(sandbox.caution())
    cases = chosen(wanted, read_cases(wanted.quality))
    if wanted.tries > 1:
        _tries(wanted, cases, settings, results, found, said)
        return
    scores: list[scoring.Score] = []
    own: list[scoring.CaseResult] = []
    for item in judged(cases, words, settings, wanted.against, said):
        if isinstance(item, PeerLine | Note):
            heard(item, results, found)
            continue
        name, outcomes = item
        own = own or outcomes
        scores.append(scoring.score(name.name, outcomes))
        differs = scoring.differing(own, outcomes)
        results.scores.append(scoring.score_json(scores[-1], outcomes, differs))
    if wanted.answers is not None:
        verdicts.write_answers(wanted.answers, cases, own)
    found.parts.append(table.scores_table(scores))
    found.parts += table.skipped(results.peers)
    found.line = "; ".join(
        f"{s.name}: {s.passed} of {s.cases} pass ({100 * s.share:.1f} %)" for s in scores
    )
    if wanted.cost:
        pairs = []
        for case, one in zip(cases, own, strict=False):  # fewer, when interrupted
            made = task(case, words, settings, own=True)
            pairs.append(usages_of(made, words.answer(one.text, made.plan), words))
        cost(pairs, settings, results, found)


def _tries(
    wanted: Wanted,
    cases: list[Case],
    settings: Settings,
    results: Results,
    found: Found,
    said: Said,
) -> None:
    from specedit.backends.local import LocalBackend
    from specedit.bench import tries

    every: list[list[tries.Attempt]] = []
    with closing(LocalBackend(settings)) as backend:
        made = tries.run(
            *(cases, backend, settings, wanted.attempts, said),
            judge=wanted.judge,
            beside=wanted.beside,
        )
        try:
            every.extend(made)
        except KeyboardInterrupt:
            if not every:
                raise
            found.notes.append(INTERRUPTED)
    rows = tries.curve(every, wanted.judge, wanted.tries)
    results.tries = {
        "judge": wanted.judge,
        "curve": [asdict(row) for row in rows],
        "attempts": [[tries.brief(one) for one in made] for made in every],
    }
    found.parts.append(table.tries_table(rows))
    first, last = rows[0], rows[-1]
    found.line = (
        f"{first.passed} of {first.cases} in one try, {last.passed} in at most {last.k}, "
        f"at {last.seconds / first.seconds:.2f} times the seconds"
        if first.seconds
        else "nothing was asked"
    )


def gate(wanted: Wanted, settings: Settings, results: Results, found: Found) -> None:
    """Nothing is loaded: the answers are there."""
    answers = [one for path in wanted.gate for one in chosen(wanted, verdicts.read_answers(path))]
    groups = verdicts.tallied(verdicts.judged(answers, checks_of(settings).verdicts))
    results.gate = verdicts.as_json(groups)
    found.parts.append(table.gate_table(groups))
    found.line = "; ".join(verdicts.line(name, group) for name, group in groups.items())


def renames(wanted: Wanted, settings: Settings, results: Results, found: Found, said: Said) -> None:
    from specedit.bench import rename
    from specedit.bench.rename_full import FullTool

    cases = chosen(wanted, [case for path in wanted.renames for case in rename.load(path)])
    outcomes: list[rename.Contest] = []
    with FullTool(settings, said, len(cases)) as tool, suppress(KeyboardInterrupt):
        for outcome in rename.measure(cases, tool):
            outcomes.append(outcome)
    results.renames = {
        **rename.as_json(outcomes),
        "tokens": tool.figures.completion,
        "passes": tool.figures.passes,
        "seconds": round(tool.figures.prefill_s + tool.figures.decode_s, 2),
    }
    rows = rename.table(outcomes)
    found.parts.append(rename.as_text(rows, full=True))
    total = rows[-1]
    found.line = (
        f"{total.full_right} of {total.cases} right (search-and-replace {total.search_right}, "
        f"tree-sitter alone {total.tree_right}); wrong and said to be clean: "
        f"{total.full_clean_wrong}"
    )


def agreement(
    wanted: Wanted, settings: Settings, results: Results, found: Found, said: Said
) -> None:
    from specedit.bench import agreement

    results.agreement = agreement.measure(settings, wanted.agreement, results.threads, said)
    found.parts.append(table.agreement_table(results.agreement))
    total = results.agreement["total"]
    found.line = (
        f"the same choice as bf16 in {total['agreement']:.2%} of {total['tokens']} places, "
        f"at {total['ratio']:.4f} times its perplexity"
    )


def focus(wanted: Wanted, settings: Settings, results: Results, found: Found, said: Said) -> None:
    from specedit.backends.connect import connect
    from specedit.bench import focus

    cases = chosen(wanted, [case for path in wanted.focus for case in read_cases(path)])
    if wanted.equal:
        _equality(cases, settings, results, found, said)
        return
    looked: list[focus.Looked] = []
    backend = closing(connect(settings)) if wanted.own else nullcontext()
    with backend as asked, suppress(KeyboardInterrupt):
        for one in focus.measure(cases, settings, asked):
            looked.append(one)
            said(f"chose places in {len(looked)} files: {one.id}")
    results.focus = focus.as_json(looked)
    found.parts.append(focus.as_text(results.focus))


def _equality(
    cases: list[Case], settings: Settings, results: Results, found: Found, said: Said
) -> None:
    from specedit.backends.connect import connect
    from specedit.bench import equality

    compared: list[equality.BothWays] = []
    with closing(connect(settings)) as asked, suppress(KeyboardInterrupt):
        for one in equality.measure(cases, settings, asked):
            compared.append(one)
            said(f"edited {len(compared)} files both ways: {one.id}")
    results.focus = equality.as_json(compared)
    found.parts.append(equality.as_text(results.focus))
