"""Kinds about statements and conditions: guards, log lines, calls, arguments, orders."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from specedit.syntax.branch import COMMENTS, Branch
from training.tasks.change import (
    BLOCKS,
    CALL_STATEMENTS,
    CALLS,
    EXITS,
    IFS,
    LOGS,
    RAISES,
    Change,
    arguments,
    backward,
    blocks,
    call_in,
    callee,
    forward,
    inner,
    is_function_body,
    moved,
    one_line,
    plain_string,
    put,
    statements,
)
from training.tasks.source import Edit, Source

Found = Iterator[Change]
Table = dict[str, Any]
MAX_ARGUMENT_CHARACTERS = 40
MAX_GUARD = 4  # of the statements of a block, from 0
VALUES = ("null", "None", "nil", "true", "false", "self", "this", "undefined")
JOINS = ("&&", "||", "and", "or")


def guard(source: Source, rng: random.Random, data: Any) -> Found:
    """An `if` that only leaves, taken away and asked for again."""
    for block in blocks(source):
        lines = statements(block)
        guards = [_guard(node) for node in lines]
        for number, found in enumerate(guards[: MAX_GUARD + 1]):
            node = lines[number]
            if found is None or len(lines) < 3 or source.commented(node):
                continue
            condition, consequence, leaving = found
            code, action = source.say(inner(condition)), source.say(leaving).rstrip(";")
            if not one_line(code) or not one_line(action) or " // " in action:
                continue
            if not source.alone(node.start, node.end):
                continue
            first = last = number  # of the guards in a row, whose order is free
            while first and guards[first - 1] is not None:
                first -= 1
            while last + 1 < len(lines) and guards[last + 1] is not None:
                last += 1
            others = [n for n in range(first, last + 2) if n not in (number, number + 1)]
            also = [moved(node, lines[n].start, source) for n in others if n < len(lines)]
            also += _other_braces(consequence, leaving, source)
            words = {"condition": _said(code, rng, source.language.name), "action": action}
            form = "raise" if leaving.type in RAISES or "panic" in action else "leave"
            position, place = "first", block.start
            if first or not is_function_body(block, source):
                position = "after" if first else "before"
                near = lines[first - 1] if first else lines[min(last + 1, len(lines) - 1)]
                words["anchor"], place = source.say(near).rstrip(";"), near.start
                if not one_line(words["anchor"]) or near.type in COMMENTS or near is node:
                    continue
            anchors = [words["anchor"]] if "anchor" in words else []
            more: Table = {"form": form, "position": position, "also": also}
            more["mention"] = "".join(anchors)
            yield backward("guard", place, [source.without(node)], words, *anchors, **more)


def _guard(node: Branch) -> tuple[Branch, Branch, Branch] | None:
    """The condition, the consequence and the leaving statement of a guard clause."""
    if node.type == "expression_statement" and len(node.children) == 1:
        node = node.children[0]
    condition, consequence = node.part("condition"), node.part("consequence")
    if node.type not in IFS or condition is None or consequence is None:
        return None
    inside = statements(consequence) if consequence.type in BLOCKS else [consequence]
    if len(inside) == 1 and inside[0].type == "expression_statement" and inside[0].children:
        inside = [inside[0].children[0]]
    if len(inside) != 1 or node.part("alternative") or node.part("initializer"):
        return None
    return (condition, consequence, inside[0]) if inside[0].type in EXITS else None


def _other_braces(consequence: Branch, leaving: Branch, source: Source) -> list[tuple[Edit, ...]]:
    """The other ways to write a guard: with or without braces, or Rust's last semicolon."""
    if source.language.name == "rust":
        semicolon = source.data[leaving.end : leaving.end + 1] == b";"
        return [((leaving.end, leaving.end + semicolon, "" if semicolon else ";"),)]
    if source.language.name not in ("javascript", "typescript", "java", "csharp"):
        return []
    text = source.say(leaving)
    return [(put(consequence, text if consequence.type in BLOCKS else "{ " + text + " }"),)]


def _said(code: str, rng: random.Random, language: str) -> str:
    """A condition as it is typed in a sentence."""
    if language in ("javascript", "typescript", "csharp") or rng.random() < 0.3:
        return code  # these have several ways to test it
    for pattern, said in (
        (r"([\w.]+) (?:==|is) (null|None|nil)", "{} is {}"),
        (r"([\w.]+) (?:!=|is not) (null|None|nil)", "{} is not {}"),
        (r"([\w.]+) < 0", "{} is negative"),
    ):
        found = re.fullmatch(pattern, code)
        if found:
            return said.format(*found.groups())
    return code


