"""The imports of an edited file are completed before its checks run, and nothing else changes."""

from collections.abc import Callable
from pathlib import Path

import pytest
from case_files import cases
from git_repository import Repository

from specedit.edit.imports.completion import completed_imports
from specedit.files.source import Source, read


def source(name: str, text: str) -> Source:
    return Source.from_bytes(name, text.encode())


@cases("edit/imports.toml", "imports")
def test_the_imports_fit_the_answer_and_the_rest_is_untouched(
    name, imports, rest, answer, expected
):
    before = source(name, imports + rest)
    text, notes = completed_imports(before, imports + answer, "do something")
    assert text == expected + answer
    assert bool(notes) == (imports != expected)
    assert not any(note.refuses for note in notes)
    assert completed_imports(before, text, "do something") == (text, ())


@cases("edit/imports.toml", "imports")
def test_a_file_whose_imports_fit_is_left_alone(name, imports, rest, answer, expected):
    complete = expected + answer
    assert completed_imports(source(name, expected + rest), complete)[0] == complete
    assert completed_imports(source(name, complete), complete) == (complete, ())


def test_a_note_names_the_import_and_the_name():
    _, added = completed_imports(source("a.py", "X = 1\n"), "X = logging.INFO\n")
    _, removed = completed_imports(source("a.py", "import os\nX = os\n"), "import os\nX = 1\n")
    assert [str(one) for one in (*added, *removed)] == [
        "added `import logging`: `logging` was used and not imported",
        "removed `import os`: nothing uses it any more",
    ]


def test_a_name_that_was_undefined_before_is_left_alone():
    before, after = "X = json.dumps(1)\n", "X = json.dumps(2)\n"
    assert completed_imports(source("a.py", before), after) == (after, ())


@pytest.mark.parametrize("instruction", ["Sort the imports", "Keep the old names for later"])
def test_an_import_stays_where_the_instruction_is_about_it(instruction):
    after = "import os\nX = 1\n"
    assert completed_imports(source("a.py", "import os\nX = os\n"), after, instruction)[0] == after


@pytest.mark.parametrize(
    ("name", "imports", "line", "rest"),
    [
        ("a.py", "import os\n", "import logging\n", "\n\nX = os, logging\n"),
        ("a.go", 'package a\n\nimport (\n\t"os"\n)\n', 'import "fmt"\n', "\nvar X = fmt.X(os.Y)\n"),
        ("A.cs", "using System;\n", "using System.Text;\n", "\nclass A { StringBuilder b; }\n"),
        ("a.mjs", "import a from 'a';\n", "import b from 'b';\n", "\nexport const c = a(b);\n"),
    ],
)
def test_an_import_in_the_middle_of_a_file_moves_to_the_others(name, imports, line, rest):
    middle = rest + "\n" + line + rest.replace("X", "Y").replace("class A", "class B")
    text, notes = completed_imports(source(name, imports + rest), imports + middle)
    assert text.count(line.strip()) == 1 or '\t"fmt"\n' in text
    assert text.endswith(rest.replace("X", "Y").replace("class A", "class B"))
    assert [one.text for one in notes] == [f"moved `{line.strip()}` to the imports of the file"]


def test_an_import_inside_a_java_class_moves_to_the_others():
    before = "import java.util.List;\n\nclass A {\n  List<String> f;\n}\n"
    answer = (
        "import java.util.List;\n\nclass A {\n  import java.util.Objects;\n\n  List<String> f;\n"
        "  int g = Objects.hash(1);\n}\n"
    )
    text, _ = completed_imports(source("A.java", before), answer)
    assert text == (
        "import java.util.List;\nimport java.util.Objects;\n\nclass A {\n  List<String> f;\n"
        "  int g = Objects.hash(1);\n}\n"
    )


def test_a_local_python_import_stays():
    after = "def f():\n    import json\n\n    return json.dumps(1)\n"
    assert completed_imports(source("a.py", "def f():\n    return 1\n"), after) == (after, ())


@pytest.fixture
def tree(tmp_path: Path) -> Callable[..., Source]:
    def make(name: str, before: str, **files: str) -> Source:
        repository = Repository.init(tmp_path / "tree")
        for path, text in {**files, name: before}.items():
            place = repository.root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        repository.git("add", "-A")
        return read(repository.root / name)

    return make


