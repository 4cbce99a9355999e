"""A change as Jobs: which files it is for, and what each of them becomes.

Runs no model and writes nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath

from specedit.check.answer import LOST_MESSAGE
from specedit.check.finding import KINDS, NOTE, OFF, Checks, Finding, Spot
from specedit.edit.apply.change import ChangeHunk, FileChange, Part, Snippet, is_marked, read_change
from specedit.edit.apply.hunks import Splice, in_turn, joined, splices
from specedit.edit.apply.laying import Laid, laid
from specedit.edit.apply.lines import Ambiguity, FileIndex, short, weight
from specedit.edit.job import Job, make_job
from specedit.edit.report import Checked, Edit, MergedPart, checks_of, guarded, outcome
from specedit.edit.splice import whole
from specedit.errors import InputError, UsageError
from specedit.files.git import is_inside, real, top_of
from specedit.files.source import Source
from specedit.files.stored import is_of
from specedit.settings import Settings
from specedit.syntax.languages import BY_NAME, Language, language_of
from specedit.syntax.lines import opcodes
from specedit.syntax.work import Check, limited, wanted

MAX_REASONS = 20  # to refuse a change, from which on no further part is compared
MOST_IN_TURN = 50  # hunks, each of which compares the file anew


def merge_parts(
    text: str, parts: Sequence[Part], name: str
) -> tuple[str, tuple[MergedPart, ...]] | list[Ambiguity]:
    """`text`, the file `name`, with the parts of a change: hunks, or snippets, each of which
    continues from the text before it; or the parts without a single place."""
    language = language_of(name, text)
    hunks = [part for part in parts if isinstance(part, ChangeHunk)]
    body, end = (text[:-1], "\n") if text.endswith("\n") else (text, "")
    before = lines = body.split("\n")
    done: list[Splice] = []
    refused: list[Ambiguity] = []
    if hunks:
        done, refused = splices(hunks, FileIndex(lines))
        lines = joined(lines, done)
    exact = all(splice.how == "exact" for splice in done)
    if refused and 1 < len(hunks) <= MOST_IN_TURN and all(hunk.text for hunk in hunks):
        later = in_turn(hunks, before)
        if later is not None:
            lines, exact, refused = later, True, []
    for snippet in (part for part in parts if isinstance(part, Snippet)):
        if len(refused) >= MAX_REASONS:
            break
        if doubt := _other_language(snippet, language) or _use_of_file(snippet, name, lines):
            refused.append(doubt)
            continue
        result = laid(snippet, lines, language)
        if lines != before and (overlap := _overlap(snippet, before, lines, result, language)):
            refused.append(overlap)
            continue
        refused += result.refused
        exact &= result.exact
        if not result.refused:
            lines = list(result.lines)
    if refused:
        return list(dict.fromkeys(refused))
    how = "exact" if exact else "matched"
    merged = (
        MergedPart((c + 1, max(c + 1, d)), how)
        for tag, _, _, c, d in opcodes(before, lines)
        if tag != "equal"
    )
    return "\n".join(lines) + end, tuple(merged)


def _overlap(
    snippet: Snippet,
    before: Sequence[str],
    lines: Sequence[str],
    result: Laid,
    language: Language | None,
) -> Ambiguity | None:
    """The lines of a snippet that the parts before it changed, too. `result`: it on their lines."""
    done = [block for block in opcodes(before, lines) if block[0] != "equal"]
    if result.refused:
        alone = laid(snippet, before, language)
        blocks = opcodes(before, alone.lines) if not alone.refused else []
        own = [(a, b) for tag, a, b, *_ in blocks if tag != "equal"]
        both = [(a, b) for _, a, b, *_ in done if any(a <= d and c <= b for c, d in own)]
    else:
        both = []
        for tag, a, b, c, d in opcodes(lines, result.lines):
            new = {line.strip() for line in result.lines[c:d] if weight(line) == 1}
            for _, first, last, start, end in done if tag != "equal" else ():
                undone = a <= end and start <= b and new & set(map(str.strip, before[first:last]))
                if max(a, start) < min(b, end) or undone:
                    both.append((first, last))
    if not both:
        return None
    places = tuple((a + 1, max(a + 1, b)) for a, b in dict.fromkeys(both))
    reason = "overlaps with another part of the change"
    return Ambiguity(snippet.lines[0].strip(), reason, places, "make one part of both")


_FAMILIES = ({"javascript", "typescript", "tsx", "jsx", "js", "ts"}, {"c", "cpp", "c++", "cuda"})


def _other_language(snippet: Snippet, language: Language | None) -> Ambiguity | None:
    """An objection to a snippet whose fence names another language than the file's."""
    named = language_of(f"x.{snippet.language}") or BY_NAME.get(snippet.language.lower())
    if named is None or language is None or named == language:
        return None
    if any({named.name, language.name} <= family for family in _FAMILIES):
        return None
    reason = f"its fence names {named.name}, and the file is {language.name}"
    return Ambiguity(snippet.lines[0].strip(), reason, hint="name the file that it is for")


