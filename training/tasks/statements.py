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
    blocks,
    call_in,
    callee,
    inner,
    is_function_body,
    moved,
    one_line,
    plain_string,
    statements,
)
from training.tasks.source import Edit, Source

Found = Iterator[Change]


def guard(source: Source, rng: random.Random, data: Any) -> Found:
    """An `if` that only leaves, taken away and asked for again."""
    for block in blocks(source):
        lines = statements(block)
        guards = [_guard(node, source) for node in lines]
        for number, found in enumerate(guards):
            node = lines[number]
            if found is None or len(lines) < 3 or number > 4 or source.commented(node):
                continue
            condition, leaving = found
            code, action = source.say(inner(condition)), source.say(leaving).rstrip(";")
            if not one_line(code) or not one_line(action) or " // " in action:
                continue
            if not source.alone(node.start, node.end):
                continue
            first = number
            while first and guards[first - 1] is not None:
                first -= 1
            last = number
            while last + 1 < len(lines) and guards[last + 1] is not None:
                last += 1
            around = [n for n in range(first, last + 2) if n not in (number, number + 1)]
            also = [
                moved(node, lines[place].start, source) for place in around if place < len(lines)
            ]
            also += _other_braces(node, condition, leaving, source)
            words = {
                "condition": _said(code, rng, source.language.name),
                "action": action,
            }
            named: tuple[str, ...] = ()
            exits = "raise" if leaving.type in RAISES or "panic" in action else "leave"
            if first == 0 and is_function_body(block, source):
                position, place = "first", block.start
            else:
                anchor = lines[last + 1] if last + 1 < len(lines) else None
                above = lines[first - 1] if first else None
                near = above if above is not None else anchor
                text = source.say(near) if near is not None else ""
                if near is None or not one_line(text) or near.type in COMMENTS:
                    continue
                words["anchor"] = text.rstrip(";")
                named = (text,)
                position, place = "after" if above is not None else "before", near.start
            yield Change(
                *("guard", place, (source.without(node),), (), words, named, tuple(also)),
                form=exits,
                position=position,
                mention=words.get("anchor", ""),
            )


def _guard(node: Branch, source: Source) -> tuple[Branch, Branch] | None:
    """The condition and the leaving statement of a guard clause."""
    if node.type == "expression_statement" and len(node.children) == 1:
        node = node.children[0]
    condition, consequence = node.part("condition"), node.part("consequence")
    if node.type not in IFS or condition is None or consequence is None:
        return None
    if node.part("alternative") or node.part("initializer"):
        return None
    inside = statements(consequence) if consequence.type in BLOCKS else [consequence]
    if len(inside) == 1 and inside[0].type == "expression_statement" and inside[0].children:
        inside = [inside[0].children[0]]
    if len(inside) == 1 and inside[0].type in EXITS:
        return condition, inside[0]
    return None


def _other_braces(node: Branch, condition: Branch, leaving: Branch, source: Source) -> list[Any]:
    consequence = next(n for n in node.walk() if n.field == "consequence")
    if source.language.name == "rust":
        semicolon = source.data[leaving.end : leaving.end + 1] == b";"
        return [((leaving.end, leaving.end + semicolon, "" if semicolon else ";"),)]
    if source.language.name not in ("javascript", "typescript", "java", "csharp"):
        return []
    text = source.say(leaving)
    new = text if consequence.type in BLOCKS else "{ " + text + " }"
    return [((consequence.start, consequence.end, new),)]


def _said(code: str, rng: random.Random, language: str) -> str:
    """A condition as it is typed in a sentence."""
    if language in ("javascript", "typescript", "csharp"):  # they have several ways to test it
        return code
    found = re.fullmatch(r"([\w.]+) (?:==|is) (null|None|nil)", code)
    if found and rng.random() < 0.7:
        return rng.choice(("{} is {}", "{} is {}", "{} == {}")).format(*found.groups())
    found = re.fullmatch(r"([\w.]+) (?:!=|is not) (null|None|nil)", code)
    if found and rng.random() < 0.7:
        return "{} is not {}".format(*found.groups())
    found = re.fullmatch(r"([\w.]+) < 0", code)
    if found and rng.random() < 0.7:
        return f"{found[1]} is negative"
    return code


