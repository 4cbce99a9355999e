"""All of a file, where the answer for its places may not be written.

A model that is shown a part at times answers with a line of it, and the checks refuse that. The
whole file is asked about then, where it is not long: a person would do the same by hand, with
`--whole`. Knows Jobs and their outcome; `answering` runs them.
"""

from __future__ import annotations

from dataclasses import replace

from specedit.edit.focus import TOKEN
from specedit.edit.job import Job
from specedit.finding import Finding
from specedit.report import Edit
from specedit.settings import Settings

MOST = 6_000  # tokens of a file that is read and written once more: half a minute on two cores
FINAL = frozenset({"cut-off"})  # what stands against all of the file as well


def wider(work: Job, done: Job, edit: Edit, settings: Settings) -> Job | None:
    """The Job for all of the file, where focus chose places of it in vain: `work` as it was before,
    `done` as it was asked."""
    if work.regions or not done.regions or edit.status != "refused" or settings.focus != "auto":
        return None
    if any(one.kind in FINAL for one in edit.findings):
        return None
    if len(work.about.text) > MOST * TOKEN:
        return None
    why = "; ".join(edit.problems[:1]) or "it was refused"
    said = f"all of it was read and written, what was written for the likely places not kept: {why}"
    return replace(work, findings=(*work.findings, Finding("whole", said)))
