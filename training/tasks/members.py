"""Kinds about the parts of lists and types: entries, cases, fields, modifiers, annotations."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

from specedit.syntax.branch import COMMENTS, Branch
from training.tasks.change import (
    NAMES,
    NUMBERS,
    STRINGS,
    Change,
    backward,
    forward,
    inner,
    name_given,
    one_line,
    plain_string,
    put,
)
from training.tasks.source import Edit, Source

Found = Iterator[Change]
MAX_ELEMENTS, MAX_ELEMENT_CHARACTERS = 40, 160
ORDERED = (  # what holds elements whose order counts
    *("list", "array", "set", "array_expression", "array_initializer"),
    *("initializer_expression", "literal_value"),
)
ENUMS = ("enum_body", "enum_member_declaration_list", "enum_variant_list")
FREE = (  # and whose order does not
    *("dictionary", "object", "interface_body", "field_declaration_list", "object_type"),
    *("field_initializer_list", "named_imports", "switch_block", "match_block"),
    *("switch_expression", "switch_body", "expression_switch_statement"),
)
ENTRIES = ("pair", "keyed_element", "field_initializer", "assignment_expression")
FIELDS = ("property_signature", "field_declaration")
PLAIN = (
    *(*STRINGS, *NUMBERS, *NAMES, "attribute", "member_expression", "selector_expression"),
    "member_access_expression",
)
CATCH_ALL = ("_", "default", "else")


def element(source: Source, rng: random.Random, data: Any) -> Found:
    """An element of a list: removed, or taken away and asked for again."""
    for holder in source.of(*ORDERED, *ENUMS, *FREE):
        elements = list(holder.named_children())
        if "switch" in holder.type:
            elements = [n for n in elements if re.search("case|arm|section|group|rule", n.type)]
        kinds = {_kind(node, holder) for node in elements}
        if len(kinds) != 1 or not 2 <= len(elements) <= MAX_ELEMENTS:
            continue
        (kind,) = kinds
        name = _name(holder, source)
        if kind == "" or (not name and kind not in ("case", "import_name")):
            continue
        if kind in ("item", "entry") and len(elements) < 3:
            continue
        for number in range(len(elements)):
            yield from _of_element(source, holder, elements, number, kind, name)


def _kind(node: Branch, holder: Branch) -> str:
    """What an element is; "" if it is nothing that tasks are about."""
    if re.search("case|switch", node.type) or node.type == "match_arm":
        return "case"
    if node.type in ENTRIES:
        return "entry"
    if holder.type in ENUMS:
        return "" if node.type in COMMENTS else "enum"
    if node.type in FIELDS:
        return "field"
    if node.type == "import_specifier":
        return "import_name"
    return "item" if inner(node).type in PLAIN else ""


def _name(holder: Branch, source: Source) -> str:
    """What a list is called: its variable or its type."""
    around = holder
    for _ in range(3):
        name = name_given(around, source)
        if name or around.parent is None:
            return name
        name_node = around.parent.part("name")
        if name_node is not None:
            return source.say(name_node)
        around = around.parent
    return ""


def _of_element(
    source: Source, holder: Branch, elements: list[Branch], number: int, kind: str, name: str
) -> Found:
    node = elements[number]
    text, (key, value) = source.say(node), _parts(node, kind, source)
    cut = _cut(source, holder, elements, number)
    if source.commented(node) or not key or len(text) > MAX_ELEMENT_CHARACTERS or cut is None:
        return
    if kind == "case" and (text.startswith(CATCH_ALL) or not key.strip("_(), ")):
        return
    code = " ".join(text.split()).rstrip(",;")
    words = {"name": name, "key": key, "value": value, "code": code}
    named = name or kind
    if kind in ("item", "entry", "enum") and one_line(key):
        yield forward(f"remove_{kind}", holder.start, [cut], words, named, key)
    if not one_line(key) or not one_line(value or "x") or not one_line(code):
        return
    last = len(elements) - 1
    position = "last" if number == last else "after" if number else "first"
    words["anchor"] = _parts(elements[number - 1 if number else 1], kind, source)[0]
    if not one_line(words["anchor"]):
        return
    also: list[tuple[Edit, ...]] = []
    if holder.type in FREE or holder.type == "enum_variant_list":
        position = "any"
        for place in range(last + 2):
            insert = _insert(source, holder, elements, place, text, kind)
            if place not in (number, number + 1) and insert is not None:
                also.append((cut, insert))
    plain = kind != "field" or re.fullmatch(r"\w+:? [^ =`]+", code)
    more: dict[str, Any] = {"also": also, "position": position, "whole": kind != "case"}
    form = "" if plain else "code"
    yield backward(f"add_{kind}", holder.start, [cut], words, named, form=form, **more)


def _parts(node: Branch, kind: str, source: Source) -> tuple[str, str]:
    """The key and the value of an element."""
    node = inner(node)
    named = node.named_children()
    key: Branch | None
    value: Branch | None
    if kind in ("item", "import_name", "enum"):
        return " ".join(source.say(node).split()), ""
    if kind == "field":
        key, value = node.part("name"), node.part("type")
        if sum(child.field == "name" for child in node.children) > 1:
            return "", ""
    elif kind == "entry":
        key = node.part("key") or node.part("left") or node.part("field")
        value = node.part("value") or node.part("right")
    elif node.type == "match_arm":
        key, value = node.part("pattern"), node.part("value")
    else:
        key, value = named[0] if named else None, named[1] if len(named) == 2 else None
        if value is not None and value.type == "statement_list":
            inside = value.named_children()
            value = inside[0] if len(inside) == 1 else None
        if value is not None and "\n" in source.say(value):
            return "", ""
    if key is None or value is None:
        return "", ""
    text = source.say(key).removeprefix("case ").rstrip(":")
    return text, " ".join(source.say(value).lstrip(": ").split()).rstrip(";")


def _comma(node: Branch, source: Source) -> int:
    """The byte after an element and its comma or semicolon."""
    after = re.match(rb"[ \t]*[,;]", source.data[node.end : node.end + 10])
    return node.end + (after.end() if after else 0)


def _cut(source: Source, holder: Branch, elements: list[Branch], number: int) -> Edit | None:
    """The removal of an element with its comma."""
    node, last = elements[number], len(elements) - 1
    separated = any(child.type in (",", ";") for child in holder.children)
    if source.alone(node.start, node.end):
        if number == last and separated and _comma(node, source) == node.end:
            return elements[number - 1].end, node.end, ""
        return source.without(node)
    if number < last:
        return node.start, elements[number + 1].start, ""
    return (elements[number - 1].end, node.end, "") if number else None


def _insert(
    source: Source, holder: Branch, elements: list[Branch], place: int, text: str, kind: str
) -> Edit | None:
    """The change that puts an element's text before another one, or after the last."""
    separated = any(child.type == "," for child in holder.children)
    comma = "," if separated and not text.endswith(",") else ""
    if place < len(elements):
        following = elements[place]
        indent = source.indent(following.start)
        return following.start, following.start, f"{text}{comma}\n{indent}"
    last = elements[-1]
    if kind == "case" and source.say(last).startswith(CATCH_ALL):
        return None
    after = _comma(last, source)
    lead = "" if after > last.end or not comma else ","
    return after, after, f"{lead}\n{source.indent(last.start)}{text}{comma}"


