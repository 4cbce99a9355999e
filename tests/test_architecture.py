"""The layers of `specedit.__doc__` hold: imports only go down, and the command line stays light."""

import ast
import functools
import subprocess
import sys
from pathlib import Path

import specedit

PACKAGE = Path(specedit.__file__).parent
LAYERS = (  # from the ground up
    *("version", "errors", "syntax", "scoping", "check", "files", "settings"),
    *("models", "engines", "decode", "edit", "rename", "inference", "server", "connect", "view"),
    *("integrations", "machine_check", "manual", "cli", "api", "__main__"),
    "__init__",
)
# Tests that only see what users see, so that a new layout of the package leaves them as they are:
# folders and files, and what they import of the package. Helpers may import any of it.
BEHAVIOUR = (
    "edit/*.py",
    "edit/apply/*.py",
    "rename/*.py",
    "check/*.py",
    "integrations/test_hook*.py",
    "integrations/test_pre_commit.py",
)
INNER = {  # of these, those that still know a part inside
    "check/test_check_external.py",
    *(f"rename/test_{name}.py" for name in ("file_move", "rename", "rename_asking")),
    *(f"rename/test_{name}.py" for name in ("rename_job", "rename_trees")),
}
PUBLIC = {"specedit", "specedit.api", "specedit.errors", "specedit.cli", "specedit.__main__"}
LEVEL = {name: level for level, name in enumerate(LAYERS)}
MODULES = sorted(PACKAGE.rglob("*.py"))


def part(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@functools.cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def names_imported(path: Path) -> set[str]:
    """Dotted names that a module imports, at the top or inside a function."""
    names = set()
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{a.name}" for a in node.names)}
        elif isinstance(node, ast.Import):
            names |= {a.name for a in node.names}
    return names


def imports(path: Path) -> set[str]:
    """The parts of the package that a module imports."""
    pieces = [name.split(".") for name in names_imported(path)]
    return {p[1] for p in pieces if p[0] == "specedit" and len(p) > 1 and p[1] in LEVEL}


def test_imports_only_go_down():
    homeless = {part(path) for path in MODULES} - LEVEL.keys()
    assert not homeless, "give it a level in specedit.__doc__ and here"
    too_high = {
        dotted(path): [n for n in imports(path) if LEVEL[n] > LEVEL[part(path)]] for path in MODULES
    }
    assert not {module: names for module, names in too_high.items() if names}


def dotted(path: Path) -> str:
    parts = ("specedit", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


def modules_imported(path: Path, known: set[str]) -> set[str]:
    """The modules of the package that one imports, anywhere in it: a name of a package's own is the
    package's, one of a module in it is the module's."""
    found = set()
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in known else node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & known


def test_no_modules_import_each_other_in_a_circle():
    """Imports within functions and those for types only count too."""
    known = {dotted(path): path for path in MODULES}
    uses = {name: modules_imported(path, set(known)) - {name} for name, path in known.items()}
    while uses:
        used = set[str]().union(*uses.values())
        outside = [name for name in uses if not uses[name] & set(uses) or name not in used]
        assert outside, {name: sorted(others & set(uses)) for name, others in uses.items()}
        for name in outside:
            del uses[name]


def test_tests_of_behaviour_import_only_what_users_see():
    tests, modules = Path(__file__).parent, {dotted(path) for path in MODULES}
    inner = {}
    for pattern in BEHAVIOUR:
        assert list(tests.glob(pattern)), pattern
        for path in tests.glob(pattern):
            inner[path.relative_to(tests).as_posix()] = modules_imported(path, modules) - PUBLIC
    assert {name for name, names in inner.items() if names} <= INNER, inner


def test_a_class_name_means_one_thing():
    homes: dict[str, list[str]] = {}
    for path in MODULES:
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(dotted(path))
    assert not {n: h for n, h in homes.items() if len(h) > 1}


def test_torch_and_transformers_have_one_home():
    homes = {"engines", "models"}
    assert not [
        dotted(path)
        for path in MODULES
        if part(path) not in homes
        and {"torch", "transformers"} & {name.split(".")[0] for name in names_imported(path)}
    ]


def test_guarantee_7_the_command_line_and_an_edit_load_no_torch():
    """Nor what takes milliseconds to import and is used by few runs."""
    code = (
        "import sys; from specedit import cli; cli._register(); import typer.main;"
        "typer.main.get_command(cli.app);"
        "print([m for m in ('torch','transformers','tree_sitter','git','uvicorn','httpx',"
        "'huggingface_hub','numpy','mcp','pygls','lsprotocol') if m in sys.modules]);"
        "import specedit.cli.run_command, specedit.rename.tree, specedit.edit.run, git;"
        "import specedit.inference.loading, specedit.models.vocabulary, specedit.view.screen;"
        "import specedit.engines.exact.engine, specedit.decode.loop;"
        "print([m for m in ('torch','numpy','jinja2','zipfile','statistics','rich.table','asyncio',"
        "'pygls','lsprotocol','cattrs','attr',"
        "'email','specedit.models.gguf','specedit.models.download','specedit.edit.tested')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "[]"]
