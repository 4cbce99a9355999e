"""What OpenAI's clients are answered: the completion object, the chunks of a stream, the usage.

Knows events and OpenAI's JSON. `Stream` holds text back while a stop text may have begun, so that
a stream and a whole answer are the same characters.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from typing import Any

from specedit.edit.answer import stop_at
from specedit.edit.backend import Answer, Written
from specedit.server.work import Predicted


class Completion:
    """One request's answer in the making."""

    def __init__(self, model: str, fingerprint: str) -> None:
        self._head = {
            "id": f"chatcmpl-{secrets.token_hex(12)}",
            "created": int(time.time()),
            "model": model,
            "system_fingerprint": fingerprint,
        }

    def whole(self, answer: Answer, predicted: Predicted) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": answer.text, "refusal": None}
        message["annotations"] = []
        choice = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": answer.reason,
        }
        return self._object("chat.completion", [choice]) | {"usage": usage(answer, predicted)}

    def chunk(self, delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return self._object("chat.completion.chunk", [choice])

    def last(self, answer: Answer, predicted: Predicted) -> dict[str, Any]:
        """The chunk of `stream_options.include_usage`."""
        return self._object("chat.completion.chunk", []) | {"usage": usage(answer, predicted)}

    def _object(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {"object": kind, **self._head, "choices": choices}


class Stream:
    """The text of an answer as it may be shown: never a stop text, nor what may become one."""

    def __init__(self, stop: Sequence[str]) -> None:
        self._stop = stop
        self._held = ""
        self._sent = 0

    def written(self, event: Written) -> str:
        self._held += event.text
        ended = stop_at(self._held, self._stop)
        ready = len(self._held) - self._undecided() if ended is None else ended
        text, self._held = self._held[:ready], self._held[ready:]
        self._sent += len(text)
        return text

    def rest(self, answer: Answer) -> str:
        return answer.text[self._sent :]

    def _undecided(self) -> int:
        """The longest end of the text that a stop text begins with."""
        most = max((len(s) for s in self._stop), default=1) - 1
        for length in range(min(most, len(self._held)), 0, -1):
            if any(s.startswith(self._held[-length:]) for s in self._stop):
                return length
        return 0


def usage(answer: Answer, predicted: Predicted) -> dict[str, Any]:
    """Prediction tokens that did not appear count as completion tokens, as OpenAI has it."""
    completion = answer.completion + predicted.absent
    return {
        "prompt_tokens": answer.prompt,
        "completion_tokens": completion,
        "total_tokens": answer.prompt + completion,
        "prompt_tokens_details": {"cached_tokens": answer.reused, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": predicted.appeared,
            "rejected_prediction_tokens": predicted.absent,
        },
    }
