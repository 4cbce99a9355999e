"""The manual as a static HTML site: one file a page, links between pages, no network.

The pages are this package's own text. A link to the repository becomes plain text, for the site
has none of its files.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from specedit import manual
from specedit.manual.reference import CommandHelp, html_section
from specedit.version import VERSION
from specedit.view.html import GENERATOR
from specedit.view.terminal import PICTURE

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
REPOSITORY_LINK = re.compile(r"\[([^\]]*)\]\(\.\.?/[^)]*\)")
PAGE_LINK = re.compile(r"\]\((\w+)\.md(#[\w-]+)?\)")
STYLE = """
:root { --back: #fff; --ink: #1f2328; --dim: #656d76; --line: #d0d7de; --panel: #f6f8fa; }
@media (prefers-color-scheme: dark) {
  :root { --back: #0d1117; --ink: #e6edf3; --dim: #8b949e; --line: #30363d; --panel: #161b22; }
}
body { margin: 0 auto; max-width: 860px; padding: 16px; background: var(--back); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
a { color: #2f81f7; } nav { color: var(--dim); }
nav a { margin-right: 10px; display: inline-block; }
pre, code { background: var(--panel); font: 14px/1.5 ui-monospace, monospace; }
pre { padding: 10px; border: 1px solid var(--line); overflow-x: auto; }
table { border-collapse: collapse; display: block; overflow-x: auto; overflow-wrap: normal; }
th, td { padding: 4px 12px 4px 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line); }"""


def pages(commands: Iterable[CommandHelp]) -> Iterator[tuple[str, str]]:
    """The file names and texts of the site."""
    items = (
        f'<li><a href="{name}.html">{name}</a>: {html.escape(about)}</li>'
        for name, about in manual.listing()
    )
    rest = '<li><a href="commands.html">commands</a>: every command and option</li>'
    yield "index.html", _page("manual", f"<h1>specedit</h1><ul>{''.join(items)}{rest}</ul>")
    for name in manual.topics():
        yield f"{name}.html", _page(name, _body(manual.page(name)))
    sections = [html_section(one) for one in commands]
    yield "commands.html", _page("commands", "<h1>commands</h1>" + "".join(sections))


def _page(title: str, body: str) -> str:
    names = [*manual.topics(), "commands"]
    links = "".join(f'<a href="{name}.html">{name}</a>' for name in names)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">{GENERATOR}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>specedit: {title}</title><style>{STYLE}</style></head>\n"
        f'<body><nav><a href="index.html">specedit {VERSION}</a>{links}</nav>\n'
        f"{body}</body></html>\n"
    )


def _body(text: str) -> str:
    """A page's Markdown as HTML, each heading with an anchor."""
    from markdown_it import MarkdownIt

    text = REPOSITORY_LINK.sub(r"\1", PICTURE.sub("", text))
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(PAGE_LINK.sub(r"](\1.html\2)", text))
    for heading, inline in pairwise(tokens):
        if heading.type == "heading_open":
            anchor = re.sub(r"[^\w]+", "-", inline.content.lower()).strip("-")
            heading.attrSet("id", anchor)
    rendered: str = parser.renderer.render(tokens, parser.options, {})
    return rendered