_IMPORT = re.compile(
    r"""\s*from\s+(?P<module>[\w.]+)\s+import\s+(?P<names>.+)
    |\s*(?:import|(?:const|let|var))\s*\{(?P<braced>[^}]+)\}.*['"](?P<path>[^'"]+)['"].*""",
    re.X,
)


def _use_of_file(snippet: Snippet, file: str, lines: Sequence[str]) -> Ambiguity | None:
    """An objection to a snippet that imports from the file what the file declares."""
    for line in snippet.lines:
        if (match := _IMPORT.fullmatch(line)) is None:
            continue
        module = re.sub(r"\.[jt]sx?$", "", match["module"] or match["path"])
        words = "|".join(re.findall(r"\w+", match["names"] or match["braced"]))
        declares = re.compile(
            rf"(?:[\w ]*\b(?:def|class|function\*?|const|let|type) )?(?:{words})\b"
        )
        if re.split(r"[./]", module)[-1] == PurePosixPath(file).stem and any(
            map(declares.match, lines)
        ):
            reason = "imports what this file declares, so it is an example, or of another file"
            return Ambiguity(line.strip(), reason, hint="name the file that it is for")
    return None


MAX_CHANGE_CHARACTERS = 2_000_000  # characters of a change; more takes minutes
FORMS = "SEARCH/REPLACE blocks, a diff, a tool's call in JSON, or code with `...` for what stays"
_LOST = ("lost-definition", "lost-lines")
_OFF = ("whitespace", "question")  # it says what it does


def check_size(characters: int) -> None:
    """An error where a change is too large to be merged in seconds."""
    if characters > MAX_CHANGE_CHARACTERS:
        size = f"{characters / 1e6:.1f} million characters"
        raise UsageError(
            f"The change has {size}; the limit is {MAX_CHANGE_CHARACTERS / 1e6:.0f} million.",
            hint="Split it into smaller changes.",
        )


def changes_of(change: str, check: Check = wanted) -> list[FileChange]:
    """A change, read; an error where it has nothing that can be merged. `check` raises where the
    result is no longer wanted."""
    if not change.strip():
        raise UsageError("The change is empty.", hint=f"Pass {FORMS}.")
    check_size(len(change))
    if "\0" in change:
        raise UsageError("The change is binary.", hint=f"Pass {FORMS}.")
    with limited(check):
        changes = read_change(change)
    if not changes:
        raise UsageError("The change contains nothing to merge.", hint=f"Pass {FORMS}.")
    for file_change in changes:
        if file_change.other:
            raise InputError(
                f"the change {file_change.other}; apply changes only the text of files that exist",
                file=file_change.path,
                hint="Do that by hand, or with git apply, and take it out of the change.",
            )
    return changes


def looks_swapped(file: str, text: str, change: str, change_text: str) -> bool:
    """Whether `file` holds a change and `change` is the source file that it is for. `text`: of the
    file."""
    target = language_of(change, change_text)
    if target is None or not target.grammar or is_marked(change_text) or not text.strip():
        return False
    own = language_of(file, text)
    return own is None or own.name == "markdown" or is_marked(text, fences=False)


def parts_by_file(changes: Sequence[FileChange], file: str = "") -> dict[str, tuple[Part, ...]]:
    """The parts of a change for each file, by its name from here. `file`: this one alone."""
    if file:
        return {file: parts_of(changes, file)}
    changes = [x for x in changes if x.path or not all(map(_is_aside, x.parts))] or changes
    if any(not change.path for change in changes):
        raise UsageError("The change names no file.", hint="specedit apply FILE CHANGE")
    result: dict[str, tuple[Part, ...]] = {}
    for change in changes:
        name = _found(change.path)
        result[name] = (*result.get(name, ()), *change.parts)
    return result


def parts_of(changes: Sequence[FileChange], file: str, root: Path = Path()) -> tuple[Part, ...]:
    """The parts for one file: those that name it, or that name none. Next to code, commands to run
    and what they print are none."""
    own = [change for change in changes if _is_for(change, root / file)]
    if not own:
        names = ", ".join(change.path for change in changes[:5])
        raise UsageError(f"The change is for {names}, not for {file}.")
    parts = tuple(part for change in own for part in change.parts)
    language = language_of(file)
    if language is None or not language.grammar or language.name in ("bash", "markdown"):
        return parts
    code = (x for change in own for x in change.parts if change.path or not _is_aside(x))
    return tuple(code) or parts


