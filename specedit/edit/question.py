"""Whether an instruction asks for an answer and not for an edit: "explain", "why", "what does".

Decided by how an English sentence is built: how it begins, whether it says where an answer is to be
written, and whether a further clause gives an order. When unsure it is an edit: an edit can be
undone.
"""

from __future__ import annotations

import re

from specedit.import_time import regex

_POLITE = (
    r"^\W*(?:(?:please|kindly|just|now|ok|so|hi|hello|hey|and|also|but|(?:can|could|would) you)"
    r"[\s,]+)*"
)
_IS = r"(?:is|are|am|was|were|does|did|has|isn't|aren't|wasn't|weren't|doesn't|didn't|hasn't)"
_MAY = r"(?:can|could|would|should|will|must|may|might|shall)"
_IT = r"(?:this|that|the|these|those|there|it|any|anything|anyone|we|you|they|i|my|its)"
_WH = r"(?:what|why|who|whom|which|whose|how|where|when|whether|if)"
_CODE = (  # what is asked about where a verb has another meaning, too
    r"(?:(?:the|this|these|all|my|our|its)\s+)?(?:\w+\s+){0,2}?"
    r"(?:files?|class(?:es)?|modules?|code|functions?|methods?|scripts?|program|changes?|structure"
    r"|design|logic|flow|algorithm|architecture|package|tests?|it|this|diff|api|interface)\b\W*"
    r"(?:$|\b(?:for|to)\s+(?:me|us)\b|\bof\b|\bin\s+(?:one|two|three|a few|plain|short|simple)\b)"
)
_QUESTIONS = regex(
    rf"(?i){_POLITE}(?:"
    r"(?:explain|describe)\b"
    rf"|(?:summari[sz]e|outline)\s+(?:{_WH}\b|{_CODE})"
    r"|tell (?:me|us)\b|walk (?:me|us) through|help me (?:to )?understand"
    rf"|(?:show|teach) (?:me|us) (?:what|why|who|how|where|when)\b|see {_WH}\b"
    r"|give (?:me|us) (?:an? )?(?:\w+ )?(?:overview|summary|explanation|idea|outline)\b"
    r"|i(?:'d| would)? (?:want|like|need) to (?:know|understand|see (?:why|how|what))\b"
    r"|i (?:wonder|don't understand|do not understand)\b|do you (?:know|see|think)\b"
    rf"|(?:whats?|why|who|whom|which|whose)\b"
    r"|how\s+(?:does|do|did|is|are|was|were|many|much|can|could|would|should|will|come|to|long"
    r"|often|far|deep|big|large|fast|slow|complex|safe|well)\b"
    rf"|(?:where|when)\s+(?:{_IS}|{_MAY}|do)\b"
    r"|(?:where|when)\b.*\?\W*$"  # "When it is empty, log that" asks nothing
    rf"|{_IS}\s+{_IT}\b|{_IS}\b.*\?\W*$"
    r"|(?:do|have)\s+(?:we|you|they)\b"
    r"|(?:do|have)\s+(?!it\b|so\b|not\b|the same\b).*\?\W*$"  # "Do the same here" asks nothing
    r"|(?:should|will|can|might|may)\s+(?:this|that|it|these|those|there|anything|anyone|i)\b.*\?\W*$"
    r")"
)
_SUGGESTS = regex(  # an edit in the words of a question
    rf"(?i){_POLITE}(?:what about|how about|why not|why (?:don't|do not|can't|can not) (?:we|you)"
    r"|why don't\b|why keep\b)\b"
)
_PLACES = (
    r"(?:(?:block |line |inline |code )?comments?|doc ?-?strings?|docs?|documentation|javadoc|jsdoc"
    r"|readme(?:\.\w+)?|headers?|headings?|help|help text|usage|changelog|labels?|captions?"
    r"|tooltips?|titles?|(?:error |log )?messages?|errors?|exceptions?|output|page|section"
    r"|alt text)"
)
_WRITTEN = regex(  # the answer is to stand in the file, or to be seen by those who run it
    rf"(?i)\b(?:in|inside|into|as|with|above|by|via|through|using|write|add)\s+(?:\w+\s+){{0,3}}?"
    rf"{_PLACES}\s*(?:$|[.,;:!]|\b(?:of|for|above|below|before|over|on|at|in|to|and|with|that|why|what"
    r"|how|when|which|so|beside|behind|next)\b)"
    r"|\b(?:to|for) (?:the |our |its )?(?:users?|readers?|callers?|visitors?|customers?|people)\b"
    r"|\bby (?:add|writ|insert|putt|giv|us|renam|comment|document|mak|extend)\w*ing\b"
    r"|\b(?:each|every)\b"
)
_ORDERS = (
    r"(?:abort|add|apply|adjust|allow|append|avoid|bump|cache|call|cast|change|check|clean|close|collapse"
    r"|combine|comment|convert|copy|correct|create|cut|delete|disable|document|drop|enable|ensure"
    r"|extend|extract|fail|filter|fix|format|get rid|give|guard|handle|have|hide|ignore|implement"
    r"|improve|inline|insert|introduce|keep|leave|let|limit|log|lower|make|mark|mend|merge|move"
    r"|omit|parse|pass|patch|print|put|raise|reduce|refactor|remove|rename|repair|replace|reset"
    r"|resolve|retry|return|reuse|revert|rewrite|round|save|set|show|shorten|simplify|skip|sort|speed|split|stop"
    r"|store|strip|swap|switch|take|test|throw|turn|type|undo|update|use|validate|wrap|write)"
)
_AND_ORDER = regex(  # a further clause that says what to do
    rf"(?i)(?:[,:;–—]|\s-\s|\band\b|\bthen\b|\bso\b|\bbut\b)\s*(?:(?:and|then|also|please|just|so)\s+)*"
    rf"(?:(?:can|could|would) you\s+)?(?:please\s+)?{_ORDERS}\s+[\w`'\"(\[{{{{*$@<]"
    rf"|[:;]\s*{_ORDERS}\s*[.!]*\s*$"
)
_DEMANDS = regex(  # "What total returns must be an int" is not a question
    rf"(?i){_POLITE}(?:what|which|who|whose|how \w+)\s+(?!{_MAY}\b)(?:\S+\s+)+?"
    r"(?:(?:must|should|shall|ought to|needs? to|ha(?:s|ve) to)\s+(?!i\b|we\b|you\b|they\b|it\b)\w"
    r"|to \w+ (?:is|are|belongs?|goes?|comes?) )"
)
_MANNER = regex(  # the form of the answer, and nothing else
    r"(?i)^\W*(?:be (?:brief|short|concise|precise)|keep (?:it|the answer) (?:short|brief|simple)"
    r"|(?:in|with) (?:one|two|three|a few|plain|simple|short)\b|briefly|thanks|thank you|please\W*$"
    r"|(?:do not|don't|never) (?:change|edit|touch|write|modify)\b|no (?:code|edits?|changes?)\b"
    r"|change nothing|just answer)"
)
_ABOUT = regex(rf"(?i){_POLITE}(?:whats?|why|where|when|who|whom|which|whose|how|{_IS}|do|have)\b")

_HOW_TO = regex(rf"(?i){_POLITE}how to\b")


def is_question(instruction: str) -> bool:
    """Whether each sentence is a question, or says in which form the answer is wanted."""
    text = instruction.replace("’", "'").strip()
    sentences = [s for s in re.split(r"(?<=[.?!])\s+|\n+", text) if s.strip(" .")]
    telling = [one for one in sentences if not _MANNER.match(one)]
    return bool(telling) and all(map(_asks, telling))


def _asks(sentence: str) -> bool:
    if not _QUESTIONS.match(sentence) or _SUGGESTS.match(sentence):
        return False
    if sentence.rstrip().endswith("?") and _ABOUT.match(sentence):
        return True  # "What does adding x change?"
    if _ABOUT.match(sentence) and not _HOW_TO.match(sentence):
        return not (_AND_ORDER.search(sentence) or _DEMANDS.match(sentence))
    return not (_AND_ORDER.search(sentence) or _WRITTEN.search(sentence))
