"""What an instruction is about, by its words."""

import re

ABOUT_COMMENTS = re.compile(
    r"(?i)\bcomment|\bdoc(?:s\b|string|ument)|javadoc|jsdoc|translat|\btodo\b"
    r"|typo|spell|grammar|wording|word|summary|remark|capitali|licen[cs]e|copyright|header"
    r"|explain|describ|clarif|mention|note|english|proofread"
)
ABOUT_SPACE = re.compile(
    r"(?i)format|indent|white\s?space|blank|empty line|style|\bpep\b|pep-?8|lint|\btabs?\b"
    r"|\bspaces?\b|newline|prettier|\bblack\b|gofmt|rustfmt|align|trailing|tidy|clean|wrap"
)
