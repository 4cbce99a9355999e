"""Java: what a class inherits and its package holds, no file tells; of its own locals it does."""

from __future__ import annotations

from collections.abc import Iterator

from specedit.gate.facts import Facts
from specedit.gate.languages.outlook import Outlook
from specedit.gate.places import percents, wrong
from specedit.gate.signature import Signature
from specedit.scoping.languages.tables import places
from specedit.scoping.scope import Declared
from specedit.syntax.branch import Branch

STANDARD = places(  # of java.*, and hardly anybody's own
    "List Map Set ArrayList HashMap HashSet LinkedList LinkedHashMap TreeMap Arrays Collections",
    "Optional Objects Collectors Stream IntStream IOException UncheckedIOException BigDecimal",
    "BigInteger LocalDate LocalDateTime Instant Duration Files Paths Iterator Collection Deque",
    "ConcurrentHashMap AtomicInteger AtomicLong AtomicBoolean TimeUnit ExecutorService Executors",
    "CompletableFuture StandardCharsets InputStream OutputStream BufferedReader",
)
_TYPES = places(
    "class_declaration interface_declaration enum_declaration record_declaration",
    "annotation_type_declaration",
)

_PACKAGES = places(  # where a name may be a package
    "scoped_identifier.scope field_access.object method_invocation.object package_declaration."
)


class JavaOutlook(Outlook):
    def tells(self, facts: Facts) -> bool:
        return True

    def must_be_declared(self, facts: Facts, leaf: Branch, name: str) -> bool:
        if name in STANDARD:
            wild = any(one.first("asterisk") for one in facts.root.children if one.type == _IMPORT)
            return leaf.type == "type_identifier" and not wild
        if leaf.type != "identifier" or not name[:1].islower() or name in ("log", "logger"):
            return False
        if leaf.parent is None or "annotation" in leaf.parent.type or leaf.place in _PACKAGES:
            return False
        return _alone(facts, leaf)

    def is_used_by_name(self, facts: Facts, imported: Declared) -> bool:
        return imported.node.first("asterisk") is None

    def signatures(self, facts: Facts, declared: Declared, callee: Branch) -> list[Signature]:
        if declared.kind != "method" or declared.owner is None or declared.owner.bases:
            return []
        if callee.place != "method_invocation.name" or not _alone(facts, callee):
            return []
        taken = self.takes(facts, declared)
        return [taken] if taken is not None else []

    def takes(self, facts: Facts, declared: Declared) -> Signature | None:
        listed = declared.node.part("parameters")
        if listed is None or declared.node.type != "method_declaration":
            return None
        order = [one for one in listed.named_children() if one.type == "formal_parameter"]
        more = listed.first("spread_parameter") is not None
        named = (one.part("name") for one in order)
        names = tuple(facts.said(name) if name is not None else "?" for name in named)
        return Signature(names, frozenset(names), len(names), frozenset(), more)

    def formats(self, facts: Facts) -> Iterator[tuple[Branch, str]]:
        for call in facts.root.walk():
            name = call.part("name") if call.type == "method_invocation" else None
            listed, owner = call.part("arguments"), call.part("object")
            if name is None or listed is None or owner is None:
                continue
            said = facts.said(name), facts.said(owner)
            if said[0] != "printf" and said != ("format", "String"):
                continue
            given = [one for one in listed.named_children() if "comment" not in one.type]
            if not given or given[0].type != "string_literal" or len(given) == 2:
                continue  # a single value may be an array
            wants = percents(facts.said(given[0]), "bBhHsScCdoxXeEfgGaA", free="n")
            if wants is not None and (why := wrong(wants, len(given) - 1)):
                yield call, why

    def contradictions(self, facts: Facts) -> Iterator[tuple[Branch, str]]:
        for node in facts.root.walk():
            typed, body = node.part("type"), node.part("body")
            if node.type != "method_declaration" or typed is None or body is None:
                continue
            yield from void_returns(facts, typed.type == "void_type", body)


def void_returns(facts: Facts, void: bool, body: Branch) -> Iterator[tuple[Branch, str]]:
    """A value out of a method that has none, and none out of one that has."""
    for node in body.walk(without=_INNER):
        if node.type != "return_statement":
            continue
        inside = (one for one in node.children[1:] if one.type != ";")
        value = next((one for one in inside if "comment" not in one.type), None)
        if void and value is not None:
            yield node, f"a method of type void returns `{facts.said(value)[:40]}`"
        if not void and value is None:
            yield node, "a method that has to return a value returns none"


_INNER = places(
    "lambda_expression class_body local_function_statement anonymous_method_expression",
    "declaration_list",
)
_IMPORT = "import_declaration"


def _alone(facts: Facts, leaf: Branch) -> bool:
    """Whether nothing around a place can bring it names: no superclass, no interface, no static
    import, no annotation that writes code."""
    if any(one.type == _IMPORT and one.first("static") for one in facts.root.children):
        return False
    for up in leaf.up():
        if up.type == "class_body" and up.parent is not None and up.parent.type not in _TYPES:
            return False
        if up.type in _TYPES:
            if up.first("superclass", "super_interfaces", "extends_interfaces", "interfaces"):
                return False
            modifiers = up.first("modifiers")
            if modifiers is not None and modifiers.first("annotation", "marker_annotation"):
                return False
        if up.type in ("switch_label", "switch_rule"):
            return False
    return True


OUTLOOK = JavaOutlook(
    blocks=places("block constructor_body switch_block_statement_group"),
    ends=places("return_statement throw_statement break_statement continue_statement"),
    arguments=places("argument_list"),
    once=places("method_declaration class_declaration constructor_declaration"),
    overloads=True,
    imports=places("import_declaration"),
)
