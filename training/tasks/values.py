"""Kinds that change a value, a name, an operator or a type."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from specedit.syntax.branch import COMMENTS, Branch
from specedit.syntax.identifiers import styles, words_of
from training.tasks.change import (
    BOOLEANS,
    CALLS,
    LOGS,
    NAMES,
    NUMBERS,
    RAISES,
    RETURNS,
    STRINGS,
    Change,
    arguments,
    backward,
    callee,
    forward,
    inner,
    name_given,
    one_line,
    plain_string,
    put,
    slips,
)
from training.tasks.source import Source

Found = Iterator[Change]
MAX_COMPARED_CHARACTERS = 40
MAX_WORDING_CHARACTERS = 400  # of a comment or string with a slip
HEAD_LINES = 30  # where a licence stands
CONSTANT = re.compile(r"[A-Z][A-Z0-9_]{3,}")


def number(source: Source, rng: random.Random, data: Any) -> Found:
    """Another number, said by its old value or by the name it is given to."""
    for node in source.of(*NUMBERS):
        old = source.say(node)
        if not re.fullmatch(r"\d{1,7}|\d{1,4}\.\d{1,3}", old):
            continue
        value = float(old)
        if "." in old:
            new = f"{value * rng.choice((2, 0.5, 1.5)) + 0.25:.2f}"
        else:
            more = [value // 2] if value >= 4 else [3]
            new = str(int(rng.choice([value * 2, value + 1, value * 10, value + 5, *more]) or 3))
        name = name_given(node, source)
        words = {"old": old, "new": new, "name": name}
        if name and new != old:
            yield forward("number", node.start, [put(node, new)], words, name, form="named")
        if value >= 2 and new != old:
            yield forward("number", node.start, [put(node, new)], words, old, mention=old)


def boolean(source: Source, rng: random.Random, data: Any) -> Found:
    """The other truth value for a name."""
    opposite = {"true": "false", "false": "true", "True": "False", "False": "True"}
    for node in source.of(*BOOLEANS):
        name, new = name_given(node, source), opposite[source.say(node)]
        if name:
            form, words = "on" if new.lower() == "true" else "off", {"new": new, "name": name}
            yield forward("boolean", node.start, [put(node, new)], words, name, form=form)


def message(source: Source, rng: random.Random, data: Any) -> Found:
    """Another text of a message: a prefix, a full stop, a capital or another word."""
    for node in source.of(*STRINGS):
        text, call = plain_string(node, source), node.around(*CALLS)
        if call is None or len(words_of(text)) < 3 or " " not in text or not one_line(text):
            continue
        if not text[0].isalnum() or (node.parent and "concat" in node.parent.type):
            continue
        if not (node.around(*RAISES) or callee(call, source).lower() in LOGS | {"error", "new"}):
            continue
        start = " ".join(text.split()[:4])
        function = source.function_at(node.start)
        turns: list[tuple[str, str, dict[str, str]]] = []
        if text[-1].isalnum():
            turns.append(("stop", text + ".", {}))
        if text[-1] == ".":
            turns.append(("nostop", text[:-1], {}))
        if function is not None and ":" not in text and function.own_name not in text:
            turns.append(("prefix", f"{function.own_name}: {text}", {"new": function.own_name}))
        if re.match(r"[a-z]+ ", text):
            turns.append(("capital", text[0].upper() + text[1:], {}))
        for old, new in data["synonyms"]:
            if re.search(rf"\b{old}\b", text):
                other = re.sub(rf"\b{old}\b", new, text, count=1)
                turns.append(("word", other, {"old": old, "new": new}))
        for form, new, words in turns:
            edit, words = put(node.children[1], new), {"start": start} | words
            named = words["old"] if form == "word" else start
            yield forward("message", node.start, [edit], words, named, form=form)


_INCLUSIVE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_OPPOSITE = {"==": "!=", "!=": "==", "===": "!==", "!==": "===", "is": "is not", "is not": "is"}


def comparison(source: Source, rng: random.Random, data: Any) -> Found:
    """A comparison that includes its bound, or leaves it out; or the opposite of an equality."""
    for node in source.of("binary_expression", "comparison_operator"):
        if len(node.children) != 3:
            continue
        left, sign, right = (source.say(child) for child in node.children)
        if len(left + right) > MAX_COMPARED_CHARACTERS or "\n" in left + right:
            continue
        kind, form = "comparison", "include" if "=" in _INCLUSIVE.get(sign, "") else "exclude"
        if (
            sign in _OPPOSITE
            and left != "__name__"
            and node.around("if_statement", "if_expression")
        ):
            kind, form = "invert", ""
        elif sign not in _INCLUSIVE:
            continue
        new = _INCLUSIVE.get(sign) or _OPPOSITE[sign]
        words = {"left": left, "right": right, "old": sign, "new": new}
        edit = put(node.children[1], new)
        yield forward(kind, node.start, [edit], words, left, right, form=form)


def exception(source: Source, rng: random.Random, data: Any) -> Found:
    """Another type of exception, said by the old one or by its message."""
    types = data["exceptions"].get(source.language.name, [])
    for node in source.of(*RAISES):
        call = next(iter(node.named_children()), node)
        kind = call.part("function") or call.part("type") or call.part("constructor")
        if call.type not in CALLS or kind is None or source.say(kind) not in types:
            continue
        old = source.say(kind)
        edit = put(kind, rng.choice([name for name in types if name != old]))
        text = next((plain_string(inner(a), source) for a in arguments(call)), "")
        words = {"old": old, "new": edit[2], "start": " ".join(text.split()[:4])}
        yield forward("exception", node.start, [edit], words, old)
        if len(text.split()) > 2:
            yield forward("exception", node.start, [edit], words, text, form="about")


def type_(source: Source, rng: random.Random, data: Any) -> Found:
    """Another type of a field, parameter or variable."""
    table = data["types"].get(source.language.name, {})
    for node in source.of(
        *("primitive_type", "predefined_type", "integral_type", "floating_point_type"),
        *("type_identifier", "type"),
    ):
        around = node.parent
        if source.say(node) not in table or around is None:
            continue
        if around.type in ("type_annotation", "variable_declaration"):
            around = around.parent or around
        name = around.part("name") or around.part("pattern") or around.first("identifier")
        if around.type in ("local_declaration_statement", "field_declaration") or (
            name is None and around.type == "local_variable_declaration"
        ):
            name = next(
                (n for n in around.walk() if n.type in NAMES and n.start > node.start), name
            )
        if name is None or name.type not in NAMES:
            continue
        if sum(child.field == "name" for child in around.children) > 1:
            continue  # `a, b int`
        if not around.type.startswith(("function", "method", "constructor")):
            old, new = source.say(node), rng.choice(table[source.say(node)])
            words = {"name": source.say(name), "old": old, "new": new}
            yield forward("type", node.start, [put(node, new)], words, words["name"])


def swap_arguments(source: Source, rng: random.Random, data: Any) -> Found:
    """The two arguments of a call in the other order."""
    for call in source.of(*CALLS):
        given, name = arguments(call), callee(call, source)
        if len(given) != 2 or name in ("", "super"):
            continue
        types = {inner(node).type for node in given}
        if types & {"arrow_function", "lambda", "spread_element", "keyword_argument"}:
            continue
        first, second = (source.say(node) for node in given)
        if first != second and one_line(first + second) and "*" not in (first[0], second[0]):
            edits = [put(given[0], second), put(given[1], first)]
            words = {"callee": name, "first": first, "second": second}
            yield forward("swap_arguments", call.start, edits, words, name, mention=name + "(")


def return_value(source: Source, rng: random.Random, data: Any) -> Found:
    """Another plain value that is returned, said by its condition or by the old value."""
    table = data["values"].get(source.language.name, {})
    for node in source.of(*RETURNS):
        value = next(iter(node.named_children()), node)
        old = source.say(value)
        if old not in table:
            continue
        edit = put(value, rng.choice(table[old]))
        words = {"old": old, "new": edit[2]}
        yield forward("return_value", node.start, [edit], words, old)
        holder = node.parent
        while holder is not None and holder.type in (
            "statement_list",
            "expression_statement",
            "block",
        ):
            holder = holder.parent
        condition = holder.part("condition") if holder is not None else None
        consequence = holder.part("consequence") if holder is not None else None
        if condition is None or consequence is None or not consequence.end >= node.end:
            continue
        words = words | {"condition": source.say(inner(condition))}
        if one_line(words["condition"]):
            more = {"form": "when"}
            yield forward("return_value", node.start, [edit], words, words["condition"], **more)


def everywhere(source: Source, rng: random.Random, data: Any) -> Found:
    """Another text for a string that stands in the file several times."""
    by_text: dict[str, list[Branch]] = {}
    for node in source.of(*STRINGS):
        by_text.setdefault(plain_string(node, source), []).append(node)
    for text, nodes in by_text.items():
        if not 2 <= len(nodes) <= 5 or not re.fullmatch(r"[A-Za-z][\w-]{3,25}", text):
            continue
        forms = styles(text)
        new = rng.choice([forms["snake"], forms["kebab"], forms["camel"], forms["SCREAMING"]])
        if source.text.count(text) != len(nodes) or len(words_of(text)) < 2:
            continue
        if new not in source.text:
            edits = [put(node.children[1], new) for node in nodes]
            words = {"old": text, "new": new}
            yield forward("everywhere", nodes[0].start, edits, words, text, whole=True)


def constant(source: Source, rng: random.Random, data: Any) -> Found:
    """A constant in the place of its value, and the same with the constant itself: programmers
    wrote both."""
    for node in source.of(*NUMBERS, *STRINGS):
        name, value = name_given(node, source), source.say(node)
        if not CONSTANT.fullmatch(name) or not one_line(value) or value in ("0", "1"):
            continue
        if source.function_at(node.start) is not None or source.text.count(value) != 1:
            continue
        uses = [
            use
            for use in source.of("identifier")
            if source.say(use) == name and use.field != "name" and use.parent is not None
        ]
        odd = ("access", "attribute", "pattern", "import", "export")
        if any(word in use.parent.type for use in uses if use.parent for word in odd):
            continue
        for function in source.functions:
            inside = [use for use in uses if use in source.inside(function, "identifier")]
            if inside:
                edits, words = [put(use, value) for use in inside], {"name": name, "old": value}
                yield backward("constant", inside[0].start, edits, words, name)
        line = node
        while line.parent is not None and not source.alone(line.start, line.end):
            line = line.parent
        above = line.parent.named_before(line.start) if line.parent is not None else None
        uses = [use for use in uses if not line.start <= use.start < line.end]
        if above is None or above.type in COMMENTS or source.commented(line):
            continue
        code, anchor = source.say(line).rstrip(";,"), source.say(above).rstrip(";,")
        mentions = len(re.findall(rf"\b{name}\b", source.text))
        if (
            one_line(code)
            and one_line(anchor)
            and 1 <= len(uses) <= 4
            and mentions == len(uses) + 1
        ):
            edits = [source.without(line), *(put(use, value) for use in uses)]
            words = {"name": name, "value": value, "code": code, "anchor": anchor}
            more: dict[str, Any] = {"whole": True, "position": "after", "mention": anchor}
            yield backward("make_constant", line.start, edits, words, name, **more)


def call_instead(source: Source, rng: random.Random, data: Any) -> Found:
    """Another function or method in a call."""
    others = data["callees"]["all"] | data["callees"].get(source.language.name, {})
    for call in source.of(*CALLS[:4]):
        old, function = callee(call, source), call.part("function") or call.part("name")
        if old in others and function is not None:
            name = [n for n in function.walk() if n.type in NAMES and source.say(n) == old][-1:]
            if name and name[0].end == function.end:
                edit = put(name[0], rng.choice(others[old]))
                words = {"old": old, "new": edit[2]}
                yield forward("call_instead", call.start, [edit], words, old, mention=old)


# names


def rename_local(source: Source, rng: random.Random, data: Any) -> Found:
    """Another name for a parameter or variable, everywhere in its function."""
    snake = source.language.name in ("python", "rust")
    types = ("identifier", "shorthand_property_identifier", "type_identifier")
    for function in source.functions:
        used: dict[str, list[Branch]] = {}
        for node in source.inside(function, *types):
            used.setdefault(source.say(node), []).append(node)
        for old, nodes in used.items():
            fitting = [
                new
                for new in data["names"].get(old, ())
                if (new.lower() == new if snake else "_" not in new) and not source.has_word(new)
            ]
            mentions = len(re.findall(rf"\b{old}\b", source.body(function)))
            if not fitting or not 2 <= len(nodes) == mentions:
                continue  # a string or comment says it too
            if re.search(rf"[{{$%]{old}\b", source.text) or source.text.count(f"{old}=") > 3:
                continue
            if any(map(_declares, nodes)) and not any(map(_is_other, nodes)):
                new = rng.choice(fitting)
                edits = [put(node, new) for node in nodes]
                words = {"old": old, "new": new}
                yield forward("rename_local", nodes[0].start, edits, words, old)


def _declares(node: Branch) -> bool:
    around = node.parent
    if node.field in ("name", "pattern", "left"):
        return True
    return around is not None and ("parameter" in around.type or around.field == "left")


def _is_other(node: Branch) -> bool:
    """Whether a name is not that of a variable: a member, a type, the name of an argument."""
    around = node.parent.type if node.parent else ""
    if node.type != "identifier" or "field_initializer" in around:
        return True
    if node.field in ("attribute", "property", "field", "function", "key", "method"):
        return True
    holders = ("keyword_argument", "access", "invocation")
    if node.field == "name" and any(holder in around for holder in holders):
        return True
    return node.around("function_type", "function_signature") is not None


def rename_member(source: Source, rng: random.Random, data: Any) -> Found:
    """Another name for a field, a method or a function, in the whole file."""
    swaps = data["swaps"]
    by_name: dict[str, list[Branch]] = {}
    for node in source.of("identifier", "property_identifier", "field_identifier"):
        by_name.setdefault(source.say(node), []).append(node)
    for old, nodes in by_name.items():
        parts = words_of(old)
        target = next((part for part in parts if part.lower() in swaps), "")
        if not target or not 3 <= len(nodes) <= 9 or len(parts) != 2 or old.isupper():
            continue
        if len(re.findall(rf"\b{old}\b", source.text)) != len(nodes):
            continue
        around = [node.parent.type if node.parent else "" for node in nodes]
        declared = any(
            node.field == "name"
            and (re.search("declaration|definition", kind) or kind in _DECLARING)
            for node, kind in zip(nodes, around, strict=True)
        )
        if not declared and not re.search(rf"\b(?:self|this)\.{old} = ", source.text):
            continue
        if any(node.field == "type" for node in nodes) or re.search(
            "type|import", " ".join(around)
        ):
            continue
        if re.search(rf"[)\]]\s*\.{old}\b", source.text):
            continue  # of a result, which may be of another type
        word = rng.choice(swaps[target.lower()])
        new = old.replace(target, word.capitalize() if target[0].isupper() else word)
        if new not in source.text:
            edits, words = [put(node, new) for node in nodes], {"old": old, "new": new}
            yield forward("rename_member", nodes[0].start, edits, words, old, whole=True)


_DECLARING = ("variable_declarator", "function_item")

# spelling

_LICENCE = re.compile(r"(?i)copyright|licen[cs]e|redistrib|permission|the software")


def typo(source: Source, rng: random.Random, data: Any) -> Found:
    """A slip in a comment or message, put there first."""
    licence = bool(_LICENCE.search("\n".join(source.text.split("\n")[:HEAD_LINES])))
    counts = Counter(re.findall(r"[a-z]{5,}", source.text))
    for node in source.of(*COMMENTS, *STRINGS):
        text = source.say(node)
        candidates = re.findall(r"(?<=[a-z,] )[a-z]{6,12}(?=[ .,])", text)
        if not candidates or len(text) > MAX_WORDING_CHARACTERS or _LICENCE.search(text):
            continue
        if (licence and node.line <= HEAD_LINES) or "  " in text.strip().split("\n")[0]:
            continue
        word = rng.choice(candidates)
        wrong = rng.choice(slips(word, rng))
        known = counts[word] > 1 or word in data["common"].split()
        if text.count(word) != 1 or not known or wrong == word or wrong in source.text:
            continue
        start = node.start + len(text[: text.index(word)].encode())
        edits = [(start, start + len(word), wrong)]
        words = {"wrong": wrong, "what": "comment" if node.type in COMMENTS else "text"}
        form = rng.choice(("said", "hidden"))
        yield backward("typo", node.start, edits, words, wrong, form=form)


KINDS = (
    number, boolean, message, comparison, exception, type_, swap_arguments, return_value,
    everywhere, constant, call_instead, rename_local, rename_member, typo,
)  # fmt: skip
