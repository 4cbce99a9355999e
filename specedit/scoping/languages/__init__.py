"""All that scoping knows of languages: one module a language, called as the language is.

Such a module has `RULES`: tables, and hooks for what tables cannot say (`rules`). CONTRIBUTING.md
says how to add one.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec

from specedit.scoping.languages.rules import Rules

__all__ = ["Rules", "rules_of"]

_SAME = {"tsx": "typescript"}  # the same names


@lru_cache(maxsize=64)
def rules_of(language: str) -> Rules | None:
    """The rules of a language by name; None where a name is just a word."""
    language = _SAME.get(language, language)
    module = f"{__name__}.{language}"
    if not language.isidentifier() or find_spec(module) is None:
        return None
    rules: object = getattr(import_module(module), "RULES", None)
    return rules if isinstance(rules, Rules) else None