@pytest.mark.parametrize(
    ("name", "files", "expected"),
    [
        pytest.param(
            "a.py",
            {"b.py": "import numpy as np\nX = np\n", "c.py": "import numpy as np\nX = np\n"},
            "import numpy as np\n",
            id="alias",
        ),
        pytest.param(
            "p/a.py", {"p/b.py": "from .c import np\nX = np\n"}, "from .c import np\n", id="beside"
        ),
        pytest.param(
            "p/q/a.py", {"p/b.py": "from .c import np\n"}, "from ..c import np\n", id="relative"
        ),
        pytest.param(
            "a.py", {"b.py": "import numpy as np\n", "c.py": "from x import np\n"}, "", id="two"
        ),
        pytest.param("p/a.py", {"p/b.py": "from .a import np\n"}, "", id="itself"),
    ],
)
def test_a_name_is_imported_as_the_other_files_do(tree, name, files, expected):
    before = tree(name, "X = 1\n", **files)
    text, _ = completed_imports(before, "X = np.zeros(1)\n")
    assert text == (expected + "\n" if expected else "") + "X = np.zeros(1)\n"


def test_a_forgotten_variable_is_not_imported(tree):
    before = tree("a.py", "def f():\n    return 1\n", **{"b.py": "from c import result\n"})
    after = "def f():\n    return result\n"
    assert completed_imports(before, after) == (after, ())


def test_a_name_that_two_modules_define_is_not_imported(tree):
    files = {"b.py": "def clamp(): ...\n", "c.py": "def clamp(): ...\n"}
    before = tree("a.py", "X = 1\n", **files, **{"d.py": "from b import clamp\n"})
    assert completed_imports(before, "X = clamp(1)\n") == ("X = clamp(1)\n", ())


def test_a_relative_path_of_a_script_is_that_of_its_own_folder(tree):
    other = {"lib/b.ts": "import { clamp } from './math';\nexport const b = clamp(1);\n"}
    before = tree("app/a.ts", "import x from 'x';\n\nexport const a = x;\n", **other)
    text, _ = completed_imports(before, before.text.replace("= x;", "= clamp(x);"))
    assert text.startswith("import x from 'x';\nimport { clamp } from '../lib/math';\n")


def test_a_name_of_the_own_go_package_is_not_imported(tree):
    before = tree(
        "a.go", "package a\n\nfunc F() {}\n", **{"b.go": "package a\n\nvar log = New()\n"}
    )
    after = 'package a\n\nfunc F() { log.Println("x") }\n'
    assert completed_imports(before, after) == (after, ())


def test_a_java_type_of_another_package_is_imported_as_elsewhere(tree):
    files = {
        "b/B.java": "package b;\n\nimport c.Widget;\n\nclass B { Widget w; }\n",
        "test/a/T.java": "package a;\n\nimport a.Own;\n\nclass T { Own o; }\n",
    }
    before = tree("main/a/A.java", "package a;\n\nclass A { }\n", **files)
    after = "package a;\n\nclass A { Widget w; Own o; }\n"
    text, _ = completed_imports(before, after)
    assert text == after.replace("a;\n", "a;\n\nimport c.Widget;\n", 1)


def test_a_project_with_implicit_usings_needs_no_using(tree):
    project = {"a.csproj": "<Project><ImplicitUsings>enable</ImplicitUsings></Project>"}
    before = tree("A.cs", "class A { void F() { } }\n", **project)
    after = "class A { void F() { new List<int>(); } }\n"
    assert completed_imports(before, after) == (after, ())


def test_an_import_that_another_file_takes_from_here_stays(tree):
    before = tree("a.py", "import os\nX = os\n", **{"b.py": "from a import os\n"})
    assert completed_imports(before, "import os\nX = 1\n") == ("import os\nX = 1\n", ())


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_an_edit_writes_the_import_in_the_file_s_own_line_ends(inside, script, tmp_path, bom):
    place = tmp_path / "a.py"
    place.write_bytes(bom + b'"""Doc."""\r\n\r\nX = 1\r\n')
    script(replace=[["X = 1", "X = logging.INFO"]])
    result = inside("edit", "Use the level of logging", str(place))
    assert place.read_bytes() == bom + (
        b'"""Doc."""\r\n\r\nimport logging\r\n\r\nX = logging.INFO\r\n'
    )
    assert b"added `import logging`" in result.stderr


def test_a_refined_edit_gets_its_imports(inside, script, tmp_path):
    place = tmp_path / "a.py"
    place.write_text("X = 1\n")
    script(answer="X = 2\n```", then=[{"answer": "X = logging.INFO\n```"}])
    assert inside("edit", "Use 2", "a.py", cwd=tmp_path).returncode == 0
    inside("refine", "Use the level of logging", "--yes", cwd=tmp_path)
    assert place.read_text() == "import logging\n\nX = logging.INFO\n"
