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
    inner,
    name_given,
    one_line,
    plain_string,
)
from training.tasks.source import Edit, Source

Found = Iterator[Change]
# a list: what holds it, and whether its elements may stand in any order
LISTS = {
    "list": False, "array": False, "set": True, "array_expression": False,
    "array_initializer": False, "initializer_expression": False, "literal_value": False,
    "dictionary": True, "object": True, "enum_body": False, "enum_member_declaration_list": False,
    "enum_variant_list": True, "interface_body": True, "field_declaration_list": True,
    "object_type": True, "field_initializer_list": True, "named_imports": True,
    "switch_block": True, "match_block": True, "switch_expression": True, "switch_body": True,
    "expression_switch_statement": True,
}  # fmt: skip
ENTRY = (
    *("pair", "keyed_element", "field_initializer", "assignment_expression"),
    *("switch_rule", "match_arm", "switch_expression_arm", "switch_case", "switch_section"),
    *("expression_case", "switch_block_statement_group"),
)
CATCH_ALL = ("_", "default", "else")


def _kind(element: Branch, holder: Branch, source: Source) -> str:
    """What an element is: an entry, a case, a member of an enum, a field, an import or an item."""
    kind = element.type
    if "case" in kind or "switch" in kind or kind == "match_arm":
        return "case"
    if kind in ENTRY:
        return "entry"
    if "enum" in holder.type:
        return "enum"
    if kind in ("property_signature", "field_declaration"):
        return "field"
    if kind == "import_specifier":
        return "import_name"
    plain = (*STRINGS, *NUMBERS, *NAMES, "attribute", "member_expression", "selector_expression")
    return "item" if inner(element).type in (*plain, "member_access_expression") else ""


def element(source: Source, rng: random.Random, data: Any) -> Found:
    """An element of a list: removed, or taken away and asked for again."""
    for holder in source.of(*LISTS):
        elements = [
            node
            for node in holder.named_children()
            if node.field not in ("value", "condition", "name") or holder.type == "enum_body"
        ]
        if holder.type == "switch_expression" and elements and "arm" not in elements[-1].type:
            continue
        elements = [
            n for n in elements if n.type not in ("identifier",) or "switch" not in holder.type
        ]
        if any(node.type in COMMENTS for node in elements) or not 2 <= len(elements) <= 40:
            continue
        kinds = {_kind(node, holder, source) for node in elements} - {"default"}
        if len(kinds) != 1 or "" in kinds:
            continue
        (kind,) = kinds
        if holder.type == "field_declaration_list" and source.language.name not in ("go", "rust"):
            continue
        if kind in ("item", "entry") and len(elements) < 3:
            continue
        name = _name(holder, source)
        if not name and kind in ("item", "entry", "enum", "field"):
            continue
        yield from _of_list(source, holder, elements, kind, name, rng)


def _name(holder: Branch, source: Source) -> str:
    """What a list is called: its variable or its type."""
    around: Branch | None = holder
    for _ in range(3):
        if around is None or around.parent is None:
            return ""
        name = name_given(around, source)
        if name:
            return name
        name_node = around.parent.part("name")
        if name_node is not None and "declaration" in around.parent.type + "_declaration":
            return source.say(name_node) if "{" not in source.say(name_node) else ""
        around = around.parent
    return ""


def _of_list(
    source: Source, holder: Branch, elements: list[Branch], kind: str, name: str, rng: random.Random
) -> Found:
    free = LISTS[holder.type] or (kind == "case")
    for number, node in enumerate(elements):
        text = source.say(node)
        key, value = _parts(node, kind, source)
        if source.commented(node) or not key or len(text) > 160:
            continue
        if kind == "case" and (
            text.startswith(CATCH_ALL) or not key.strip("_(), ") or "if" in key.split()
        ):
            continue
        cut = _cut(source, holder, elements, number)
        if cut is None:
            continue
        words = {"name": name, "key": key, "value": value, "code": " ".join(text.split())}
        named = (name,) if kind != "case" else ("case",)
        if kind == "item" or (kind == "enum" and one_line(text)):
            yield Change(f"remove_{kind}", holder.start, (), (cut,), words, (*named, key))
        if kind == "entry":
            yield Change("remove_entry", holder.start, (), (cut,), words, (*named, key))
        if not one_line(key) or not one_line(value or "x") or not one_line(words["code"]):
            continue
        also: tuple[tuple[Edit, ...], ...] = ()
        form = ""
        if kind == "field" and not re.fullmatch(r"\w+:? [^ =`]+", words["code"].rstrip(",;")):
            form = "code"
        words["code"] = words["code"].rstrip(",;")
        position = "last" if number == len(elements) - 1 else "after" if number else "first"
        words["anchor"] = _parts(elements[number - 1 if number else 1], kind, source)[0]
        if position == "after" and not words.get("anchor"):
            continue
        if free and kind != "item":
            position = "any"
            also = tuple(
                (cut, insert)
                for place in range(len(elements) + 1)
                if place not in (number, number + 1)
                for insert in [_insert(source, holder, elements, place, text, kind)]
                if insert is not None
            )
        yield Change(
            f"add_{kind}",
            holder.start,
            (cut,),
            (),
            words,
            named,
            also,
            form,
            whole=kind != "case",
            position=position,
        )


