"""Plans in the prompt form that a model was trained with (`models.catalogue.PromptForm`).

Such a model is shown the text to rewrite, other files, and what the work tree changed in the file
since the last commit. An instruction has a place only in forms that name one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from specedit.edit.backend import Message, Plan, RawPrompt
from specedit.edit.prompt import Beside, finished, printable
from specedit.edit.splice import Region, taken
from specedit.errors import UsageError
from specedit.files import git
from specedit.files.source import Source
from specedit.models.catalogue import FORMS, PromptForm, form_of
from specedit.settings import Settings
from specedit.syntax.diff import hunks
from specedit.syntax.lines import lines_of, opcodes

_SLOT = re.compile(r"\{(\w+)\}")


def chosen_form(settings: Settings) -> PromptForm | None:
    """Return the form that `--prompt-form` names, or the model's own one for edits."""
    if not settings.prompt_form:
        form = form_of(settings.model)
    elif (form := FORMS.get(settings.prompt_form)) is None:
        raise UsageError(
            f"--prompt-form {settings.prompt_form}: there is no such form.",
            hint=f"Known are {', '.join(FORMS)}.",
        )
    return None if form is None or "{change}" in form.prompt else form


def in_form(
    plan: Plan, source: Source, region: Region, beside: Sequence[Beside], form: PromptForm
) -> Plan:
    """Return the plan in a form; the region is what the model rewrites."""
    text = finished(taken(source, region))
    if mark := next((mark for mark in form.stop if mark in text), ""):
        raise UsageError(
            f"{source.name} holds {mark}, which ends an answer of this prompt form.",
            hint="Edit it without --prompt-form.",
        )
    before = _committed(source)
    others = (
        filled(form.other, {"path": printable(other.name), "text": finished(other.text)})
        for other in beside
    )
    slots = {
        "path": (name := printable(source.name)),
        "text": text,
        "original": finished(_counterpart(before, source.text, region)),
        "others": "".join(others),
        "changes": "".join(_changes(form, name, before, source.text)),
    }
    plan = replace(
        plan,
        opening="",
        language="",
        closing="",
        nested=False,
        stop=form.stop,
        prediction=None if plan.prediction is None else text + form.stop[0],
        least=text,
    )
    return with_prompt(plan, form, slots)


def with_prompt(plan: Plan, form: PromptForm, slots: Mapping[str, str], given: str = "") -> Plan:
    """Return the plan with a form's prompt, which ends with `given` text of the answer."""
    opening = filled(form.opening, slots) + given
    parts = _parts(form.prompt, slots)
    if form.system:
        user = Message("user", tuple(part for part in parts if part))
        return replace(
            plan, messages=(Message("system", (form.system,)), user), opening=opening, raw=None
        )
    return replace(plan, messages=(), raw=RawPrompt(parts=(*parts, opening)))


def filled(template: str, slots: Mapping[str, str]) -> str:
    """Return a template with its slots filled; texts that look like slots stay as they are."""
    return _SLOT.sub(lambda match: slots[match[1]], template)


def _parts(template: str, slots: Mapping[str, str]) -> tuple[str, ...]:
    """Return the template's own text and the slots' texts in turn, the template's first."""
    pieces = _SLOT.split(template)
    return tuple(slots[piece] if at % 2 else piece for at, piece in enumerate(pieces))


def _committed(source: Source) -> str:
    """Return the file's text in the last commit; the present one where there is none."""
    data = None if source.path is None else git.committed(source.path)
    return source.text if data is None else data.decode("utf-8", "replace").replace("\r\n", "\n")


def _counterpart(before: str, after: str, region: Region) -> str:
    """Return the lines of `before` that a region of `after` was made of."""
    first, last = after.count("\n", 0, region.start), after.count("\n", 0, region.end)
    old, new = lines_of(before), lines_of(after)
    result: list[str] = []
    for kind, a, b, c, d in opcodes(old, new):
        if kind == "equal":
            result += old[a + max(0, first - c) : a + max(0, min(d, last) - c)]
        elif (c < last and d > first) or first <= c == d <= last:
            result += old[a:b]
    return "".join(result)


def _changes(form: PromptForm, name: str, before: str, after: str) -> Iterator[str]:
    """Return each change since the last commit as the form shows it."""
    old, new = lines_of(before), lines_of(after)
    for hunk in hunks(before, after) if form.changed else ():
        rows = [f"{line.kind}{line.text}\n" for line in hunk.lines]
        slots = {
            "path": name,
            "before": "".join(old[slice(*hunk.before)]),
            "after": "".join(new[slice(*hunk.after)]),
            "diff": "".join(rows),
        }
        yield filled(form.changed, slots)
