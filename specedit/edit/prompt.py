"""The words the model sees: other files, the file to edit, then the instruction; the answer is
opened, and its closing is known, so that a prediction lines up from the first token.

The file stands first, so that a second instruction on it finds it in the cache. Long files that are
only to be known are shown by their signatures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from specedit.edit.backend import Message
from specedit.files.git import check_within
from specedit.files.source import Source, read
from specedit.syntax import trees

# A small model that sees what a good edit looks like more often changes something, and changes less
# of what it was not asked for (docs/research/2026-11-foreign-edits.md). They are constant,
# so that the store keeps what the model computes for them (`engines.exact.engine`).
WORKED_EXAMPLES = (  # file, which part of it, instruction, the part before and after
    (
        "pages.py",
        "only `fetch`",
        "only 3 tries pls, and log each failure",
        '''\
def fetch(url, timeout=10):
    """Return the body of a page."""
    for attempt in range(5):
        try:
            return download(url, timeout)
        except OSError:
            time.sleep(attempt)  # be polite
    return None
''',
        '''\
def fetch(url, timeout=10):
    """Return the body of a page."""
    for attempt in range(3):
        try:
            return download(url, timeout)
        except OSError as error:
            logger.warning("cannot fetch %s: %s", url, error)
            time.sleep(attempt)  # be polite
    return None
''',
    ),
    (
        "settings.ts",
        "a part of it",
        "the error should name the key. treat null like undefined",
        """\
get(key: string): string {
  const value = this.values[key];
  if (value === undefined) {
    throw new Error("missing value");
  }
  return value.trim();
}
""",
        """\
get(key: string): string {
  const value = this.values[key];
  if (value === undefined || value === null) {
    throw new Error(`missing value: ${key}`);
  }
  return value.trim();
}
""",
    ),
    (
        "stack.go",
        "only `Push`",
        "add Clear(), it should empty the stack",
        """\
// Push adds an item at the top.
func (s *Stack) Push(item string) {
	s.items = append(s.items, item)
}
""",
        """\
// Push adds an item at the top.
func (s *Stack) Push(item string) {
	s.items = append(s.items, item)
}