def _parts(node: Branch, kind: str, source: Source) -> tuple[str, str]:
    """The key and the value of an element."""
    node = inner(node)
    if kind in ("item", "import_name", "enum"):
        return " ".join(source.say(node).split()), ""
    if kind == "field":
        type_, name = node.part("type"), node.part("name")
        if type_ is None or name is None or sum(n.field == "name" for n in node.children) > 1:
            return "", ""
        return source.say(name), source.say(type_).lstrip(": ")
    if kind == "entry":
        key = node.part("key") or node.part("left") or node.part("field")
        value = node.part("value") or node.part("right")
    else:
        key = node.part("value") if node.type != "match_arm" else node.part("pattern")
        value = node.part("value") if node.type == "match_arm" else None
        named = [n for n in node.named_children() if n is not key]
        if node.type in ("switch_rule", "switch_expression_arm", "switch_section"):
            key, named = node.named_children()[0], list(node.named_children()[1:])
        if node.type == "switch_block_statement_group":
            key, named = node.named_children()[0], list(node.named_children()[1:])
        if value is None and len(named) == 1:
            value = named[0]
            if value.type == "statement_list" and len(value.named_children()) == 1:
                value = value.named_children()[0]
    if key is None or value is None:
        return "", ""
    text = source.say(key).removeprefix("case ").rstrip(":")
    return text, " ".join(source.say(value).split()).rstrip(";")


def _comma(node: Branch, source: Source) -> int:
    """The byte after an element and its comma or semicolon."""
    after = re.match(rb"[ \t]*[,;]", source.data[node.end : node.end + 10])
    return node.end + (after.end() if after else 0)


def _cut(source: Source, holder: Branch, elements: list[Branch], number: int) -> Edit | None:
    node = elements[number]
    end = _comma(node, source)
    if source.alone(node.start, node.end):
        start, stop, _ = source.without(node)
        if end == node.end and number == len(elements) - 1 and number and _separated(holder):
            return elements[number - 1].end, node.end, ""
        return start, stop, ""
    if number + 1 < len(elements):
        return node.start, elements[number + 1].start, ""
    return (elements[number - 1].end, node.end, "") if number else None


def _separated(holder: Branch) -> bool:
    return any(child.type in (",", ";") for child in holder.children)


def _insert(
    source: Source, holder: Branch, elements: list[Branch], place: int, text: str, kind: str
) -> Edit | None:
    """The change that puts an element's text before another one, or after the last."""
    separated = any(child.type == "," for child in holder.children)
    comma = "," if separated and not text.endswith(",") else ""
    if place == len(elements):
        last = elements[-1]
        if kind == "case" and source.say(last).startswith(CATCH_ALL):
            return None
        after = _comma(last, source)
        lead = "" if after > last.end or not comma else ","
        return after, after, f"{lead}\n{source.indent(last.start)}{text}{comma}"
    following = elements[place]
    return following.start, following.start, f"{text}{comma}\n{source.indent(following.start)}"


def sort_items(source: Source, rng: random.Random, data: Any) -> Found:
    """The elements of a list in alphabetical order."""
    for holder in source.of("list", "array", "set", "array_expression", "array_initializer",
                            "initializer_expression", "literal_value"):  # fmt: skip
        elements = list(holder.named_children())
        texts = [plain_string(inner(node), source) for node in elements]
        name = _name(holder, source)
        if (
            not 4 <= len(texts) <= 12
            or not all(t[:1].isalnum() for t in texts)
            or not name
            or len(set(texts)) < len(texts)
        ):
            continue
        ordered = sorted(texts)
        if ordered == texts or ordered != sorted(texts, key=str.lower):
            continue
        nodes = {text: source.say(node) for text, node in zip(texts, elements, strict=True)}
        edits = tuple(
            (node.start, node.end, nodes[text])
            for node, text in zip(elements, ordered, strict=True)
            if nodes[text] != source.say(node)
        )
        yield Change("sort_items", holder.start, (), edits, {"name": name}, (name,), whole=True)


