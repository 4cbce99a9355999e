"""Which class an expression has, as far as one file can tell.

`None` means unknown; an owner with a `module` is a type that no file of the tree defines. Never
guesses: callers decide what unknown is worth.
"""

from __future__ import annotations

from collections.abc import Iterator

from specedit.scoping.languages.rules import Rules
from specedit.scoping.lookup import Lookup
from specedit.scoping.scope import FUNCTIONS, Declared, Known, Owner
from specedit.syntax.branch import Branch, first_of, last_of

SAME = "same"  # of `Tables.held`: methods that give something with the same inside
MAX_STEPS = 40  # steps of inference, three or four for each call of a chain; cycles are longer


class Typing(Lookup):
    """Classes of expressions, on top of what names mean."""

    # the syntax around a name

    def member_leaf(self, node: Branch) -> Branch | None:
        """The name after the dot, when `node` is a member access."""
        for child in reversed(node.children):
            if child.place in self.rules.members and self.rules.receiver(child) is not None:
                return child
        return None

    def member_called(self, node: Branch) -> Branch | None:
        """The name of the member that an expression reads or calls."""
        where = self.rules.calls.get(node.type)
        callee = node.part(where) if where else None
        if callee is not None and callee.type in self.rules.names:
            return callee if self.rules.receiver(callee) is not None else None
        return self.member_leaf(callee if callee is not None else node)

    def is_called(self, leaf: Branch) -> bool:
        leaf, calls = self.rules.carrier(leaf), self.rules.calls
        access = leaf.parent
        assert access is not None
        holder = leaf if access.type in calls else access
        called = calls.get(holder.parent.type) if holder.parent is not None else None
        return called is not None and holder.field == called.strip("<")

    # declarations

    def element(self, typed: Branch | None) -> Branch | None:
        """The element's type in `Foo[]`, `List<Foo>`, `[]Foo`."""
        while typed is not None and typed.type in self.rules.around_types:
            typed = typed.part("type") or first_of(typed)
        if typed is None:
            return None
        if (home := self.over(typed)) is not None:
            return home.element(typed)
        if typed.type in self.rules.lists:
            named = (typed.part(field) for field in ("element", "value", "type"))
            return next(filter(None, named), first_of(typed))
        if typed.type in self.rules.names:  # `type Things []Thing`
            declared = self.lookup(self.scopes.text(typed), typed, "type")
            typed = (declared.node.part("type") if declared is not None else None) or typed
            return self.element(typed) if typed.type in self.rules.lists else None
        inner = typed.first(*self.rules.arguments) or last_of(typed)
        if inner is not None and inner.type in self.rules.arguments:
            return last_of(inner)
        generic = inner is not None and inner.first(*self.rules.arguments) is not None
        return self.element(inner) if generic else None  # C++: `std::vector<A>`

    def type_written(self, node: Branch | None, deep: int = 0) -> Branch | None:
        """The type expression that a variable or a member was declared with, or is made of."""
        while node is not None and node.type in self.rules.passes_on:
            node = first_of(node)
        if node is None or deep > MAX_STEPS:
            return None
        if node.type in self.rules.builds:
            return node.part("type")  # `[]A{…}`
        if node.type in self.rules.indexes:
            return self.element(self.type_written(first_of(node), deep + 1))
        declared: Declared | None = None
        if node.type in self.rules.names:
            declared = self.lookup(self.scopes.label(node), node)
        elif (leaf := self.member_leaf(node)) is not None:
            owners = self.type_of(self.rules.receiver(leaf), deep + 1)
            result = self.members(owners or (), self.scopes.label(leaf))
            declared = result[0] if result else None
        if declared is None or (typed := type_part(declared, self.rules)) is not None:
            return typed if declared is not None else None
        value = self.rules.value_part(declared)
        while value is not None and value.type in self.rules.passes_on:
            value = first_of(value)
        made = value is not None and value.type in self.rules.builds
        return self.type_written(value, deep + 1) if made else None

    def is_keyed(self, over: Branch | None, typed: Branch) -> bool:
        """Whether a loop over an expression of this type takes out keys, or pairs with them."""
        member = self.member_called(over) if over is not None else None
        takes_values = member is not None and self.rules.held.get(self.scopes.label(member)) == SAME
        return not takes_values and self.head(typed) in self.rules.keyed

    def head(self, typed: Branch) -> str:
        """The first name of a type."""
        home = self.over(typed) or self
        leaves = (inner for inner in typed.walk() if inner.type in self.rules.names)
        leaves = (leaf for leaf in leaves if self.rules.is_name(leaf))
        return home.scopes.text(next(leaves, typed))

    # classes by their names

    def named(self, name: str, at: Branch) -> Known:
        """The owners called `name` that are visible at a place; the nearest definition first."""
        if name in self.rules.self_types:
            result = self.enclosing(at)
            return (result,) if result else None
        declared = self.lookup(name, at, "type")
        if self.rules.makes and (made_by := declared or self.lookup(name, at)) is not None:
            function = self._function_as_owner(made_by)
            if function is not None:
                return (function,)
        if declared is not None and (home := self.home(declared)) is not None:
            return home.type_of_declared(declared)
        if declared is not None and declared.kind == "type":
            return self._bounds(declared, 0)
        if declared is not None and (target := self._aliased(declared)) is not None:
            return self.named_type(target)
        own = self.scopes.owners_at(declared.node) if declared is not None else ()
        if declared is not None and declared.kind in ("class", "namespace") and own:
            return tuple(own)
        if declared is not None and declared.kind == "import":
            return self._imported(declared)
        if declared is None and (space := self.rules.namespace(self.project, self, name)):
            return (space,)
        own = tuple(self.scopes.owners_named(name))
        return own or self._builtin(name) or self._of_elsewhere(name)

    def _of_elsewhere(self, name: str) -> Known:
        """A type that no file of the tree declares: it is another project's."""
        return None if self.project.declares(self, name) else (self.scopes.builtin(name),)

    def _aliased(self, declared: Declared) -> Branch | None:
        """The type that an alias is another name of; None where it has members of its own."""
        if declared.node.type not in self.rules.aliases:
            return None
        target = declared.node.part("type") or declared.node.part("value")
        if any(owner.members for owner in self.scopes.owners_at(declared.node)):
            return None
        if target is None or declared.name in {self.scopes.text(x) for x in target.walk()}:
            return None
        return target

    def _builtin(self, name: str) -> tuple[Owner, ...]:
        """The language's own meaning of a name that the file does not declare."""
        return (self.scopes.builtin(name),) if name in self.rules.builtins else ()

    def _imported(self, declared: Declared, deep: int = 1) -> Known:
        """A class that an import names, or something of another module."""
        if self.project.imported_declarations(self, declared) is not None:
            types = [self.type_of_declared(each, deep + 1) for each in self._ends(declared, set())]
            return tuple(owner for known in types if known for owner in known) or None
        known = tuple(self.scopes.owners_named(declared.name))
        module = self.rules.module_of(self.scopes, declared)
        if not self.rules.stand_ins.isdisjoint((module, f"{module}.{declared.name}")):
            return None
        return known or (self.scopes.outside(declared.leaf, declared.name, module),)

    def _ends(self, declared: Declared, seen: set[int]) -> Iterator[Declared]:
        """The imports that an import leads to through other files; each once."""
        imported = self.project.imported_declarations(self, declared)
        if imported is None:
            yield declared
        for each in imported or ():
            if id(each) not in seen:
                seen.add(id(each))
                yield from (self.home(each) or self)._ends(each, seen)

    def home(self, declared: Declared) -> Typing | None:
        """The answers for the file that a declaration stands in, where it is not this one."""
        return self.project.at(declared.home) if declared.home not in (None, self.scopes) else None

    def over(self, node: Branch) -> Typing | None:
        """The answers for the file that a node stands in, where it is not this one."""
        there = self.project.over(node)
        return there if there is not self else None

    def resolved(self, declared: Declared | None) -> Declared | None:
        """The declaration that an import brings in, wherever it is; anything else is itself."""
        home = self
        for _ in range(MAX_STEPS if declared is not None else 0):  # files may import in cycles
            imported = self.project.imported_declarations(home, declared)
            if not imported or imported[0] is declared:
                break
            declared = imported[0]
            home = home.home(declared) or home
        return declared

    def elsewhere(self, base: str, at: Branch, modules: list[Owner]) -> list[Owner]:
        for module in modules:
            for member in self.members((module,), base)[:1]:
                return list(self.type_of_declared(member) or ())
        result = self.named(base, at) or ()
        return [owner for owner in result if owner.module is None and owner.node is not at]

    def _bounds(self, declared: Declared, deep: int) -> Known:
        """The classes that a type parameter must be, as far as these files declare them."""
        listed = declared.node.part("bounds") or declared.node.first(*self.rules.bounds)
        each = listed.named_children() if listed is not None else ()
        known = [self.named_type(child, deep + 1) or () for child in each]
        own = tuple(owner for owners in known for owner in owners if owner.module is None)
        return own or None

    def _along(self, owners: tuple[Owner, ...], first: Branch) -> Known:
        """The class at the end of a qualified name whose first part is known."""
        node, known = self._with_arguments(first), owners
        while node.parent is not None and node.parent.type in self.rules.paths:
            node = node.parent
            last = self.member_leaf(node) or last_of(node)
            result = self.members(known, self.head(last)) if last is not None else []
            known = self.class_of(result[0]) if result else ()
            if result and not known:
                known = self.type_of_declared(result[0]) or ()
        return known or None

    def _with_arguments(self, leaf: Branch) -> Branch:
        """`Outer<A>` for its name: a part of a qualified name."""
        holder = leaf.parent
        generic = holder is not None and holder.first(*self.rules.arguments) is not None
        return holder if holder is not None and generic and holder.children[0] is leaf else leaf

    def class_of(self, declared: Declared) -> tuple[Owner, ...]:
        """The owner that a declaration is, if it has members: a class, a variant with fields."""
        home = self.home(declared) or self
        return tuple(home.scopes.owners_at(declared.node))

    def named_type(self, node: Branch | None, deep: int = 0) -> Known:
        if node is None or deep > MAX_STEPS:
            return None
        if (home := self.over(node)) is not None:
            return home.named_type(node, deep + 1)
        if node.type in self.rules.lists:
            return (self.scopes.plain,)
        if node.type in self.rules.around_types:
            return self.named_type(node.part("type") or first_of(node), deep + 1)
        scope = self.scopes.by_node.get(id(node))
        if scope is not None and scope.owner is not None:
            return (scope.owner,)
        union = (
            node.first(*self.rules.arguments) if self.head(node) in self.rules.union_words else None
        )
        if union is not None or node.type in self.rules.unions:
            union = union or node
            known = [self.named_type(child, deep + 1) for child in union.named_children()]
            every = [owner for owners in known if owners for owner in owners]
            own = [owner for owner in every if owner.module is None]  # `A | null` is an A
            arrays = any(child.type in self.rules.lists for child in union.named_children())
            return tuple([*own, self.scopes.plain] if own and arrays else own or every[:1]) or None
        if node.type in self.rules.untyped:
            quoted = self.scopes.text(node).strip("'\"") if self.rules.quotes_types else ""
            return self.named(quoted, node) if quoted.isidentifier() else None
        leaves = [
            leaf for leaf in node.walk() if leaf.type in self.rules.names and leaf.end > leaf.start
        ]
        if node.type in self.rules.paths and (last := last_of(node)) is not None:
            given = (leaf.around(*self.rules.arguments) for leaf in leaves)
            leaves = [  # `Outer<A>.Inner` names no A
                leaf
                for leaf, listed in zip(leaves, given, strict=True)
                if leaf.start >= last.start or listed is None or listed.start < node.start
            ]
        names = [self.scopes.text(leaf) for leaf in leaves]
        if (names or [self.scopes.text(node).lstrip(": ")])[0] in self.rules.inferred:
            return None
        if not names:
            is_self = self.scopes.text(node) in self.rules.self_words
            return self.type_of(node, deep + 1) if is_self else (self.scopes.plain,)
        holders = (self._with_arguments(leaf).parent for leaf in leaves[:2])
        outer = [up for up in holders if up is not None and up.type in self.rules.paths]
        first = self.lookup(names[0], leaves[0], "type") if outer else None
        if first is not None and first.kind == "import":
            imported = self._imported(first)
            if imported is None or all(owner.module is not None for owner in imported):
                return imported
            return self._along(imported, leaves[0])
        if first is not None and (nested := self._along(self.class_of(first), leaves[0])):
            return nested
        if outer:
            around = next((up for up in node.walk() if up.type in self.rules.paths), node)
            before = first_of(around)
            space = self.word(before) if before is not None else None
            last = last_of(around)
            if space is not None and last is not None:
                typed = self.scopes.text(last).split("<")[0]
                result = self.members((space,), typed)
                if not result:
                    return self._of_elsewhere(typed)
                return self.type_of_declared(result[0], deep + 1)
            names = names[len(outer) - 1 :]
            leaves = leaves[len(outer) - 1 :]
        if len(names) > 1 and names[0] in self.rules.builtins and names[1] in self.rules.wrappers:
            inner_types = (up.type in self.rules.arguments for up in leaves[1].up())
            if not any(inner_types):
                names, leaves = names[1:], leaves[1:]  # `std::unique_ptr<A>`
        listed = (below for below in node.walk() if below.type in self.rules.arguments)
        first_listed = next(listed, None) if len(names) > 1 else None
        inner = first_of(first_listed) if first_listed is not None else None
        if (
            inner is not None
            and names[0] in self.rules.records_of
            and inner.type in self.rules.untyped
        ):
            return None  # `Record<keyof Cart, number>`
        if names[0] in self.rules.wrappers and len(names) > 1:
            return self.named_type(inner, deep + 1) if inner else self.named(names[1], leaves[1])
        return self.named(names[0], leaves[0])

    def word(self, node: Branch) -> Owner | None:
        return self.rules.word(self.project, self, node)

    # expressions

    def type_of(self, node: Branch | None, deep: int = 0) -> Known:
        if node is None or deep > MAX_STEPS:
            return None
        if (home := self.over(node)) is not None:
            return home.type_of(node, deep + 1)
        if (module := self.word(node)) is not None:
            return (module,)
        rules, kind = self.rules, node.type
        text = self.scopes.text(node) if node.end - node.start < 80 else ""
        if text in rules.self_words:
            for other in rules.called_on(self, node):
                return self.type_of(other, deep + 1)
            result = self.enclosing(node)
            return (result,) if result else None
        if text in rules.super_words:
            result = self.enclosing(node)
            return tuple(self.above(result)) if result else None
        if kind in rules.literals and node.children:
            scope = self.scopes.by_node.get(id(node))
            return (scope.owner,) if scope and scope.owner else None
        if kind in rules.plain:
            return (self.scopes.plain,)
        if kind in rules.casts:
            if (function := self._function_of(first_of(node))) is not None:
                return self.type_of_declared(function, deep + 1)
            before = node.first(*rules.arguments)  # `<Cart>x`
            typed = node.part("type") or node.part("right") or last_of(before or node)
            if typed is not None and self.scopes.text(typed) in rules.inferred:
                return self.type_of(node.part("value") or first_of(node), deep + 1)
            return self.named_type(typed, deep + 1)
        if kind in rules.builds:
            named = (node.part(field) for field in ("type", "constructor", "name"))
            return self.named_type(next(filter(None, named), first_of(node)), deep + 1)
        if kind in rules.indexes:
            key = last_of(node)
            if rules.makes and key is not None and key.type in rules.strings:  # `x["name"]`
                owners = self.type_of(first_of(node), deep + 1) or ()
                for declared in self.members(owners, self.scopes.text(key).strip("'\"`"))[:1]:
                    return self.type_of_declared(declared, deep + 1)
            return self.element_of(first_of(node), deep + 1)
        if kind in rules.takes_out and (known := rules.taken_out(self, node, deep)) is not None:
            return known
        if kind in rules.passes_on:
            known = self.type_of(first_of(node), deep + 1)
            waits = kind in rules.awaits and known and known[0].name in rules.awaited
            return None if waits else known
        if kind in rules.either and (last := last_of(node)) is not None:
            return self.type_of(first_of(node), deep + 1) or self.type_of(last, deep + 1)
        if kind in rules.names or kind in rules.holders:
            return self._type_of_name(node, deep)
        if (member := self.member_leaf(node)) is not None and kind not in rules.calls:
            return self._type_of_member(member, deep)
        if kind in rules.calls:
            return self._type_of_call(node, deep)
        return None

    def _function_of(self, node: Branch | None) -> Declared | None:
        """Go: the generic function of `New[int](x)`, which reads as a conversion."""
        if node is None or node.first(*self.rules.arguments) is None:
            return None
        leaf = next((inner for inner in node.walk() if inner.type in self.rules.names), node)
        declared = self.resolved(self.lookup(self.scopes.label(leaf), leaf))
        return declared if declared is not None and declared.kind in FUNCTIONS else None

    def _type_of_name(self, node: Branch, deep: int) -> Known:
        leaf = (node.first(*self.rules.names) if node.type in self.rules.holders else None) or node
        name = self.scopes.label(leaf)
        if node.type in self.rules.type_names or name in self.rules.self_types:
            return self.named(name, node)
        hint = "type" if self.rules.is_type(node) else "value"
        declared = self.lookup(name, node, hint)
        if declared is None:
            owners = tuple(self.scopes.owners_named(name)) or self._builtin(name)
            return owners or (self._of_elsewhere(name) if name[:1].isupper() else None)
        if (known := self.rules.tested(self, leaf, deep)) is not None:
            return known
        if self.rules.makes and (function := self._function_as_owner(declared)) is not None:
            return (function,)
        result = self.type_of_declared(declared, deep + 1)
        return result if result is not None else self.rules.narrowed(self, leaf, deep + 1)

    def _function_as_owner(self, declared: Declared) -> Owner | None:
        """JavaScript: a function as a thing with members, or the one that `require` gives."""
        named = self.resolved(declared) or declared
        home = self.home(named) or self
        node = named.node if named.kind in FUNCTIONS else home.rules.value_part(named)
        if node is None or home.rules.scopes.get(node.type) != "function":
            return home.word(node) if node is not None else None
        return home.scopes.outside(node, named.name, None)

    def _type_of_member(self, leaf: Branch, deep: int) -> Known:
        owners = self.type_of(self.rules.receiver(leaf), deep + 1)
        if owners is None:
            return None
        name = self.scopes.label(leaf)
        foreign = all(owner.module is not None for owner in owners)
        near = (leaf, *list(leaf.up())[:2])
        gives = name in self.rules.callbacks or name in self.rules.held  # `orders.Select(…)`
        if foreign and (gives or any(node.first(*self.rules.arguments) for node in near)):
            return None  # `Assert.IsType<Order>(x)` may give an Order
        if foreign and owners[0].name in self.rules.records_of:
            return self.element_of(self.rules.receiver(leaf), deep)
        if owners and foreign:
            theirs = self._is_closed(owners[0].module or "")
            return owners if name[:1].isupper() or theirs or not self.is_called(leaf) else None
        result = self.members(owners, name, self.is_called(leaf))
        if leaf.parent is not None and leaf.parent.type in self.rules.calls:
            result = [self._overload(declared, leaf.parent) for declared in result[:1]]
        if not result and (kept := self._kept(owners, name, deep)) is not None:
            return kept
        if not result:
            return tuple(self.scopes.owners_named(name)) or self.rules.embedded(self, owners)
        known = self.type_of_declared(result[0], deep + 1)
        if known and any(owner.module is None for owner in known):
            gives_this = self.rules.makes and known == (result[0].owner,)  # or what extends it
            return owners if gives_this else known
        return self.rules.member_out_of(self, leaf, result[0], known, deep + 1)

    def _is_closed(self, module: str) -> bool:
        return module.split(".")[0] in self.rules.closed_modules

    def _kept(self, owners: tuple[Owner, ...], name: str, deep: int) -> Known:
        """The class of an attribute that only a method sets: `self.x = A()`."""
        for owner in owners:
            for up in (owner, *self.above(owner)) if owner.module is None else ():
                home = self.project.at(up.home) or self
                for value in home.rules.kept_in(up.node, name, home.scopes.text):
                    if known := home.type_of(value, deep + 1):  # what is not found says nothing
                        return known
        return None

    def _type_of_call(self, node: Branch, deep: int) -> Known:
        if (module := self.rules.brings(node, self.scopes.text)) is not None:
            return (self.scopes.outside(node, "", module),)
        if (callee := self._callee(node)) is None:
            return None
        if self.scopes.text(callee) in self.rules.allocates:
            listed = last_of(node)
            return self.named_type(first_of(listed), deep + 1) if listed is not None else None
        if callee.parent is node and callee.place in self.rules.members:
            receiver = self.rules.receiver(callee)
            if receiver is not None and self.scopes.label(callee) in self.rules.makers:
                return self.type_of(receiver, deep + 1)
            if receiver is not None:
                return self._type_of_member(callee, deep)
            declared = self.resolved(self.lookup(self.scopes.label(callee), callee, "call"))
            declared = self._overload(declared, node) if declared is not None else None
            return self.type_of_declared(declared, deep + 1) if declared else None
        if callee.type in self.rules.names:
            declared = self.resolved(self.lookup(self.scopes.label(callee), callee, "call"))
            if declared is None:
                plain = self.scopes.text(callee) in self.rules.gives_plain
                return (self.scopes.plain,) if plain else None
            if declared.kind == "import" and self._is_closed(
                self.rules.module_of(self.scopes, declared)
            ):
                return self._imported(declared)
            makes = declared.kind == "import" and declared.name[:1].isupper()
            if makes or declared.kind in ("class", *FUNCTIONS):
                return self.type_of_declared(declared, deep + 1)
            return self._given_by(declared, deep)
        return self.type_of(callee, deep + 1)

    def _given_by(self, declared: Declared, deep: int) -> Known:
        """The class of what a variable gives whose type, or whose value, is a function's."""
        typed = type_part(declared, self.rules)
        if typed is None:
            value = self._value(declared)
            function = value is not None and self.rules.scopes.get(value.type) == "function"
            home = self.home(declared) or self
            return home._gives(value, deep) if function and value is not None else None
        while typed is not None and typed.type in self.rules.around_types:
            typed = first_of(typed)
        result = typed.part("return_type") or typed.part("result") if typed is not None else None
        return self.named_type(result, deep + 1)

    def _gives(self, function: Branch, deep: int) -> Known:
        """The class of what a function says that it gives, or of what it returns first."""
        if (typed := function.part("return_type") or function.part("result")) is not None:
            return self.named_type(typed, deep + 1)
        body = function.part("body")
        if body is not None and body.type not in self.rules.scopes:
            return self.type_of(body, deep + 1)  # `() => x`
        inner = {name for name, kind in self.rules.scopes.items() if kind == "function"}
        for node in function.walk(inner):
            if node.type in self.rules.returns:
                return self.type_of(first_of(node), deep + 1)
        return None

    def _overload(self, declared: Declared, call: Branch) -> Declared:
        """Of methods of one name, the first that takes as many arguments as a call has."""
        listed = call.part(self.rules.listed)
        if listed is None or declared.owner is None:
            return declared
        for other in declared.owner.members.get(declared.name, ()):
            taken = other.node.part("parameters")
            if taken is not None and len(taken.named_children()) == len(listed.named_children()):
                return other
        return declared

    def type_of_declared(self, declared: Declared, deep: int = 0) -> Known:
        if deep > MAX_STEPS:
            return None
        if (home := self.home(declared)) is not None:
            return home.type_of_declared(declared, deep + 1)
        if declared.kind == "module":
            return (declared.owner,) if declared.owner is not None else None
        if declared.kind in ("class", "namespace"):
            if (module := self.rules.file_of(self.project, self, declared)) is not None:
                return (module,)
            if (target := self._aliased(declared)) is not None:
                return self.named_type(target, deep + 1)
            own = self.scopes.owners_at(declared.node) or self.scopes.owners_named(declared.name)
            return tuple(own) or None
        if declared.kind == "import":
            return self._imported(declared, deep)
        if declared.kind == "type":
            return self._bounds(declared, deep)
        if declared.node.type in self.rules.constants:
            return (declared.owner,) if declared.owner else None
        if (holder := declared.leaf.parent) and holder.type in self.rules.rest_parameters:
            return (self.scopes.plain,)
        if declared.kind == "parameter" and self.rules.is_instance(declared):
            result = self.enclosing(declared.node)
            return (result,) if result else None
        typed = only_result(type_part(declared, self.rules), self.rules)
        if typed is not None:
            found_types = self.named_type(typed, deep + 1)
            if found_types is not None or self.scopes.text(typed) not in self.rules.inferred:
                return found_types
        if declared.kind in FUNCTIONS:
            return self._gives(declared.node, deep)
        if declared.node.type in self.rules.loops:
            if not self.rules.takes_element(declared):
                return None
            over = declared.node.part("right") or declared.node.part("value")
            typed = self.rules.written(self, over, deep + 1) if self.rules.keyed else None
            if typed is not None and self.is_keyed(over, typed):
                return None  # of keys no class is asked for
            return self.element_of(over, deep + 1)
        if (value := self.rules.value_part(declared)) is not None:
            return self.type_of(value, deep + 1)
        return self._unpacked(declared, deep)

    def _unpacked(self, declared: Declared, deep: int) -> Known:
        """One of the things that a value gives: `x, err := f()`, `x, ok := m[key]`."""
        holder = declared.leaf.parent
        right = declared.node.part("right") or declared.node.part("value")
        if holder is None or holder.type not in self.rules.targets or right is None:
            return None
        names = holder.named_children()
        if len(names) < 2:
            return None
        number = names.index(declared.leaf)
        values = right.named_children() if right.type in self.rules.targets else [right]
        if len(values) != 1:
            return self.type_of(values[number], deep + 1) if number < len(values) else None
        (value,) = values
        if value.type not in self.rules.calls:
            return self.type_of(value, deep + 1) if number == 0 else None
        # A step of 3: `x, y = x.f()` asks for the type of `x` again here and below.
        called = self.callee_of(value, deep + 3)
        results = self._results(called) if called is not None else None
        if results is not None:
            types = [  # Go: `(x, y A, z B)`
                each.part("type") or each
                for each in results.named_children()
                for _ in range(max(1, sum(child.field == "name" for child in each.children)))
            ]
            several = results.type in self.rules.results and number < len(types)
            return self.named_type(types[number], deep + 1) if several else None
        known = self.type_of(value, deep + 1)
        return known if known and all(owner.module is not None for owner in known) else None

    def _results(self, called: Declared) -> Branch | None:
        """The result type that a function states, or that of the function that a variable is."""
        typed = type_part(called, self.rules)
        if called.kind in FUNCTIONS or typed is not None:
            return typed
        value = self._value(called)
        return value.part("result") if value is not None else None

    def _value(self, declared: Declared) -> Branch | None:
        """The value that a variable is given alone."""
        value = self.rules.value_part(declared)
        while value is not None and is_alone(value, self.rules):
            value = first_of(value)
        return value

    def _callee(self, call: Branch) -> Branch | None:
        where = self.rules.calls[call.type]
        callee = first_of(call) if where == "<" else call.part(where)
        if callee is None or callee.type not in self.rules.indexes:
            return callee
        inner = first_of(callee)  # `New[int]()` calls a generic function
        named = inner is not None and inner.type in self.rules.names
        leaf = inner if named or inner is None else self.member_leaf(inner)
        called = self.called(leaf, MAX_STEPS) if leaf is not None else None
        return inner if called is not None and called.kind in FUNCTIONS else callee

    def called_leaf(self, call: Branch) -> Branch | None:
        callee = self._callee(call)
        walked = callee.walk(self.rules.arguments) if callee is not None else ()
        names = [node for node in walked if node.type in self.rules.names]
        return names[-1] if names else None

    def callee_of(self, call: Branch | None, deep: int = 0) -> Declared | None:
        leaf = self.called_leaf(call) if call is not None else None
        return self.called(leaf, deep) if leaf is not None else None

    def called(self, leaf: Branch, deep: int = 0) -> Declared | None:
        """The declaration of what a call calls by this name."""
        name, receiver = self.scopes.label(leaf), self.rules.receiver(leaf)
        if receiver is not None:
            members = self.members(self.type_of(receiver, deep) or (), name, True)
            return self.resolved(members[0]) if members else None
        declared = self.lookup(name, leaf, "call") or self.lookup(name, leaf, "type")
        return self.resolved(declared)

    def element_of(self, node: Branch | None, deep: int) -> Known:
        """The class of what a loop or an index takes out of `node`."""
        element = self.element(self.rules.written(self, node, deep + 1))
        return self.named_type(element, deep + 1) if element is not None else None


def is_alone(node: Branch, rules: Rules) -> bool:
    return node.type in rules.targets and len(node.named_children()) == 1


def only_result(typed: Branch | None, rules: Rules) -> Branch | None:
    """Go: the type of the one result that `(made []Order)` names; any other type is itself."""
    if typed is None or typed.type not in rules.results:
        return typed
    listed = typed.named_children()
    return listed[0].part("type") or listed[0] if len(listed) == 1 else typed


def type_part(declared: Declared, rules: Rules) -> Branch | None:
    """The type that is written for a declaration, or for what a function gives."""
    given = ("returns", "return_type", "result") if declared.kind in FUNCTIONS else ()
    names, node = ("type", *given), declared.node
    for _ in range(3):
        for name in names:
            if (typed := node.part(name)) is not None and typed is not declared.leaf:
                return typed
        typed = node.first(*rules.types)
        if typed is not None and typed.start > declared.leaf.start:
            return typed
        if node.type not in rules.carries_up or node.parent is None:
            return None
        node = node.parent
    return None
