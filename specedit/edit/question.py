"""Whether an instruction asks for an answer and not for an edit. When unsure it is an edit: an edit
can be undone."""

from __future__ import annotations

import re

from specedit.check.new_code import ABOUT_COMMENTS

_ASKS = re.compile(
    r"(?i)^\W*(?:please\s+|(?:can|could|would) you (?:please )?)?"
    r"(?:explain|why(?! not| don't)|tell me|walk me through|help me understand"
    r"|how (?:does|do|did|is|are|many|much|come)|what does)\b"
)
_WISHES = re.compile(  # an edit in the words of a question
    r"(?i)^\W*(?:please\s+)?(?:(?:can|could|would|will) (?:you|we)|why not|why (?:don't|can't)"
    r"|(?:what|how) about)\b"
)


def is_question(instruction: str) -> bool:
    """Whether each sentence is a question."""
    text = instruction.replace("’", "'").strip()
    sentences = [part for part in re.split(r"(?<=[.?!？！。])\s*", text) if part.strip(" .")]
    return bool(sentences) and all(map(_is_question, sentences))


def _is_question(sentence: str) -> bool:
    if asks := _ASKS.match(sentence):
        return sentence.endswith("?") or not ABOUT_COMMENTS.search(sentence[asks.end() :])
    return sentence.endswith(("?", "？")) and not _WISHES.match(sentence)