# modifiers and annotations

WORDS = {
    "java": "static final private protected public volatile synchronized transient",
    "csharp": "static readonly private protected public internal async sealed virtual",
    "typescript": "static readonly private protected public async abstract",
    "javascript": "static async",
    "python": "async",
    "rust": "mut const pub",
}
VISIBLE = ("private", "protected", "public", "internal", "pub")


def modifier(source: Source, rng: random.Random, data: Any) -> Found:
    """A modifier of a declaration: another visibility, or one taken away and asked for again."""
    wanted = set(WORDS.get(source.language.name, "").split())
    for node in source.root.walk():
        text = source.say(node) if node.end - node.start < 14 else ""
        if text not in wanted or (node.children and node.children[0].end != node.end):
            continue
        if node.parent is not None and source.say(node.parent) == text:
            continue
        declared = node.parent
        if declared is not None and declared.type in ("modifiers", "modifier"):
            declared = declared.parent
        if declared is None:
            continue
        name_node = declared.part("name") or declared.part("pattern") or declared.part("property")
        if name_node is None:
            found = declared.first("variable_declaration", "variable_declarator")
            found = found or declared.part("declarator")
            name_node = (
                next((n for n in found.walk() if n.field == "name"), None) if found else None
            )
        if name_node is None or not re.fullmatch(r"\w+", source.say(name_node)):
            continue
        words = {"name": source.say(name_node), "modifier": text, "old": text}
        named = (words["name"],)
        other = {"private": "public", "public": "private", "protected": "private"}.get(text)
        if other and "class" in declared.type:
            other = None  # at the top of a file it is `public` or nothing
        if other and source.language.name in ("java", "csharp", "typescript"):
            edit = ((node.start, node.end, other),)
            words = {**words, "new": other}
            yield Change("visibility", name_node.start, (), edit, words, named, whole=True)
        elif text == "pub":
            more = {**words, "new": "pub(crate)"}
            edit = ((node.start, node.end, "pub(crate)"),)
            yield Change("visibility", name_node.start, (), edit, more, named, whole=True)
        elif text not in VISIBLE:
            end = node.end + 1
            also = []
            siblings = [n for n in (node.parent.children if node.parent else ())
                        if n is not node and n.type in ("modifier", *wanted)]  # fmt: skip
            if node.parent is not None and node.parent.type in ("modifiers", declared.type):
                for sibling in siblings:
                    place = sibling.start if sibling.start < node.start else sibling.end + 1
                    also.append(((node.start, end, ""), (place, place, text + " ")))
            cut = ((node.start, end, ""),)
            whole = source.function_at(node.start) is None or "function" in declared.type
            whole = whole or "method" in declared.type
            yield Change(
                "add_modifier", name_node.start, cut, (), words, named, tuple(also), whole=whole
            )
            yield Change("remove_modifier", name_node.start, (), cut, words, named, whole=whole)


def const(source: Source, rng: random.Random, data: Any) -> Found:
    """JavaScript and TypeScript: `const` for `let`, which is put there first."""
    for node in source.of("lexical_declaration"):
        kind, declared = node.part("kind"), node.first("variable_declarator")
        name = declared.part("name") if declared is not None else None
        if kind is None or name is None or source.say(kind) != "const" or name.children:
            continue
        words = {"name": source.say(name)}
        edit = ((kind.start, kind.end, "let"),)
        yield Change("const", node.start, edit, (), words, (words["name"],))