_ASIDES = frozenset(
    ("sh", "bash", "shell", "zsh", "console", "terminal", "powershell", "text", "txt", "output")
)


def _is_aside(part: Part) -> bool:
    """Whether it is a command, or what one prints."""
    return isinstance(part, Snippet) and part.language.lower() in _ASIDES


def left_out(changes: Sequence[FileChange], file: str) -> tuple[str, ...]:
    """The other files that the change names, which are not merged."""
    return tuple(
        dict.fromkeys(change.path for change in changes if not _is_for(change, Path(file)))
    )


def _is_for(change: FileChange, file: Path) -> bool:
    path = PurePosixPath(file.absolute().as_posix())
    return not change.path or path.parts[-len(parts := _names(change.path)) :] == parts


def _names(path: str) -> tuple[str, ...]:
    return tuple(name for name in PurePosixPath(path.replace("\\", "/")).parts if name != ".")


def _found(path: str) -> str:
    """The file that a change names, from here or from the top of the work tree; an error where it
    is neither, or outside, or in a `.git`, where a setting may name a program that git runs."""
    here = Path.cwd()
    top = top_of(here) or here
    for base in (here, top):
        place = base / path
        if not is_inside(real(place), real(top)):
            raise InputError(
                "the change names a file outside of this work tree, or in its .git", file=path
            )
        if place.is_file():
            return os.path.relpath(place)
    raise InputError(
        "the change names a file that does not exist", file=path, hint="specedit apply FILE CHANGE"
    )


def plan_apply(
    source: Source, parts: Sequence[Part], settings: Settings, check: Check = wanted
) -> Job | Edit:
    """Merge the parts of a change into a file; where a part has no single place, the file stays.
    An example of use that has none is left out. `check` raises where the result is no longer
    wanted."""
    code = tuple(part for part in parts if isinstance(part, ChangeHunk) or not part.example)
    notes: tuple[Finding, ...] = ()
    with limited(check):
        merged = merge_parts(source.text, parts, source.name)
        if isinstance(merged, list) and 0 < len(code) < len(parts):
            merged = merge_parts(source.text, code, source.name)
            notes = (Finding("left-out", "an example of use in the change was left out"),)
    if isinstance(merged, list):
        edit = replace(outcome(source, source.text), status="refused")
        return edit.noting(*map(_finding, merged))
    text, places = merged
    explicit = all(isinstance(part, ChangeHunk) for part in parts)
    judge = partial(_judged, source, partial(_checks, settings, explicit), places)
    job = make_job(source, whole(source), "", settings, None)
    return replace(job, known=text, check=judge, findings=(*job.findings, *notes))


def plan_kept(source: Source, kept: Path, text: str, settings: Settings) -> Job:
    """Write an answer that an earlier run kept, whole, over the text that it was made for."""
    if not is_of(kept, source.data):
        raise InputError(
            "changed since that answer was made; nothing was written",
            file=source.name,
            hint='specedit edit "what to do" FILE asks again.',
        )
    judge = partial(_judged, source, partial(_checks, settings, explicit=False), ())
    return replace(make_job(source, whole(source), "", settings, None), known=text, check=judge)


def _checks(settings: Settings, explicit: bool) -> Checks:
    """Check a merge, which is the caller's text: findings are notes, unless the user chose. A
    diff and a SEARCH block say what they remove."""
    checks = checks_of(settings)
    verdicts = dict.fromkeys(KINDS, NOTE) | dict.fromkeys(_OFF, OFF)
    return replace(checks, may_remove=checks.may_remove or explicit, verdicts=verdicts)


def _judged(
    source: Source, checks: Callable[[], Checks], parts: tuple[MergedPart, ...], text: str
) -> Checked:
    """The merged text, checked. Lines that are gone are only noted, as the change shows what
    stands on both sides of them."""
    if text == source.text:
        finding = Finding("skipped", "the change is in the file already")
        return Checked(text, (finding,))
    verdict = guarded(source, "", checks, text)
    findings = (
        replace(finding, refuses=False, text=finding.text.replace(LOST_MESSAGE, "removes"))
        if finding.kind in _LOST
        else finding
        for finding in verdict.findings
    )
    return replace(verdict, findings=tuple(findings), parts=parts)


def _finding(ambiguity: Ambiguity) -> Finding:
    """Name an ambiguous part, its places and what to do now."""
    lines = ", ".join(f"{a}-{b}" if a < b else f"{a}" for a, b in ambiguity.places)
    where = f" (line{'s' * (len(ambiguity.places) > 1)} {lines})" if lines else ""
    text = f"`{short(ambiguity.first)}`: {ambiguity.reason}{where}; {ambiguity.hint}"
    spots = tuple(Spot(a) for a, _ in ambiguity.places)
    return Finding("ambiguous", text, spots, refuses=True)
