"""The scopes of one file, and the classes in it.

Built from a language's tables (`rename.languages`). Knows nothing of renaming; what a *use* of a
name means is for `rename.scoping.meaning`.
"""

from __future__ import annotations

from collections.abc import Iterator

from specedit.rename.languages import Rules, rules_of
from specedit.rename.scoping.interpolated import names_in_string
from specedit.rename.scoping.scope import Declared, Owner, Scope
from specedit.rename.scoping.shell import keyed_arrays, shell_names, tell_functions
from specedit.syntax.branch import Branch, grow
from specedit.syntax.languages import Language


class Scopes:
    """All scopes, declarations and owners of one text."""

    def __init__(self, text: str, language: Language) -> None:
        rules = rules_of(language.name)
        assert rules is not None
        self.rules: Rules = rules
        self.data = text.encode("utf-8", "surrogatepass")
        self.root = grow(text, language)
        self.file = Scope("file", self.root, None)
        self.by_node: dict[int, Scope] = {id(self.root): self.file}
        self.owners: list[Owner] = []
        self.leaves: list[tuple[Branch, str]] = []
        self.by_leaf: dict[int, Declared] = {}
        self.announces = b"global" in self.data or b"nonlocal" in self.data
        self.announced: dict[int, dict[str, str]] = {}  # by function, what `declaring` found
        self._open()

    # reading the tree

    def text(self, node: Branch) -> str:
        return self.data[node.start : node.end].decode("utf-8", "replace")

    def label(self, leaf: Branch) -> str:
        """The name a leaf carries; a PHP variable keeps its `$`, a Ruby symbol loses its colon."""
        text = self.text(leaf)
        if leaf.type == "simple_symbol":
            return text[1:]
        if leaf.parent is not None and leaf.parent.type == "variable_name":
            owner = leaf.parent.place
            return text if owner in self.rules.members or "propert" in owner else "$" + text
        return "$" + text if self.rules.sigils and _is_braced(leaf) else text

    def scope_of(self, node: Branch, *, outside: bool = False) -> Scope:
        """The innermost scope around `node`, or with `outside` around its parent."""
        here: Branch | None = node.parent if outside else node
        passed = False  # the next scope is one that does not hold what stands in it here
        while here is not None:
            found = self.by_node.get(id(here))
            if found is not None and not (outside and found.kind == "template"):
                if not passed:
                    return found
                passed = False
            passed = passed or self._is_read_outside(here)
            here = here.parent
        return self.file

    def _is_read_outside(self, node: Branch) -> bool:
        """Python: a default, or what a comprehension's first `for` goes over."""
        if node.place not in self.rules.outside or node.parent is None:
            return False
        holder = node.parent
        first = holder.parent.first(holder.type) if holder.parent is not None else None
        return holder.type != "for_in_clause" or first is holder

    def declarations(self, name: str) -> Iterator[Declared]:
        return (one for one in self.by_leaf.values() if one.name == name)

    # building

    def _open(self) -> None:
        """Scopes and owners, outer before inner; leaves in reading order."""
        rules = self.rules
        keyed = keyed_arrays(self.root, self.text) if rules.builtins else frozenset()
        for node in self.root.walk():
            parent = node.parent
            if rules.builtins:
                tell_functions(node, self.text)
                for made in shell_names(node, self.text, rules.builtins, keyed):
                    self.leaves.append((made, self.text(made)))
            if node.end == node.start and node.type in rules.names:
                continue  # what the parser made up
            if node.type in rules.names and (
                not node.children or node.type in ("lifetime", "label")
            ):
                if parent is None or not _is_part(node, parent):
                    self.leaves.append((node, self.label(node)))
                continue
            if node.place == "import_spec.path" and parent is not None and not parent.part("name"):
                name = self.text(node).strip('"`').rsplit("/", 1)[-1]
                self.leaves.append((node, name))  # Go: the path's last part is the name
                continue
            if rules.quoted_keys and node.type == "string_fragment" and _is_key(node):
                self.leaves.append((node, self.text(node)))
                continue
            for made in names_in_string(node, self.text, rules):
                self.leaves.append((made, self.text(made)))
            if node.type == "using_declaration":
                self.scope_of(node).opens += self._used(node)
            kind = rules.scopes.get(node.type)
            if parent is not None and f"{node.type}<{parent.type}" in rules.scopes:
                kind = rules.scopes[f"{node.type}<{parent.type}"]
            if kind is None or kind == "shared" or parent is None:
                continue
            if _is_mention(node) or _is_head(node):
                continue
            around = node
            if parent.type == "try_with_resources_statement" and node.type != "block":
                around = parent.parent or parent  # `catch` does not see the resources
            scope = Scope(kind, node, self.scope_of(around))
            self.by_node[id(node)] = scope
            if kind in ("class", "namespace", "enum"):
                scope.owner = self._owner(node)
            elif kind == "function":
                scope.owner = self._receiver(node)

    def _owner(self, node: Branch) -> Owner:
        name = self._class_name(node)
        bases = [
            self.text(leaf)
            for child in node.children
            if child.type in self.rules.bases
            for leaf in child.walk()
            if leaf.type in self.rules.names and leaf.end - leaf.start > 0
        ]
        outside = ("impl_item", "method_declaration", "function_definition")
        known = next((one for one in self.owners if one.name == name and name), None)
        if known is not None and known.node.type in outside and node.type != "impl_item":
            known.node = node  # an `impl` or a method came first
            known.bases += [base for base in bases if base != name]
            return known
        if node.type == "impl_item":
            trait = node.part("trait")
            bases += (
                [self.text(x) for x in trait.walk() if x.type == "type_identifier"] if trait else []
            )
            if known is not None:
                known.bases += bases
                return known
        if node.type in ("type_spec", "struct_type", "interface_type", "type_alias_declaration"):
            bases += self._embedded(node)
        kinds = ("interface_declaration", "trait_item", "interface_type", "protocol")
        body = node.part("type")
        interface = node.type in kinds or (body is not None and body.type in kinds)
        made = Owner(name, node, [base for base in bases if base != name], {}, interface)
        self.owners.append(made)
        return made

    def _embedded(self, node: Branch) -> list[str]:
        """Go's embedded fields and types, TypeScript's `A & {...}`."""
        found = []
        for child in node.walk():
            if child.type == "field_declaration" and child.part("name") is None:
                found += [
                    self.text(leaf) for leaf in child.walk() if leaf.type == "type_identifier"
                ]
            if child.type in ("intersection_type", "type_elem"):
                found += [self.text(x) for x in child.children if x.type == "type_identifier"]
        return found

    def _used(self, node: Branch) -> Iterator[tuple[Owner, str]]:
        """C++: `using namespace a` shows all of `a`, `using a::x` one name of it."""
        path = self.text(node).rstrip("; ").split()[-1].split("::")
        only = "" if node.first("namespace") else path.pop()
        for owner in self.owners:
            if path and owner.name.split("::")[-1] == path[-1]:
                yield owner, only

    def _class_name(self, node: Branch) -> str:
        name = node.part("name")
        if name is None and node.type == "impl_item":
            name = node.part("type")
            while name is not None and name.type in ("generic_type", "scoped_type_identifier"):
                name = name.part("type") or name.part("name")
        if name is None:
            name = node.first("identifier", "type_identifier") if node.named else None
        return self.text(name) if name is not None and node.type not in ("object",) else ""

    def _receiver(self, node: Branch) -> Owner | None:
        """The class a method is written outside of: Go's receiver, C++'s `Class::method`."""
        name = ""
        receiver = node.part("receiver")
        if receiver is not None:
            types = [self.text(leaf) for leaf in receiver.walk() if leaf.type == "type_identifier"]
            name = types[0] if types else ""
        elif (declarator := node.part("declarator")) is not None:
            paths = [one for one in declarator.walk() if one.type == "qualified_identifier"]
            inner = paths[0] if paths else None
            while inner is not None and (deeper := inner.part("name")) is not None:
                if deeper.type != "qualified_identifier":
                    break
                inner = deeper
            scope = inner.part("scope") if inner is not None else None
            if scope is not None:
                leaf = scope if not scope.children else scope.part("name") or scope
                name = self.text(leaf)
        if not name:
            return None
        for owner in self.owners:
            if owner.name == name:
                return owner
        made = Owner(name, node)
        self.owners.append(made)
        return made


