"""Rust: `let` binds anew, `impl` adds to a type, and macros are half parsed.

Types are followed as they are written, into an Option, a Result, a list or an iterator, and in a
variant's pattern: `x.unwrap()`, `x?`, `|x| …`, `Some(x)`, `Kind::One(x)`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from specedit.scoping import held
from specedit.scoping.languages import rust_places
from specedit.scoping.languages.rules import Text, places, tables
from specedit.scoping.languages.rust_modules import RustModules, is_crate, path_of
from specedit.scoping.languages.rust_places import NESTED, formatted, in_macro, read_macros
from specedit.scoping.meaning import means_member
from specedit.scoping.scope import Declared, Known, Meaning, Rewrite
from specedit.scoping.scopes import Scopes
from specedit.scoping.typing import Typing
from specedit.scoping.uses import FOREIGN, UNKNOWN, Uses
from specedit.syntax.branch import Branch, first_of

SHELLS = places("Some Ok")
PATTERNS = places("ref_pattern mut_pattern reference_pattern captured_pattern")


def inside(typing: Typing, node: Branch | None, deep: int) -> Branch | None:
    """The type that is written for what an expression holds."""
    return typing.rules.argument(typing, typing.rules.written(typing, node, deep), 0)


def _given(typing: Typing, declared: Declared, deep: int) -> Branch | None:
    """The type of what a closure's parameter, or a loop's variable, stands for."""
    if declared.node.type == "for_expression":
        return inside(typing, declared.node.part("value"), deep + 1)
    closure = declared.leaf.around("closure_expression")
    call = closure.at("^ ^") if closure is not None and closure.place == "arguments." else None
    member = typing.member_called(call) if call is not None else None
    return inside(typing, typing.rules.receiver(member), deep + 1) if member is not None else None


def _of_tuple(typing: Typing, declared: Declared, deep: int) -> Known:
    """The class of a variable in `let (a, b) = f()?;` or `for (n, x) in xs.iter().enumerate()`."""
    pattern, holder = declared.leaf.parent, declared.node
    value = holder.part("value")
    if pattern is None or pattern.parent is not holder or value is None:
        return None
    at = pattern.named_children().index(declared.leaf)
    typed = holder.part("type")
    if holder.type == "for_expression":
        member = typing.member_called(value) if value.type == "call_expression" else None
        if member is not None and typing.scopes.label(member) == "enumerate":
            inner = inside(typing, typing.rules.receiver(member), deep + 1)
            return typing.named_type(inner, deep + 1) if at == 1 else None
        typed = inside(typing, value, deep + 1)
    elif holder.type == "let_declaration" and typed is None:
        typed = typing.rules.written(typing, value, deep)
    if typed is None or typed.type != "tuple_type":
        return None
    types = typed.named_children()
    return typing.named_type(types[at], deep + 1) if at < len(types) else None


def _matched(pattern: Branch) -> Branch | None:
    """The expression that a pattern is compared with."""
    for up in pattern.up():
        if up.type in ("let_condition", "let_declaration", "match_expression"):
            return up.part("value")
        if up.type not in ("match_pattern", "match_arm", "match_block", "let_chain"):
            return None
    return None


def _variant(typing: Typing, kind: Branch, pattern: Branch, deep: int) -> Declared | None:
    name = kind.part("name") or kind
    path = kind.part("path")
    if path is None:
        return typing.resolved(typing.lookup(typing.scopes.label(name), name))
    owners = typing.type_of(path, deep + 1)
    for member in typing.members(owners or (), typing.scopes.label(name)):
        return member
    return None


def _taken_as(uses: Uses, leaf: Branch) -> Hashable:
    """The names that a list of `use` gives another name: `use a::{X as Y}`."""
    alias = leaf.at("^ alias")
    imported = uses.scopes.by_leaf.get(id(alias)) if alias is not None else None
    if imported is None:
        return uses.bare(leaf, "any")
    found = uses.typing.project.imported_declarations(uses.typing, imported)
    own: list[Declared] = [each for each in found or () if each.name == uses.name]
    if own:
        return own[0]
    path = uses.rules.module_of(uses.scopes, imported)
    return FOREIGN, path.split("::")[0]


class Rust(RustModules):
    def prepare(self, root: Branch, data: bytes) -> None:
        read_macros(root, data)

    def is_value_member(self, leaf: Branch) -> bool:
        """Also what stands after a dot in a macro."""
        if leaf.parent is not None and leaf.parent.type == "token_tree":
            row = leaf.parent.children
            at = row.index(leaf)
            return at > 0 and row[at - 1].type == "."
        return super().is_value_member(leaf)

    def is_name(self, node: Branch) -> bool:
        if node.type in ("lifetime", "label"):
            return True  # its letters are a leaf of their own, which is not a name
        return super().is_name(node) and (
            node.parent is None or node.parent.type not in ("lifetime", "label")
        )

    def names_in(self, node: Branch, text: Text) -> Iterator[tuple[Branch, str]]:
        yield from ((leaf, text(leaf)) for leaf in formatted(node, text))
        path = node.at("^ ^ path") if node.type == "self" else None
        if path is not None and path.place == "scoped_use_list.path":
            yield node, text(path).rsplit("::", 1)[-1].strip()  # `use a::b::{self, c}` brings b

    def shown(self, node: Branch, text: Text) -> tuple[str, str] | None:
        """`use A::*` shows the variants of `A`."""
        path = node.named_children() if node.type == "use_wildcard" else []
        return (text(path[0]).rsplit("::", 1)[-1].strip(), "") if path else None

    def class_name(self, node: Branch, text: Text) -> str:
        if node.type != "impl_item":
            return super().class_name(node, text)
        name = node.part("type")
        while name is not None and name.type in _AROUND:
            name = name.part("type") or name.part("name")
        return text(name) if name is not None else super().class_name(node, text)

    def bases_of(self, node: Branch, text: Text) -> list[str]:
        if node.type != "impl_item":
            return []
        holders = [node.part("trait"), *_bounds(node, text)]
        given = self.arguments  # `TryFrom<Parts>` has nothing of Parts
        leaves = (leaf for holder in holders if holder is not None for leaf in holder.walk(given))
        return [text(leaf) for leaf in leaves if leaf.type == "type_identifier"]

    def is_declaration(self, scopes: Scopes, leaf: Branch, name: str, node: Branch) -> bool:
        if leaf.type == "identifier" and name[:1].isupper() and node.type in _PATTERNS:
            return False  # `None`, a constant, a unit variant
        return leaf.place != "field_pattern.name" or leaf.type == "shorthand_field_identifier"

    def module_of(self, scopes: Scopes, imported: Declared) -> str:
        """The whole path: of `use a::{b::c}` it is `a::b::c`."""
        leaf = imported.leaf
        path = imported.node.part("path") if imported.node.type == "use_as_clause" else None
        whole = leaf.parent if leaf.place == "scoped_identifier.name" else None
        return path_of(path or whole or leaf, scopes.text)

    def is_conditional(self, node: Branch, text: Text) -> bool:
        """`#[cfg(...)] let x`: one of several that stand for each other."""
        around = node.parent.children if node.parent is not None else ()
        at = next((at for at, other in enumerate(around) if other is node), 0)
        before = around[at - 1] if at else None
        return before is not None and before.type == "attribute_item" and "cfg" in text(before)

    def means(self, uses: Uses, leaf: Branch) -> list[Hashable] | None:
        parent = leaf.parent
        assert parent is not None
        if parent.type == "token_tree":
            return [in_macro(uses, leaf)]
        path = uses.typing.rules.receiver(leaf) if "scoped" in parent.type else None
        if path is not None and path.type in ("crate", "self", "super"):
            return [uses.member(uses.typing.type_of(path))]
        if path is not None and _is_of_other_crate(uses, path):
            return [(FOREIGN, uses.scopes.text(path).split("::")[0])]
        if leaf.place == "field_expression.field" and _is_added(uses, leaf):
            return [(UNKNOWN, "")]
        if leaf.place == "macro_invocation.macro":
            return [uses.bare(leaf, "macro")]
        return [_taken_as(uses, leaf)] if leaf.place == "use_as_clause.path" else None

    def argument(self, typing: Typing, typed: Branch | None, number: int) -> Branch | None:
        """`T` of `Option<T>`, `&[T]`, `impl Iterator<Item = T>`, and of a type that says `Item`."""
        while typed is not None and typed.type in _SHOWN:
            typed = typed.part("type") or typed.part("trait") or first_of(typed)
        if typed is None:
            return None
        if typed.type == "array_type":
            return typed.part("element")
        home = typing.over(typed) or typing
        for owner in home.named_type(typed) or ():
            for binding in home.members((owner,), "Item") if owner.module is None else ():
                return binding.node.part("type")
            if owner.module is None:
                return None
        arguments = typed.part("type_arguments")
        for child in arguments.named_children() if arguments is not None else ():
            if child.type != "lifetime":
                return child.part("type") if child.type == "type_binding" else child
        return None

    def narrowed(self, typing: Typing, leaf: Branch, deep: int) -> Known:
        """The class of what a closure is given, or a pattern takes out of what it matches."""
        declared = typing.lookup(typing.scopes.label(leaf), leaf)
        if declared is None or declared.home is not typing.scopes or deep > held.MAX_STEPS:
            return None
        if declared.leaf.place == "tuple_pattern.":
            return _of_tuple(typing, declared, deep)
        if declared.leaf.place == "closure_parameters." or declared.node.type == "for_expression":
            return typing.named_type(_given(typing, declared, deep), deep + 1)
        name, pattern = declared.leaf, declared.leaf.parent
        while pattern is not None and pattern.type in PATTERNS:
            name, pattern = pattern, pattern.parent
        kind = pattern.part("type") if pattern is not None else None
        if pattern is None or kind is None or pattern.type != "tuple_struct_pattern":
            return None
        if typing.scopes.text(kind) in SHELLS:
            return typing.named_type(inside(typing, _matched(pattern), deep + 1), deep + 1)
        variant = _variant(typing, kind, pattern, deep)
        listed = variant.node.part("body") if variant is not None else None
        if listed is None or listed.type != "ordered_field_declaration_list":
            return None
        at = [child for child in pattern.named_children() if child is not kind].index(name)
        types = [child for child in listed.named_children() if child.field == "type"]
        return typing.named_type(types[at], deep + 1) if at < len(types) else None

    def rewrite(
        self, leaf: Branch, meaning: Meaning, split: bool, text: Text, old: str, new: str
    ) -> Rewrite | None:
        parent = leaf.parent
        assert parent is not None
        if leaf.type == "self":
            return Rewrite(leaf.start, leaf.end, "self", "self")
        if split and leaf.type == "shorthand_field_identifier":
            kind = text(parent.until(leaf.start))  # `ref x`, `mut x` move with the name
            rest = f"{new}: {kind}{old}" if means_member(meaning) else f"{old}: {kind}{new}"
            return Rewrite(parent.start, leaf.end, kind + old, rest)
        if leaf.place in ("field_pattern.pattern", "field_initializer.value"):
            name = parent.part("name") or parent.part("field")
            if name is not None and text(name) == new:  # `x: x` is written `x`
                return Rewrite(name.start, leaf.end, text(name.through(leaf)), new)
        return None

    def may_override(self, member: Declared) -> bool:
        holder = member.node.around(*NESTED)
        if member.kind == "field":
            return False
        return holder is None or holder.type != "impl_item" or holder.part("trait") is not None

    def required_by(self, typing: Typing, member: Declared) -> tuple[str, bool] | None:
        """The trait of an `impl`; and the file of a `mod x;`."""
        if member.node.type == "mod_item":
            return None if member.node.part("body") is not None else ("the name of its file", True)
        if member.leaf.place == "extern_crate_declaration.name":
            return "the crate's own name", True
        if member.owner is None:
            return None
        holder = member.node.around(*NESTED)
        trait = holder.part("trait") if holder is not None else None
        known = [up for up in typing.named_type(trait) or () if up.module is None]
        above = typing.above(member.owner)
        if trait is None or any(up in above or member.name not in up.members for up in known):
            return None
        name = typing.scopes.text(trait).split("<")[0]
        if known:  # a trait by its path, which `use` does not bring here
            return f"the trait {name}", True
        declared = rf"\btrait\s+{name.split('::')[-1].strip()}\b"
        return None if typing.project.matching(declared, (".rs",)) else (f"the trait {name}", True)

    def from_receiver(
        self, root: Branch, data: bytes, new: str, line: int | None
    ) -> tuple[list[Rewrite], str]:
        return rust_places.from_self(root, data, new, line), rust_places.CALLS

    def finish(
        self, rewrites: dict[int, Rewrite], chosen: list[Meaning], data: bytes, new: str
    ) -> str:
        """The renamed parameter is written as a receiver, where its type allows it."""
        for declared in (declaration for meaning in chosen for declaration in meaning.declared):
            made = rust_places.to_self(declared.leaf, data) if new == "self" else None
            if made is not None:
                del rewrites[declared.leaf.start]
                rewrites[made.start] = made
                return rust_places.CALLS
        return ""


def _bounds(node: Branch, text: Text) -> Iterator[Branch | None]:
    """`impl<T: A> B for T where T: C`: the bounds of T."""
    typed = node.part("type")
    for holder in (node.part("type_parameters"), node.first("where_clause")):
        for child in holder.named_children() if holder is not None else ():
            named = child.part("name") or child.part("left")
            if named is not None and typed is not None and text(named) == text(typed):
                yield child.part("bounds")


_SHOWN = places("reference_type abstract_type dynamic_type")
_AROUND = places("generic_type scoped_type_identifier reference_type")  # a class's name
_PATTERNS = places("let_declaration let_condition match_pattern for_expression parameter")


def _is_of_other_crate(uses: Uses, path: Branch) -> bool:
    """`other::thing`, where no crate of the tree, module or import is called `other`."""
    first = next(inner for inner in path.walk() if not inner.children)
    name = uses.scopes.text(first)
    if first.type != "identifier" or not name[:1].islower() or is_crate(uses.typing, name):
        return False
    return all(uses.typing.lookup(name, first, hint) is None for hint in ("type", "value"))


def _is_added(uses: Uses, leaf: Branch) -> bool:
    """Whether a trait of these files may add a called method to a type of another crate."""
    owners = [declaration.owner for declaration in uses.declared if declaration.owner is not None]
    adds = any(owner.early and owner.node.part("trait") is not None for owner in owners)
    if not adds or not uses.typing.is_called(leaf):
        return False
    known = uses.typing.type_of(uses.typing.rules.receiver(leaf))
    return known is not None and all(owner.module is not None for owner in known)


TABLES = """
names: identifier type_identifier field_identifier shorthand_field_identifier lifetime label
  metavariable
