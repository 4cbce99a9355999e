"""How OpenAI-compatible endpoints are asked, and what their answers say: profiles, request, usage.

A profile says how an endpoint wants its prediction and its limits. Standard library only.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

from specedit.decode import FREE, Chunk
from specedit.edit.backend import Answer, Plan, Written
from specedit.errors import UsageError
from specedit.inference.reader import Unfenced

MOST_TOKENS = 1 << 40  # a larger count is not one
TOKEN = -1  # the id of a token whose id is unknown
FIRST = 2  # lines of the further prediction that gives only an answer's beginning


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
    "vllm": Profile(several=True, limit="max_tokens"),
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
        raise UsageError(
            f"--server {server!r} is not a URL.",
            hint="auto, off, or a URL such as https://api.openai.com/v1",
        )
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
            texts.append(plan.opening + "".join(plan.prediction.splitlines(True)[:FIRST]))
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
    """Draft ids that a vLLM server verified and accepted for this answer; None where it does not
    report them (`--per-request-spec-decode-metrics`)."""
    metrics = table(table(data.get("metrics")).get("speculative_decoding"))
    if not {"num_draft_tokens", "num_accepted_draft_tokens"} <= set(metrics):
        return None
    return count(metrics, "num_draft_tokens"), count(metrics, "num_accepted_draft_tokens")


def counts_predictions(usage: dict[str, Any]) -> bool:
    """Whether an endpoint supports predictions: then it counts them."""
    details = table(usage.get("completion_tokens_details"))
    return {"accepted_prediction_tokens", "rejected_prediction_tokens"} <= set(details)


def last_chunk(usage: dict[str, Any], drafts: tuple[int, int] | None, text: str) -> Written:
    """The end of the text, with the endpoint's counts of the prediction."""
    details = table(usage.get("completion_tokens_details"))
    accepted = count(details, "accepted_prediction_tokens")
    proposed = accepted + count(details, "rejected_prediction_tokens")
    if drafts is not None:
        proposed, accepted = drafts
    tokens, pieces = ((TOKEN,), (text,)) if text else ((), ())
    source = "prediction" if proposed else FREE
    return Written(Chunk(tokens, proposed, accepted, source, False, 0.0), pieces)


def answer_of(
    reader: Unfenced,
    reason: str,
    usage: dict[str, Any],
    drafts: tuple[int, int] | None,
    started: float,
    first: float,
    ended: float,
) -> Answer:
    prompt = table(usage.get("prompt_tokens_details"))
    details = table(usage.get("completion_tokens_details"))
    completion = count(usage, "completion_tokens")
    if drafts is not None:  # rejected tokens are billed, and are not the answer's
        completion = max(0, completion - count(details, "rejected_prediction_tokens"))
    return Answer(
        text=reader.text,
        reason="length" if reason == "length" else "stop",
        closed=reader.closed,
        prompt=count(usage, "prompt_tokens"),
        reused=count(prompt, "cached_tokens"),
        completion=completion,
        passes=0 if drafts is None else max(0, completion - drafts[1]),
        prefill_s=first - started,
        decode_s=ended - first,
        reasoning=count(details, "reasoning_tokens") or reader.reasoning,
    )


def table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def tables(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def count(fields: dict[str, Any], name: str) -> int:
    """A number of tokens; 0 for anything that is not a number."""
    value = fields.get(name)
    return value if isinstance(value, int) and 0 <= value < MOST_TOKENS else 0
