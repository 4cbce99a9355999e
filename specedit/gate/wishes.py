"""Words of instructions, and what code cannot do without that has the thing they name.

Data: for any language that has the thing. Whether a sentence asks for it, `gate.asked` knows.
"""

from __future__ import annotations

from dataclasses import dataclass

_CASE = (
    r"(?i)lower|upper|casefold|ignore_?case|re\.i\b|fold|ordinalignore|/\w*i\w*\b|\[a-zA-Z|a-z.*A-Z"
)


@dataclass(frozen=True)
class AskedFor:
    """Words of an instruction, and what code of that kind holds. `more`: more of it than before."""

    said: str
    holds: str
    what: str
    more: bool = False


WISHES = (
    AskedFor(r"\bgenerators?\b", r"\byield\b|\(\s*[^()]*\bfor\b[^()]*\bin\b", "a generator"),
    AskedFor(
        r"\b(?:raise|raises|raising|throw|throws)\b", r"\braise\b|\bthrow\b|panic", "an error"
    ),
    AskedFor(r"\basync(?:hronous(?:ly)?)?\b", r"\basync\b|Async|Future|Task|await", "async code"),
    AskedFor(r"\bstatic methods?\b", r"\bstatic(?:method)?\b", "a static method", more=True),
    AskedFor(
        r"\b(?:add|write|with|include)\b.*\bdoc-?strings?\b", r'"""|\'\'\'', "a doc string", True
    ),
    AskedFor(r"\badd\b.*\bcomments?\b", r"#|//|/\*|--", "a comment", more=True),
    AskedFor(r"\b(?:logging|logger)\b", r"(?i)log", "logging"),
    AskedFor(r"\b(?:regex|regular expressions?)\b", r"\bre\.|(?i:regex)|\bmatch", "a pattern"),
    AskedFor(r"\bf-?strings?\b", r"\bf[\"']|\br?f[\"']", "an f-string"),
    AskedFor(r"\blambdas?\b", r"\blambda\b|=>|->", "a lambda"),
    AskedFor(r"\bdata ?classe?s?\b", r"(?i)data ?class", "a dataclass"),
    AskedFor(
        r"\b(?:type hints?|type annotations?|annotate)\b", r"->|:\s*\w", "annotations", more=True
    ),
    AskedFor(r"\bmemoi[sz]\w*|\bcach(?:e|es|ing)\b", r"(?i)memo|cache", "a cache"),
    AskedFor(r"\bnumpy\b", r"\bnp\b|numpy", "numpy"),
    AskedFor(r"\bpandas\b", r"\bpd\b|pandas", "pandas"),
    AskedFor(r"\bpathlib\b", r"\bPath\b|pathlib", "pathlib"),
    AskedFor(r"\bcase[- ]?insensitiv\w*|\bignor\w+ (?:the )?case\b", _CASE, "what ignores case"),
    AskedFor(r"\brecursion\b|\brecursive(?:ly)?\b", r"(?s)\b(\w+)\s*\(.*\b\1\s*\(", "recursion"),
    AskedFor(
        r"\b(?:list|dict\w*|set) comprehensions?\b", r"[\[{(][^\[\]]*\bfor\b", "a comprehension"
    ),
    AskedFor(
        r"\btry[-/ ](?:except|catch)\b|\bexception handling\b",
        r"\b(?:except|catch|rescue)\b",
        "what catches an error",
    ),
    AskedFor(r"\bcontext manager\b", r"\bwith\b|__enter__|contextmanager", "a context manager"),
    AskedFor(r"\bdecorator\b", r"@\w|\bdef \w+\((?:func|fn|f|function)\b", "a decorator"),
    AskedFor(r"\butf-?8\b", r"(?i)utf-?_?8|\.(?:en|de)code\(", "UTF-8"),
    AskedFor(
        r"\b(?:alphabetical(?:ly)?|ascending|descending)\b",
        r"(?i)sort|order|heap|revers|min|max|[<>]",
        "an order",
    ),
    AskedFor(
        r"\bdecimal places?\b|\bround(?:ed|s|ing)?\b (?:to|up|down|it|the)",
        r"(?i)round|floor|ceil|trunc|fixed|\.\d?f|quantiz|decimal|int\(",
        "rounding",
    ),
    AskedFor(
        r"\btype checks?\b|\bcheck\w* the types?\b",
        r"(?i)isinstance|typeof|\btype\(|instanceof|\bis\b|TypeError",
        "a check of types",
    ),
    AskedFor(r"\bTypeError\b", r"TypeError", "a TypeError"),
    AskedFor(r"\bValueError\b", r"ValueError", "a ValueError"),
    AskedFor(r"\btimeouts?\b", r"(?i)time_?out|deadline", "a timeout"),
    AskedFor(
        r"\bglobal (?:variable|constant)\b|\bconstants?\b",
        r"\b[A-Z][A-Z0-9_]+\b|\bconst\b|\bfinal\b",
        "a constant",
    ),
)
