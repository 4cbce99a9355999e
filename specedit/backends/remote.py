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
from urllib.parse import SplitResult, urlsplit

from specedit.backends import stream
from specedit.decode.events import FREE, Chunk
from specedit.edit.backend import Answer, Event, Ready, Written
from specedit.edit.plan import Plan
from specedit.edit.report import ModelLine
from specedit.edit.unfenced import Unfenced
from specedit.errors import ServerError, SpeceditError, TooLong, UsageError
from specedit.settings import Settings

SILENCE_S = 120.0
LOOPBACK = ("localhost", "127.0.0.1", "::1")
MOST_TOKENS = 1 << 40  # that anybody says there were
MOST_SAID = 500  # characters of what an endpoint says of itself
ROOM, TIMES = 1 << 16, 8  # of an answer: characters, and how many times its text
EXACT = "x-specedit-exact"  # a header of the plugin inside vLLM: "no" where batches change rounding
UNUSED = "x-specedit-prediction"  # another: "not used: WHY"
FIRST = 2  # lines of a further prediction that only tells how an answer begins
TOKEN = -1  # the id of a token whose id nobody told


@dataclass(frozen=True)
class Profile:
    """How one kind of endpoint is asked."""

    predicts: bool = True
    several: bool = False  # takes our own `predictions`; the others get the likeliest one
    limit: str = "max_completion_tokens"
    limit_predicted: str = ""  # with a prediction, where that is another
    seed: str = "seed"
    stream_usage: bool = True  # takes `stream_options`; the others send usage unasked
    domain: str = ""  # where `key` may go
    key: str = ""  # the vendor's own variable


PROFILES = {
    "specedit": Profile(several=True),
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
    "vllm": Profile(several=True, limit="max_tokens"),
    "plain": Profile(predicts=False, limit="max_tokens"),
}


