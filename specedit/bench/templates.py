"""The text that generated edits are made of: six languages, one small function in two forms.

Own fixtures, written for this. In upper case: NAME, FIELD, START, SCALE, LIMIT are filled in.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Template:
    """One language's file: `head`, many times `body` (or `other`, rewritten), `foot`."""

    filename: str
    comment: str
    head: str
    body: str
    other: str
    foot: str = ""
    other_head: str = ""
    style: str = "snake"  # or "camel", "pascal"

    def named(self, name: str) -> str:
        """A name with underscores in the language's own manner."""
        if self.style == "snake":
            return name
        first, *rest = name.split("_")
        joined = first + "".join(word.capitalize() for word in rest)
        return joined[:1].upper() + joined[1:] if self.style == "pascal" else joined


PYTHON = Template(
    "totals.py",
    "# row",
    head='"""Totals of things."""\n\nscale = 4\n\n\n',
    body=(
        "def NAME(items):\n    total = START * SCALE\n    for item in items:\n"
        "        if item.FIELD > LIMIT:\n            continue\n        total += item.FIELD\n"
        "    return total // SCALE\n\n\n"
    ),
    other=(
        "def NAME(items):\n    kept = [i.FIELD for i in items if i.FIELD <= LIMIT]\n"
        "    return (START * SCALE + sum(kept)) // SCALE\n\n\n"
    ),
    other_head='"""Sums, each an expression."""\n\nfrom __future__ import annotations\n\n\n',
)
JAVASCRIPT = Template(
    "totals.js",
    "// row",
    head='"use strict";\n\nconst scale = 4;\n\n',
    body=(
        "function NAME(items) {\n  let total = START * SCALE;\n  for (const item of items) {\n"
        "    if (item.FIELD > LIMIT) continue;\n    total += item.FIELD;\n  }\n"
        "  return total / SCALE;\n}\n\n"
    ),
    other=(
        "const NAME = (items) =>\n  items\n    .filter((i) => i.FIELD <= LIMIT)\n"
        "    .reduce((sum, i) => sum + i.FIELD, START * SCALE) / SCALE;\n\n"
    ),
    other_head="// Sums, each an expression.\n\n",
    style="camel",
)
JAVA = Template(
    "Totals.java",
    "// row",
    head=(
        "import java.util.List;\n\nclass Totals {\n    static int scale = 4;\n\n"
        "    record Item(int size, int price, int age, int score, int weight, int depth) {}\n\n"
    ),
    body=(
        "    static int NAME(List<Item> items) {\n        int total = START * SCALE;\n"
        "        for (Item item : items) {\n            if (item.FIELD() > LIMIT) continue;\n"
        "            total += item.FIELD();\n        }\n        return total / SCALE;\n    }\n\n"
    ),
    other=(
        "    static int NAME(List<Item> items) {\n"
        "        var kept = items.stream().filter(i -> i.FIELD() <= LIMIT);\n"
        "        return (START * SCALE + kept.mapToInt(Item::FIELD).sum()) / SCALE;\n    }\n\n"
    ),
    foot="}\n",
    other_head=(
        "import java.util.*;\n\nfinal class Sums {\n"
        "    record Item(int size, int price, int age, int score, int weight, int depth) { }\n\n"
    ),
    style="camel",
)
CSHARP = Template(
    "Totals.cs",
    "// row",
    head=(
        "using System.Collections.Generic;\n\nstatic class Totals\n{\n    static int scale = 4;\n\n"
    ),
    body=(
        "    public static int NAME(List<Item> items)\n    {\n        int total = START * SCALE;\n"
        "        foreach (var item in items)\n        {\n"
        "            if (item.FIELD <= LIMIT) total += item.FIELD;\n        }\n"
        "        return total / SCALE;\n    }\n\n"
    ),
    other=(
        "    public static int NAME(List<Item> items) =>\n        (START * SCALE\n"
        "            + items.Where(i => i.FIELD <= LIMIT).Sum(i => i.FIELD)) / SCALE;\n\n"
    ),
    foot="}\n",
    other_head="using System.Linq;\n\npublic static class Sums {\n",
    style="pascal",
)
GO = Template(
    "totals.go",
    "// row",
    head=(
        "package totals\n\nvar scale = 4\n\n"
        "type Item struct{ Size, Price, Age, Score, Weight, Depth int }\n\n"
    ),
    body=(
        "func NAME(items []Item) int {\n\ttotal := START * SCALE\n\tfor _, item := range items {\n"
        "\t\tif item.FIELD > LIMIT {\n\t\t\tcontinue\n\t\t}\n\t\ttotal += item.FIELD\n\t}\n"
        "\treturn total / SCALE\n}\n\n"
    ),
    other=(
        "func NAME(items []Item) int {\n"
        "\treturn sum(items, START*SCALE, func(i Item) (int, bool) {\n"
        "\t\treturn i.FIELD, i.FIELD <= LIMIT\n\t}) / SCALE\n}\n\n"
    ),
    other_head=(
        "package sums\n\ntype Item struct {\n\tSize, Price, Age, Score, Weight, Depth int\n}\n\n"
    ),
    style="pascal",
)
RUST = Template(
    "totals.rs",
    "// row",
    head="use crate::item::Item;\n\nstatic scale: i64 = 4;\n\n",
    body=(
        "pub fn NAME(items: &[Item]) -> i64 {\n    let mut total = START * SCALE;\n"
        "    for item in items {\n        if item.FIELD > LIMIT {\n            continue;\n"
        "        }\n        total += item.FIELD;\n    }\n    total / SCALE\n}\n\n"
    ),
    other=(
        "pub fn NAME(items: &[Item]) -> i64 {\n"
        "    let kept = items.iter().map(|i| i.FIELD).filter(|v| *v <= LIMIT);\n"
        "    (START * SCALE + kept.sum::<i64>()) / SCALE\n}\n\n"
    ),
    other_head="//! Sums, each an expression.\n\nuse crate::item::*;\n\n",
)

TEMPLATES = {
    "python": PYTHON,
    "javascript": JAVASCRIPT,
    "java": JAVA,
    "csharp": CSHARP,
    "go": GO,
    "rust": RUST,
}
