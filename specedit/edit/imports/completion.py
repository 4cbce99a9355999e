"""The imports of an edited file, completed before its checks run."""

from __future__ import annotations

from dataclasses import replace

from specedit.check.answer import LONGEST, Checks
from specedit.check.finding import Finding
from specedit.check.parsed import ParsedText, parsed_text
from specedit.edit.imports import removal
from specedit.edit.imports.offers import missing_names, needed_import
from specedit.edit.imports.placing import with_import
from specedit.edit.imports.statements import LANGUAGES, Import, written
from specedit.edit.imports.work_tree import WorkTree
from specedit.edit.outcome import Judged, guarded
from specedit.files.source import Source

KIND = "imports"
MOST = 8  # names that get an import; an answer that lacks more is of another kind


def judged_with_imports(source: Source, instruction: str, checks: Checks, text: str) -> Judged:
    """`text` with its imports completed, and what the checks found."""
    completed, notes = completed_imports(source, text, instruction)
    verdict = guarded(source, instruction, checks, completed)
    return replace(verdict, findings=(*notes, *verdict.findings))


def completed_imports(
    source: Source, text: str, instruction: str = ""
) -> tuple[str, tuple[Finding, ...]]:
    """The new text of a file with the imports that it needs, and a note for each change. Only
    imports change; a text that does not parse stays as it is."""
    language = source.language
    if language is None or language.name not in LANGUAGES or text == source.text:
        return text, ()
    if max(len(text), len(source.text)) > LONGEST:
        return text, ()
    before, tree = parsed_text(source.text, language), WorkTree(source)
    changed, notes = removal.without_misplaced(before, text, tree)
    after = parsed_text(changed, language)
    if len(after.errors) > len(before.errors):
        return text, ()
    answer = after
    added: set[Import] = set()
    for name, leaves in missing_names(before, answer).items():
        what = needed_import(name, leaves, answer, tree) if len(added) < MOST else None
        if what is None or what in added:
            continue
        added.add(what)
        statement = written(what, after)
        longer = ParsedText(with_import(what, after, tree), language)
        brings_it = language.name == "csharp" or name not in longer.free_names
        if len(longer.errors) > len(after.errors) or not brings_it:
            continue
        after = longer
        notes.append(f"added `{statement}`: `{name}` was used and not imported")
    after, more = removal.without_unused(before, after, instruction, tree)
    return after.text, tuple(Finding(KIND, note) for note in [*notes, *more])