def call_line(source: Source, rng: random.Random, data: Any) -> Found:
    """A call on a line of its own: removed, or taken away and asked for again."""
    for block in blocks(source):
        lines = statements(block)
        for number, node in enumerate(lines):
            call = call_in(node)
            text = source.say(node).rstrip(";")
            if call is None or len(lines) < 2 or not one_line(text) or source.commented(node):
                continue
            name = callee(call, source)
            log = name.lower() in LOGS
            start = next((plain_string(inner(a), source) for a in arguments(call)), "")
            words = {"callee": name, "code": text, "start": " ".join(start.split()[:4])}
            removal, place, anchors = [source.without(node)], node.start, []
            if log and len(start.split()) > 2:
                yield forward("remove_call", place, removal, words, start, form="log")
            else:
                yield forward("remove_call", place, removal, words, name, mention=name + "(")
            ends = {0: "first", len(lines) - 1: "last"}
            if number in ends and is_function_body(block, source):
                position, place = ends[number], block.start
            else:
                near = lines[number - 1] if number else lines[1]
                anchors = [source.say(near).rstrip(";")]
                position, place = "after" if number else "before", near.start
                if not one_line(anchors[0]) or near.type in COMMENTS:
                    continue
                words["anchor"] = anchors[0]
            if not text.startswith("super"):
                more: Table = {"position": position, "mention": "".join(anchors)}
                kind = "add_log" if log else "add_call"
                yield backward(kind, place, removal, words, *anchors, **more)


def swap_lines(source: Source, rng: random.Random, data: Any) -> Found:
    """Two neighbouring calls in the other order."""
    for block in blocks(source):
        for first, second in pairwise(statements(block)):
            calls = call_in(first), call_in(second)
            if None in calls or source.commented(first) or source.commented(second):
                continue
            one, two = (callee(call, source) for call in calls if call)
            texts = source.say(first), source.say(second)
            if one != two and all(map(one_line, texts)):
                edits = [put(first, texts[1]), put(second, texts[0])]
                words = {"first": one, "second": two}
                yield forward("swap_lines", first.start, edits, words, one, two)


def condition(source: Source, rng: random.Random, data: Any) -> Found:
    """A part of a condition: dropped, or taken away and asked for again."""
    for node in source.of("binary_expression", "boolean_operator"):
        sign = source.say(node.children[1]) if len(node.children) == 3 else ""
        holder = node.parent
        while holder is not None and holder.type == "parenthesized_expression":
            holder = holder.parent
        if sign not in JOINS or holder is None:
            continue
        if holder.type not in (*IFS, "while_statement", "elif_clause"):
            continue
        left, _, right = node.children
        for rest, extra in ((left, right), (right, left)):
            kept, more = source.say(rest), source.say(extra)
            if not one_line(kept) or not one_line(more) or re.search(r"&&|\|\|| and | or ", more):
                continue
            if rest.type in ("boolean_operator", "binary_expression"):
                inside = source.say(rest.part("operator") or rest.children[1])
                if inside in JOINS and (inside != sign or extra is left):
                    continue
            texts = (more, kept) if extra is right else (kept, more)
            also = [(put(node, f" {sign} ".join(texts)),)]
            form = "and" if sign in ("&&", "and") else "or"
            edits, words = [put(node, kept)], {"extra": more, "rest": kept}
            details: Table = {"form": form, "also": also, "mention": kept}
            yield backward("condition", node.start, edits, words, kept, **details)
            bare = source.say(inner(rest))  # parentheses that only the other part needed
            also = [(put(node, bare),)] if bare != kept and one_line(bare) else []
            yield forward("drop_condition", node.start, edits, words, more, also=also, mention=more)


