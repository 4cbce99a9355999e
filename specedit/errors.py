"""The ground: what can go wrong, said so that a person knows what to do next.

Knows nothing of files, models or terminals. Every error that leaves the package is a
`SpeceditError`: what happened, where, and what to do now. The one error boundary
(`specedit.cli`) prints it on stderr and exits with its code.
"""

from __future__ import annotations

DONE = 0
WOULD_CHANGE = 1
FAILED = 2
INTERRUPTED = 130


class SpeceditError(Exception):
    """We cannot do what was asked. `hint` says what to do now."""

    code: int = FAILED

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class UsageError(SpeceditError):
    """The command line, a setting or an API call asks for something that does not exist."""


class InputError(SpeceditError):
    """A source file cannot be read as text, or changed under our hands."""


class TooLong(InputError):
    """The prompt and the answer do not fit the model's window."""


class ModelError(SpeceditError):
    """A model is missing, damaged, or of a kind that cannot be used."""


class RefusedEdit(SpeceditError):
    """The model answered, and the answer must not become a file."""


class ServerError(SpeceditError):
    """A server (ours, or one the user named) did not do its part."""