scopes:
  function_item function_signature_item closure_expression macro_rule: function
  struct_item enum_item union_item trait_item impl_item enum_variant: class
  mod_item: namespace
  type_item block match_arm for_expression if_expression while_expression associated_type: block
declares:
  function_item.name function_signature_item.name: function outer
  struct_item.name enum_item.name union_item.name trait_item.name type_item.name: class outer
  associated_type.name: class outer
  mod_item.name extern_crate_declaration.name extern_crate_declaration.alias: namespace outer
  const_item.name static_item.name: value outer
  macro_definition.name: macro outer
  field_declaration.name: field class
  enum_variant.name: field outer
  let_declaration.pattern let_condition.pattern: local after
  parameter.pattern closure_parameters.: parameter here
  for_expression.pattern match_pattern.: local here
  type_parameter.name const_parameter.name lifetime_parameter.name: type here
  use_declaration.argument use_list. use_as_clause.alias: import here
patterns: tuple_pattern. slice_pattern. ref_pattern. mut_pattern. captured_pattern. or_pattern.
  reference_pattern. tuple_struct_pattern. field_pattern.pattern field_pattern.name struct_pattern.
  match_pattern. scoped_identifier.name scoped_use_list.list use_list.
members:
  field_expression.field: value
  scoped_identifier.name scoped_type_identifier.name: path