def sort_items(source: Source, rng: random.Random, data: Any) -> Found:
    """The elements of a list in alphabetical order."""
    for holder in source.of(*ORDERED):
        elements, name = list(holder.named_children()), _name(holder, source)
        texts = [plain_string(inner(node), source) for node in elements]
        if not 4 <= len(texts) <= 12 or len(set(texts)) < len(texts) or not name:
            continue
        ordered = sorted(texts)
        if ordered == texts or ordered != sorted(texts, key=str.lower):
            continue
        if all(text[:1].isalnum() for text in texts):
            codes = {text: source.say(n) for text, n in zip(texts, elements, strict=True)}
            edits = [put(n, codes[text]) for n, text in zip(elements, ordered, strict=True)]
            yield forward("sort_items", holder.start, edits, {"name": name}, name, whole=True)


# modifiers, annotations and types

MODIFIERS = {
    "java": "static final private protected public volatile synchronized transient",
    "csharp": "static readonly private protected public async sealed virtual",
    "typescript": "static readonly private protected public async abstract",
    "javascript": "static async",
    "python": "async",
    "rust": "mut const pub",
}
TYPES = re.compile("class|interface|enum_decl|record|struct_decl|delegate")
OTHER_VISIBILITY = {"private": "public", "public": "private", "protected": "private"}


def modifier(source: Source, rng: random.Random, data: Any) -> Found:
    """A modifier of a declaration: another visibility, or one taken away and asked for again."""
    wanted = MODIFIERS.get(source.language.name, "").split()
    for node in source.root.walk():
        text = source.say(node) if node.end - node.start < 14 else ""
        holder = node.parent
        if text not in wanted or holder is None or source.say(holder) == text:
            continue
        declared = holder.parent if holder.type == "modifiers" else holder
        name = _declared_name(declared) if declared is not None else None
        if declared is None or name is None or not re.fullmatch(r"\w+", source.say(name)):
            continue
        words = {"name": source.say(name), "modifier": text, "old": text}
        if text == "pub" or text in OTHER_VISIBILITY:
            new = OTHER_VISIBILITY.get(text, "pub(crate)")
            if not TYPES.search(declared.type):  # at the top of a file it is `public` or nothing
                words["new"] = new
                edits = [put(node, new)]
                yield forward("visibility", name.start, edits, words, words["name"], whole=True)
            continue
        cut = (node.start, node.end + 1, "")
        also = []
        for sibling in holder.children:
            if sibling is not node and sibling.type in ("modifier", *wanted):
                place = sibling.start if sibling.start < node.start else sibling.end + 1
                also.append((cut, (place, place, text + " ")))
        member = re.search("function|method", declared.type) is not None
        whole = member or source.function_at(node.start) is None
        more: dict[str, Any] = {"whole": whole}
        yield backward("add_modifier", name.start, [cut], words, words["name"], also=also, **more)
        yield forward("remove_modifier", name.start, [cut], words, words["name"], **more)


