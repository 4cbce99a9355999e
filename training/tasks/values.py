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
    callee,
    forward,
    inner,
    name_given,
    one_line,
    plain_string,
)
from training.tasks.source import Source

Found = Iterator[Change]
Random = random.Random


def number(source: Source, rng: Random, data: Any) -> Found:
    """Another number, said by its old value or by the name it is given to."""
    for node in source.of(*NUMBERS):
        old = source.say(node)
        if not re.fullmatch(r"\d{1,7}|\d{1,4}\.\d{1,3}", old):
            continue
        value = float(old)
        if "." in old:
            new = f"{value * rng.choice((2, 0.5, 1.5)):g}"
            new = new if "." in new else new + ".0"
        else:
            choices = [value * 2, value + 1, value * 3, value * 10, value + 5]
            choices += [value // 2] if value >= 4 else []
            new = str(int(rng.choice(choices)) or 3)
        if new == old:
            continue
        edit = ((node.start, node.end, new),)
        name = name_given(node, source)
        words = {"old": old, "new": new, "name": name}
        if name:
            yield Change("number", node.start, (), edit, words, (name,), form="named")
        if value >= 2:
            yield Change("number", node.start, (), edit, words, (old,), mention=old)


def boolean(source: Source, rng: Random, data: Any) -> Found:
    """The other truth value for a name."""
    for node in source.of(*BOOLEANS):
        name = name_given(node, source)
        old = source.say(node)
        if name:
            new = {"true": "false", "false": "true", "True": "False", "False": "True"}[old]
            change = forward("boolean", node, new, {"old": old, "new": new, "name": name}, name)
            form = "on" if new.lower() == "true" else "off"
            yield Change(**{**vars(change), "form": form})


def message(source: Source, rng: Random, data: Any) -> Found:
    """Another text of a message: a prefix, a full stop, or another word."""
    for node in source.of(*STRINGS):
        text = plain_string(node, source)
        call = node.around(*CALLS)
        if len(words_of(text)) < 3 or " " not in text or call is None or len(text) > 90:
            continue
        if not text[0].isalnum() or (node.parent and "concat" in node.parent.type):
            continue
        if not (node.around(*RAISES) or callee(call, source).lower() in LOGS | {"error", "new"}):
            continue
        place = node.children[1]
        start = " ".join(text.split()[:4])
        words = {"text": text, "start": start}
        first = start.split()[0]
        turns: list[tuple[str, str, dict[str, str]]] = []
        if text[-1].isalnum():
            turns.append(("stop", text + ".", {}))
        if text[-1] == ".":
            turns.append(("nostop", text[:-1], {}))
        function = source.function_at(node.start)
        if function is not None and ":" not in text and function.own_name not in text:
            turns.append(("prefix", f"{function.own_name}: {text}", {"new": function.own_name}))
        if first.isalpha() and first.islower():
            turns.append(("capital", text[0].upper() + text[1:], {}))
        for old, new in data["synonyms"]:
            if re.search(rf"\b{old}\b", text):
                other = re.sub(rf"\b{old}\b", new, text, count=1)
                turns.append(("word", other, {"old": old, "new": new}))
        for form, new, more in turns:
            edit = ((place.start, place.end, new),)
            named = (more["old"],) if form == "word" else (start,)
            yield Change("message", node.start, (), edit, {**words, **more}, named, form=form)


_INCLUSIVE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


def comparison(source: Source, rng: Random, data: Any) -> Found:
    """A comparison that includes its bound, or leaves it out; or the opposite of an equality."""
    for node in source.of("binary_expression", "comparison_operator"):
        if len(node.children) != 3:
            continue
        left, operator, right = node.children
        sign = source.say(operator)
        a, b = source.say(left), source.say(right)
        if not one_line(a + b) or len(a + b) > 40 or a == "__name__":
            continue
        words = {"left": a, "right": b, "old": sign, "code": source.say(node)}
        if sign in _INCLUSIVE:
            new = _INCLUSIVE[sign]
            form = "include" if "=" in new else "exclude"
            edit = ((operator.start, operator.end, new),)
            words["new"] = new
            yield Change("comparison", node.start, (), edit, words, (a, b), form=form)
        elif sign in ("==", "!=", "===", "!==", "is", "is not") and "if" in str(
            node.parent and (node.parent.type, node.parent.parent and node.parent.parent.type)
        ):
            flip = {"is": "is not", "is not": "is"}
            new = flip.get(sign) or ("!" + sign[1:] if sign[0] == "=" else "=" + sign[1:])
            edit = ((operator.start, operator.end, new),)
            words["new"] = new
            yield Change("invert", node.start, (), edit, words, (a, b))


def exception(source: Source, rng: Random, data: Any) -> Found:
    """Another type of exception."""
    types = data["exceptions"].get(source.language.name, [])
    for node in source.of(*RAISES):
        call = next(iter(node.named_children()), None)
        if call is None or call.type not in CALLS:
            continue
        kind = call.part("function") or call.part("type") or call.part("constructor")
        if kind is None or source.say(kind) not in types:
            continue
        old = source.say(kind)
        new = rng.choice([name for name in types if name != old])
        text = next((plain_string(inner(a), source) for a in arguments(call)), "")
        edit = ((kind.start, kind.end, new),)
        words = {"old": old, "new": new, "start": " ".join(text.split()[:4])}
        yield Change("exception", node.start, (), edit, words, (old,))
        if len(text.split()) > 2:
            yield Change("exception", node.start, (), edit, words, (text,), form="about")


def type_(source: Source, rng: Random, data: Any) -> Found:
    """Another type of a field, parameter or variable."""
    table = data["types"].get(source.language.name, {})
    for node in source.of(
        *("primitive_type", "predefined_type", "integral_type", "floating_point_type"),
        *("type_identifier", "type"),
    ):
        old = source.say(node)
        around = node.parent
        if old not in table or around is None:
            continue
        if around.type in ("type_annotation", "variable_declaration"):
            around = around.parent or around
        name = (
            around.part("name") or around.part("pattern") or around.part("declarator")
            or around.first("variable_declarator")
        ) or around.first("identifier")  # fmt: skip
        if around.type == "local_declaration_statement" or around.type == "field_declaration":
            name = next(
                (n for n in around.walk() if n.type in NAMES and n.start > node.start), name
            )
        if name is not None and name.type == "variable_declarator":
            name = name.part("name")
        functions = ("function", "method", "constructor")
        if name is None or name.type not in NAMES or around.type.startswith(functions):
            continue
        new = rng.choice(table[old])
        words = {"name": source.say(name), "old": old, "new": new}
        yield forward("type", node, new, words, words["name"])


def rename_local(source: Source, rng: Random, data: Any) -> Found:
    """Another name for a parameter or variable, everywhere in its function."""
    table = data["names"]
    for function in source.functions:
        lines = range(function.first_line, function.last_line + 1)
        used: dict[str, list[Branch]] = {}
        for node in source.of("identifier", "shorthand_property_identifier", "type_identifier"):
            if node.line in lines:
                used.setdefault(source.say(node), []).append(node)
        for old, nodes in used.items():
            if old not in table or len(nodes) < 2 or source.text.count(f"{old}=") > 3:
                continue
            snake = source.language.name in ("python", "rust")
            fitting = [n for n in table[old] if (n.lower() == n if snake else "_" not in n)]
            if not fitting:
                continue
            new = rng.choice(fitting)
            declared = any(
                node.field in ("name", "pattern", "left")
                or (node.parent is not None and "parameter" in node.parent.type)
                or (node.parent is not None and node.parent.field == "left")
                for node in nodes
            )
            fields = ("attribute", "property", "field", "function", "key", "method")
            odd = any(
                node.type != "identifier"
                or node.field in fields
                or (node.parent is not None and node.parent.type == "keyword_argument"
                    and node.field == "name")
                or (node.parent is not None and "field_initializer" in node.parent.type)
                or (node.field == "name" and node.parent is not None
                    and ("access" in node.parent.type or "invocation" in node.parent.type))
                for node in nodes
            )  # fmt: skip
            inside = re.findall(rf"[{{$%]{old}\b", source.text)
            if not declared or odd or inside or re.search(rf"\b{new}\b", source.text):
                continue
            if re.search(rf"\b{old}\b", _outside(source, function, nodes)):
                continue
            edits = tuple((node.start, node.end, new) for node in nodes)
            words = {"old": old, "new": new}
            yield Change("rename_local", nodes[0].start, (), edits, words, (old,))


def _outside(source: Source, function: Any, nodes: list[Branch]) -> str:
    """The text of a function without these nodes: strings and comments that say the name too."""
    lines = source.text.split("\n")[function.first_line - 1 : function.last_line]
    text = "\n".join(lines)
    count = len(re.findall(rf"\b{re.escape(source.say(nodes[0]))}\b", text))
    return source.say(nodes[0]) if count != len(nodes) else ""


def swap_arguments(source: Source, rng: Random, data: Any) -> Found:
    """The two arguments of a call in the other order."""
    for call in source.of(*CALLS):
        given = arguments(call)
        name = callee(call, source)
        if (
            len(given) != 2
            or name in ("", "super")
            or any("keyword" in node.type for node in given)
        ):
            continue
        first, second = (source.say(node) for node in given)
        if first == second or not one_line(first + second) or "*" in (first[0], second[0]):
            continue
        if {inner(node).type for node in given} & {"arrow_function", "lambda", "spread_element"}:
            continue
        a, b = given
        edits = ((a.start, a.end, second), (b.start, b.end, first))
        words = {"callee": name, "first": first, "second": second}
        yield Change("swap_arguments", call.start, (), edits, words, (name,), mention=name + "(")


def return_value(source: Source, rng: Random, data: Any) -> Found:
    """Another plain value that is returned, said by its condition or by the old value."""
    table = data["values"].get(source.language.name, {})
    for node in source.of(*RETURNS):
        value = next(iter(node.named_children()), None)
        old = source.say(value) if value is not None else ""
        if old not in table or value is None:
            continue
        new = rng.choice(table[old])
        edit = ((value.start, value.end, new),)
        block = node.parent
        while block is not None and block.type in (
            "statement_list",
            "expression_statement",
            "block",
        ):
            block = block.parent
        condition = block.part("condition") if block is not None else None
        words = {"old": old, "new": new}
        if condition is not None and block is not None and block.field != "alternative":
            code = source.say(inner(condition))
            consequence = block.part("consequence")
            if one_line(code) and consequence is not None and consequence.end >= node.end:
                words["condition"] = code
                yield Change("return_value", node.start, (), edit, words, (code,), form="when")
        yield Change("return_value", node.start, (), edit, words, (old,))


def everywhere(source: Source, rng: Random, data: Any) -> Found:
    """Another text for a string that stands in the file several times."""
    texts = Counter(plain_string(node, source) for node in source.of(*STRINGS))
    for text, count in texts.items():
        if not 2 <= count <= 5 or not re.fullmatch(r"[A-Za-z][\w-]{3,25}", text):
            continue
        if source.text.count(text) != count:
            continue
        forms = styles(text)
        new = rng.choice([forms["snake"], forms["kebab"], forms["camel"], forms["SCREAMING"]])
        if len(words_of(text)) < 2:
            continue
        if new == text or new in source.text:
            continue
        nodes = [n for n in source.of(*STRINGS) if plain_string(n, source) == text]
        edits = tuple((n.children[1].start, n.children[1].end, new) for n in nodes)
        words = {"old": text, "new": new}
        yield Change("everywhere", nodes[0].start, (), edits, words, (text,), whole=True)


def constant(source: Source, rng: Random, data: Any) -> Found:
    """A constant of the file in the place of its value: programmers wrote the constant."""
    for node in source.of(*NUMBERS, *STRINGS):
        name, value = name_given(node, source), source.say(node)
        if not re.fullmatch(r"[A-Z][A-Z0-9_]{3,}", name) or not one_line(value):
            continue
        if source.function_at(node.start) is not None:
            continue
        for function in source.functions:
            lines = range(function.first_line, function.last_line + 1)
            uses = [
                use
                for use in source.of("identifier")
                if use.line in lines and source.say(use) == name
            ]
            if not uses or any(
                use.parent is not None and "access" in use.parent.type for use in uses
            ):
                continue
            if any(
                use.parent and use.parent.type in ("attribute", "match_pattern") for use in uses
            ):
                continue
            body = "\n".join(source.text.split("\n")[function.first_line - 1 : function.last_line])
            if value in body or source.text.count(value) != 1:
                continue
            edits = tuple((use.start, use.end, value) for use in uses)
            words = {"name": name, "old": value}
            yield Change("constant", uses[0].start, edits, (), words, (name,))


def call_instead(source: Source, rng: Random, data: Any) -> Found:
    """Another function or method in a call, one that the file calls elsewhere."""
    by_name: dict[str, list[Branch]] = {}
    for call in source.of(*CALLS[:4]):
        by_name.setdefault(callee(call, source), []).append(call)
    pairs = data["callees"].get(source.language.name, {}) | data["callees"]["all"]
    for old, calls in by_name.items():
        if old not in pairs:
            continue
        new = rng.choice(pairs[old])
        for call in calls:
            function = call.part("function") or call.part("name")
            if function is None:
                continue
            last = [n for n in function.walk() if n.type in NAMES and source.say(n) == old]
            if last and function.end == last[-1].end:
                words = {"old": old, "new": new}
                edit = ((last[-1].start, last[-1].end, new),)
                yield Change("call_instead", call.start, (), edit, words, (old,), mention=old)


def rename_member(source: Source, rng: Random, data: Any) -> Found:
    """Another name for a private field or method, in the whole file."""
    by_name: dict[str, list[Branch]] = {}
    for node in source.of("identifier", "property_identifier", "field_identifier"):
        by_name.setdefault(source.say(node), []).append(node)
    for old, nodes in by_name.items():
        parts = words_of(old)
        if not 3 <= len(nodes) <= 9 or len(parts) != 2 or len(old) < 6 or old.isupper():
            continue
        if len(re.findall(rf"\b{old}\b", source.text)) != len(nodes):
            continue
        declared = [n for n in nodes if n.field == "name" and n.parent is not None and (
            "declaration" in n.parent.type or "definition" in n.parent.type
            or n.parent.type in ("variable_declarator", "function_item"))]  # fmt: skip
        member = [n for n in nodes if n.field in ("attribute", "property", "field")]
        own = re.search(rf"\b(?:self|this)\.{old} = ", source.text)
        if not declared and (len(member) != len(nodes) or not own):
            continue
        if any(n.field == "type" or (n.parent and "type" in n.parent.type) for n in nodes):
            continue
        if any(n.parent is not None and "import" in n.parent.type for n in nodes):
            continue
        if re.search(rf"[)\]]\s*\.{old}\b", source.text):
            continue  # of a result, which may be of another type
        first, second = parts
        new_words = data["swaps"].get(first.lower()) or data["swaps"].get(second.lower())
        if not new_words:
            continue
        word = rng.choice(new_words)
        target = first if first.lower() in data["swaps"] else second
        new = old.replace(target, word.capitalize() if target[0].isupper() else word)
        if new == old or new in source.text:
            continue
        edits = tuple((node.start, node.end, new) for node in nodes)
        words = {"old": old, "new": new}
        yield Change("rename_member", nodes[0].start, (), edits, words, (old,), whole=True)


def make_constant(source: Source, rng: Random, data: Any) -> Found:
    """A constant for a value that stands in functions: the constant that programmers wrote."""
    for node in source.of(*NUMBERS, *STRINGS):
        name, value = name_given(node, source), source.say(node)
        if not re.fullmatch(r"[A-Z][A-Z0-9_]{3,}", name) or not one_line(value):
            continue
        if source.function_at(node.start) is not None or value in ("0", "1"):
            continue
        line = node
        while line.parent is not None and not source.alone(line.start, line.end):
            line = line.parent
        siblings = line.parent.named_children() if line.parent is not None else ()
        above = line.parent.named_before(line.start) if line.parent is not None else None
        uses = [n for n in source.of("identifier") if source.say(n) == name and not
                (line.start <= n.start < line.end)]  # fmt: skip
        if above is None or len(siblings) < 2 or not 1 <= len(uses) <= 4 or source.commented(line):
            continue
        if not one_line(source.say(line)) or not one_line(source.say(above)):
            continue
        if above.type in COMMENTS or source.text.count(value) != 1:
            continue
        if any(n.parent is not None and "access" in n.parent.type for n in uses):
            continue
        if len(re.findall(rf"\b{name}\b", source.text)) != len(uses) + 1:
            continue
        edits = (source.without(line), *((use.start, use.end, value) for use in uses))
        words = {"name": name, "value": value, "code": source.say(line).rstrip(";,"),
                 "anchor": source.say(above).rstrip(";,")}  # fmt: skip
        yield Change("make_constant", line.start, edits, (), words, (name,), whole=True,
                     position="after", mention=words["anchor"])  # fmt: skip


def typo(source: Source, rng: Random, data: Any) -> Found:
    """A slip in a comment or message, put there first."""
    common = Counter(re.findall(r"[a-z]{5,}", source.text))
    for node in source.of(*COMMENTS, *STRINGS):
        text = source.say(node)
        wording = re.findall(r"(?<=[a-z,] )[a-z]{6,12}(?=[ .,])", text)
        if not wording or len(text) > 400 or _LICENCE.search(text):
            continue
        if "  " in text.strip().split("\n")[0]:
            continue
        word = rng.choice(wording)
        if text.count(word) != 1 or (common[word] < 2 and word not in COMMON):
            continue
        place = rng.randrange(1, len(word) - 2)
        wrong = rng.choice((
            word[:place] + word[place + 1] + word[place] + word[place + 2 :],
            word[:place] + word[place + 1 :],
            word[:place] + word[place] + word[place:],
        ))  # fmt: skip
        if wrong == word or wrong in source.text:
            continue
        start = node.start + len(text[: text.index(word)].encode())
        edit = ((start, start + len(word), wrong),)
        comment = node.type in COMMENTS
        words = {"wrong": wrong, "what": "comment" if comment else "text"}
        if rng.random() < 0.5:
            yield Change("typo", node.start, edit, (), words, (wrong,), form="said")
        yield Change("typo", node.start, edit, (), words, (wrong,), form="hidden")


_LICENCE = re.compile(r"(?i)copyright|licen[cs]e|redistrib|permission|the software")
_COMMON = """\
should return returns because already before without another following default current whether
between through function specified additional possible available different number argument method
string handle called object element multiple contains instead existing
"""
COMMON = frozenset(_COMMON.split())

KINDS = (
    rename_member, make_constant, typo,
    number, boolean, message, comparison, exception, type_, rename_local, swap_arguments,
    return_value, everywhere, constant, call_instead,
)  # fmt: skip
