"""TSX: TypeScript with elements."""

from __future__ import annotations

from specedit.gate.languages.typescript import OUTLOOK as OUTLOOK