def call_line(source: Source, rng: random.Random, data: Any) -> Found:
    """A call on a line of its own: removed, or taken away and asked for again."""
    for block in blocks(source):
        lines = statements(block)
        calls = [call_in(node) if node.type in CALL_STATEMENTS else None for node in lines]
        whole = is_function_body(block, source)
        for number, call in enumerate(calls):
            node = lines[number]
            text = source.say(node).rstrip(";")
            if call is None or len(lines) < 2 or not one_line(text) or source.commented(node):
                continue
            name = callee(call, source)
            log = name.lower() in LOGS
            start = next((plain_string(inner(a), source) for a in arguments(call)), "")
            words = {"callee": name, "code": text, "start": " ".join(start.split()[:4])}
            removal = source.without(node)
            if log and len(start.split()) > 2:
                yield Change("remove_call", node.start, (), (removal,), words, (start,), form="log")
            else:
                yield Change(
                    "remove_call", node.start, (), (removal,), words, (name,), mention=name + "("
                )
            if name == "super" or text.startswith("super"):
                continue
            form, place = "", block.start
            named: tuple[str, ...] = ()
            if number == 0 and whole:
                form = "first"
            elif number == len(lines) - 1 and whole:
                form = "last"
            else:
                near = lines[number - 1] if number else lines[number + 1]
                anchor = source.say(near).rstrip(";")
                if one_line(anchor) and near.type not in COMMENTS:
                    words["anchor"], named, place = anchor, (anchor,), near.start
                    form = "after" if number else "before"
            if form:
                kind = "add_log" if log else "add_call"
                yield Change(
                    kind,
                    place,
                    (removal,),
                    (),
                    words,
                    named,
                    position=form,
                    mention=words.get("anchor", ""),
                )


def swap_lines(source: Source, rng: random.Random, data: Any) -> Found:
    """Two neighbouring calls in the other order."""
    for block in blocks(source):
        lines = statements(block)
        for first, second in pairwise(lines):
            calls = [
                call_in(node) if node.type in CALL_STATEMENTS else None for node in (first, second)
            ]
            if None in calls or source.commented(first) or source.commented(second):
                continue
            one, two = (callee(call, source) for call in calls if call)
            texts = source.say(first), source.say(second)
            if one == two or not all(map(one_line, texts)):
                continue
            edits = ((first.start, first.end, texts[1]), (second.start, second.end, texts[0]))
            words = {"first": one, "second": two}
            yield Change("swap_lines", first.start, (), edits, words, (one, two))


def condition(source: Source, rng: random.Random, data: Any) -> Found:
    """A part of a condition: dropped, or taken away and asked for again."""
    for node in source.of("binary_expression", "boolean_operator"):
        if len(node.children) != 3:
            continue
        left, operator, right = node.children
        sign = source.say(operator)
        if sign not in ("&&", "||", "and", "or"):
            continue
        holder = node.parent
        while holder is not None and holder.type == "parenthesized_expression":
            holder = holder.parent
        if holder is None or holder.type not in (*IFS, "while_statement", "elif_clause"):
            continue
        for rest, extra in ((left, right), (right, left)):
            kept, more = source.say(rest), source.say(extra)
            if not one_line(kept) or not one_line(more) or re.search(r"&&|\|\|| and | or ", more):
                continue
            if rest.type in ("boolean_operator", "binary_expression"):
                inside = rest.part("operator") or rest.children[1]
                joins = source.say(inside) in ("&&", "||", "and", "or")
                if joins and (source.say(inside) != sign or extra is left):
                    continue
            edit = ((node.start, node.end, kept),)
            words = {"extra": more, "rest": kept}
            other = ((node.start, node.end, f"{more} {sign} {kept}"),)
            if extra is left:
                other = ((node.start, node.end, f"{kept} {sign} {more}"),)
            form = "and" if sign in ("&&", "and") else "or"
            yield Change(
                "condition", node.start, edit, (), words, (kept,), (other,), form, mention=kept
            )
            bare = source.say(inner(rest))  # parentheses that only the other part needed
            bare = bare if "," not in bare and "\n" not in bare else kept
            also = (((node.start, node.end, bare),),) if bare != kept else ()
            yield Change("drop_condition", node.start, (), edit, words, (more,), also, mention=more)


