"""TypeScript: JavaScript whose calls are counted."""

from __future__ import annotations

from dataclasses import replace

from specedit.gate.languages import javascript
from specedit.scoping.languages.tables import places

OUTLOOK = replace(
    javascript.OUTLOOK,
    counts=True,
    hoisted=javascript.OUTLOOK.hoisted
    | places("interface_declaration type_alias_declaration function_signature"),
)
