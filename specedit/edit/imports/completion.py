"""The imports of an edited file, completed before its checks run.

A missing name gets the one import that the standard library and the files of the work tree agree
on. Imports that the edit made unused are removed; those that it wrote in the middle of the file
move to its head.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePath

from specedit.check.answer import MAX_PARSED_CHARACTERS
from specedit.check.finding import Checks, Finding
from specedit.check.language_tables import language_facts
from specedit.check.parsed import ParsedText, parsed_text
from specedit.edit.imports.placing import WorkTree, head_end, import_lines, with_import
from specedit.edit.imports.statements import (
    DEFAULT,
    IMPORTS,
    LANGUAGES,
    NAMESPACE,
    SCRIPTS,
    Import,
    Stated,
    requires,
    stated_imports,
    written,
)
from specedit.edit.outcome import Checked, guarded
from specedit.files.source import Source
from specedit.scoping import builtin_names
from specedit.scoping.languages import rules_of
from specedit.syntax.branch import Branch
from specedit.syntax.languages import Language

KEEPS = re.compile(r"(?i)\b(?:imports?|imported|usings?|requires?|keep|unused)\b")
_LINES = {  # a line that is one import
    "python": r"(?:from [\w.]+ )?import [\w., ]+",
    "go": r'import (?:\w+ )?"[^"\n]+"',
    "java": r"import (?:static )?[\w.]+\s*;",
    "csharp": r"using [A-Z][\w.]*\s*;",
    **dict.fromkeys(SCRIPTS, r"import [\w*{} ,]+ from ['\"][^'\"\n]+['\"];?"),
}
_USING_COMMENT = re.compile(r"\btype:|@|>>>")  # comments that tools read


def without_misplaced(before: ParsedText, text: str, tree: WorkTree) -> tuple[str, list[str]]:
    """The text with imports that the edit wrote in its middle moved to the others. In Python, where
    such an import is legal, only those of the standard library."""
    language = before.language
    if language.name not in _LINES or not (moved := _misplaced(before, text, tree)):
        return text, []
    lines = text.split("\n")
    for number in reversed(moved):
        blank = not "".join(lines[number + 1 : number + 2]).strip()
        opens = not lines[number - 1].strip() or lines[number - 1].endswith("{")
        del lines[number : number + 1 + (blank and opens)]
    current, notes = ParsedText("\n".join(lines), language), []
    for line in dict.fromkeys(text.split("\n")[number].strip() for number in moved):
        for what in _imports_of(line, language):
            if (
                what not in {stated.what for stated in stated_imports(current)}
                and line not in lines
            ):
                current = ParsedText(with_import(what, current, tree), language)
        notes.append(f"moved `{line}` to the imports of the file")
    return current.text, notes


def _misplaced(before: ParsedText, text: str, tree: WorkTree) -> list[int]:
    """The lines, from 0, below the imports of a text that are new imports."""
    after, pattern = ParsedText(text, before.language), re.compile(_LINES[before.language.name])
    lines, known = text.split("\n"), {line.strip() for line in before.text.split("\n")}
    is_import = [pattern.fullmatch(line.strip()) is not None for line in lines]
    added = [
        number
        for number, line in enumerate(lines)
        if is_import[number]
        and line.strip() not in known
        and (before.language.name != "python" or _is_of_standard_library(line.strip()))
    ]
    if not added:
        return []
    stated, _ = import_lines(after, tree)
    end = stated[-1].last + 1 if stated else head_end(after, lines)
    quoted: set[int] = set()  # lines in comments and in strings of several lines
    local: set[int] = set()  # lines in functions
    for inner in after.root.walk():
        if inner.type == "function_definition":
            local.update(range(inner.line, inner.line + after.text_of(inner).count("\n") + 1))
        if "comment" in inner.type or "string" in inner.type:
            last = inner.line + after.text_of(inner).rstrip("\n").count("\n")
            quoted.update(range(inner.line - ("comment" in inner.type), last))
    below = (n for n in range(end, len(lines)) if lines[n].strip() and not is_import[n])
    first = next(below, end)  # the first line that ends the imports at the top of the file
    return [
        number
        for number in added
        if number >= first
        and number not in quoted
        and not (before.language.name == "python" and number in local)
    ]


def _is_of_standard_library(line: str) -> bool:
    """Whether a line of Python imports from the standard library."""
    match = re.match(r"(?:from|import) (\w+)", line)
    return match is not None and match[1] in sys.stdlib_module_names


def _imports_of(line: str, language: Language) -> list[Import]:
    if language.name == "csharp":
        return [Import(line.removeprefix("using").rstrip(";").strip())]
    return [stated.what for stated in stated_imports(ParsedText(line + "\n", language))]


def without_unused(
    before: ParsedText, after: ParsedText, instruction: str, tree: WorkTree
) -> tuple[ParsedText, list[str]]:
    """The new text without the imports that the edit made unused."""
    if KEEPS.search(instruction):
        return after, []
    notes = []
    earlier = {(stated.what, stated.local) for stated in stated_imports(before)}
    unused = {local for _, local in earlier if local in _words(before)} - _words(after)
    if not unused or PurePath(tree.path or "x").name == "__init__.py":
        return after, []
    for local in sorted(unused):
        same = [stated for stated in stated_imports(after) if stated.local == local]
        if len(same) != 1 or (same[0].what, local) not in earlier or _stays(same[0], after, tree):
            continue
        shorter = ParsedText(_without(same[0], after), after.language)
        if shorter.text == after.text or len(shorter.errors) > len(after.errors):
            continue
        notes.append(f"removed `{written(same[0].what, after)}`: nothing uses it any more")
        after = shorter
    return after, notes


def _stays(stated: Stated, after: ParsedText, tree: WorkTree) -> bool:
    """Whether an import may be needed although its name is not used."""
    language, what = after.language.name, stated.what
    if stated.requires or what.module == "__future__" or language == "csharp":
        return True
    if language == "rust":  # a trait is used without its name
        return stated.local not in builtin_names.RUST_TYPES or "pub" in after.text_of(
            stated.statement
        )
    if language in SCRIPTS and (stated.local in ("React", "h") or what.name == NAMESPACE):
        return True
    line = after.text.split("\n")[stated.part.line - 1]
    if re.search(r"#|//", line.partition("import")[2].replace("://", "")):
        return True
    if language != "python" or not tree.path:
        return False
    stem = re.escape(PurePath(tree.path).stem)
    name = re.escape(stated.local)
    uses = rf"\b{stem}\.{name}\b|\bfrom\s+[\w.]*\b{stem}\s+import\b[^\n]*(?:\b{name}\b|\($|\*)"
    return next(tree.holding(uses), None) is not None


@lru_cache(maxsize=4)
def _words(parsed: ParsedText) -> frozenset[str]:
    """The words of a text outside its imports, and outside comments that no tool reads."""
    data = bytearray(parsed.data)
    for node in parsed.root.walk():
        ignored = node.type in IMPORTS
        if "comment" in node.type and parsed.language.name != "java":
            ignored = not _USING_COMMENT.search(parsed.text_of(node))
        if ignored:
            data[node.start : node.end] = b" " * (node.end - node.start)
    return frozenset(re.findall(r"[\w$]+", data.decode("utf-8", "replace")))


def _without(stated: Stated, parsed: ParsedText) -> str:
    """The text without one name of an import, or without its statement."""
    data, node = parsed.data, stated.statement
    others = [other for other in stated_imports(parsed) if other.statement is stated.statement]
    if parsed.language.name == "go":
        specs = [up for up in stated.part.up() if up.type == "import_spec_list"]
        if specs and len([s for s in specs[0].children if s.type == "import_spec"]) > 1:
            node = stated.part
        others = [stated]
    if len(others) == 1:
        start = data.rfind(b"\n", 0, node.start) + 1
        end = data.find(b"\n", node.end - 1 if data[node.end - 1 : node.end] == b"\n" else node.end)
        end = len(data) if end < 0 else end + 1
        above, below = data[:start], data[end:]
        if (not above.strip() or above.endswith(b"\n\n")) and below.startswith(b"\n"):
            below = below[1:] if above.strip() or not below.strip() else below.lstrip(b"\n")
        return (above + below).decode("utf-8", "surrogatepass")
    start, end = stated.part.start, stated.part.end
    comma = re.match(rb"[ \t]*,[ \t]*(\n[ \t]*)?", data[end:])
    ahead = re.search(rb",\s*$", data[:start])
    if comma is not None:
        end += comma.end()
        if comma[1] is not None and not ahead and b"\n" not in data[stated.statement.start : start]:
            end -= len(comma[1])
    elif ahead is not None:
        start = ahead.start()
    else:
        return parsed.text
    return (data[:start] + data[end:]).decode("utf-8", "surrogatepass")


KIND = "imports"
MAX_IMPORTED_NAMES = 8  # names that get an import; an answer that lacks more is of another kind


def judged_with_imports(source: Source, instruction: str, checks: Checks, text: str) -> Checked:
    """`text` with its imports completed, and what the checks found."""
    completed, notes = completed_imports(source, text, instruction)
    verdict = guarded(source, instruction, checks, completed)
    return replace(verdict, findings=(*notes, *verdict.findings))


def completed_imports(
    source: Source, text: str, instruction: str = ""
) -> tuple[str, tuple[Finding, ...]]:
    """The new text of a file with the imports that it needs, and a note for each change. Only
    imports change; a text that does not parse stays as it is."""
    language = source.language
    if language is None or language.name not in LANGUAGES or text == source.text:
        return text, ()
    if max(len(text), len(source.text)) > MAX_PARSED_CHARACTERS:
        return text, ()
    before, tree = parsed_text(source.text, language), WorkTree(source)
    changed, notes = without_misplaced(before, text, tree)
    after = parsed_text(changed, language)
    if len(after.errors) > len(before.errors):
        return text, ()
    answer = after
    added: set[Import] = set()
    for name, leaves in missing_names(before, answer).items():
        what = (
            needed_import(name, leaves, answer, tree) if len(added) < MAX_IMPORTED_NAMES else None
        )
        if what is None or what in added:
            continue
        added.add(what)
        statement = written(what, after)
        longer = ParsedText(with_import(what, after, tree), language)
        brings_it = language.name == "csharp" or name not in longer.free_names
        if len(longer.errors) > len(after.errors) or not brings_it:
            continue
        after = longer
        notes.append(f"added `{statement}`: `{name}` was used and not imported")
    after, more = without_unused(before, after, instruction, tree)
    return after.text, tuple(Finding(KIND, note) for note in [*notes, *more])


GO_MEMBER = ("selector_expression.operand", "qualified_type.package")
NODES_OF_USE = (  # as functions, modules, decorators and types are, in Python and JavaScript
    *("call.function", "attribute.object", "decorator.", "type."),
    *("call_expression.function", "member_expression.object"),
)


def missing_names(before: ParsedText, after: ParsedText) -> dict[str, list[Branch]]:
    """The names that the new text uses and nothing declares, and that were not so before."""
    language = after.language.name
    facts, rules = language_facts(language), rules_of(language)
    if facts is None or rules is None:
        return {}
    if language not in SCRIPTS and language != "csharp" and not facts.lists_its_names(after):
        return {}
    if language in SCRIPTS and not (facts.lists_its_names(after) or requires(after)):
        return {}
    if language == "rust" and any(inner.type == "use_wildcard" for inner in after.root.walk()):
        return {}
    known = before.free_names.keys() | facts.builtins | rules.keywords
    known |= rules.builtins - builtin_names.RUST_TYPES - builtin_names.CSHARP_NAMESPACES.keys()
    names = {name: leaves for name, leaves in after.free_names.items() if name not in known}
    if language == "python":
        names = {
            name: kept
            for name, leaves in names.items()
            if (kept := [leaf for leaf in leaves if facts.must_be_declared(after, leaf, name)])
        }
    return names


def needed_import(
    name: str, leaves: list[Branch], after: ParsedText, tree: WorkTree
) -> Import | None:
    """The one import that brings in a missing name; None where none or several fit."""
    language = after.language.name
    if not _may_be_imported(name, leaves, after):
        return None
    library = list(_of_library(name, leaves, after))
    others = tree.imports(name, after) if language != "csharp" else set()
    chosen = _agreed(library, others, several=language == "python")
    if chosen is None or tree.definitions(name) > (0 if library else 1):
        return None  # the tree has another thing of that name
    if language in ("go", "java", "csharp") and tree.declares(name):
        return None
    if language in ("csharp", "java") and _is_visible(chosen, after, tree):
        return None
    return chosen


def _agreed(library: list[Import], others: set[Import], *, several: bool) -> Import | None:
    """The one import that nothing speaks against. `several`: modules of the library that offer a
    name offer the same thing, the preferred one first."""
    known = {_plain(imported): imported for imported in others}
    both = [known[_plain(imported)] for imported in library if _plain(imported) in known]
    if both and (len(known) == 1 or (several and len(both) == len(known))):
        return both[0]
    if library and not others and (several or len(library) == 1):
        return library[0]
    return next(iter(others)) if len(others) == 1 and not library else None


def _plain(what: Import) -> tuple[str, str]:
    name = DEFAULT if what.name == NAMESPACE else what.name
    return what.module.removeprefix("node:"), name


def _may_be_imported(name: str, leaves: list[Branch], after: ParsedText) -> bool:
    """Whether a name is used as one that an import brings in, and not as a variable."""
    language = after.language.name
    if language == "go":
        return all(
            leaf.place in GO_MEMBER
            and leaf.parent is not None
            and after.text_of(leaf.parent.children[-1])[:1].isupper()
            for leaf in leaves
        )
    if language == "java":
        return name[:1].isupper() and not any("annotation" in leaf.place for leaf in leaves)
    if language == "csharp":
        return not any(leaf.place.startswith(("attribute.", "qualified_name")) for leaf in leaves)
    if language == "rust":
        in_macro = ("token_tree", "macro_definition", "use_declaration")
        return not any(up.type in in_macro for leaf in leaves for up in leaf.up())
    return not name[:1].islower() or any(leaf.place in NODES_OF_USE for leaf in leaves)


def _of_library(name: str, leaves: list[Branch], after: ParsedText) -> Iterator[Import]:
    language = after.language.name
    if language == "python":
        yield from _of_python(name, leaves, after)
    elif language == "go":
        paths = builtin_names.GO_PATHS
        yield from (Import(path) for path in sorted(paths) if path.rpartition("/")[2] == name)
    elif language == "java" and name in builtin_names.JAVA_MODULES:
        yield Import(f"{builtin_names.JAVA_MODULES[name]}.{name}")
    elif language == "csharp" and name in builtin_names.CSHARP_NAMESPACES:
        yield Import(builtin_names.CSHARP_NAMESPACES[name])
    elif language == "rust":
        table = builtin_names.RUST_MODULES
        if name in builtin_names.RUST_PATHS:
            table = builtin_names.RUST_PATHS
            if not all(leaf.place.startswith("scoped") and leaf.field == "path" for leaf in leaves):
                return
        if name in table:
            yield Import(table[name], name)
    elif language in SCRIPTS:
        members = _members(leaves, after)
        if members and members <= builtin_names.NODE_MEMBERS.get(name, frozenset()):
            known = [stated.what for stated in stated_imports(after)]
            prefix = "node:" if any(line.module.startswith("node:") for line in known) else ""
            whole = NAMESPACE if language != "javascript" else DEFAULT
            builtin = builtin_names.NODE_MODULES
            styles = {line.name for line in known if line.module.removeprefix("node:") in builtin}
            style = styles.pop() if len(styles) == 1 and styles <= {DEFAULT, NAMESPACE} else whole
            yield Import(prefix + name, DEFAULT if requires(after) else style, name)


def _members(leaves: list[Branch], after: ParsedText) -> set[str]:
    """The members that are read of a name; empty where it is used in another way, too."""
    results = set()
    for leaf in leaves:
        part = (
            leaf.parent.part("attribute") or leaf.parent.part("property") if leaf.parent else None
        )
        if part is None or leaf.field != "object":
            return set()
        results.add(after.text_of(part))
    return results


def _of_python(name: str, leaves: list[Branch], after: ParsedText) -> Iterator[Import]:
    members = _members(leaves, after)
    if members and members <= builtin_names.module_names(name):
        yield Import(name)
        return
    if name == "datetime" and members and not members <= builtin_names.OF_CLASS:
        return
    if not name[:1].isupper() and name != "datetime":
        called = ("call.function", "decorator.", "type.")
        if not all(leaf.place in called for leaf in leaves):
            return
    offered = builtin_names.offered_names
    modules = [module for module in builtin_names.FROM_MODULES if name in offered(module)]
    if name not in builtin_names.CALLED and any(
        leaf.place in ("call.function", "attribute.object") for leaf in leaves
    ):
        modules = [module for module in modules if module not in ("typing", "collections.abc")]
    stated = {statement.what.module for statement in stated_imports(after)}
    modules.sort(key=lambda module: module not in stated)  # the file's own choice first
    yield from (Import(module, name) for module in modules)


def _is_visible(what: Import, after: ParsedText, tree: WorkTree) -> bool:
    """Whether a name is visible already, or may come from where all names are imported."""
    if after.language.name == "java":
        package = re.search(r"^package ([\w.]+);", after.text, re.M)
        same = package is not None and what.module.rpartition(".")[0] == package[1]
        return same or re.search(r"^import [\w.]+\.\*;", after.text, re.M) is not None
    namespace = re.escape(what.module)
    visible = rf"^[^\S\n]*(?:using {namespace};|namespace {namespace}\b|using static\b)"
    if re.search(visible, after.text, re.M):
        return True
    pattern = rf"^[^\S\n]*global using {namespace};"
    if what.module in builtin_names.CSHARP_IMPLICIT:
        pattern += r"|<ImplicitUsings>\s*(?:enable|true)"
    return next(tree.holding(pattern), None) is not None
