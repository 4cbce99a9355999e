"""The report in a terminal: lines of tries, one for the run, a table with `--verbose`, errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from specedit.edit.report import Baseline, Compared, Edit, Figures, Replaced, Report, Tried, Try
from specedit.view import terminal
from specedit.view.colours import count, say, seconds

if TYPE_CHECKING:
    from rich.table import Table


def before_the_edit(baseline: Baseline, command: str) -> Text:
    """What the command says before anything is edited."""
    why = f"{command!r} fails before the edit, too: {baseline.result.line}"
    if baseline.result.passed:
        why = f"{command!r} passes before the edit, too, so that it proves little"
    return Text(terminal.harmless(why), "yellow")


def line_of_try(tried: Tried) -> Text:
    """The line of a try."""
    whole = tried.whole
    figures = whole.figures
    spent = seconds(figures.prefill_s + figures.decode_s)
    cost = f"{count(figures.passes, 'pass', 'passes')}, {spent}"
    text = Text.assemble(
        (f"try {whole.number} of {tried.most}", "bold"),
        f" ({way(whole)}): ",
        (f"{cost}: ", "dim"),
        verdict(whole),
    )
    if not (whole.kept or whole.same_as or not whole.line):  # an earlier try says why
        text.append(": ").append(terminal.harmless(whole.line))
    return text


def way(attempt: Try) -> str:
    """How it was sampled."""
    if attempt.second_choice:
        return "second choice"
    sampled = f"temperature {attempt.temperature:g}, seed {attempt.seed}"
    how = sampled if attempt.temperature else "greedy"
    return how + (", with feedback" if attempt.with_feedback else "")


def verdict(attempt: Try) -> tuple[str, str]:
    """The outcome, and its style."""
    if attempt.noted:
        return "asked again", "yellow"
    if attempt.kept:
        return "kept" if attempt.test else "passes its checks", "green"
    if attempt.refused:
        return "refused", "red"
    if attempt.same_as is not None:
        same = f"the same as try {attempt.same_as}" if attempt.same_as else "no change"
        return same, "yellow"
    return "fails", "red"


MAX_OWN_LINE_FILES = 3  # files, beyond which those that share a reason share a line
MAX_NAMED_FILES = 8  # files that a line names
NOTES = ("skipped", "stays", "by-rule")  # why a file was left as it is, or decided by rule
OF_PLACES = ("undecided", "outside", "left")  # of a rename: --dry-list shows their places
MAX_RENAMED_FILES = 20  # files of a rename that the report names
NAME_IT = "name the place in the instruction, or with --symbol NAME or --selected TEXT"
DONE = {
    "edited": ("edited", "green"),
    "would-edit": ("would change", "yellow"),
    "moves": ("moves", "green"),  # and its text stays
    "unchanged": ("unchanged", "dim"),
    "refused": ("refused", "red"),
    "failed": ("failed", "red"),
}


def line(report: Report) -> Text:
    """The outcome of the files, and its cost."""
    text = _outcome(report)
    figures = report.figures
    if figures.passes or figures.total_s:
        text.append(" · ").append_text(cost(figures))
    # a test is of all files at once
    if tested := max((sum(t.test_s for t in edit.tries) for edit in report.edits), default=0.0):
        text.append(f" · tests {seconds(tested)}")
    return text


def _outcome(report: Report) -> Text:
    if len(report.edits) == 1:
        edit = report.edits[0]
        word, style = DONE.get(_status(edit), (edit.status, ""))
        word = "not written" if edit.is_unconfirmed else word
        text = Text.assemble((terminal.name(edit.path), "bold"), ": ", (word, style))
        if edit.changed:
            text.append(f", {count(edit.hunks, 'hunk')}, +{edit.added} -{edit.removed}")
            text.append_text(_sureness(edit))
        return text
    text = Text(count(len(report.edits), "file"), "bold")
    gap = ": "
    statuses = [_status(edit) for edit in report.edits]
    for status, (word, style) in DONE.items():
        if number := statuses.count(status):
            text.append(gap).append(f"{number} {word}", style)
            gap = ", "
    added, removed = sum(e.added for e in report.edits), sum(e.removed for e in report.edits)
    if added or removed:
        text.append(f", +{added} -{removed}")
    return text


def _status(edit: Edit) -> str:
    moves = edit.status == "unchanged" and any(note.kind == "moved" for note in edit.findings)
    return "moves" if moves else edit.status


def _sureness(edit: Edit) -> Text:
    """Whether the edit is likely right, where that is known."""
    if edit.confidence is None:
        return Text(", not rated: read the diff" * edit.unrated, "yellow")
    if any(attempt.kept and attempt.test and attempt.test.passed for attempt in edit.tries):
        chance = f"right with a probability of {edit.confidence:.0%}"
        return Text.assemble(", ", ("kept: your test passes", "green"), f" ({chance})")
    word, style = ("sure", "green") if edit.sure else ("unsure", "yellow")
    return Text.assemble(", ", (f"{word} ({edit.confidence:.0%})", style))


def cost(figures: Figures) -> Text:
    """Seconds, tokens, passes, and the share of the tokens that come from drafts."""
    total = figures.total_s or figures.load_s + figures.prefill_s + figures.decode_s
    text = Text.assemble((seconds(total), "bold"))
    if figures.load_s > max(1.0, total / 4):  # what a warm server would save
        text.append(f" (load {figures.load_s:.1f})")
    text.append(f" · {count(figures.completion, 'token')}")
    text.append(f" · {count(figures.passes, 'pass', 'passes')}")
    drafted = figures.drafted
    if drafted.proposed:
        copied = drafted.accepted / max(1, figures.completion)
        text.append(" · ").append(f"{copied:.0%} copied", "green")
    return text


def compared(compared: Compared, what: str = "") -> Text:
    """The same edit without any draft, both measured."""
    text = Text(f"{what}without drafts: ")
    text.append(f"{seconds(compared.total_s)} (decode {compared.decode_s:.1f})")
    text.append(f" · {count(compared.passes, 'pass', 'passes')} · ")
    same = compared.identical
    text.append("the same text" if same else "ANOTHER TEXT", "" if same else "red")
    if compared.digests_equal is not None:
        text.append(", equal logits" if compared.digests_equal else ", other logits")
    text.append(f" · decoding {compared.speedup_decode:.1f} times as fast with drafts", "bold")
    text.append(f", {compared.speedup_total:.1f} with the prompt")
    return text


def show(
    console: Console,
    report: Report,
    *,
    verbose: bool = False,
    quiet: bool = False,
    check: bool = False,
) -> None:
    """Notes, the line and (verbose) the table unless quiet. Problems are always shown, and last:
    the end of the output is what editors show and users read first."""
    if report.edits and not quiet:
        _about_all(console, report, verbose=verbose)
    held = _shared(report, ("held",))
    for (kind, why), names in held.items():
        _named(console, kind, why, names, MAX_NAMED_FILES)
    for edit in report.edits:
        if edit.kept and not edit.is_unconfirmed:  # whose finding says both
            _about(console, edit, f"the answer is kept in {edit.kept}", "dim")
            if not quiet and (advice := _advice(edit, report.command)):
                _about(console, edit, advice, "dim")
        for finding in edit.findings:
            if finding.refuses and (finding.kind, finding.text) not in held:
                _about(console, edit, finding.text, "red")
    if report.changed_nothing and report.figures.total_s and not check:
        places = list(dict.fromkeys(edit.place for edit in report.edits))
        place = places[0] if len(places) == 1 else ""
        where = place or (report.edits[0].path if len(report.edits) == 1 else "these files")
        why = f"the model found nothing to change in {terminal.name(where)}"
        say(console, Text(f"{why}; {'say what to write' if place else NAME_IT}", "yellow"))


def _advice(edit: Edit, command: str) -> str:
    """The next steps after a refused answer. `apply` has no instruction to change."""
    if command == "apply" or any(attempt.test for attempt in edit.tries):
        return ""
    if not (edit.figures.regions or edit.place):
        return f"next: {NAME_IT}"
    return "next: ask for it in smaller steps, or give --test COMMAND: more answers are tried"


def _about_all(console: Console, report: Report, *, verbose: bool) -> None:
    """Notes, tables and the line."""
    renames = any(edit.changes or edit.left or edit.mentions_left for edit in report.edits)
    if renames:
        for text in _renamed(report, verbose=verbose):
            say(console, text)
    many = _shared(report, NOTES) if len(report.edits) > MAX_OWN_LINE_FILES else {}
    for edit in report.edits:
        if verbose:
            for change in edit.changes:
                _about(console, edit, _change(change), "dim")
        for finding in edit.findings:
            listed = (finding.kind, finding.text) in many
            brief = renames and len(report.edits) > MAX_OWN_LINE_FILES and finding.kind in OF_PLACES
            if not (finding.refuses or listed) and (verbose or not (finding.is_detail or brief)):
                _about(console, edit, finding.text, "yellow" if finding.warns else "")
    for (kind, why), names in many.items():
        _named(console, kind, why, names, len(names) if verbose else MAX_NAMED_FILES)
    if verbose:
        if report.figures.passes:
            console.print(table(report))
        say(console, answered(report))
    say(console, line(report))
    for edit in report.edits:
        if edit.compared:
            what = f"{terminal.name(edit.path)} " if len(report.edits) > 1 else ""
            say(console, compared(edit.compared, what))


def _renamed(report: Report, *, verbose: bool) -> Iterator[Text]:
    """The places that a rename changes and leaves, and how many are in each file."""
    changed = [edit for edit in report.edits if edit.changed]
    left = [edit for edit in report.edits if edit.left]
    verb = "rename" if report.command == "rename" else "change"
    word = f"would {verb}" if any(e.status == "would-edit" for e in changed) else f"{verb}d"
    places = count(sum(len(edit.changes) for edit in changed), "place")
    if changed or not report.count("refused", "failed"):
        yield Text(f"{word} {places} in {count(len(changed), 'file')}", "bold")
    if left:
        uses = count(sum(len(edit.left) for edit in left), "use")
        files = count(len(left), "file")
        how = "specedit rename --dry-list shows them"
        yield Text(f"left: {uses} in {files} that may be meant ({how})", "yellow")
    if mentions := sum(edit.mentions_left for edit in report.edits):
        yield Text(f"left: {count(mentions, 'mention')} in prose (-v shows them)")
    shown = changed if verbose else changed[:MAX_RENAMED_FILES]
    for edit in shown if len(changed) > 1 else ():
        yield Text(f"  {terminal.name(edit.path)}: {count(len(edit.changes), 'place')}")
    if len(changed) > len(shown):
        yield Text(f"  and {count(len(changed) - len(shown), 'more file')} (-v names them)")


def _shared(report: Report, kinds: tuple[str, ...]) -> dict[tuple[str, str], list[str]]:
    """Findings of these kinds that several files share, and the names of these files."""
    results: dict[tuple[str, str], list[str]] = {}
    for edit in report.edits:
        for finding in (finding for finding in edit.findings if finding.kind in kinds):
            names = results.setdefault((finding.kind, finding.text), [])
            names.append(terminal.name(edit.path))
    return {key: names for key, names in results.items() if len(names) > 1}


def _named(console: Console, kind: str, why: str, names: list[str], most: int) -> None:
    """A finding with the first `most` files that share it."""
    shown = names[:most]
    if len(names) > most:
        more = " (-v names them)" if kind in NOTES else ""
        shown = [*shown, f"and {len(names) - most} more{more}"]
    left = " left as they are" if kind in ("skipped", "stays") else ""
    one_line = f" {', '.join(shown)}" if len(shown) <= MAX_OWN_LINE_FILES else ""
    say(console, Text(f"{count(len(names), 'file')}{left}: {why}:{one_line}"))
    for name in () if one_line else shown:
        say(console, Text(f"  {name}"))


def _about(console: Console, edit: Edit, what: str, style: str) -> None:
    text = Text.assemble(
        (terminal.name(edit.path), "bold"),
        ": ",
        (terminal.harmless(what.replace("\n", "\n  ")), style),
    )
    say(console, text)


def _change(change: Replaced) -> str:
    """One place of a rename, and why it is one."""
    old = " ".join(change.old.split())
    return f"line {change.line}: {old} -> {change.new} ({change.why})"


def table(report: Report) -> Table:
    """Every figure of every file."""
    from rich.table import Table  # 4 ms with what it imports

    many = len(report.edits) > 1
    result = Table(box=None, padding=(0, 2, 0, 0), show_header=many, header_style="bold")
    result.add_column("")
    columns = [*report.edits, None] if many else [*report.edits]
    for edit in columns:
        result.add_column("all" if edit is None else terminal.name(edit.path), justify="right")
    figures = [report.figures if e is None else e.figures for e in columns]
    for name, values in _rows(figures):
        result.add_row(Text(name, "dim"), *values)
    return result


def answered(report: Report) -> Text:
    """The model, its engine, and where it runs."""
    model, text = report.model, Text()
    if model:
        about = [model.engine, model.device, count(model.threads, "thread")]
        about += ["exact"] if model.exact else []
        about += [model.note] if model.note else []
        words = f"{model.name} ({', '.join(w for w in about if w)})"
        text.append("model  ", "dim").append(terminal.harmless(words))
    if report.server:
        text.append("  server  ", "dim").append(terminal.harmless(report.server))
    return text


def _rows(figures: list[Figures]) -> list[tuple[str, list[str]]]:
    counted = {
        **{"prompt tokens": "prompt", "of them reused": "reused"},
        **{"answer tokens": "completion", "passes": "passes"},
    }
    rows = [(name, [f"{getattr(f, of):,}" for f in figures]) for name, of in counted.items()]
    drafters = dict.fromkeys(name for f in figures for name in f.drafts if name != "free")
    for name in drafters:
        tallies = [f.drafts.get(name) for f in figures]
        words = [f"{t.accepted:,} of {t.proposed:,} ({t.rate:.0%})" if t else "-" for t in tallies]
        rows.append((f"{name} accepted", words))
    for name in ("load", "prefill", "decode", "total"):
        rows.append((name, [seconds(getattr(f, f"{name}_s")) for f in figures]))
    paces = [f.completion / f.decode_s if f.decode_s else 0.0 for f in figures]
    rows.append(("tokens per second", [f"{p:.1f}" for p in paces]))
    if any(f.logits_digest for f in figures):
        rows.append(("logits", [(f.logits_digest or "")[:16] for f in figures]))
    return rows
