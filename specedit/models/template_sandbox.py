"""Renders a chat template, which may come from any author.

Jinja's sandbox renders it within one budget of steps and text: every value that an expression
yields is paid for by its size, and a call pays in advance for the most that it can produce. No
clock and no signal is needed, so the result is the same in every thread and on every system.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from types import BuiltinMethodType, GeneratorType
from typing import Any

from jinja2 import nodes, pass_context
from jinja2.exceptions import TemplateError
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer

LONGEST_TEMPLATE = 1 << 16  # characters; the longest known has 40,000
BUDGET = 1 << 20  # characters and items; Qwen's template spends 1,000
BITS = 4096  # of a number
METHODS = {*dir(str), *dir(list), *dir(dict)} - {"encode", "format_map"}
FILTERS = """abs capitalize count d default dictsort first float groupby indent int items join last
length list lower map max min reject rejectattr replace reverse round safe select selectattr sort
string title tojson trim unique upper wordcount"""
_NOT_PAID = nodes.Call | nodes.Const | nodes.NSRef | nodes.Slice  # calls pay for themselves


def render(template: str, **variables: Any) -> str:
    """The rendered text; raises whatever Jinja and the template raise."""
    if len(template) > LONGEST_TEMPLATE:
        refuse(f"it has {len(template):,} characters")
    environment = _Environment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    tree = environment.parse(template)
    _Paying().visit(tree)
    return environment.from_string(tree).render(**variables)


def refuse(message: str) -> None:
    raise TemplateError(str(message))


class _Environment(ImmutableSandboxedEnvironment):
    left = BUDGET
    intercepted_binops = frozenset(("*", "**", "%"))

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.filters |= {"_paid": _paid, "_filter": _filter, "tojson": self.tojson, "safe": str}
        # A namespace's text does not grow with what it holds. Every template gets the same day.
        namespace = type("_Namespace", (Namespace,), {"__repr__": lambda self: "namespace"})
        self.globals |= {"namespace": namespace, "raise_exception": refuse}
        self.globals["strftime_now"] = lambda form: "01 Jan 2025"
        del self.globals["lipsum"]  # text at random

    def size(self, value: Any) -> int:
        """Characters and items, nested ones included: the work of looking at all of the value."""
        size, pending = 0, [value]
        while pending and size <= self.left:
            part = pending.pop()
            size += 1 + (len(part) if isinstance(part, Collection) else 0)
            if isinstance(part, int) and part.bit_length() > BITS:
                refuse("it computes with a number that is too large")
            elif isinstance(part, Mapping) and size <= self.left:
                pending += [*part, *part.values()]
            elif isinstance(part, Collection) and not isinstance(part, str | bytes | range):
                pending += part if size <= self.left else ()
        return size

    def pay(self, price: int) -> None:
        self.left -= price
        if self.left < 0:
            refuse("it asks for too many steps or too much text")

    def pay_call(self, value: Any, arguments: Iterable[Any]) -> None:
        """Pay for the largest result: a text may be repeated, widened or put between others."""
        sizes = [
            abs(argument) if isinstance(argument, int) else self.size(argument)
            for argument in arguments
        ]
        self.pay(self.size(value) * max(1, sum(sizes)))

    def paid(self, value: Any) -> Any:
        """The value, after its size is paid for; of a lazy value a list, paid item by item."""
        if isinstance(value, GeneratorType | reversed):
            return [self.paid(item) for item in value]
        self.pay(self.size(value))
        return value

    def call_filter(self, name: str, value: Any, *rest: Any, **more: Any) -> Any:
        if name not in FILTERS.split():
            refuse(f"it uses the filter {name}, which no template needs")
        args, kwargs, *_ = *rest, None, None
        self.pay_call(value, [*(args or ()), *(kwargs or {}).values()])
        return self.paid(super().call_filter(name, value, *rest, **more))

    def call(self, context: Any, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        value, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
        if isinstance(function, BuiltinMethodType) and name not in METHODS:
            refuse(f"it calls {name}, which no template needs")
        # A width in a format takes any amount of memory, a dot reaches any attribute.
        if name == "format" and re.search(r"[{}]", re.sub(r"\{\w*\}", "", str(value))):
            refuse("it calls format with more than plain places")
        self.pay_call(value, [*args, *kwargs.values()])
        return self.paid(super().call(context, function, *args, **kwargs))

    def wrap_str_format(self, value: Any) -> None:
        """`call` checks str.format like every other method."""

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator == "**" and max(abs(left), abs(right)) > 64:
            refuse("it computes with a number that is too large")
        if operator == "%" and isinstance(left, str):
            if re.search(r"%[^sd%]", left):
                refuse("it formats with more than %s and %d")
            self.pay(self.size(left) * self.size(right))
        if operator == "*":
            self.pay_call(*((left, [right]) if isinstance(right, int) else (right, [left])))
        return super().call_binop(context, operator, left, right)

    def tojson(self, value: Any, ensure_ascii: bool = False, **layout: Any) -> str:
        """JSON as transformers' templates expect it."""
        encoder = json.JSONEncoder(ensure_ascii=ensure_ascii, **layout)
        return "".join(self.paid(piece) for piece in encoder.iterencode(value))


class _Paying(NodeTransformer):
    """Sends every value of a parsed template, and all text between, through `paid`."""

    def visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> nodes.Node:
        self.generic_visit(node)
        if isinstance(node, nodes.Filter):
            node.args, node.name = [nodes.Const(node.name), *node.args], "_filter"
        elif (
            isinstance(node, nodes.Expr)
            and not isinstance(node, _NOT_PAID)
            and getattr(node, "ctx", "load") == "load"  # not the name that a value is given
        ):
            return nodes.Filter(node, "_paid", [], [], None, None, lineno=node.lineno)
        return node


# Jinja calls a filter that wants the context only while it renders, never while it compiles.


@pass_context
def _paid(context: Any, value: Any) -> Any:
    return context.environment.paid(value)


@pass_context
def _filter(context: Any, value: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    return context.environment.call_filter(name, value, args, kwargs, context, context.eval_ctx)