def annotation(source: Source, rng: random.Random, data: Any) -> Found:
    """A decorator, attribute or annotation, taken away and asked for again; one more `derive`."""
    for node in source.of(
        *("decorator", "marker_annotation", "annotation", "attribute_list", "attribute_item")
    ):
        text = source.say(node)
        around = node.parent
        if (
            around is None
            or not one_line(text)
            or text.startswith(("#[cfg", "[assembly", "#[derive"))
        ):
            continue
        declared = around.parent if around.type == "modifiers" else around
        if node.type == "attribute_item":
            siblings = list(around.children)
            declared = next((n for n in siblings if n.start > node.end and "item" in n.type
                             and n.type != "attribute_item"), None)  # fmt: skip
        if around.type == "decorated_definition":
            declared = around.part("definition")
        name = declared.part("name") if declared is not None else None
        if name is None or source.commented(node) or not source.alone(node.start, node.end):
            continue
        same_type = [n for n in around.children if n.type == node.type]
        if source.language.name in ("python", "rust") and any(
            abs(n.line - node.line) < 4 for n in same_type if n is not node
        ):
            continue  # their order counts
        also: list[tuple[Edit, ...]] = []
        for sibling in same_type:
            if sibling is not node and source.language.name in ("java", "csharp"):
                place = sibling.start if sibling.start < node.start else sibling.end
                new = (
                    text + "\n" + source.indent(node.start)
                    if place == sibling.start
                    else "\n" + text
                )
                also.append((source.without(node), (place, place, new)))
        words = {"name": source.say(name), "annotation": text}
        cut = (source.without(node),)
        yield Change(
            "annotation", name.start, cut, (), words, (words["name"],), tuple(also), whole=True
        )
    for node in source.of("attribute_item"):
        tree = next((n for n in node.walk() if n.type == "token_tree"), None)
        if tree is None or not source.say(node).startswith("#[derive"):
            continue
        traits = [n for n in tree.children if n.type == "identifier"]
        siblings = list(node.parent.children) if node.parent else []
        declared = next((n for n in siblings if n.start > node.end and "_item" in n.type
                         and n.type != "attribute_item"), None)  # fmt: skip
        name = declared.part("name") if declared is not None else None
        if len(traits) < 2 or name is None or "::" in source.say(tree):
            continue
        names = [source.say(trait) for trait in traits]
        for trait in names:
            others = [other for other in names if other != trait]
            edit = ((tree.start, tree.end, f"({', '.join(others)})"),)
            also = []
            for place in range(len(names)):
                order = [*others[:place], trait, *others[place:]]
                also.append(((tree.start, tree.end, f"({', '.join(order)})"),))
            words = {"name": source.say(name), "annotation": trait}
            yield Change(
                *("derive", name.start, edit, (), words, (words["name"],), tuple(also)), whole=True
            )


def type_said(source: Source, rng: random.Random, data: Any) -> Found:
    """Python and TypeScript: the type of a result or parameter, taken away and asked for again."""
    if source.language.name not in ("python", "typescript"):
        return
    for node in source.root.walk():
        if node.field == "return_type" and node.parent is not None:
            text = source.say(node).lstrip(": ")
            arrow = source.data.rfind(b")", 0, node.start) + 1
            body = node.parent.part("body")
            if one_line(text) and body is not None:
                edit = ((arrow, node.end, ""),)
                yield Change("return_type", body.start, edit, (), {"type": text}, ())
        if node.type in ("typed_parameter", "typed_default_parameter", "required_parameter"):
            type_ = node.part("type")
            name = node.part("name") or node.part("pattern") or node.first("identifier")
            if type_ is None or name is None or name.children or not one_line(source.say(type_)):
                continue
            text = source.say(type_).lstrip(": ")
            edit = ((name.end, type_.end, ""),)
            words = {"type": text, "name": source.say(name)}
            yield Change("parameter_type", node.start, edit, (), words, (words["name"],))


def import_line(source: Source, rng: random.Random, data: Any) -> Found:
    """An import on a line of its own, taken away and asked for again."""
    lines = list(
        source.of("import_statement", "import_from_statement", "import_declaration",
                  "using_directive", "use_declaration", "import_spec")
    )  # fmt: skip
    lines = [n for n in lines if n.parent is not None and source.function_at(n.start) is None]
    if any(n.type == "import_spec" for n in lines):
        lines = [n for n in lines if n.type == "import_spec"]
    if len(lines) < 3 or len({id(n.parent) for n in lines}) > 1:
        return
    for node in lines:
        text = source.say(node)
        if not one_line(text) or source.commented(node) or not source.alone(node.start, node.end):
            continue
        cut = source.without(node)
        also: list[tuple[Edit, ...]] = []
        for other in lines:
            if other is not node:
                also.append((cut, (other.start, other.start, text + "\n")))
        also.append((cut, (lines[-1].end, lines[-1].end, "\n" + text)))
        words = {"code": text.rstrip(";")}
        yield Change("import_line", node.start, (cut,), (), words, (), tuple(also), whole=True)


KINDS = (element, sort_items, modifier, const, annotation, type_said, import_line)