def _is_mention(node: Branch) -> bool:
    """C: `struct S *p` names a type and opens nothing."""
    return node.type.endswith("_specifier") and node.part("body") is None


def _is_head(node: Branch) -> bool:
    """C: in front of a function's body, whose scope its parameters belong to."""
    around = (up for up in node.up() if not up.type.endswith("_declarator"))
    return node.type == "function_declarator" and next(around).type == "function_definition"


def _is_part(node: Branch, parent: Branch) -> bool:
    """Leaves that are no names: a lifetime's letters, a shell command's arguments."""
    if node.type == "word":
        return parent.type != "command_name" and node.place != "function_definition.name"
    return parent.type in ("lifetime", "label")


def _is_braced(leaf: Branch) -> bool:
    """PHP: `"${name}"` and `"${name[0]}"`."""
    holder = leaf.parent
    if holder is not None and holder.type == "subscript_expression" and holder.children[0] is leaf:
        holder = holder.parent
    if holder is None or holder.type != "dynamic_variable_name":
        return False
    return holder.place.split(".")[0] in ("encapsed_string", "heredoc_body")


def _is_key(node: Branch) -> bool:
    """A whole string that may name a member, or be a literal type or its value."""
    text = node.parent
    if text is None or text.type != "string" or len(text.children) != 3 or text.parent is None:
        return False
    return "import" not in text.parent.type and "export" not in text.parent.type
