"""TypeScript with elements in it: the same names."""

from specedit.rename.languages.typescript import RULES

__all__ = ["RULES"]
