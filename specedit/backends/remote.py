"""A server the user named: the same Plan, to any OpenAI-compatible endpoint.

Nothing here happens unless `--server URL` says so, and what left the machine is told: how many
bytes, to which host. A profile says how an endpoint wants its prediction and its limits.
Knows OpenAI's JSON and server-sent events. Standard library only.
"""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from specedit.decode.events import FREE, Chunk
from specedit.edit.backend import Answer, Event, Ready, Written
from specedit.edit.plan import Plan
from specedit.edit.unfenced import Unfenced
from specedit.errors import ServerError, UsageError
from specedit.report import ModelLine
from specedit.settings import Settings

SILENCE_S = 120.0
LOOPBACK = ("localhost", "127.0.0.1", "::1")
TOKEN = -1  # the id of a token whose id nobody told


@dataclass(frozen=True)
class Profile:
    """How one kind of endpoint is asked."""

    predicts: bool = True
    limit: str = "max_completion_tokens"
    limit_predicted: str = ""  # with a prediction, where that is another
    seed: str = "seed"
    stream_usage: bool = True  # takes `stream_options`; the others send usage unasked
    domain: str = ""  # where `key` may go
    key: str = ""  # the vendor's own variable


PROFILES = {
    "specedit": Profile(),
    "openai": Profile(  # refuses max_completion_tokens beside a prediction
        limit_predicted="max_tokens", domain="openai.com", key="OPENAI_API_KEY"
    ),
    "mistral": Profile(
        limit="max_tokens",
        seed="random_seed",
        stream_usage=False,
        domain="mistral.ai",
        key="MISTRAL_API_KEY",
    ),
    "fireworks": Profile(limit="max_tokens", domain="fireworks.ai", key="FIREWORKS_API_KEY"),
    "cerebras": Profile(domain="cerebras.ai", key="CEREBRAS_API_KEY"),
    "plain": Profile(predicts=False, limit="max_tokens"),
}


class RemoteBackend:
    """Runs Plans at a URL. Closing a run's generator closes the connection."""

    def __init__(self, settings: Settings) -> None:
        parts = urlsplit(settings.server)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(
                f"--server {settings.server!r} is no URL.",
                hint="auto, off, or a URL such as https://api.openai.com/v1",
            )
        if parts.username or parts.query or parts.fragment:
            raise UsageError("--server takes a URL without user, query or fragment.")
        self._settings = settings
        self._profile = PROFILES[settings.profile]
        self._host = parts.hostname
        self._secure = parts.scheme == "https"
        base = settings.server.rstrip("/")
        self._url = (base if parts.path.strip("/") else f"{base}/v1") + "/chat/completions"
        self._key = api_key(self._profile, parts.hostname)
        self._sent = 0

    @property
    def server(self) -> str | None:
        return self._settings.server

    @property
    def notes(self) -> tuple[str, ...]:
        """What left the machine."""
        if not self._sent:
            return ()
        note = f"{self._sent:,} bytes were sent to {self._host}"
        return (note if self._secure or self._host in LOOPBACK else f"{note}, unencrypted",)

    def close(self) -> None:
        pass

    def run(self, plan: Plan) -> Iterator[Event]:
        if plan.audit:
            raise UsageError("--audit reads logits, which no remote server gives.")
        body = json.dumps(request_json(plan, self._settings.model, self._profile)).encode()
        name = self._settings.model
        yield Ready(ModelLine(name, engine="remote", device=self._host), 0.0)
        started = time.perf_counter()
        reader, first, reason = Unfenced(plan.closing, nested=plan.nested), 0.0, ""
        usage: dict[str, Any] = {}
        for data in self._events(body):
            usage = data.get("usage") or usage
            for choice in data.get("choices") or ():
                reason = choice.get("finish_reason") or reason
                delta = (choice.get("delta") or {}).get("content")
                if isinstance(delta, str) and delta:
                    now = time.perf_counter()
                    first = first or now
                    if text := reader.more(delta):
                        chunk = Chunk((TOKEN,), 0, 0, FREE, False, 0.0)
                        yield Written(chunk, (text,))
        ended = time.perf_counter()
        if not reason:
            raise ServerError(f"{self._host} ended in mid-answer.", hint="Run again.")
        yield _last(usage, reader.end())
        yield _answer(reader, reason, usage, started, first or ended, ended)

    def _events(self, body: bytes) -> Iterator[dict[str, Any]]:
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._url, body, headers, method="POST")
        opener = urllib.request.build_opener(_NoRedirect)
        self._sent = len(body)
        try:
            with opener.open(request, timeout=SILENCE_S) as answer:
                for raw in answer:
                    line = raw.strip()
                    if line.startswith(b"data:") and line != b"data: [DONE]":
                        data: dict[str, Any] = json.loads(line.removeprefix(b"data:"))
                        if "error" in data:
                            raise _said(self._host, data, 200)
                        yield data
        except urllib.error.HTTPError as error:
            raise _refused(self._host, error) from error
        except (OSError, HTTPException) as error:
            raise ServerError(
                f"{self._host} cannot be asked: {getattr(error, 'reason', error)}",
                hint="Is the URL right, and the machine reachable?",
            ) from error
        except ValueError as error:
            raise ServerError(f"{self._host} answered something that is no JSON.") from error


