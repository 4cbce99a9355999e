"""Whether an instruction asks for an answer and not for an edit: "explain", "why", "what does".

Knows English words. When unsure it is an edit: an edit can be undone.
"""

from __future__ import annotations

import re

_ASKS = re.compile(
    r"(?i)^\W*(?:(?:please|can you|could you|would you|just)\s+)*"
    r"(?:explain|describe|summari[sz]e|outline|tell me|walk me through"
    r"|(?:what|why|who|which|whose)\b"
    r"|(?:where|when)\b.*\?\W*$"  # "When it is empty, log that" asks nothing
    r"|(?:where|when)\s+(?:is|are|does|do|did|was|were|can|would|should|will)\b"
    r"|how\s+(?:does|do|is|are|many|much|can|would|should)"
    r"|(?:is|are|does|did|was|were|has)\s+(?:this|that|the|these|those|there|it|any|we|you)\b"
    r"|(?:do|have)\s+(?:we|you|they|any)\b"
    r"|(?:do|have)\s+(?:this|that|the|these|those|it)\b.*\?\W*$)"  # "Do the same here" asks nothing
)
_EDITS = re.compile(  # a word that wants the file to be another one afterwards
    r"(?i)\b(?:add|chang|fix|writ|put|insert|remov|delet|renam|replac|mak|updat|us(?:e|ing)\b|creat"
    r"|convert|refactor|implement|document|comment|docstring|doc string|javadoc|readme|inline|turn"
    r"|correct|improv|rewrit|return|rais|handl|mov|extract|simplif|annotat|test|in place|append"
    r"|each\b|every\b)\w*"
)
_ABOUT = re.compile(
    r"(?i)^\W*(?:why|what|where|when|who|which|whose|how|is|are|does|do|did|was|were|has|have)\b"
)


def asks(instruction: str) -> bool:
    """Whether all of it asks: each sentence is a question, or begins as one and wants no change."""
    sentences = [s for s in re.split(r"(?<=[.?!])\s+|\n+", instruction.strip()) if s.strip(" .")]
    return bool(sentences) and all(map(_is_question, sentences))


def _is_question(sentence: str) -> bool:
    if not _ASKS.match(sentence):
        return False
    if sentence.rstrip().endswith("?") and _ABOUT.match(sentence):
        return True  # "What does adding x change?"
    return not _EDITS.search(sentence)
