"""The meaning of one use of a name: a declaration, or a key that equal uses share.

Asks `Typing` for classes, and the language first. Which keys are one thing in the end is for
`meaning` to say.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from specedit.scoping.builtin_names import BUILTINS
from specedit.scoping.scope import FUNCTIONS, TYPES, Declared, Known, Owner
from specedit.scoping.scopes import PLAIN
from specedit.scoping.typing import Typing
from specedit.syntax.branch import Branch

EXTERNAL = "outside"  # a member of something this file does not define
FOREIGN = "foreign"  # a member of something that an import names
UNKNOWN = "unknown"  # a member of something whose class is not known
FREE = "free"  # a bare name that this file does not declare
MODULE = "module"  # a name of another module, which may be named, or one this gives out under
UNKNOWN_CALL = ("unknown", "")  # what is called is unknown
OTHER_CALL = ("outside", "argument")  # what is called is defined elsewhere

Join = Callable[[Hashable, Hashable], None]


class Uses:
    """The uses of one name. `join` is called for two keys that a use shows to be one."""

    def __init__(self, typing: Typing, name: str, declared: list[Declared], join: Join) -> None:
        self.typing, self.scopes, self.rules = typing, typing.scopes, typing.rules
        self.name = name
        self.declared = declared
        self.owner_of: dict[Hashable, Owner] = {}
        self.join = join

    def keys(self, leaf: Branch) -> list[Hashable]:
        """The meaning of a place: one, or two where a shorthand names a member and a variable."""
        rules = self.rules
        if leaf.type in rules.labels or leaf.place in rules.labels:
            return [("label", id(self.function(leaf)))]
        declared = self.scopes.by_leaf.get(id(leaf))
        if rules.is_shorthand(leaf):
            variable = declared if declared is not None else self.bare(leaf, "value")
            return [variable, rules.shorthand_member(self, leaf)]
        if declared is not None:
            return rules.means_declared(self, leaf, declared)
        meant = rules.means(self, leaf)
        if meant is not None and isinstance(meant[0], tuple) and meant[0][0] == MODULE:
            module = meant[0][1] if len(self.typing.project.paths) > 1 else ""
            return self._read_elsewhere(leaf) or ([(FOREIGN, module)] if module else meant)
        if meant is not None:
            return meant
        if leaf.place in rules.literal_members:
            return [self.member_of_literal(leaf, rules.literal_members[leaf.place])]
        if leaf.place in rules.own_names:
            return [self.own(leaf)]
        if (how := rules.keys.get(leaf.place)) is not None:
            key = parameter_named(leaf, self.typing, self.declared) if how == "argument" else None
            if key is not None or how != "argument":
                return [key or (UNKNOWN, "")]
        receiver = self.typing.rules.receiver(leaf) if leaf.place in rules.members else None
        if receiver is not None:
            called = self.typing.is_called(leaf)
            key = self.member(self.typing.type_of(receiver), called)
            reads = not called and leaf.place in rules.field_reads
            is_method = isinstance(key, Declared) and key.kind in FUNCTIONS
            return [(EXTERNAL, "") if reads and is_method else key]
        return [self.bare(leaf, self._hint(leaf))]

    def _read_elsewhere(self, leaf: Branch) -> list[Hashable]:
        """The meaning of a name of another module, where that module is in the work tree."""
        named = self.rules.named(self.typing.project, self.typing, leaf)
        results: list[Hashable] = [declared for declared in named if declared.name == self.name]
        return results[:1]

    def _hint(self, leaf: Branch) -> str:
        """The sort of name that a place asks for."""
        rules, parent = self.rules, leaf.parent
        if leaf.type in rules.type_names or rules.is_type(leaf):
            return "type"
        called = parent is not None and rules.calls.get(parent.type, "?").strip("<") == leaf.field
        return "call" if called else "value"

    def function(self, leaf: Branch) -> Branch:
        """The function around a place, or the file."""
        functions = (up for up in leaf.up() if self.rules.scopes.get(up.type) == "function")
        return next(functions, self.scopes.root)

    def bare(self, leaf: Branch, hint: str) -> Hashable:
        result = self.typing.lookup(self.name, leaf, hint)
        return result if result is not None else (FREE, hint if self.rules.methods_apart else "")

    def own(self, leaf: Branch) -> Hashable:
        """The class around a place that repeats its name."""
        owner = self.typing.enclosing(leaf)
        if owner is not None:
            for declaration in self.declared:
                if declaration.node is owner.node:
                    return declaration
        return self.bare(leaf, "type")

    def member(self, owners: Known, called: bool = False) -> Hashable:
        """The meaning of the name as a member of these."""
        if not owners:
            return (UNKNOWN, "")
        result = self.typing.members(owners, self.name, called)
        listed = len(owners) > 1 and any(owner.module == PLAIN for owner in owners)
        if result and listed and self.name in self.rules.of_many:  # an array may have it, too
            return (UNKNOWN, "")
        if result:
            for owner in owners:  # of a union every type's member counts
                for other in self.typing.members((owner,), self.name, called)[:1]:
                    self.join(other, result[0])
            return result[0]
        own = [owner for owner in owners if owner.module is None]
        if not own:
            return (FOREIGN, owners[0].module or "")
        for owner in own:
            if (inherited := self.rules.inherited(self, owner)) is not None:
                return inherited
        key = ("implicit", id(own[0]))
        self.owner_of[key] = own[0]
        return key

    def member_of_literal(self, leaf: Branch, where: str) -> Hashable:
        """The name as a member of the type in the field `where`: "node.field" or ".field"."""
        kind, _, field = where.rpartition(".")
        holders = (up for up in leaf.up() if kind in ("", up.type))
        typed = next((part for up in holders if (part := up.part(field)) is not None), None)
        return self.member(self.typing.named_type(typed))

    def member_here(self, leaf: Branch) -> Hashable:
        """The meaning of the name as a member of the class around a place."""
        owner = self.typing.enclosing(leaf)
        return self.member((owner,) if owner else None)


# keyword arguments: `f(x=1)`, `F(x: 1)`


def takes_any(function: Branch, rest: frozenset[str]) -> bool:
    """Whether a function takes arguments of any name: `**rest`."""
    listed = function.part("parameters")
    return listed is not None and any(
        not rest.isdisjoint((child.type, *(inner.type for inner in child.children)))
        for child in listed.children
    )


def parameter_named(leaf: Branch, typing: Typing, declared: list[Declared]) -> Hashable | None:
    """The parameter a keyword argument names."""
    if not typing.rules.names_argument(leaf):
        return None
    call = leaf.around(*typing.rules.calls)
    last = typing.called_leaf(call) if call is not None else None
    if last is None:
        return UNKNOWN_CALL
    return of_the_called(last, typing, declared)


def of_the_called(leaf: Branch, typing: Typing, declared: list[Declared]) -> Hashable:
    """Over many files: the parameter of what is called, wherever that is declared."""
    receiver, name = typing.rules.receiver(leaf), typing.scopes.label(leaf)
    if receiver is not None and typing.type_of(receiver) is None:
        return UNKNOWN_CALL
    called = typing.called(leaf)
    if called is None and receiver is not None and name in typing.rules.makers:  # `Cart.new(x: 1)`
        called = typing.resolved(typing.lookup(typing.scopes.label(receiver), receiver, "type"))
    if called is None:
        own = receiver is not None or name in BUILTINS.get(typing.scopes.language.name, ())
        return OTHER_CALL if own else UNKNOWN_CALL
    if called.kind == "import":
        there = typing.home(called) or typing
        return (FOREIGN, there.rules.module_of(there.scopes, called))
    home = typing.home(called) or typing
    built = home.type_of_declared(called) if called.kind in TYPES else None
    for owner in (each for kind in built or () for each in (kind, *home.above(kind))):
        for candidate in declared:  # its constructor's, or a field that it is made from
            if _fills(candidate, owner, home):
                return candidate
    for candidate in declared:
        if (
            candidate.kind == "parameter"
            and candidate.scope
            and candidate.scope.node in (called.node, home.rules.value_part(called))
        ):
            return candidate
    held = called.kind not in (*FUNCTIONS, *TYPES)  # a variable, whatever it is set to
    unknown = held or takes_any(called.node, home.rules.rest_parameters)
    return UNKNOWN_CALL if unknown else OTHER_CALL


def _fills(declared: Declared, owner: Owner, home: Typing) -> bool:
    """Whether an argument of the class's own call goes to a declaration."""
    if declared.owner is owner and declared.kind in ("field", "local"):
        return True
    around = declared.scope.parent.owner if declared.scope and declared.scope.parent else None
    return (
        declared.kind == "parameter" and around is owner and home.rules.constructs(declared, owner)
    )
