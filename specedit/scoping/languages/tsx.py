"""TypeScript with elements in it: the same names."""

from specedit.scoping.languages.typescript import RULES

__all__ = ["RULES"]