value_members: field_expression.field
keys:
  field_initializer.field shorthand_field_initializer.: literal
  field_pattern.name: pattern
literal_members:
  field_initializer.field shorthand_field_initializer.: struct_expression.name
  field_pattern.name: struct_pattern.type
calls: call_expression: function
type_names: type_identifier lifetime
type_places: scoped_identifier.path scoped_type_identifier.path
labels: label
bases: trait_bounds
field_reads: field_expression.field
takes: parameter
strings: string_literal raw_string_literal char_literal
shorthands: shorthand_field_identifier shorthand_field_initializer.
adds_to: impl_item
constants: enum_variant
starts: main
receivers: self
self_words: self
super_words:
self_types: Self self
passes_on: parenthesized_expression unary_expression reference_expression await_expression
takes_out: call_expression try_expression
awaits: try_expression
held:
  unwrap expect unwrap_or unwrap_or_else unwrap_or_default unwrap_unchecked: first
  iter iter_mut into_iter drain as_ref as_mut as_deref as_deref_mut clone cloned copied: same
  by_ref next next_back nth first last first_mut last_mut get get_mut pop peek peekable: same
  find filter rev skip take skip_while take_while step_by chain cycle fuse inspect ok: same
  ok_or ok_or_else map_err or or_else or_insert take_if replace min_by max_by min_by_key: same
  max_by_key collect: same
around_types: reference_type pointer_type
aliases: type_item
casts: type_cast_expression generic_type
builds: struct_expression
loops: for_expression
indexes: index_expression
assigned: assignment_expression.right
lists: array_type tuple_type
arguments: type_arguments
paths: qualified_type scoped_identifier scoped_type_identifier scoped_use_list
wrappers: Box Rc Arc Ref RefMut Cow Pin
rebinds: let_declaration let_condition
plain: string_literal raw_string_literal char_literal integer_literal array_expression
  primitive_type
prelude: AsMut AsRef Box Clone Copy Default Drop Eq Err Extend From FromIterator Into IntoIterator
  Iterator None Ok Option Ord PartialEq PartialOrd Result Send Sized Some String Sync ToOwned
  ToString TryFrom TryInto Unpin Vec
builtins: Arc Box HashMap Option Rc Result String Vec core std
keywords: Self abstract as async await become box break const continue crate do dyn else enum extern
  false final fn for if impl in let loop macro match mod move mut override priv pub ref return
  static struct super trait true try type typeof unsafe unsized use virtual where while yield
  'static
flags: members_apart in_order macros_apart
"""
RULES = Rust(**tables(TABLES))