def argument(source: Source, rng: random.Random, data: Any) -> Found:
    """The last argument of a call: dropped, changed, or taken away and asked for again."""
    for call in source.of(*CALLS):
        given = arguments(call)
        name = callee(call, source)
        if len(given) < 2 or not name:
            continue
        last, previous = given[-1], given[-2]
        text = source.say(last)
        if not one_line(text) or len(text) > 40 or "{" in text or call.type == "macro_invocation":
            continue
        end = last.end
        edit = ((previous.end, end, ""),)
        words = {"callee": name, "argument": text}
        yield Change(
            "remove_argument", call.start, (), edit, words, (name, text), mention=name + "("
        )
        form = "" if last.type == "keyword_argument" else "last"
        also = []
        if last.type == "keyword_argument":
            for other in given[:-1]:
                if other.type == "keyword_argument":
                    also.append((*edit, (other.start, other.start, text + ", ")))
        yield Change(
            "add_argument",
            call.start,
            edit,
            (),
            words,
            (name,),
            tuple(also),
            form,
            mention=name + "(",
        )


def passed(source: Source, rng: random.Random, data: Any) -> Found:
    """A parameter that is only passed on: dropped, or taken away and asked for again."""
    for holder in source.of("parameters", "formal_parameters", "parameter_list"):
        if holder.field != "parameters" or holder.parent is None:
            continue
        given = [n for n in holder.named_children() if n.type not in COMMENTS]
        if len(given) < 2 or "keyword_separator" in {n.type for n in given}:
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
        ]
        uses = [n for n in uses if not (n.field == "name" and n.place == "keyword_argument.name")]
        if len(uses) != 1:
            continue
        use = uses[0]
        while use.parent is not None and use.parent.type in ("argument", "keyword_argument"):
            use = use.parent
        call = use.parent.parent if use.parent is not None else None
        if call is None or call.type not in CALLS[:4]:
            continue
        handed = arguments(call)
        if len(handed) < 2 or handed[-1] is not use:
            continue
        body = source.say(holder.parent)
        if len(re.findall(rf"\b{name}\b", body)) > 2 + (use.type == "keyword_argument"):
            continue
        caller = source.function_at(call.start)
        if caller is None or source.text.count(f"{caller.own_name}(") > 1:
            continue
        edits = ((given[-2].end, last.end, ""), (handed[-2].end, use.end, ""))
        words = {
            "parameter": source.say(last),
            "name": name,
            "callee": callee(call, source),
            "argument": source.say(use),
        }
        yield Change("add_parameter", call.start, edits, (), words, (name,))
        yield Change("remove_parameter", call.start, (), edits, words, (name,))


def default(source: Source, rng: random.Random, data: Any) -> Found:
    """The default of a parameter, taken away and asked for again."""
    for node in source.of(
        *("default_parameter", "typed_default_parameter", "assignment_pattern"),
        *("required_parameter", "parameter"),
    ):
        if node.type == "assignment_pattern" and node.field == "value":
            continue
        value = node.part("value") or node.part("right")
        if value is None and node.type == "parameter" and source.language.name == "csharp":
            named = node.named_children()
            value = named[-1] if "=" in source.say(node) else None
        name_node = node.part("name") or node.part("left") or node.part("pattern")
        if value is None or name_node is None or not one_line(source.say(value)):
            continue
        start = node.part("type").end if node.part("type") else name_node.end  # type: ignore[union-attr]
        if node.type == "parameter":
            start = name_node.end
        previous = node.parent.named_before(node.start) if node.parent else None
        if previous is not None and "=" in source.say(previous):
            continue  # before it only what is optional may stand
        words = {"name": source.say(name_node), "value": source.say(value)}
        edit = ((start, value.end, ""),)
        yield Change("default", node.start, edit, (), words, (words["name"],))


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
        edit = ((name.start, call.end, f'expect("{text}")'),)
        words = {"code": value, "message": text}
        yield Change("expect", call.start, (), edit, words, (value,))