def argument(source: Source, rng: random.Random, data: Any) -> Found:
    """The last argument of a call: dropped, or taken away and asked for again."""
    for call in source.of(*CALLS[:-1]):
        given, name = arguments(call), callee(call, source)
        text = source.say(given[-1]) if len(given) > 1 and name else ""
        if not one_line(text) or len(text) > MAX_ARGUMENT_CHARACTERS or "{" in text:
            continue
        edit = (given[-2].end, given[-1].end, "")
        words, mention = {"callee": name, "argument": text}, name + "("
        yield forward("remove_argument", call.start, [edit], words, name, text, mention=mention)
        named = given[-1].type == "keyword_argument"
        also = [
            (edit, (other.start, other.start, text + ", "))
            for other in given[:-1]
            if named and other.type == "keyword_argument"
        ]
        form = "" if named else "last"
        more: Table = {"also": also, "form": form, "mention": mention}
        yield backward("add_argument", call.start, [edit], words, name, **more)


def passed(source: Source, rng: random.Random, data: Any) -> Found:
    """A parameter that is only passed on: dropped, or taken away and asked for again."""
    for holder in source.of("parameters", "formal_parameters", "parameter_list"):
        given = [n for n in holder.named_children() if n.type not in COMMENTS]
        if holder.field != "parameters" or holder.parent is None or len(given) < 2:
            continue
        last = given[-1]
        name_node = last.part("name") or last.part("pattern") or last.part("left") or last
        name = source.say(name_node)
        if not re.fullmatch(r"[A-Za-z_]\w*", name) or not one_line(source.say(last)):
            continue
        uses = [
            node
            for node in holder.parent.walk()
            if node.type in ("identifier", "shorthand_property_identifier")
            and source.say(node) == name
            and node is not name_node
            and node.place != "keyword_argument.name"
        ]
        use = uses[0] if len(uses) == 1 else last
        while use.parent is not None and use.parent.type in ("argument", "keyword_argument"):
            use = use.parent
        call = use.parent.parent if use.parent is not None else None
        handed = arguments(call) if call is not None and call.type in CALLS[:4] else []
        if call is None or len(handed) < 2 or handed[-1] is not use:
            continue
        mentions = len(re.findall(rf"\b{name}\b", source.say(holder.parent)))
        caller = source.function_at(call.start)
        if mentions > 2 + (use.type == "keyword_argument") or caller is None:
            continue
        if source.text.count(f"{caller.own_name}(") > 1 or holder.first("keyword_separator"):
            continue
        edits = [(given[-2].end, last.end, ""), (handed[-2].end, use.end, "")]
        words = {"parameter": source.say(last), "name": name, "argument": source.say(use)}
        words["callee"] = callee(call, source)
        yield backward("add_parameter", call.start, edits, words, name)
        yield forward("remove_parameter", call.start, edits, words, name)


def default(source: Source, rng: random.Random, data: Any) -> Found:
    """The default of a parameter, taken away and asked for again."""
    for node in source.of(
        *("default_parameter", "typed_default_parameter", "assignment_pattern"),
        *("required_parameter", "parameter"),
    ):
        value = node.part("value") or node.part("right")
        if node.type == "parameter" and source.language.name == "csharp":
            value = node.named_children()[-1] if "=" in source.say(node) else None
        name = node.part("name") or node.part("left") or node.part("pattern")
        previous = node.parent.named_before(node.start) if node.parent else None
        if value is None or name is None or not one_line(source.say(value)):
            continue
        if node.field == "value" or (previous is not None and "=" in source.say(previous)):
            continue  # before it only what is optional may stand
        type_ = node.part("type") if node.type != "parameter" else None
        edit = ((type_ or name).end, value.end, "")
        words = {"name": source.say(name), "value": source.say(value)}
        yield backward("default", node.start, [edit], words, words["name"])


def expect(source: Source, rng: random.Random, data: Any) -> Found:
    """Rust: `expect` with a message instead of `unwrap`."""
    for name in source.of("field_identifier"):
        function = name.parent
        call = function.parent if function is not None else None
        if function is None or call is None or source.say(name) != "unwrap":
            continue
        value = source.say(function.children[0])
        if not one_line(value) or call.type != "call_expression":
            continue
        parts = [word for word in re.findall(r"[a-z]{3,}", value.lower()) if word != "self"][:3]
        text = " ".join(["no", *parts]) if parts else "missing value"
        edit = (name.start, call.end, f'expect("{text}")')
        yield forward("expect", call.start, [edit], {"code": value, "message": text}, value)


