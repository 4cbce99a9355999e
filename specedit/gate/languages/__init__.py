"""All that the gate knows of languages: one module a language, called as the language is.

Such a module has `OUTLOOK`, an `outlook.Outlook`. Where there is none, the gate says only what
needs no knowledge of a language.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec

from specedit.gate.languages.outlook import Outlook

__all__ = ["Outlook", "outlook_of"]


@lru_cache(maxsize=64)
def outlook_of(language: str) -> Outlook | None:
    """What the gate knows of a language by name."""
    module = f"{__name__}.{language}"
    if not language.isidentifier() or find_spec(module) is None:
        return None
    found: object = getattr(import_module(module), "OUTLOOK", None)
    return found if isinstance(found, Outlook) else None