def _declared_name(declared: Branch) -> Branch | None:
    """The name that a declaration gives."""
    name = declared.part("name") or declared.part("pattern") or declared.part("property")
    if name is not None:
        return name
    found = declared.first("variable_declaration", "variable_declarator")
    found = found or declared.part("declarator")
    return next((n for n in found.walk() if n.field == "name"), None) if found else None


def const(source: Source, rng: random.Random, data: Any) -> Found:
    """JavaScript and TypeScript: `const` for `let`, which is put there first."""
    for node in source.of("lexical_declaration"):
        kind, declared = node.part("kind"), node.first("variable_declarator")
        name = declared.part("name") if declared is not None else None
        if kind is None or name is None or source.say(kind) != "const" or name.children:
            continue
        words = {"name": source.say(name)}
        yield backward("const", node.start, [put(kind, "let")], words, words["name"])


def annotation(source: Source, rng: random.Random, data: Any) -> Found:
    """A decorator, attribute or annotation, taken away and asked for again."""
    for node in source.of(
        *("decorator", "marker_annotation", "annotation", "attribute_list", "attribute_item")
    ):
        text, around = source.say(node), node.parent
        if around is None or not one_line(text) or text.startswith(("#[cfg", "[asse", "#[derive")):
            continue
        declared = around.parent if around.type == "modifiers" else around
        if node.type == "attribute_item":
            declared = _item_after(node)
        elif around.type == "decorated_definition":
            declared = around.part("definition")
        name = declared.part("name") if declared is not None else None
        if name is None or source.commented(node) or not source.alone(node.start, node.end):
            continue
        alike = [n for n in around.children if n.type == node.type and n is not node]
        free = source.language.name in ("java", "csharp")
        if not free and any(abs(n.line - node.line) < 4 for n in alike):
            continue  # their order counts
        cut, also = source.without(node), []
        for sibling in alike if free else ():
            place = sibling.start if sibling.start < node.start else sibling.end
            new = text + "\n" if place == sibling.start else "\n" + text
            also.append((cut, (place, place, new)))
        words = {"name": source.say(name), "annotation": text}
        more: dict[str, Any] = {"also": also, "whole": True}
        yield backward("annotation", name.start, [cut], words, words["name"], **more)


def _item_after(attribute: Branch) -> Branch | None:
    """What an attribute of Rust stands above."""
    siblings = attribute.parent.named_children() if attribute.parent else ()
    after = (n for n in siblings if n.start > attribute.end and n.type.endswith("_item"))
    return next((n for n in after if n.type != "attribute_item"), None)


def derive(source: Source, rng: random.Random, data: Any) -> Found:
    """Rust: a trait that is derived, taken away and asked for again."""
    for node in source.of("attribute_item"):
        found, item = re.fullmatch(r"#\[derive\(([\w, ]+)\)\]", source.say(node)), _item_after(node)
        name = item.part("name") if item is not None else None
        traits = re.findall(r"\w+", found[1]) if found else []
        for trait in traits if name is not None and len(traits) > 1 else ():
            others = [other for other in traits if other != trait]
            orders = [[*others[:n], trait, *others[n:]] for n in range(len(traits))]
            also = [(put(node, f"#[derive({', '.join(order)})]"),) for order in orders]
            words = {"name": source.say(name), "annotation": trait} if name else {}
            edits = [put(node, f"#[derive({', '.join(others)})]")]
            more: dict[str, Any] = {"also": also, "whole": True}
            yield backward("derive", node.end, edits, words, words["name"], **more)


def type_said(source: Source, rng: random.Random, data: Any) -> Found:
    """Python and TypeScript: the type of a result or parameter, taken away and asked for again."""
    if source.language.name not in ("python", "typescript"):
        return
    for node in source.root.walk():
        text = source.say(node).lstrip(": ") if node.field in ("return_type", "type") else ""
        holder = node.parent
        if holder is None or not one_line(text):
            continue
        body = holder.part("body")
        if node.field == "return_type" and body is not None:
            start = source.data.rfind(b")", 0, node.start) + 1
            edits = [(start, node.end, "")]
            yield backward("return_type", body.start, edits, {"type": text})
        name = holder.part("name") or holder.part("pattern") or holder.first("identifier")
        if name is None or name.children or node.field != "type":
            continue
        if holder.type in ("typed_parameter", "typed_default_parameter", "required_parameter"):
            edits, words = [(name.end, node.end, "")], {"type": text, "name": source.say(name)}
            yield backward("parameter_type", holder.start, edits, words, words["name"])


KINDS = (element, sort_items, modifier, const, annotation, derive, type_said)
