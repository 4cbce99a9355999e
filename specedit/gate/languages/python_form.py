"""One form for Python texts that do the same: `[]` for `list()`, one name for a local whatever it
is called, no annotations.

Two texts of one form do the same; of two that do the same, many have two forms.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_EMPTY = {"list": "[]", "dict": "{}", "tuple": "()"}


def form(text: str) -> str | None:
    """The form of a text; None of one that this Python does not read, or that looks at its own
    names."""
    try:
        return _form(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _form(tree: ast.Module) -> str | None:
    if any(isinstance(one, ast.Name) and one.id in _LOOKS for one in ast.walk(tree)):
        return None
    for function in [one for one in ast.walk(tree) if isinstance(one, _FUNCTIONS)]:
        _name(function)
    return ast.dump(_Plain().visit(tree))


_LOOKS = frozenset({"locals", "vars", "eval", "exec"})


class _Plain(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        callee = node.func
        bare = isinstance(callee, ast.Name) and not node.args and not node.keywords
        if bare and isinstance(callee, ast.Name) and callee.id in _EMPTY:
            return ast.parse(_EMPTY[callee.id], mode="eval").body
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        if node.value is None or not isinstance(node.target, ast.Name):
            return node
        return ast.Assign([node.target], node.value)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        inner = node.operand
        if not isinstance(node.op, ast.Not) or not isinstance(inner, ast.Compare):
            return node
        turned = {ast.In: ast.NotIn, ast.Is: ast.IsNot}.get(type(inner.ops[0]))
        if turned is None or len(inner.ops) != 1:
            return node
        return ast.Compare(inner.left, [turned()], inner.comparators)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._defined(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._defined(node)

    def _defined(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.returns = None
        return node


def _name(function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Number the locals of a function in the order in which they are first set; one that has
    functions or classes inside keeps its names."""
    inner = [one for one in ast.walk(function) if one is not function]
    kept = (*_FUNCTIONS, ast.Lambda, ast.ClassDef, ast.Global, ast.Nonlocal)
    if any(isinstance(one, kept) for one in inner):
        return
    numbers: dict[str, str] = {}
    for one in _ordered(function):
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            numbers.setdefault(one.id, f"local {len(numbers)}")
    taken = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    for one in inner:
        if isinstance(one, ast.Name) and one.id in numbers and one.id not in taken:
            one.id = numbers[one.id]


def _ordered(node: ast.AST) -> Iterator[ast.AST]:
    for one in ast.iter_child_nodes(node):
        yield one
        yield from _ordered(one)