def wrap_error(source: Source, rng: random.Random, data: Any) -> Found:
    """Go: a returned error with a message around it."""
    for node in source.of("return_statement"):
        named = node.named_children()
        values = named[0].named_children() if named else []
        function = source.function_at(node.start)
        if not values or source.say(values[-1]) != "err" or function is None:
            continue
        if '"fmt"' in source.text and node.around("if_statement") is not None:
            text = " ".join(re.findall(r"[A-Z]?[a-z]+", function.own_name)).lower()
            edit = put(values[-1], f'fmt.Errorf("{text}: %w", err)')
            yield forward("wrap_error", node.start, [edit], {"message": text})


def augmented(source: Source, rng: random.Random, data: Any) -> Found:
    """`x += y` for `x = x + y`, which is put there first."""
    for node in source.of(
        *("augmented_assignment", "augmented_assignment_expression", "compound_assignment_expr"),
        *("assignment_expression", "assignment_statement"),
    ):
        left, right, sign = node.part("left"), node.part("right"), node.part("operator")
        if left is None or right is None or sign is None or source.say(sign) not in ("+=", "-="):
            continue
        name, value = source.say(left), source.say(right)
        if one_line(name + value) and "binary" not in inner(right).type:
            edit = put(node, f"{name} = {name} {source.say(sign)[0]} {value}")
            words = {"name": name, "new": source.say(sign)}
            yield backward("augmented", node.start, [edit], words, name)


def optional(source: Source, rng: random.Random, data: Any) -> Found:
    """`?.` for `.`, which is put there first."""
    for node in source.of("optional_chain", "conditional_access_expression"):
        holder = node.parent if node.type == "optional_chain" else node
        if holder is None or len(holder.children) < 3:
            continue
        value, mark, member = holder.children[0], holder.children[1], holder.children[-1]
        name, part = source.say(value), source.say(member).lstrip(".")
        if name in ("this", "base") or not re.fullmatch(r"[\w.]+", name):
            continue
        if mark.type in ("optional_chain", "?") and re.fullmatch(r"\w+", part):
            edit = put(mark, "." if mark.type == "optional_chain" else "")
            words = {"name": name, "member": part}
            yield backward("optional", value.start, [edit], words, name, part)


def otherwise(source: Source, rng: random.Random, data: Any) -> Found:
    """The `else` of a condition, taken away and asked for again."""
    for node in source.of(*IFS):
        consequence, alternative = node.part("consequence"), node.part("alternative")
        condition = node.part("condition")
        if consequence is None or alternative is None or condition is None:
            continue
        block = alternative if alternative.type in BLOCKS else alternative.first(*BLOCKS)
        if consequence.type not in BLOCKS or block is None or node.first("elif_clause"):
            continue
        inside, code = statements(block), source.say(inner(condition))
        action = source.say(inside[0]).rstrip(";") if len(inside) == 1 else ""
        between = source.data[consequence.end : inside[0].start] if inside else b""
        if b"#" in between or b"//" in between or b"/*" in between:
            continue  # nobody could write the comment again
        if one_line(action) and one_line(code) and inside[0].type not in COMMENTS:
            edit = (consequence.end, alternative.end, "")
            words = {"condition": code, "action": action}
            yield backward("otherwise", node.start, [edit], words, code, mention=code)


def wrap_call(source: Source, rng: random.Random, data: Any) -> Found:
    """A call around a value, or a method called on it, taken away and asked for again."""
    for call in source.of(*CALLS[:4]):
        around, whole = call.parent, source.say(call)
        function = call.part("function") or call.part("name")
        if around is None or function is None or source.function_at(call.start) is None:
            continue
        if around.type in CALL_STATEMENTS or "await" in around.type or not one_line(whole):
            continue
        given = arguments(call)
        owner = call.part("object") or (function.children[0] if function.children else None)
        form = "" if given else "method"
        kept = owner if not given else given[0] if len(given) == 1 else None
        text = source.say(kept) if kept is not None else ""
        if not re.fullmatch(r"[A-Za-z_][\w.]*", text) or text in VALUES:
            continue
        if form and (around.type == "argument_list" or not whole.endswith("()")):
            continue
        if form and "." not in text and (text[0].isupper() or source.language.name == "go"):
            continue  # a type or a package
        words = {"value": text, "callee": callee(call, source)}
        words["code"] = whole.removesuffix(f"({text})")
        yield backward(
            "wrap_call", call.start, [put(call, text)], words, text, form=form, mention=text
        )


KINDS = (
    guard, call_line, swap_lines, condition, argument, passed, default, expect, wrap_error,
    augmented, optional, otherwise, wrap_call,
)  # fmt: skip
