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
    """We cannot do what was asked. `hint` says what to do now.

    One that is no `FileError` is about the whole run, and ends it."""

    code: int = FAILED

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class UsageError(SpeceditError):
    """The command line, a setting or an API call asks for something that does not exist."""


class ModelError(SpeceditError):
    """A model is missing, damaged, or of a kind that cannot be used."""


class GitError(SpeceditError):
    """Git is not there, or cannot do its part."""


class ServerError(SpeceditError):
    """A server (ours, or one the user named) did not do its part."""


class FileError(SpeceditError):
    """One file cannot be done; the others go on. `file` is its name, where the one who raises
    it knows; `reason` is the message without it."""

    status: str = "failed"  # of the file's Edit
    kind: str = "file"  # of what is said in it

    def __init__(self, reason: str, *, file: str = "", hint: str = "") -> None:
        super().__init__(f"{file}: {reason}" if file else reason, hint=hint)
        self.file = file
        self.reason = reason

    @property
    def why(self) -> str:
        """Reason and hint, for whoever has said which file."""
        return f"{self.reason}\n{self.hint}" if self.hint else self.reason


class InputError(FileError):
    """A file cannot be read as text, cannot be written, or changed under our hands."""


class NotDefined(InputError):
    """An instruction names a definition that a file does not have."""


class TooLong(FileError):
    """The prompt and the answer do not fit the model's window."""

    kind = "too-long"


class RefusedEdit(FileError):
    """The model answered, and the answer must not become a file."""

    status = "refused"
    kind = "refused"
