"""The imports of an edited file are completed before its checks run, and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Specedit
from git_repository import Repository

from specedit.edit.imports.completion import completed_imports
from specedit.files.source import Source, read

# name, file, the imports before, the rest before, the rest of the answer, the imports after
Case = tuple[str, str, str, str, str, str]
PYTHON: tuple[Case, ...] = (
    (
        "doc-string-only",
        "a.py",
        '"""Doc."""\n',
        "\n\ndef f(x):\n    return x\n",
        "\n\ndef f(x):\n    logging.info(x)\n    return x\n",
        '"""Doc."""\n\nimport logging\n',
    ),
    (
        "nothing-before",
        "a.py",
        "",
        "def f(x):\n    return x\n",
        "def f(x):\n    return re.sub('a', 'b', x)\n",
        "import re\n\n\n",
    ),
    (
        "shebang-and-license",
        "a.py",
        "#!/usr/bin/env python\n# Licensed.\n\n",
        "# What f does.\ndef f(x):\n    return x\n",
        "# What f does.\ndef f(x):\n    return json.dumps(x)\n",
        "#!/usr/bin/env python\n# Licensed.\n\nimport json\n\n",
    ),
    (
        "sorted-group",
        "a.py",
        "from __future__ import annotations\n\nimport os\nimport sys\n\nimport attrs\n",
        "\nX = os, sys, attrs\n",
        "\nX = os, sys, attrs, re.compile('a'), Path('x')\n",
        "from __future__ import annotations\n\nimport os\nimport re\nimport sys\n"
        "from pathlib import Path\n\nimport attrs\n",
    ),
    (
        "group-of-its-own",
        "a.py",
        '"""Doc."""\n\nfrom __future__ import annotations\n',
        "\nX = 1\n",
        "\nX = math.floor(1.0)\n",
        '"""Doc."""\n\nfrom __future__ import annotations\n\nimport math\n',
    ),
    (
        "into-the-list-of-names",
        "a.py",
        "from typing import Any, Union\n",
        "\nx: Union[int, Any] = 1\n",
        "\nx: Optional[Union[int, Any]] = 1\n",
        "from typing import Any, Optional, Union\n",
    ),
    (
        "into-a-list-of-lines",
        "a.py",
        "from typing import (\n    Any,\n    Union,\n)\n",
        "\nx: Union[int, Any] = 1\n",
        "\nx: Optional[Union[int, Any]] = 1\n",
        "from typing import (\n    Any,\n    Optional,\n    Union,\n)\n",
    ),
    (
        "before-type-checking",
        "a.py",
        "import os\n",
        "\nif TYPE_CHECKING:\n    import sys\n\nX = os\n",
        "\nif TYPE_CHECKING:\n    import sys\n\nX = os, time.time()\n",
        "import os\nimport time\n",
    ),
    (
        "datetime-by-its-use",
        "a.py",
        "import os\n",
        "\nX = os\n",
        "\nX = os, datetime.datetime.now(), datetime.timedelta(1)\n",
        "import datetime\nimport os\n",
    ),
    (
        "class-datetime",
        "a.py",
        "import os\n",
        "\nX = os\n",
        "\nX = os, datetime.now()\n",
        "import os\nfrom datetime import datetime\n",
    ),
    (
        "decorator",
        "a.py",
        "import os\n",
        "\n\ndef f():\n    return os\n",
        "\n\n@lru_cache(maxsize=1)\ndef f():\n    return os\n",
        "import os\nfrom functools import lru_cache\n",
    ),
    (
        "a-forgotten-variable",
        "a.py",
        "import os\n",
        "\nX = os\n",
        "\nX = os, email.lower(), product, date.year, queue.push(1)\n",
        "import os\n",
    ),
    (
        "another-thing-of-that-name",
        "a.py",
        "import os\n",
        "\nX = os\n",
        "\nX = os, Text('a'), Literal.String, Iterator()\n",
        "import os\n",
    ),
    (
        "star-import",
        "a.py",
        "from os import *\n",
        "\nX = 1\n",
        "\nX = json.dumps(1)\n",
        "from os import *\n",
    ),
    (
        "unused-statement",
        "a.py",
        "import os\nimport sys\n",
        "\nX = os.name, sys\n",
        "\nX = sys\n",
        "import sys\n",
    ),
    (
        "unused-name",
        "a.py",
        "from a import b, c\n",
        "\nX = b, c\n",
        "\nX = c\n",
        "from a import c\n",
    ),
    (
        "unused-in-a-string",
        "a.py",
        "from a import b\n",
        "\n__all__ = ['b']\nX = b\n",
        "\n__all__ = ['b']\nX = 1\n",
        "from a import b\n",
    ),
)
GO: tuple[Case, ...] = (
    (
        "block",
        "a.go",
        'package a\n\nimport (\n\t"fmt"\n\t"os"\n\n\t"example.org/x/y"\n)\n',
        "\nfunc F() { fmt.Println(os.Args, y.Z) }\n",
        '\nfunc F() { fmt.Println(os.Args, y.Z, errors.New("a"), strings.ToUpper("a")) }\n',
        'package a\n\nimport (\n\t"errors"\n\t"fmt"\n\t"os"\n\t"strings"\n\n'
        '\t"example.org/x/y"\n)\n',
    ),
    (
        "no-imports",
        "a.go",
        "// Package a.\npackage a\n",
        "\nfunc F() {}\n",
        '\nfunc F() { fmt.Println("x") }\n',
        '// Package a.\npackage a\n\nimport "fmt"\n',
    ),
    (
        "one-line",
        "a.go",
        'package a\n\nimport "os"\n',
        "\nfunc F() { os.Exit(1) }\n",
        '\nfunc F() { fmt.Println("x"); os.Exit(1) }\n',
        'package a\n\nimport (\n\t"fmt"\n\t"os"\n)\n',
    ),
    (
        "type",
        "a.go",
        'package a\n\nimport "os"\n',
        "\nfunc F() { os.Exit(1) }\n",
        "\nfunc F(w http.ResponseWriter) { os.Exit(1) }\n",
        'package a\n\nimport (\n\t"net/http"\n\t"os"\n)\n',
    ),
    (
        "two-packages",
        "a.go",
        'package a\n\nimport "os"\n',
        "\nfunc F() { os.Exit(1) }\n",
        "\nfunc F() { os.Exit(rand.Int()) }\n",
        'package a\n\nimport "os"\n',
    ),
    (
        "a-forgotten-variable",
        "a.go",
        'package a\n\nimport "os"\n',
        "\nfunc F() { os.Exit(1) }\n",
        "\nfunc F() { os.Exit(url.port) }\n",
        'package a\n\nimport "os"\n',
    ),
    (
        "unused",
        "a.go",
        'package a\n\nimport (\n\t"errors"\n\t"fmt"\n)\n',
        '\nfunc F() error { fmt.Println("x"); return errors.New("x") }\n',
        '\nfunc F() error { return errors.New("x") }\n',
        'package a\n\nimport (\n\t"errors"\n)\n',
    ),
)
JAVA: tuple[Case, ...] = (
    (
        "sorted",
        "A.java",
        "package a;\n\nimport java.util.List;\nimport java.util.Set;\n",
        "\nclass A {\n  List<String> f;\n  Set<String> s;\n}\n",
        "\nclass A {\n  List<String> f;\n  Set<String> s;\n  Map<String, String> m;\n}\n",
        "package a;\n\nimport java.util.List;\nimport java.util.Map;\nimport java.util.Set;\n",
    ),
    (
        "no-imports",
        "A.java",
        "/* License. */\npackage a;\n",
        "\nclass A {\n  int f;\n}\n",
        "\nclass A {\n  int f = Objects.hash(1);\n}\n",
        "/* License. */\npackage a;\n\nimport java.util.Objects;\n",
    ),
    (
        "exception",
        "A.java",
        "import java.util.List;\n",
        "\nclass A {\n  List<String> f() { return null; }\n}\n",
        "\nclass A {\n  List<String> f() throws IOException { return null; }\n}\n",
        "import java.io.IOException;\nimport java.util.List;\n",
    ),
    (
        "star",
        "A.java",
        "import java.util.*;\n",
        "\nclass A {\n  List<String> f;\n}\n",
        "\nclass A {\n  List<String> f;\n  Map<String, String> m;\n}\n",
        "import java.util.*;\n",
    ),
    (
        "unknown-type",
        "A.java",
        "import java.util.List;\n",
        "\nclass A {\n  List<String> f;\n}\n",
        "\nclass A {\n  List<Widget> f;\n}\n",
        "import java.util.List;\n",
    ),
    (
        "unused",
        "A.java",
        "import java.util.List;\nimport java.util.Set;\n",
        "\nclass A {\n  List<String> f;\n  Set<String> s;\n}\n",
        "\nclass A {\n  List<String> f;\n}\n",
        "import java.util.List;\n",
    ),
    (
        "unused-but-in-javadoc",
        "A.java",
        "import java.util.List;\n",
        "\n/** See {@link List}. */\nclass A {\n  List<String> f;\n}\n",
        "\n/** See {@link List}. */\nclass A {\n  int f;\n}\n",
        "import java.util.List;\n",
    ),
)
CSHARP: tuple[Case, ...] = (
    (
        "sorted",
        "A.cs",
        "using System;\nusing System.Threading;\n",
        "\nclass A { void F() { } }\n",
        "\nclass A { void F() { var b = new StringBuilder(); } }\n",
        "using System;\nusing System.Text;\nusing System.Threading;\n",
    ),
    (
        "two-of-one-namespace",
        "A.cs",
        "using System;\n",
        "\nclass A { void F() { } }\n",
        "\nclass A { List<int> F(Dictionary<int, int> d) { return null; } }\n",
        "using System;\nusing System.Collections.Generic;\n",
    ),
    (
        "no-usings",
        "A.cs",
        "// License.\n\n",
        "class A { void F() { } }\n",
        'class A { void F() { Regex.IsMatch("a", "b"); } }\n',
        "// License.\n\nusing System.Text.RegularExpressions;\n\n",
    ),
    (
        "system-first",
        "A.cs",
        "using Acme.Tools;\n",
        "\nclass A { void F() { } }\n",
        "\nclass A { List<int> F() { return null; } }\n",
        "using System.Collections.Generic;\nusing Acme.Tools;\n",
    ),
    (
        "inside-the-namespace",
        "A.cs",
        "namespace X\n{\n    using System;\n",
        "\n    class A { void F() { } }\n}\n",
        "\n    class A { void F() { new Stopwatch(); } }\n}\n",
        "namespace X\n{\n    using System;\n    using System.Diagnostics;\n",
    ),
    (
        "visible-already",
        "A.cs",
        "using System.IO;\n",
        "\nclass A { void F() { } }\n",
        '\nclass A { void F() { File.Delete("a"); } }\n',
        "using System.IO;\n",
    ),
    (
        "own-type",
        "A.cs",
        "using System;\n",
        "\nclass A { void F() { } }\nclass Regex { }\n",
        "\nclass A { void F() { new Regex(); } }\nclass Regex { }\n",
        "using System;\n",
    ),
)
JAVASCRIPT: tuple[Case, ...] = (
    (
        "require",
        "a.js",
        "'use strict';\nconst fs = require('fs');\n",
        "\nmodule.exports = (p) => fs.readFileSync(p);\n",
        "\nmodule.exports = (p) => fs.readFileSync(path.join(p, 'a'));\n",
        "'use strict';\nconst fs = require('fs');\nconst path = require('path');\n",
    ),
    (
        "first-require",
        "a.js",
        "#!/usr/bin/env node\n",
        "\nmodule.exports = (p) => p;\n",
        "\nmodule.exports = (p) => path.join(p, 'a');\n",
        "#!/usr/bin/env node\n\nconst path = require('path');\n",
    ),
    (
        "module",
        "a.mjs",
        'import fs from "fs"\nimport { a } from "./a.mjs"\n',
        "\nexport const f = (p) => fs.readFileSync(a(p))\n",
        "\nexport const f = (p) => fs.readFileSync(path.join(a(p), 'b'))\n",
        'import fs from "fs"\nimport path from "path"\nimport { a } from "./a.mjs"\n',
    ),
    (
        "node-prefix",
        "a.ts",
        "import * as fs from 'node:fs';\n",
        "\nexport const f = (p: string) => fs.readFileSync(p);\n",
        "\nexport const f = (p: string) => fs.readFileSync(path.resolve(p));\n",
        "import * as fs from 'node:fs';\nimport * as path from 'node:path';\n",
    ),
    (
        "script",
        "a.js",
        "",
        "function f(p) { return p; }\n",
        "function f(p) { return path.join(p, 'a'); }\n",
        "",
    ),
    (
        "a-forgotten-variable",
        "a.ts",
        "import { a } from './a';\n",
        "\nexport const f = () => a;\n",
        "\nexport const f = () => a(path.length, util.frobnicate());\n",
        "import { a } from './a';\n",
    ),
    (
        "unused-name",
        "a.ts",
        "import { a, b } from './a';\n",
        "\nexport const f = () => a(b);\n",
        "\nexport const f = () => b();\n",
        "import { b } from './a';\n",
    ),
    (
        "unused-beside-a-default",
        "a.ts",
        "import a, { b } from './a';\n",
        "\nexport const f = () => a(b);\n",
        "\nexport const f = () => b();\n",
        "import { b } from './a';\n",
    ),
    (
        "unused-statement",
        "a.ts",
        "import './setup';\nimport { a } from './a';\nimport b from './b';\n",
        "\nexport const f = () => a(b);\n",
        "\nexport const f = () => b();\n",
        "import './setup';\nimport b from './b';\n",
    ),
)
RUST: tuple[Case, ...] = (
    (
        "sorted",
        "a.rs",
        "use std::fmt;\nuse std::io;\n",
        "\nfn f(a: fmt::Error, b: io::Error) {}\n",
        "\nfn f(a: fmt::Error, b: io::Error, m: HashMap<u8, u8>) {}\n",
        "use std::collections::HashMap;\nuse std::fmt;\nuse std::io;\n",
    ),
    (
        "into-the-list-of-names",
        "a.rs",
        "use std::collections::{BTreeMap, HashMap};\n",
        "\nfn f(m: HashMap<u8, BTreeMap<u8, u8>>) {}\n",
        "\nfn f(m: HashMap<u8, BTreeMap<u8, HashSet<u8>>>) {}\n",
        "use std::collections::{BTreeMap, HashMap, HashSet};\n",
    ),
    (
        "no-uses",
        "a.rs",
        "//! Doc.\n#![allow(dead_code)]\n",
        "\nfn f() {}\n",
        "\nfn f(p: &Path) {}\n",
        "//! Doc.\n#![allow(dead_code)]\n\nuse std::path::Path;\n",
    ),
    (
        "module",
        "a.rs",
        "use crate::a;\n",
        "\nfn f() { a::b() }\n",
        "\nfn f() -> io::Result<()> { a::b() }\n",
        "use std::io;\nuse crate::a;\n",
    ),
    (
        "glob",
        "a.rs",
        "use super::*;\n",
        "\nfn f() {}\n",
        "\nfn f(p: &Path) {}\n",
        "use super::*;\n",
    ),
    (
        "unused",
        "a.rs",
        "use std::collections::HashMap;\nuse std::io::Read;\n",
        "\nfn f<T: Read>(m: HashMap<u8, T>) {}\n",
        "\nfn f<T>(m: T) {}\n",
        "use std::io::Read;\n",
    ),
)
CASES = (*PYTHON, *GO, *JAVA, *CSHARP, *JAVASCRIPT, *RUST)


def source(name: str, text: str) -> Source:
    return Source.from_bytes(name, text.encode())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[1]}-{case[0]}")
def test_the_imports_fit_the_answer_and_the_rest_is_untouched(case: Case) -> None:
    _, name, imports, rest, answer, expected = case
    before = source(name, imports + rest)
    text, notes = completed_imports(before, imports + answer, "do something")
    assert text == expected + answer
    assert bool(notes) == (imports != expected)
    assert not any(note.refuses for note in notes)
    assert completed_imports(before, text, "do something") == (text, ())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[1]}-{case[0]}")
def test_a_file_whose_imports_fit_is_left_alone(case: Case) -> None:
    _, name, _, rest, answer, expected = case
    complete = expected + answer
    assert completed_imports(source(name, expected + rest), complete)[0] == complete
    assert completed_imports(source(name, complete), complete) == (complete, ())


def test_a_note_names_the_import_and_the_name() -> None:
    _, added = completed_imports(source("a.py", "X = 1\n"), "X = logging.INFO\n")
    _, removed = completed_imports(source("a.py", "import os\nX = os\n"), "import os\nX = 1\n")
    assert [str(one) for one in (*added, *removed)] == [
        "added `import logging`: `logging` was used and not imported",
        "removed `import os`: nothing uses it any more",
    ]


def test_a_name_that_was_undefined_before_is_left_alone() -> None:
    before, after = "X = json.dumps(1)\n", "X = json.dumps(2)\n"
    assert completed_imports(source("a.py", before), after) == (after, ())


@pytest.mark.parametrize("instruction", ["Sort the imports", "Keep the old names for later"])
def test_an_import_stays_where_the_instruction_is_about_it(instruction: str) -> None:
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
def test_an_import_in_the_middle_of_a_file_moves_to_the_others(
    name: str, imports: str, line: str, rest: str
) -> None:
    middle = rest + "\n" + line + rest.replace("X", "Y").replace("class A", "class B")
    text, notes = completed_imports(source(name, imports + rest), imports + middle)
    assert text.count(line.strip()) == 1 or '\t"fmt"\n' in text
    assert text.endswith(rest.replace("X", "Y").replace("class A", "class B"))
    assert [one.text for one in notes] == [f"moved `{line.strip()}` to the imports of the file"]


def test_an_import_inside_a_java_class_moves_to_the_others() -> None:
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


def test_a_local_python_import_stays() -> None:
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
def test_a_name_is_imported_as_the_other_files_do(
    tree: Callable[..., Source], name: str, files: dict[str, str], expected: str
) -> None:
    before = tree(name, "X = 1\n", **files)
    text, _ = completed_imports(before, "X = np.zeros(1)\n")
    assert text == (expected + "\n" if expected else "") + "X = np.zeros(1)\n"


def test_a_forgotten_variable_is_not_imported(tree: Callable[..., Source]) -> None:
    before = tree("a.py", "def f():\n    return 1\n", **{"b.py": "from c import result\n"})
    after = "def f():\n    return result\n"
    assert completed_imports(before, after) == (after, ())


def test_a_name_that_two_modules_define_is_not_imported(tree: Callable[..., Source]) -> None:
    files = {"b.py": "def clamp(): ...\n", "c.py": "def clamp(): ...\n"}
    before = tree("a.py", "X = 1\n", **files, **{"d.py": "from b import clamp\n"})
    assert completed_imports(before, "X = clamp(1)\n") == ("X = clamp(1)\n", ())


def test_a_relative_path_of_a_script_is_that_of_its_own_folder(tree: Callable[..., Source]) -> None:
    other = {"lib/b.ts": "import { clamp } from './math';\nexport const b = clamp(1);\n"}
    before = tree("app/a.ts", "import x from 'x';\n\nexport const a = x;\n", **other)
    text, _ = completed_imports(before, before.text.replace("= x;", "= clamp(x);"))
    assert text.startswith("import x from 'x';\nimport { clamp } from '../lib/math';\n")


def test_a_name_of_the_own_go_package_is_not_imported(tree: Callable[..., Source]) -> None:
    before = tree(
        "a.go", "package a\n\nfunc F() {}\n", **{"b.go": "package a\n\nvar log = New()\n"}
    )
    after = 'package a\n\nfunc F() { log.Println("x") }\n'
    assert completed_imports(before, after) == (after, ())


def test_a_java_type_of_another_package_is_imported_as_elsewhere(
    tree: Callable[..., Source],
) -> None:
    files = {
        "b/B.java": "package b;\n\nimport c.Widget;\n\nclass B { Widget w; }\n",
        "test/a/T.java": "package a;\n\nimport a.Own;\n\nclass T { Own o; }\n",
    }
    before = tree("main/a/A.java", "package a;\n\nclass A { }\n", **files)
    after = "package a;\n\nclass A { Widget w; Own o; }\n"
    text, _ = completed_imports(before, after)
    assert text == after.replace("a;\n", "a;\n\nimport c.Widget;\n", 1)


def test_a_project_with_implicit_usings_needs_no_using(tree: Callable[..., Source]) -> None:
    project = {"a.csproj": "<Project><ImplicitUsings>enable</ImplicitUsings></Project>"}
    before = tree("A.cs", "class A { void F() { } }\n", **project)
    after = "class A { void F() { new List<int>(); } }\n"
    assert completed_imports(before, after) == (after, ())


def test_an_import_that_another_file_takes_from_here_stays(tree: Callable[..., Source]) -> None:
    before = tree("a.py", "import os\nX = os\n", **{"b.py": "from a import os\n"})
    assert completed_imports(before, "import os\nX = 1\n") == ("import os\nX = 1\n", ())


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_an_edit_writes_the_import_in_the_file_s_own_line_ends(
    inside: Specedit, script: Callable[..., Path], tmp_path: Path, bom: bytes
) -> None:
    place = tmp_path / "a.py"
    place.write_bytes(bom + b'"""Doc."""\r\n\r\nX = 1\r\n')
    script(replace=[["X = 1", "X = logging.INFO"]])
    result = inside("edit", "Use the level of logging", str(place))
    assert place.read_bytes() == bom + (
        b'"""Doc."""\r\n\r\nimport logging\r\n\r\nX = logging.INFO\r\n'
    )
    assert b"added `import logging`" in result.stderr


def test_a_refined_edit_gets_its_imports(
    inside: Specedit, script: Callable[..., Path], tmp_path: Path
) -> None:
    place = tmp_path / "a.py"
    place.write_text("X = 1\n")
    script(answer="X = 2\n```", then=[{"answer": "X = logging.INFO\n```"}])
    assert inside("edit", "Use 2", "a.py", cwd=tmp_path).returncode == 0
    inside("refine", "Use the level of logging", "--yes", cwd=tmp_path)
    assert place.read_text() == "import logging\n\nX = logging.INFO\n"