class RemoteBackend:
    """Runs Plans at a URL. Closing a run's generator closes the connection."""

    def __init__(self, settings: Settings) -> None:
        parts, self._host = address(settings.server)
        self._settings = settings
        self._profile = PROFILES[settings.profile]
        self._secure = parts.scheme == "https"
        base = settings.server.rstrip("/")
        self._url = (base if parts.path.strip("/") else f"{base}/v1") + "/chat/completions"
        self._lent = "server" in settings.from_repository
        self._key = "" if self._lent else api_key(self._profile, self._host, self._secure)
        if not self._key.isprintable():
            raise UsageError("The server's key holds a line's end, or what is no character.")
        self._sent = 0
        self._unused = False
        self._inexact = False
        self._why = ""  # a prediction is not used, as the server says it

    @property
    def server(self) -> str | None:
        return self._settings.server

    @property
    def notes(self) -> tuple[str, ...]:
        """What left the machine."""
        if not self._sent:
            return ()
        note = f"{self._sent:,} bytes were sent to {self._host}"
        sent = note if self._secure or self._host in LOOPBACK else f"{note}, unencrypted"
        unused = f"{self._host} says nothing of the prediction: it is not used there"
        inexact = f"not exact there: {self._host} rounds as its batches happen to be"
        why = f"{self._host} says of the prediction: {self._why}"
        said = ((unused, self._unused), (why, self._why), (inexact, self._inexact))
        return (sent, *(text for text, true in said if true))

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
        drafts: tuple[int, int] | None = None
        size, most = 0, room(plan)
        for data in self._events(body):
            usage = _table(data.get("usage")) or usage
            drafts = accepted_drafts(data) or drafts
            for choice in _tables(data.get("choices")):
                if isinstance(ended_by := choice.get("finish_reason"), str):
                    reason = ended_by or reason
                delta = _table(choice.get("delta")).get("content")
                if isinstance(delta, str) and delta:
                    now = time.perf_counter()
                    first = first or now
                    size += len(delta)
                    if size > most:
                        raise stream.endless(self._host, f"more than {most:,} characters")
                    if text := reader.more(delta):
                        chunk = Chunk((TOKEN,), 0, 0, FREE, False, 0.0)
                        yield Written(chunk, (text,))
        ended = time.perf_counter()
        if not reason:
            raise ServerError(f"{self._host} ended in mid-answer.", hint="Run again.")
        predicted = self._profile.predicts and plan.prediction is not None
        self._unused = predicted and not says(usage)
        yield _last(usage, drafts, reader.end())
        yield _answer(reader, reason, usage, drafts, started, first or ended, ended)

    def _events(self, body: bytes) -> Iterator[dict[str, Any]]:
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        if self._key:  # as UTF-8, whatever http.client thinks of headers
            headers["Authorization"] = f"Bearer {self._key}".encode().decode("latin-1")
        request = urllib.request.Request(self._url, body, headers, method="POST")
        opener = urllib.request.build_opener(NoRedirect)
        self._sent = len(body)
        try:
            with opener.open(request, timeout=SILENCE_S) as answer:
                self._inexact = answer.headers.get(EXACT) == "no"
                self._why = str(answer.headers.get(UNUSED) or "")[:MOST_SAID]
                for data in stream.data(answer, self._host):
                    if "error" in data:
                        raise self._refused(data, 200)
                    yield data
        except urllib.error.HTTPError as error:
            raise self._refused(_json(error), error.code) from error
        except (OSError, HTTPException, ValueError) as error:
            raise ServerError(
                f"{self._host} cannot be asked: {getattr(error, 'reason', error)}",
                hint="Is the URL right, and the machine reachable?",
            ) from error

    def _refused(self, data: Any, code: int) -> SpeceditError:
        error = data.get("error") if isinstance(data, dict) else None
        said = error.get("message") if isinstance(error, dict) else error
        said = said or (data.get("message") if isinstance(data, dict) else None)
        key = "A repository names this server, so it gets no key; specedit config --user server=URL"
        hints = {
            401: key if self._lent else "Give its key in SPECEDIT_API_KEY.",
            404: "Is --model right, and the URL?",
        }
        said = str(said or "no reason given")[:MOST_SAID]
        if code in (200, 400) and _too_long(error, said):
            return TooLong(f"{self._host}: {said}")
        return ServerError(f"{self._host} refused ({code}): {said}", hint=hints.get(code, ""))


