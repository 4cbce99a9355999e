"""A chat template, rendered within limits: it comes from a file that anybody may have written.

Jinja's sandbox keeps a template from reaching Python. Here it also cannot go on for ever or fill
the memory: every round of a loop, every call and every letter that is made is taken from one
budget. For that the parsed template is rewritten, so that no loop, joining or output is left that
does not ask first. Counting needs no clock and no signal: it is the same on every system, in every
thread, and for every run. Knows Jinja; does not know messages or tokens.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from types import BuiltinMethodType, MethodType
from typing import Any

from jinja2 import Undefined, nodes, pass_context
from jinja2.exceptions import TemplateError
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer
from markupsafe import escape

LONGEST = 1 << 18  # letters of a template; the longest known has 40,000
BUDGET = 1 << 20  # a known template spends 2,000 to 30,000
WIDEST = 1 << 16  # of a number that says how often or how wide
BITS = 4096  # of a number
FILTERS = (
    *("abs", "capitalize", "count", "d", "default", "dictsort", "first", "float", "groupby"),
    *("indent", "int", "items", "join", "last", "length", "list", "lower", "map", "max", "min"),
    *("reject", "rejectattr", "replace", "reverse", "round", "select", "selectattr", "sort"),
    *("string", "title", "trim", "unique", "upper", "wordcount"),
)
GLOBALS = ("cycler", "dict", "joiner", "namespace")
METHODS: Mapping[type, frozenset[str]] = {
    str: frozenset(
        (
            *("capitalize", "casefold", "count", "endswith", "find", "format", "index"),
            *("isalnum", "isalpha"),
            *("isascii", "isdecimal", "isdigit", "islower", "isnumeric", "isspace", "istitle"),
            *("isupper", "join", "lower", "lstrip", "partition", "removeprefix", "removesuffix"),
            *("replace", "rfind", "rindex", "rpartition", "rsplit", "rstrip", "split"),
            *("splitlines", "startswith", "strip", "swapcase", "title", "upper"),
        )
    ),
    list: frozenset(("copy", "count", "index")),
    tuple: frozenset(("count", "index")),
    dict: frozenset(("copy", "get", "items", "keys", "values")),
}
TEXT = frozenset(  # filters that make a text of whatever they are given
    (
        *("capitalize", "e", "indent", "join", "lower", "replace", "safe", "string"),
        *("title", "trim", "upper"),
    )
)
_VALUES: Any = (str, bytes, int, float, list, tuple, dict, set, range, type)
PLAIN = (str, int, float, type(None), Undefined)


class TooMuch(TemplateError):
    """The template asks for more than any template needs."""


def render(template: str, **known: Any) -> str:
    """The rendered text; raises whatever Jinja and the template raise."""
    if len(template) > LONGEST:
        raise TooMuch(f"it has {len(template):,} letters")
    return Bounded().from_string(template).render(**known)


class Bounded(ImmutableSandboxedEnvironment):
    """One rendering's environment, with its budget."""

    intercepted_binops = frozenset(("+", "-", "*", "/", "//", "**", "%"))

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols], optimized=False
        )
        self.left = BUDGET
        known = self.filters
        self.filters = {name: self._filter(name, known[name]) for name in FILTERS}
        self.filters["tojson"] = self._filter("tojson", self.tojson)
        self.filters["safe"] = self._filter("safe", str)
        self.filters["e"] = self._filter("e", lambda value: str(escape(value)))
        self.filters["escape"] = self.filters["e"]
        for ask in (self.each, self.shown, self.joined, self.weighed):
            self.filters[f"_{ask.__name__}"] = _asked(ask)
        self.globals = {name: self.globals[name] for name in GLOBALS}
        self.globals |= {"range": _range, "raise_exception": _refuse}
        # A date would change the prompt from day to day; templates that ask get one fixed day.
        self.globals["strftime_now"] = lambda form: "01 Jan 2025"

    # What is paid for

    def pay(self, price: int) -> None:
        self.left -= price
        if self.left < 0:
            raise TooMuch("it asks for too many steps or too much text")

    def weighed(self, value: Any) -> Any:
        """The value, once its whole weight is paid for: whoever looks at all of it may."""
        pending = [value]
        while pending:
            one = pending.pop()
            if isinstance(one, str):
                self.pay(1 + len(one))
            elif isinstance(one, int):
                self.pay(1 + one.bit_length() // 64)
            elif isinstance(one, range):
                self.pay(1 + len(one))
            elif isinstance(one, dict):
                self.pay(1 + len(one))
                pending += [*one.keys(), *one.values()]
            elif isinstance(one, _SEVERAL):
                self.pay(1 + len(one))
                pending += one
            else:
                self.pay(1)
        return value

    def each(self, value: Any) -> Any:
        """What a loop goes over, every round of it paid for."""
        if type(value) not in (str, list, tuple, dict, range):
            return [*self._paid(value)]
        self.pay(len(value))
        return value

    def _paid(self, values: Iterable[Any]) -> Iterable[Any]:
        for value in values:
            self.pay(1)
            yield value

    def shown(self, value: Any) -> str:
        """A value as text, if it is one that text can be made of."""
        self.weighed(value)
        pending = [value]
        while pending:
            one = pending.pop()
            if isinstance(one, dict):
                pending += [*one.keys(), *one.values()]
            elif isinstance(one, _SEVERAL):
                pending += one
            elif not isinstance(one, PLAIN) and type(one) is not range:
                raise TooMuch(f"it shows a {type(one).__name__}, which is no text")
        return str(value)

    def tojson(
        self,
        value: Any,
        ensure_ascii: bool = False,
        indent: int | None = None,
        separators: Any = None,
        sort_keys: bool = False,
    ) -> str:
        """As templates know it from transformers."""
        form = json.JSONEncoder(
            ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
        )
        pieces = form.iterencode(value)
        return "".join([self.weighed(piece) for piece in pieces])

    def joined(self, values: list[Any]) -> str:
        return "".join([self.shown(value) for value in values])

    # What Jinja asks

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        found = super()._parse(source, name, filename)
        _Asking().visit(found)
        return found

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        self.weighed(left)
        self.weighed(right)
        numbers = isinstance(left, int | float) and isinstance(right, int | float)
        if operator == "*" and not numbers:
            count, several = (left, right) if isinstance(left, int) else (right, left)
            self.pay(max(0, int(count)) * (1 + len(several)))
        elif operator == "**":
            if not numbers or abs(right) > BITS or _bits(left) * abs(right) > BITS:
                raise TooMuch("it asks for a power that is too large")
        elif operator == "%" and isinstance(left, str):
            if re.search(r"%[^sd%]", left):
                raise TooMuch("it writes with a width or a kind of number, which no template needs")
            self.pay(left.count("%") * len(self.shown(right)))
        elif numbers and max(_bits(left), _bits(right)) > BITS:
            raise TooMuch("it reckons with a number that is too large")
        return super().call_binop(context, operator, left, right)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """`format` is a method like others here; see `call`."""
        return None

    def call(self, context: Any, obj: Any, *args: Any, **kwargs: Any) -> Any:
        self.pay(1)
        self.weighed([*args, *kwargs.values()])
        holder: Any = getattr(obj, "__self__", None)
        if isinstance(obj, BuiltinMethodType | MethodType) and isinstance(holder, _VALUES):
            owner = next((kind for kind in METHODS if isinstance(holder, kind)), None)
            if owner is None or obj.__name__ not in METHODS[owner]:
                raise TooMuch(f"it calls {obj.__name__}, which no template needs")
            self.weighed(holder)
            if obj.__name__ == "replace":
                self._growing(holder, *args[:2])
            elif obj.__name__ == "format":
                # Plain places only: a width takes any memory, a dot reaches anything.
                if re.search(r"[{}]", re.sub(r"\{\w*\}", "", holder)):
                    raise TooMuch("it writes with format and more than plain places")
                self.pay(holder.count("{") * len(self.shown([*args, *kwargs.values()])))
            elif obj.__name__ == "join":
                self.pay(len(holder) * len(self.each(args[0])))
        return super().call(context, obj, *args, **kwargs)

    def _growing(self, text: Any, old: Any, new: Any) -> None:
        """Pay for what replacing makes."""
        if all(isinstance(one, str) for one in (text, old, new)):
            self.pay(text.count(old) * len(new))

    def _filter(self, name: str, do: Callable[..., Any]) -> Callable[..., Any]:
        """A filter that pays for what it takes and for what it makes."""

        def bounded(value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            given = [*args, *kwargs.values()]
            if isinstance(value, Iterable) and not hasattr(value, "__len__"):
                value = [*self._paid(value)]
            self.weighed(value)
            if name in TEXT:
                self.shown(value)
            self.weighed(given)
            for number in (one for one in given if isinstance(one, int)):
                if abs(number) > WIDEST:
                    raise TooMuch(f"it hands {number:.3g} to {name}")
            if name == "replace":
                self._growing(value, *[*args, "", ""][:2])
            elif name == "join":
                between = sum(len(one) for one in given if isinstance(one, str))
                self.pay(between * len(value))
            elif name == "indent":
                width = next((one for one in given), 4)
                each = width if isinstance(width, int) else len(width)
                self.pay(max(0, each) * (1 + str(value).count("\n")))
            elif name == "e":
                self.pay(5 * len(str(value)))
            return value

        return _wrapped(do, name, bounded, self._paid)


_SEVERAL: Any = (
    list,
    tuple,
    set,
    frozenset,
    type({}.keys()),
    type({}.values()),
    type({}.items()),
)


def _asked(ask: Callable[[Any], Any]) -> Callable[..., Any]:
    # With the context, so that Jinja asks when it renders, not once when it compiles.
    @pass_context
    def asked(context: Any, value: Any) -> Any:
        return ask(value)

    return asked


def _wrapped(
    do: Callable[..., Any],
    name: str,
    bounded: Callable[..., Any],
    paid: Callable[[Iterable[Any]], Iterable[Any]],
) -> Callable[..., Any]:
    from jinja2.utils import _PassArg

    first = _PassArg.from_obj(do)

    @pass_context
    def asked(context: Any, value: Any = None, *args: Any, **kwargs: Any) -> Any:
        value = bounded(value, args, kwargs)
        if first is _PassArg.context:
            made = do(context, value, *args, **kwargs)
        elif first is _PassArg.eval_context:
            made = do(context.eval_ctx, value, *args, **kwargs)
        elif first is _PassArg.environment:
            made = do(context.environment, value, *args, **kwargs)
        else:
            made = do(value, *args, **kwargs)
        if isinstance(made, Iterable) and not hasattr(made, "__len__"):
            return [*paid(made)]  # lazily made: its rounds are paid for here
        return made

    return asked


class _Asking(NodeTransformer):
    """Rewrites a parsed template: what loops, joins, compares or is shown asks the budget first."""

    def visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> nodes.Node:
        self.generic_visit(node)
        match node:
            case nodes.For():
                node.iter = _asks("_each", node.iter)
            case nodes.Output():
                node.nodes = [_asks("_shown", one) for one in node.nodes]
            case nodes.Concat():
                return _asks("_joined", nodes.List(node.nodes, lineno=node.lineno))
            case nodes.Compare():
                node.expr = _asks("_weighed", node.expr)
            case nodes.Operand():
                node.expr = _asks("_weighed", node.expr)
            case nodes.Pair():
                node.key = _asks("_weighed", node.key)
            case nodes.Test() if node.name not in ("defined", "undefined"):
                node.node = _asks("_weighed", node.node)
                node.args = [_asks("_weighed", one) for one in node.args]
            case nodes.Getitem() if isinstance(node.arg, nodes.Slice):
                node.node = _asks("_weighed", node.node)
            case nodes.Getitem():
                node.arg = _asks("_weighed", node.arg)
        return node


def _asks(name: str, node: Any) -> nodes.Filter:
    if isinstance(node, nodes.TemplateData):
        node = nodes.Const(node.data, lineno=node.lineno)
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _bits(number: float) -> int:
    return number.bit_length() if isinstance(number, int) else 64


def _range(*given: int) -> range:
    found = range(*given)
    if len(found) > WIDEST:
        raise TooMuch(f"it counts to {len(found):,}")
    return found


def _refuse(message: str) -> None:
    raise TemplateError(str(message))
