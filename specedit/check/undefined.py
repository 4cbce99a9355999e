"""Names that the new text uses and that nothing defines.

A name that nothing declared in the text before comes from elsewhere. Which names a language brings
itself, and when a file cannot tell at all, is for `check.languages`.
"""

from __future__ import annotations

from collections.abc import Iterator

from specedit.check.finding import Finding, at
from specedit.check.language_tables import language_facts
from specedit.check.parsed import Change


def undefined_names(change: Change) -> Iterator[Finding]:
    """One for each name, at its first use."""
    after = change.after
    language = language_facts(after.language.name)
    if language is None or not language.lists_its_names(after):
        return
    for name, leaves in after.free_names.items():
        if name in change.before.free_names or name in language.builtins:
            continue
        for leaf in leaves:
            if language.must_be_declared(after, leaf, name):
                yield at("undefined", leaf.line, f"`{name}` is used, and nothing defines it")
                break