def address(server: str) -> tuple[SplitResult, str]:
    """A URL and its host, read as whoever connects will read it."""
    try:
        parts = urlsplit(server)
        host = parts.hostname if parts.port != 0 else None
    except ValueError:
        host = None
    odd = not server.isascii() or not server.isprintable() or set(" \\") & set(server)
    if odd or not host or parts.scheme not in ("http", "https"):
        raise UsageError(
            f"--server {server!r} is no URL.",
            hint="auto, off, or a URL such as https://api.openai.com/v1",
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise UsageError("--server takes a URL without user, query or fragment.")
    return parts, host


def room(plan: Plan) -> int:
    """Characters that an answer may have: far more than any edit of this text deserves."""
    return ROOM + TIMES * max(len(plan.least), len(plan.prediction or ""))


def request_json(plan: Plan, model: str, profile: Profile) -> dict[str, Any]:
    """The body of the request."""
    if plan.sampling.rejects:
        raise UsageError(
            "--sampling rejection: how a named server draws is its own affair.",
            hint="Leave it out, or work on this machine: --server off.",
        )
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
        given = [_expected(plan, text) for text in (*plan.predictions, plan.prediction)]
        body["prediction"] = _content(given.pop(-1 if profile.several else 0))
        if plan.language:  # some models name none
            given.append(plan.opening + "".join(plan.prediction.splitlines(True)[:FIRST]))
        if profile.several and given:
            body["predictions"] = [_content(text) for text in given]
        limit = profile.limit_predicted or limit
    if plan.max_tokens:
        body[limit] = plan.max_tokens
    return body


def _expected(plan: Plan, text: str) -> str:
    """The whole answer of a model that opens the block itself: of 20 commits 17 answers of a 0.5B
    named the language, and each that was foreseen saved five steps."""
    opening = plan.opening
    if plan.language:
        opening = opening.removesuffix("\n") + plan.language + "\n"
    return opening + text + plan.closing


def _content(text: str) -> dict[str, str]:
    return {"type": "content", "content": text}


def api_key(profile: Profile, host: str, secure: bool) -> str:
    """`SPECEDIT_API_KEY`, or the vendor's own variable where the host is the vendor's, and nobody
    on the way can be: for a server that the user has named. One that a repository names gets none,
    trusted or not."""
    if key := os.environ.get("SPECEDIT_API_KEY"):
        return key
    ours = profile.domain and (host == profile.domain or host.endswith("." + profile.domain))
    return os.environ.get(profile.key, "") if ours and secure else ""


def _too_long(error: Any, said: str) -> bool:
    """Whether the prompt is longer than the window, as OpenAI says it, or vLLM."""
    code = error.get("code") if isinstance(error, dict) else None
    return code == "context_length_exceeded" or "maximum context length" in said


def accepted_drafts(data: dict[str, Any]) -> tuple[int, int] | None:
    """Ids that a vLLM server verified for this answer, and those that were right; None where it
    does not say (`--per-request-spec-decode-metrics`)."""
    found = _table(_table(data.get("metrics")).get("speculative_decoding"))
    if not {"num_draft_tokens", "num_accepted_draft_tokens"} <= set(found):
        return None
    return _count(found, "num_draft_tokens"), _count(found, "num_accepted_draft_tokens")


def _last(usage: dict[str, Any], drafts: tuple[int, int] | None, text: str) -> Written:
    """The end of the text, with what the endpoint says of the prediction."""
    details = _table(usage.get("completion_tokens_details"))
    accepted = _count(details, "accepted_prediction_tokens")
    proposed = accepted + _count(details, "rejected_prediction_tokens")
    if drafts is not None:
        proposed, accepted = drafts
    tokens, pieces = ((TOKEN,), (text,)) if text else ((), ())
    source = "prediction" if proposed else FREE
    return Written(Chunk(tokens, proposed, accepted, source, False, 0.0), pieces)


def says(usage: dict[str, Any]) -> bool:
    """Whether an endpoint knows of predictions: one that does counts them."""
    details = _table(usage.get("completion_tokens_details"))
    return {"accepted_prediction_tokens", "rejected_prediction_tokens"} <= set(details)


def _answer(
    reader: Unfenced,
    reason: str,
    usage: dict[str, Any],
    drafts: tuple[int, int] | None,
    started: float,
    first: float,
    ended: float,
) -> Answer:
    prompt = _table(usage.get("prompt_tokens_details"))
    completion = _count(usage, "completion_tokens")
    if drafts is not None:  # what is billed besides the answer is told apart from its tokens
        details = _table(usage.get("completion_tokens_details"))
        completion = max(0, completion - _count(details, "rejected_prediction_tokens"))
    return Answer(
        text=reader.text,
        reason="length" if reason == "length" else "stop",
        closed=reader.closed,
        prompt=_count(usage, "prompt_tokens"),
        reused=_count(prompt, "cached_tokens"),
        completion=completion,
        passes=0 if drafts is None else max(0, completion - drafts[1]),
        prefill_s=first - started,
        decode_s=ended - first,
    )


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _tables(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _count(table: dict[str, Any], name: str) -> int:
    """A number of tokens; what is none counts as none."""
    value = table.get(name)
    return value if isinstance(value, int) and 0 <= value < MOST_TOKENS else 0


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key and the text to a host that nobody named."""

    def redirect_request(self, *given: Any, **named: Any) -> None:
        return None


def _json(error: urllib.error.HTTPError) -> Any:
    try:
        return json.loads(error.read(1 << 16))
    except (OSError, ValueError, HTTPException, RecursionError):
        return {}
