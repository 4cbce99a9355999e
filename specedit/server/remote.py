"""The Backend of a server that the user named: any OpenAI-compatible endpoint.

Nothing is sent unless `--server URL` says so, and the report says how many bytes went to which
host. The endpoint is not trusted: lines, bytes, time and text of its answer are bounded. Standard
library only.
"""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.parse import SplitResult, urlsplit

from specedit.decode import FREE, Chunk, Tally
from specedit.edit.backend import Answer, Emit, ModelInfo, Plan, Ready, Written
from specedit.errors import ServerError, SpeceditError, TooLong, UsageError, listed
from specedit.files import stored
from specedit.files.startup import warm_server_may_run
from specedit.inference.reader import Unfenced
from specedit.server.runtime import runtime_folder
from specedit.settings import Settings

MOST_TOKENS = 1 << 40  # a larger count is not one
TOKEN = -1  # the id of a token whose id is unknown
FIRST_LINES = 2  # lines of the further prediction that gives only an answer's beginning


@dataclass(frozen=True, slots=True)
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
    more: dict[str, Any] = field(default_factory=dict)  # further fields of each request


# An answer without reasoning, as chat templates are asked for it
UNREASONED = {"chat_template_kwargs": {"enable_thinking": False}}
PROFILES = {
    "specedit": Profile(several=True),
    "openai": Profile(  # refuses max_completion_tokens next to a prediction
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
    "vllm": Profile(several=True, limit="max_tokens", more=UNREASONED),
    "local": Profile(  # llama.cpp's server, Ollama (which takes the effort alone), LM Studio
        predicts=False, limit="max_tokens", more=UNREASONED | {"reasoning_effort": "none"}
    ),
    "plain": Profile(predicts=False, limit="max_tokens"),
}


def address(server: str) -> tuple[SplitResult, str]:
    """A URL and its host, parsed as the connection will parse it."""
    try:
        parts = urlsplit(server)
        host = parts.hostname if parts.port != 0 else None
    except ValueError:
        host = None
    odd = not server.isascii() or not server.isprintable() or set(" \\") & set(server)
    if odd or not host or parts.scheme not in ("http", "https"):
        message = f"--server {server!r} is not a URL."
        raise UsageError(message, hint="auto, off, or a URL such as https://api.openai.com/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise UsageError("--server takes a URL without user, query or fragment.")
    return parts, host


def request_json(plan: Plan, model: str, profile: Profile) -> dict[str, Any]:
    """The body of the request."""
    if plan.sampling.rejects:
        raise UsageError(
            "--sampling rejection does not work with a named server, which samples in its own way.",
            hint="Leave it out, or work on this machine: --server off.",
        )
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": m.role, "content": m.content} for m in plan.messages],
        "stream": True,
        "temperature": plan.sampling.temperature,
        **profile.more,
    }
    if profile.stream_usage:
        body["stream_options"] = {"include_usage": True}
    if plan.sampling.temperature > 0:
        body |= {"top_p": plan.sampling.top_p, profile.seed: plan.sampling.seed}
    if plan.stop:
        body["stop"] = list(plan.stop)
    limit = profile.limit
    if profile.predicts and plan.prediction is not None:
        texts = [_expected(plan, text) for text in (*plan.predictions, plan.prediction)]
        body["prediction"] = _content(texts.pop(-1 if profile.several else 0))
        if plan.language:  # some models name no language
            texts.append(plan.opening + "".join(plan.prediction.splitlines(True)[:FIRST_LINES]))
        if profile.several and texts:
            body["predictions"] = [_content(text) for text in texts]
        limit = profile.limit_predicted or limit
    if plan.max_tokens:
        body[limit] = plan.max_tokens
    return body


def _expected(plan: Plan, text: str) -> str:
    """The whole answer of a model that opens the code block itself: 17 of 20 answers of a 0.5B
    named the language, and predicting that saved five steps each."""
    opening = plan.opening
    if plan.language:
        opening = opening.removesuffix("\n") + plan.language + "\n"
    return opening + text + plan.closing


def _content(text: str) -> dict[str, str]:
    return {"type": "content", "content": text}


def api_key(profile: Profile, host: str, secure: bool) -> str:
    """`SPECEDIT_API_KEY`, or the vendor's own variable for the vendor's host over HTTPS. Only for
    a server that the user named: one that a repository names gets no key, trusted or not."""
    if key := os.environ.get("SPECEDIT_API_KEY"):
        return key
    ours = profile.domain and (host == profile.domain or host.endswith("." + profile.domain))
    return os.environ.get(profile.key, "") if ours and secure else ""


def accepted_drafts(data: dict[str, Any]) -> tuple[int, int] | None:
    """Draft ids that vLLM verified and accepted; None where it does not report them."""
    metrics = table(table(data.get("metrics")).get("speculative_decoding"))
    if not {"num_draft_tokens", "num_accepted_draft_tokens"} <= set(metrics):
        return None
    return count(metrics, "num_draft_tokens"), count(metrics, "num_accepted_draft_tokens")


def table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def tables(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def count(fields: dict[str, Any], name: str) -> int:
    """A number of tokens; 0 for anything that is not a number."""
    value = fields.get(name)
    return value if isinstance(value, int) and 0 <= value < MOST_TOKENS else 0


ACCEPTED, REJECTED = "accepted_prediction_tokens", "rejected_prediction_tokens"
SILENCE_S = 120.0
LOOPBACK = ("localhost", "127.0.0.1", "::1")
LONGEST_MESSAGE = 500  # characters of an endpoint's own message
EXTRA_TEXT, TIMES = 1 << 16, 8  # an answer's characters: so many, and so many times the file's
LONGEST_LINE = 32 << 20  # bytes; an endpoint may send its whole answer in one
MOST_BYTES = 256 << 20  # of a stream: about 300 for each token are usual
MOST_S = 3600.0  # of one answer
PIECE = 1 << 16
DATA, DONE = b"data:", b"[DONE]"
EXACT = "x-specedit-exact"  # header of the vLLM plugin: "no" where batches change rounding
UNUSED = "x-specedit-prediction"  # header of the vLLM plugin: "not used: WHY"


class RemoteBackend:
    """Runs Plans at a URL. A run that is left closes its connection."""

    def __init__(self, settings: Settings) -> None:
        parts, self._host = address(settings.server)
        self._settings = settings
        self.server: str | None = settings.server
        self._profile = PROFILES[settings.profile]
        self._secure = parts.scheme == "https"
        _headers(settings)  # an error for a key that cannot be sent
        self._sent = 0
        self._unused = False
        self._inexact = False
        self._why = ""  # the server's own reason not to use a prediction
        self.model: ModelInfo | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """How many bytes left the machine, and what the server does differently."""
        if not self._sent:
            return ()
        note = f"{self._sent:,} bytes were sent to {self._host}"
        sent = note if self._secure or self._host in LOOPBACK else f"{note}, unencrypted"
        see = "; see --profile local in `specedit help server`" * (self._host in LOOPBACK)
        unused = f"{self._host} reports nothing about the prediction: it is not used there{see}"
        inexact = f"not exact there: rounding at {self._host} depends on its batches"
        why = f"{self._host} about the prediction: {self._why}"
        notes = ((unused, self._unused), (why, self._why), (inexact, self._inexact))
        return (sent, *(text for text, applies in notes if applies))

    def close(self) -> None:
        pass

    def run(self, plan: Plan, emit: Emit) -> Answer:
        if plan.audit:
            raise UsageError("--audit needs logits, which remote servers do not send.")
        body = json.dumps(request_json(plan, self._settings.model, self._profile)).encode()
        self.model = ModelInfo(self._settings.model, engine="remote", device=self._host)
        emit(Ready(self.model, 0.0))
        started = time.perf_counter()
        expected = plan.prediction or plan.least
        reader = Unfenced(plan.closing, nested=plan.nested, expected=expected)
        first, reason = 0.0, ""
        usage: dict[str, Any] = {}
        drafts: tuple[int, int] | None = None
        size = passes = 0
        most = EXTRA_TEXT + TIMES * max(len(plan.least), len(plan.prediction or ""))
        with closing(self._events(body)) as events:
            for data in events:
                usage = table(data.get("usage")) or usage
                drafts = accepted_drafts(data) or drafts
                for choice in tables(data.get("choices")):
                    if isinstance(ended_by := choice.get("finish_reason"), str):
                        reason = ended_by or reason
                    delta = table(choice.get("delta")).get("content")
                    if not isinstance(delta, str) or not delta:
                        continue
                    first = first or time.perf_counter()
                    size += len(delta)
                    if size > most:
                        raise _endless(self._host, f"more than {most:,} characters")
                    if text := reader.more(delta):
                        passes += 1
                        emit(Written(Chunk((TOKEN,), 0, 0, FREE, False, 0.0), (text,)))
                if reader.closed and not self._profile.predicts:  # prose behind it takes minutes
                    reason, usage = "stop", {"completion_tokens": passes}
                    break
        ended = time.perf_counter()
        if not reason:
            raise ServerError(f"{self._host} ended during its answer.", hint="Run again.")
        details = table(usage.get("completion_tokens_details"))
        predicted = self._profile.predicts and plan.prediction is not None
        # An endpoint that supports predictions counts them
        self._unused = predicted and not {ACCEPTED, REJECTED} <= set(details)
        accepted, rejected = count(details, ACCEPTED), count(details, REJECTED)
        completion, proposed = count(usage, "completion_tokens"), accepted + rejected
        passes += 1
        if drafts is not None:  # rejected tokens are billed, and are not the answer's
            completion = max(0, completion - rejected)
            proposed, accepted = drafts
            passes = max(0, completion - accepted) or passes
        text, source = reader.end(), "prediction" if proposed else FREE
        chunk = Chunk((TOKEN,) if text else (), proposed, accepted, source, False, 0.0)
        emit(Written(chunk, (text,) if text else ()))
        return Answer(
            text=reader.text,
            reason="length" if reason == "length" else "stop",
            closed=reader.closed,
            prompt=count(usage, "prompt_tokens"),
            reused=count(table(usage.get("prompt_tokens_details")), "cached_tokens"),
            completion=completion,
            passes=passes,
            drafts={source: Tally(proposed, accepted)} if proposed else {},
            prefill_s=(first or ended) - started,
            decode_s=ended - (first or ended),
            reasoning=count(details, "reasoning_tokens") or reader.reasoning,
        )

    def _events(self, body: bytes) -> Generator[dict[str, Any], None, None]:
        self._sent = len(body)
        try:
            with self._open(body) as answer:
                self._inexact = answer.headers.get(EXACT) == "no"
                self._why = str(answer.headers.get(UNUSED) or "")[:LONGEST_MESSAGE]
                for data in event_data(answer, self._host):
                    if "error" in data:
                        raise self._refused(data, 200)
                    yield data
        except urllib.error.HTTPError as error:
            raise self._refused(_json(error), error.code) from error
        except (OSError, HTTPException, ValueError) as error:
            message = f"{self._host} cannot be reached: {getattr(error, 'reason', error)}"
            raise ServerError(message, hint="Check the URL of --server and the network.") from error

    def _open(self, body: bytes | None, path: str = "chat/completions") -> Any:
        """The response of the named server. No redirect is followed."""
        base = self._settings.server.rstrip("/")
        base = base if urlsplit(base).path.strip("/") else f"{base}/v1"
        request = urllib.request.Request(f"{base}/{path}", body, _headers(self._settings))
        direct = [urllib.request.ProxyHandler({})] * (self._host in LOOPBACK)  # not through a proxy
        return urllib.request.build_opener(NoRedirect, *direct).open(request, timeout=SILENCE_S)

    def _models(self) -> str:
        """The hint with the models that the server has, where it lists them."""
        try:
            with self._open(None, "models") as answer:
                listed_models = tables(table(stored.parsed(answer.read(PIECE))).get("data"))
        except (OSError, HTTPException, ValueError):
            return ""
        names = [name for model in listed_models if isinstance(name := model.get("id"), str)]
        return f"Name one of its models with --model: {listed(names, 8)}." if names else ""

    def _refused(self, data: Any, code: int) -> SpeceditError:
        error = table(data).get("error")
        text = error.get("message") if isinstance(error, dict) else error
        message = str(text or table(data).get("message") or "no reason given")[:LONGEST_MESSAGE]
        key = "A repository names this server, so it gets no key; specedit config --user server=URL"
        about_model = code == 404 or (code == 400 and "model" in message)
        models = self._models() if about_model else ""
        if not self._settings.is_from_repository("server"):
            key = "Give its key in SPECEDIT_API_KEY."
        hints = {400: models, 401: key, 404: models or "Check --model and the URL of --server."}
        named = table(error).get("code") == "context_length_exceeded"  # OpenAI's; and vLLM's
        if code in (200, 400) and (named or "maximum context length" in message):
            return TooLong(f"{self._host}: {message}")
        return ServerError(f"{self._host} refused ({code}): {message}", hint=hints.get(code, ""))


def _headers(settings: Settings) -> dict[str, str]:
    parts, host = address(settings.server)
    headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
    if settings.is_from_repository("server"):  # named by a repository: no key
        return headers
    key = api_key(PROFILES[settings.profile], host, parts.scheme == "https")
    record = runtime_folder().record() if not key and warm_server_may_run() else None
    if record is not None and record.url == f"{parts.scheme}://{parts.netloc}":
        key = record.token  # of this user's own server
    if not key.isprintable():
        raise UsageError("The server's key holds a line break or an unprintable character.")
    # UTF-8, although http.client encodes headers as Latin-1
    secret = {"Authorization": f"Bearer {key}".encode().decode("latin-1")} if key else {}
    return headers | secret


def event_data(answer: HTTPResponse, host: str) -> Iterator[dict[str, Any]]:
    """The object of each `data:` line."""
    for raw in _lines(answer, host):
        line = raw.strip()
        text = line.removeprefix(DATA)
        if text == line or text.strip() == DONE:
            continue
        try:
            data = stored.parsed(text)
        except ValueError:
            raise ServerError(f"{host} sent an answer that is not JSON.") from None
        if not isinstance(data, dict):
            raise ServerError(f"{host} sent JSON that is not an object.")
        yield data


def _endless(host: str, what: str) -> ServerError:
    message = f"{host} sent an answer that does not end: {what}."
    return ServerError(message, hint="Nothing was written. Check --server.")


def _lines(answer: HTTPResponse, host: str) -> Iterator[bytes]:
    until = time.monotonic() + MOST_S
    size, line_bytes = 0, 0
    parts: list[bytes] = []
    while piece := answer.read1(PIECE):
        size += len(piece)
        if size > MOST_BYTES:
            raise _endless(host, f"more than {MOST_BYTES >> 20} MiB")
        if time.monotonic() > until:
            raise _endless(host, f"for more than {MOST_S:.0f} s")
        *whole, rest = piece.split(b"\n")
        for end in whole:
            yield b"".join((*parts, end))
            parts, line_bytes = [], 0
        parts.append(rest)
        line_bytes += len(rest)
        if line_bytes > LONGEST_LINE:
            raise _endless(host, f"a line of more than {LONGEST_LINE >> 20} MiB")
    yield b"".join(parts)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows none: a redirect would carry the key and the text to a host that was not named."""

    def redirect_request(self, *arguments: Any, **more: Any) -> None:
        return None


def _json(error: urllib.error.HTTPError) -> Any:
    try:
        return stored.parsed(error.read(1 << 16))
    except (OSError, ValueError, HTTPException):
        return {}
