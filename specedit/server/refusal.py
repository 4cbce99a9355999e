"""An error of the API in OpenAI's shape, and the one that each of our own errors becomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starlette.responses import JSONResponse

from specedit.errors import InputError, ServerError, SpeceditError, TooLong, UsageError

INVALID = "invalid_request_error"


@dataclass(frozen=True)
class Refusal:
    """An error response."""

    status: int
    message: str
    param: str | None = None
    code: str | None = None
    kind: str = INVALID
    headers: tuple[tuple[str, str], ...] = ()

    def json(self) -> dict[str, Any]:
        return {
            "error": {
                "message": self.message,
                "type": self.kind,
                "param": self.param,
                "code": self.code,
            }
        }


class RefusedError(Exception):
    """Carries a Refusal to the error boundary."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


def respond(refusal: Refusal) -> JSONResponse:
    return JSONResponse(refusal.json(), refusal.status, headers=dict(refusal.headers))


def refusal_of(error: SpeceditError) -> Refusal:
    """The response for one of our errors."""
    retry_s = getattr(error, "retry_s", None)
    if retry_s is not None:
        return Refusal(
            503,
            str(error),
            code="queue_full",
            kind="server_error",
            headers=(("retry-after", str(retry_s)),),
        )
    if isinstance(error, TooLong):
        return Refusal(400, str(error), param="messages", code="context_length_exceeded")
    if isinstance(error, UsageError | InputError):
        return Refusal(400, str(error))
    if isinstance(error, ServerError):
        return Refusal(503, str(error), kind="server_error", headers=(("retry-after", "1"),))
    return Refusal(500, str(error), kind="server_error")