// Clear empties the stack.
func (s *Stack) Clear() {
	s.items = nil
}
""",
    ),
)


def repeats_example(before: str, after: str) -> bool:
    """Whether a text has a part of a worked example that it did not have before."""
    old, new, *parts = (
        "\n".join(map(str.strip, text.split("\n")))
        for text in (before, after, *(part for *_, a, b in WORKED_EXAMPLES for part in (a, b)))
    )
    return any(part in new and part not in old for part in parts)


# Characters of a file; of a longer one the model sees the signatures only
MAX_BESIDE_CHARACTERS = 6000
MAX_SIGNATURE_LINES = 4  # lines of a definition that may be its signature
GAP = "…"


@dataclass(frozen=True, slots=True)
class Beside:
    """A file for the model to know of."""

    name: str
    text: str
    signatures: bool = False  # only those: the file is long


_EDIT = (
    "Reply with the complete {0} after the edit and nothing else. "
    "Change only what the instruction asks for; copy every other line exactly, "
    "comments and blank lines included. Never shorten and never leave placeholders."
)
SYSTEM = "You edit source files. You get one file and one instruction. " + _EDIT.format("file")
PART = "You edit source code. You get one piece of code and one instruction. " + _EDIT.format(
    "piece"
)
A_PART = "a part of it"
OTHERS = "Other files, for reference only; never repeat them:\n\n"
REPLY = "\n\nReply with the "  # the last paragraph begins so
PLACES = (
    "You know source code. You get the outline of a file and what will be done in it, and say "
    "which parts of the file that is about. Reply with names from the outline and nothing else."
)


def fence(text: str) -> str:
    """A run of backticks longer than any in `text`, three at least."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    return "`" * max(3, longest + 1)


def opening(marks: str) -> str:
    """How the answer begins. A fence that names no language: the file's name says it, and of 194
    edits with tests 93 passed so, and 88 with the language after every fence."""
    return f"{marks}\n"


def printable(name: str) -> str:
    """A file's name for a prompt. It may be any bytes, and a prompt may not."""
    return name.encode("utf-8", "replace").decode()


def finished(text: str) -> str:
    """The text as a block holds it: its last line ends too."""
    return text if text.endswith("\n") else text + "\n"


def messages(
    name: str, text: str, instruction: str, *, part: str = "", beside: Sequence[Beside] = ()
) -> tuple[Message, ...]:
    """One file, or a part of one (`part` says which), and one instruction, after what is shown
    `beside` it. A part is shown without the lines around it, and the instruction stands on both
    sides of it: as often right as with its context, in a third of the time
    (docs/research/2026-11-edits.md)."""
    user = (*(others(beside) if beside else ()), *_asked(printable(name), text, instruction, part))
    constant = EXAMPLES_OF_PARTS if part else EXAMPLES_OF_FILES
    return (*constant, Message("user", user))


def _asked(name: str, text: str, instruction: str, part: str) -> tuple[str, str, str]:
    """A file or a part of it, and the instruction, as segments."""
    marks = fence(text)
    words = instruction.strip()
    before, reply = f"File `{name}`:", "complete edited file"
    if part:
        before, reply = f"{words}\n\nFile `{name}`, {part}:", "complete edited code"
    ask = f"{marks}\n\n{words}{REPLY}{reply} in one code block."
    return f"{before}\n\n{marks}\n", finished(text), ask


def _examples(system: str, *, parts: bool) -> tuple[Message, ...]:
    """The system message and the worked examples, each as a question and its answer."""
    messages = [Message("system", (system,))]
    for file, part, instruction, before, after in WORKED_EXAMPLES:
        marks = fence(before)
        asked = _asked(file, before, instruction, part if parts else "")
        messages.append(Message("user", asked))
        messages.append(Message("assistant", (f"{marks}\n{after}{marks}",)))
    return tuple(messages)


EXAMPLES_OF_FILES = _examples(SYSTEM, parts=False)
EXAMPLES_OF_PARTS = _examples(PART, parts=True)
CONSTANT = (  # with what prompts begin, the same in every run
    EXAMPLES_OF_FILES,
    EXAMPLES_OF_PARTS,
    (Message("system", (PLACES,)),),
)


def others(beside: Sequence[Beside]) -> Iterator[str]:
    """The files that are only to be known, a segment for each text."""
    yield OTHERS
    for source in beside:
        marks = fence(source.text)
        what = "The signatures in" if source.signatures else "File"
        yield f"{what} `{printable(source.name)}`:\n\n{marks}\n"
        yield finished(source.text)
        yield f"{marks}\n\n"


def with_feedback(messages: tuple[Message, ...], feedback: str) -> tuple[Message, ...]:
    """The same messages with what was wrong with an earlier answer, before the last paragraph, so
    that all text before it is in the cache. A small model answers a message of its own in prose."""
    *before, last = messages
    *segments, ask = last.segments
    head, reply, tail = ask.rpartition(REPLY)
    if not reply:
        head, tail = ask, ""
    against = f"\n\nAn earlier answer was wrong:\n\n{feedback.strip()}\n\nAvoid that mistake."
    return (*before, replace(last, segments=(*segments, f"{head}{against}{reply}{tail}")))


def places(name: str, outline: str, instruction: str) -> tuple[Message, ...]:
    """Which parts of a file an instruction is about. The outline is a segment of its own, and
    stands first: a second instruction on the file finds it in the cache."""
    marks = fence(outline)
    name = printable(name)
    head = f"Outline of the file `{name}`, each part by its name:\n\n{marks}\n"
    ask = (
        f"{marks}\n\n{instruction.strip()}\n\nThat is what somebody will do in this file. Which "
        "parts will be changed? Reply with the name of the likeliest part, then at most two "
        "others, one a line."
    )
    return (Message("system", (PLACES,)), Message("user", (head, outline, ask)))


def read_beside(names: Iterable[str]) -> tuple[Beside, ...]:
    """The files as the model is shown them."""
    results = []
    for name in dict.fromkeys(names):
        source = read(name)
        check_within(name)
        results.append(shown_beside(source))
    return tuple(results)


def shown_beside(source: Source) -> Beside:
    if len(source.text) <= MAX_BESIDE_CHARACTERS:
        return Beside(source.name, source.text)
    rows = list(_signatures(source))
    text = "\n".join(rows) if rows else source.text[:MAX_BESIDE_CHARACTERS]
    return Beside(source.name, text[: 2 * MAX_BESIDE_CHARACTERS], signatures=True)


def _signatures(source: Source) -> Iterator[str]:
    """The first lines of every definition, a gap where lines are left out."""
    lines = source.text.split("\n")
    last = 0
    for symbol in trees.symbols(source.text, source.language):
        if symbol.first_line <= last:
            continue
        if symbol.first_line > last + 1:
            yield GAP
        end = min(symbol.first_line + MAX_SIGNATURE_LINES - 1, symbol.last_line)
        for number in range(symbol.first_line, end + 1):
            yield lines[number - 1]
            last = number
            if lines[number - 1].rstrip().endswith((":", "{", ";", "=>", "=", "do")):
                break
    if last and last < len(lines):
        yield GAP