def request_json(plan: Plan, model: str, profile: Profile) -> dict[str, Any]:
    """The body of the request."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": m.role, "content": m.content} for m in plan.messages],
        "stream": True,
        "temperature": plan.sampling.temperature,
    }
    if profile.stream_usage:
        body["stream_options"] = {"include_usage": True}
    if plan.sampling.temperature > 0:
        body |= {"top_p": plan.sampling.top_p, profile.seed: plan.sampling.seed}
    if plan.stop:
        body["stop"] = list(plan.stop)
    limit = profile.limit
    if profile.predicts and plan.prediction is not None:
        content = plan.opening + plan.prediction + plan.closing
        body["prediction"] = {"type": "content", "content": content}
        limit = profile.limit_predicted or limit
    if plan.max_tokens:
        body[limit] = plan.max_tokens
    return body


def api_key(profile: Profile, host: str) -> str:
    """`SPECEDIT_API_KEY`, or the vendor's own variable where the host is the vendor's."""
    if key := os.environ.get("SPECEDIT_API_KEY"):
        return key
    ours = profile.domain and (host == profile.domain or host.endswith("." + profile.domain))
    return os.environ.get(profile.key, "") if ours else ""


def _last(usage: dict[str, Any], text: str) -> Written:
    """The end of the text, with what the endpoint says of the prediction."""
    details = usage.get("completion_tokens_details") or {}
    accepted = int(details.get("accepted_prediction_tokens") or 0)
    rejected = int(details.get("rejected_prediction_tokens") or 0)
    tokens, pieces = ((TOKEN,), (text,)) if text else ((), ())
    source = "prediction" if accepted + rejected else FREE
    return Written(Chunk(tokens, accepted + rejected, accepted, source, False, 0.0), pieces)


def _answer(
    reader: Unfenced,
    reason: str,
    usage: dict[str, Any],
    started: float,
    first: float,
    ended: float,
) -> Answer:
    prompt = usage.get("prompt_tokens_details") or {}
    return Answer(
        text=reader.text,
        reason="length" if reason == "length" else "stop",
        closed=reader.closed,
        prompt=int(usage.get("prompt_tokens") or 0),
        reused=int(prompt.get("cached_tokens") or 0),
        completion=int(usage.get("completion_tokens") or 0),
        prefill_s=first - started,
        decode_s=ended - first,
    )


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key and the text to a host that nobody named."""

    def redirect_request(self, *given: Any, **named: Any) -> None:
        return None


def _refused(host: str, error: urllib.error.HTTPError) -> ServerError:
    try:
        data = json.loads(error.read(1 << 16))
    except (OSError, ValueError):
        data = {}
    return _said(host, data, error.code)


def _said(host: str, data: Any, code: int) -> ServerError:
    error = data.get("error") if isinstance(data, dict) else None
    said = error.get("message") if isinstance(error, dict) else error
    said = said or (data.get("message") if isinstance(data, dict) else None) or "no reason given"
    hints = {401: "Give its key in SPECEDIT_API_KEY.", 404: "Is --model right, and the URL?"}
    return ServerError(f"{host} refused ({code}): {said}", hint=hints.get(code, ""))
