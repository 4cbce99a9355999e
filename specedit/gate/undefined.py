"""Names that are used and that nothing defines: new ones, where the file can tell.

A name that was free before comes from elsewhere. Which free names a language brings itself, and
when a file cannot tell at all, is for `gate.languages`.
"""

from __future__ import annotations

from collections.abc import Iterator

from specedit.gate.hit import Change, Hit
from specedit.gate.languages import outlook_of


def hits(change: Change) -> Iterator[Hit]:
    """One for each name."""
    after = change.after
    outlook = outlook_of(after.language.name)
    if after.typing is None or outlook is None or not outlook.tells(after):
        return
    for name, leaves in after.free.items():
        if name in change.before.free or name in outlook.given:
            continue
        for leaf in leaves:
            if outlook.must_be_declared(after, leaf, name):
                yield Hit("undefined", leaf.line, f"`{name}` is used, and nothing defines it")
                break
