"""The errors that a user can see: what happened, where, and what to do now.

Every error that leaves the package is a `SpeceditError`. The one error boundary (`specedit.cli`)
prints it on stderr and exits with its code.
"""

from __future__ import annotations

from collections.abc import Sequence

DONE = 0
WOULD_CHANGE = 1
FAILED = 2
INTERRUPTED = 130


class SpeceditError(Exception):
    """The request cannot be done. `hint` says what to do now. Except for a `FileError`, it ends the
    whole run."""

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
    """Git is not installed, or fails."""


class ServerError(SpeceditError):
    """A server (ours, or one that the user named) failed."""


class FileError(SpeceditError):
    """One file cannot be done; the others continue. `file` is its name, if it is known where the
    error is raised; `reason` is the message without it."""

    status: str = "failed"  # of the file's Edit
    kind: str = "file"  # of its finding

    def __init__(self, reason: str, *, file: str = "", hint: str = "") -> None:
        super().__init__(f"{file}: {reason}" if file else reason, hint=hint)
        self.file = file
        self.reason = reason

    @property
    def why(self) -> str:
        """Reason and hint, for a message that names the file already."""
        return f"{self.reason}\n{self.hint}" if self.hint else self.reason


class InputError(FileError):
    """A file cannot be read as text, cannot be written, or was modified by another program."""


class NotDefined(InputError):
    """An instruction names a definition that a file does not have."""


class Skipped(FileError):
    """A file that the user did not name cannot be done, and stays as it is."""

    status = "unchanged"
    kind = "skipped"


class TooComplex(InputError):
    """A text is nested too deep, or has too many parts for its size, to be parsed in seconds."""


class TooLong(FileError):
    """The prompt and the answer do not fit the model's window."""

    kind = "too-long"


class RefusedEdit(FileError):
    """The model answered, and the answer must not be written."""

    status = "refused"
    kind = "refused"


def listed(names: Sequence[str], most: int) -> str:
    """The first `most` names of a message, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
