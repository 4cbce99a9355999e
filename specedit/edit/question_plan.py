"""A question about a file: what is asked, and the answer as it comes. Nothing is edited."""

from __future__ import annotations

from specedit.edit import prompt
from specedit.edit.context_files import Beside
from specedit.edit.job import drafters, sampling_of
from specedit.edit.plan import Message, Plan
from specedit.edit.splice import AROUND, around, region_of, taken, whole
from specedit.errors import UsageError
from specedit.files.source import Source
from specedit.settings import Settings


def plan_ask(
    source: Source,
    question: str,
    settings: Settings,
    *,
    lines: tuple[int, int] | None = None,
    symbol: str | None = None,
    beside: tuple[Beside, ...] = (),
) -> Plan:
    """A question about a file, or about the part of it that `lines` or `symbol` names; the files
    `beside` it are shown first."""
    if not question.strip():
        raise UsageError("The question is empty.", hint='specedit ask "what does it do?" FILE')
    region = region_of(source, lines, symbol)
    text = taken(source, region)
    context = "" if region == whole(source) else around(source, region, AROUND)
    marks = prompt.fence(text + context)
    name = source.name.encode("utf-8", "replace").decode()
    above: tuple[str, ...] = tuple(prompt.others(beside))
    what = f"File `{name}`:"
    if context:
        head = f"Part of the file `{name}`, for context:\n\n{marks}\n"
        above = (*above, head, prompt.finished(context), f"{marks}\n\n")
        what = "The part that is asked about:"
    asked = f"{marks}\n\n{question.strip()}"
    user = (*above, f"{what}\n\n{marks}\n", prompt.finished(text), asked)
    return Plan(
        messages=(Message("system", (prompt.QUESTION,)), Message("user", user)),
        instruction=question,
        draft=tuple(one for one in drafters(settings) if one != "prediction"),
        max_tokens=settings.max_tokens or None,
        sampling=sampling_of(settings),
    )
