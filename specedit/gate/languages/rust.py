"""Rust: a module names what it uses, but for globs and for what macros make."""

from __future__ import annotations

from collections.abc import Iterator

from specedit.gate.facts import Facts
from specedit.gate.languages.outlook import Outlook
from specedit.gate.places import rusty, wrong
from specedit.gate.signature import Signature
from specedit.scoping.languages.tables import places
from specedit.scoping.scope import Declared
from specedit.syntax.branch import Branch

STANDARD = places(  # types that no prelude brings
    "HashMap HashSet BTreeMap BTreeSet VecDeque BinaryHeap Arc Rc RefCell Cell Mutex RwLock Cow",
    "Duration Instant PathBuf Path File BufReader BufWriter OnceCell OnceLock PhantomData",
)
_PRELUDE = places(
    "self Self super crate std core alloc drop main matches assert debug_assert concat env file",
    "line column stringify i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 bool char",
    "str proc_macro test println format vec",
)
_MACROS = {
    **dict.fromkeys(places("print println eprint eprintln format panic todo unimplemented"), 0),
    **dict.fromkeys(places("unreachable format_args"), 0),
    **dict.fromkeys(places("write writeln"), 1),
}


class RustOutlook(Outlook):
    def tells(self, facts: Facts) -> bool:
        """Not where a macro may have made the names."""
        made = ("macro_invocation", "macro_definition", "expression_statement")
        return facts.root.first(*made) is None

    def must_be_declared(self, facts: Facts, leaf: Branch, name: str) -> bool:
        if name in STANDARD:
            plain = leaf.type in ("type_identifier", "identifier")
            return plain and not _globs(leaf) and not _in_macro(leaf)
        if leaf.type != "identifier" or not name[:1].islower() or leaf.parent is None:
            return False
        if leaf.parent.type.startswith(("scoped", "use", "attribute", "macro", "token")):
            return False
        return not _globs(leaf) and not _in_macro(leaf)

    def is_used_by_name(self, facts: Facts, imported: Declared) -> bool:
        """A trait is used without its name, and `pub use` gives out."""
        use = next((up for up in imported.leaf.up() if up.type == "use_declaration"), None)
        if use is None or use.first("visibility_modifier") or imported.name in ("self", "_"):
            return False
        around = use.parent
        if around is not None and around.children.index(use):
            before = around.children[around.children.index(use) - 1]
            if before.type == "attribute_item":
                return False
        return imported.name in STANDARD or imported.name[:1].islower()

    def signatures(self, facts: Facts, declared: Declared, callee: Branch) -> list[Signature]:
        node, place = declared.node, callee.place
        listed = node.part("parameters")
        if listed is None or node.type != "function_item" or declared.kind == "class":
            return []
        taken = self.takes(facts, declared)
        if taken is None:
            return []
        has_self = listed.first("self_parameter") is not None
        if place == "scoped_identifier.name":
            if not has_self:
                return [taken]
            order = ("self", *taken.places)
            return [Signature(order, frozenset(order), len(order))]
        if place == "field_expression.field":
            receiver = facts.typing.receiver(callee) if facts.typing else None
            return [taken] if has_self and receiver and facts.said(receiver) == "self" else []
        return [taken] if declared.owner is None and not has_self else []

    def takes(self, facts: Facts, declared: Declared) -> Signature | None:
        listed = declared.node.part("parameters")
        if listed is None or _attributed(declared.node):
            return None
        found = [one for one in listed.named_children() if one.type == "parameter"]
        if any(one.type == "variadic_parameter" for one in listed.named_children()):
            return None
        names = tuple(f"argument {number}" for number, _ in enumerate(found, 1))
        return Signature(names, frozenset(names), len(names))

    def is_once(self, facts: Facts, node: Branch) -> bool:
        return not _attributed(node) and node.part("body") is not None

    def formats(self, facts: Facts) -> Iterator[tuple[Branch, str]]:
        for node in facts.root.walk():
            name = node.part("macro") if node.type == "macro_invocation" else None
            at = _MACROS.get(facts.said(name)) if name is not None else None
            tree = node.first("token_tree")
            if at is None or tree is None or _in_macro(node):
                continue
            given = _split(tree)
            if len(given) <= at or len(given[at]) != 1 or given[at][0].type != "string_literal":
                continue
            values = given[at + 1 :]
            named = frozenset(
                facts.said(one[0])
                for one in values
                if len(one) > 1 and one[0].type == "identifier" and facts.said(one[1]) == "="
            )
            wants = rusty(facts.said(given[at][0])[1:-1])
            if wants is None or any(not one for one in values[:-1]):
                continue
            plain = len([one for one in values if one]) - len(named)
            if plain != wants.count:
                yield node, wrong(type(wants)(wants.count), plain)


def _split(tree: Branch) -> list[list[Branch]]:
    """A macro's arguments, each as its pieces."""
    parts: list[list[Branch]] = [[]]
    for one in tree.children[1:-1]:
        if one.type == ",":
            parts.append([])
        else:
            parts[-1].append(one)
    return parts


def _in_macro(leaf: Branch) -> bool:
    return any(up.type in ("token_tree", "macro_definition", "attribute_item") for up in leaf.up())


def _globs(leaf: Branch) -> bool:
    """Whether a module around a place, or a block, uses all of another one."""
    for up in leaf.up():
        for child in up.children:
            if child.type == "use_declaration" and any(
                one.type == "use_wildcard" for one in child.walk()
            ):
                return True
            if child.type == "macro_invocation" or (
                child.type == "expression_statement"
                and (child.first("macro_invocation") is not None and up.type == "declaration_list")
            ):
                return up.type in ("declaration_list", "source_file")
    return False


def _attributed(node: Branch) -> bool:
    """Whether a definition has an attribute: `#[cfg(…)]` makes it one of several."""
    around = node.parent
    if around is None:
        return False
    at = around.children.index(node)
    before = around.children[at - 1] if at else None
    return before is not None and before.type == "attribute_item"


OUTLOOK = RustOutlook(
    given=_PRELUDE,
    blocks=places("block"),
    ends=places(
        "expression_statement>return_expression expression_statement>break_expression",
        "expression_statement>continue_expression",
    ),
    hoisted=places("function_item use_declaration const_item struct_item enum_item impl_item"),
    arguments=places("arguments"),
    once=places("function_item struct_item enum_item"),
    imports=places("use_declaration"),
)