def wrap_error(source: Source, rng: random.Random, data: Any) -> Found:
    """Go: a returned error with a message around it."""
    if source.language.name != "go" or '"fmt"' not in source.text:
        return
    for node in source.of("return_statement"):
        named = node.named_children()
        values = named[0].named_children() if named else []
        function = source.function_at(node.start)
        if not values or source.say(values[-1]) != "err" or function is None:
            continue
        if node.around("if_statement") is None:
            continue
        text = " ".join(re.findall(r"[A-Z]?[a-z]+", function.own_name)).lower()
        edit = ((values[-1].start, values[-1].end, f'fmt.Errorf("{text}: %w", err)'),)
        yield Change("wrap_error", node.start, (), edit, {"message": text})


def augmented(source: Source, rng: random.Random, data: Any) -> Found:
    """`x += y` for `x = x + y`, which is put there first."""
    types = (
        *("augmented_assignment", "augmented_assignment_expression", "compound_assignment_expr"),
        *("assignment_expression", "assignment_statement"),
    )
    for node in source.of(*types):
        left, right, sign = node.part("left"), node.part("right"), node.part("operator")
        if left is None or right is None or sign is None or source.say(sign) not in ("+=", "-="):
            continue
        name, value = source.say(left), source.say(right)
        if not one_line(name + value) or "binary" in inner(right).type:
            continue
        new = f"{name} = {name} {source.say(sign)[0]} {value}"
        words = {"name": name, "new": source.say(sign)}
        yield Change("augmented", node.start, ((node.start, node.end, new),), (), words, (name,))


def optional(source: Source, rng: random.Random, data: Any) -> Found:
    """`?.` for `.`, which is put there first."""
    found: list[tuple[Branch, Branch, Edit]] = []
    for node in source.of("optional_chain"):
        value = node.parent.children[0] if node.parent else None
        member = node.parent.part("property") if node.parent else None
        if value is not None and member is not None:
            found.append((value, member, (node.start, node.end, ".")))
    for node in source.of("conditional_access_expression"):
        value, member = node.children[0], node.children[-1]
        if node.children[1].type == "?" and member.type == "member_binding_expression":
            found.append((value, member, (node.children[1].start, node.children[1].end, "")))
    for value, member, edit in found:
        name, part = source.say(value), source.say(member).lstrip(".")
        if (
            name not in ("this", "base")
            and re.fullmatch(r"[\w.]+", name)
            and re.fullmatch(r"\w+", part)
        ):
            words = {"name": name, "member": part}
            yield Change("optional", value.start, (edit,), (), words, (name, part))


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
        if not one_line(action) or not one_line(code) or "comment" in str(alternative.children):
            continue
        edit = ((consequence.end, alternative.end, ""),)
        words = {"condition": code, "action": action}
        yield Change("otherwise", node.start, edit, (), words, (code,), mention=code)


def wrap_call(source: Source, rng: random.Random, data: Any) -> Found:
    """A call around a value, or a method called on it, taken away and asked for again."""
    for call in source.of(*CALLS[:4]):
        around = call.parent
        if around is None or around.type in CALL_STATEMENTS or "await" in around.type:
            continue
        given, name = arguments(call), callee(call, source)
        function = call.part("function") or call.part("name")
        value = call.part("object") or (
            function.children[0] if function and function.children else None
        )
        if function is None:
            continue
        form, kept = "", given[0] if len(given) == 1 else None
        if kept is None and not given and value is not None and call.part("arguments") is not None:
            form, kept = "method", value
        text = source.say(kept) if kept is not None else ""
        if not re.fullmatch(r"[A-Za-z_][\w.]*", text) or not one_line(source.say(call)):
            continue
        if source.function_at(call.start) is None or (form and around.type == "argument_list"):
            continue
        if text in ("null", "None", "nil", "true", "false", "self", "this", "undefined"):
            continue
        plain = "." in text or (text[0].islower() and source.language.name != "go")
        if form and not plain:
            continue  # a type or a package
        whole = source.say(call)
        words = {"value": text, "callee": name, "code": whole.removesuffix(f"({text})")}
        edit = ((call.start, call.end, text),)
        yield Change("wrap_call", call.start, edit, (), words, (text,), form=form, mention=text)


KINDS = (
    guard, call_line, swap_lines, condition, argument, passed, default, expect, wrap_error,
    augmented, optional, otherwise, wrap_call,
)  # fmt: skip
