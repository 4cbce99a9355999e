"""Tasks that are made from code: what they hold, how they are compared, what is refused."""

import json
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from specedit.syntax import trees
from specedit.syntax.languages import BY_NAME
from training.tasks import making
from training.tasks.__main__ import main
from training.tasks.making import Task, make
from training.tasks.source import LANGUAGES, same

# For each language the end of its files, what stands around its functions, and one of them.
CODE = {
    "python": (
        *(".py", "import os\nimport sys\nimport json\n\nMAX_SIZE = 250\n\n", ""),
        """
def {name}(key, value=7, strict=True):
    if key is None:
        raise ValueError("the {words} needs a key")
    limit = {number}
    if value > limit and strict:
        print("the {words} is too large", value)
        return False
    for entry in ["{name}_b", "{name}_a", "{name}_c"]:
        store(entry, key, "{words}")
    return True
""",
    ),
    "javascript": (
        *(".js", "const MAX_SIZE = 250;\n", "module.exports = {};\n"),
        """
function {name}(key, value = 7) {{
  if (key === null) {{
    throw new Error("the {words} needs a key");
  }}
  const limit = {number};
  if (value > limit && key.strict) {{
    console.log("the {words} is too large", value);
    return false;
  }}
  store(key, {{ id: "{name}", size: value, kind: 3 }});
  return true;
}}
""",
    ),
    "typescript": (
        *(".ts", "interface Entry {\n  id: string\n  size: number\n  kind: number\n}\n", ""),
        """
export function {name}(key: string, value: number): boolean {{
  if (key === "") {{
    throw new Error("the {words} needs a key")
  }}
  const limit = {number}
  if (value > limit && key.length < 5) {{
    console.log("the {words} is too large", value)
    return false
  }}
  store(key, value)
  return true
}}
""",
    ),
    "go": (
        *(".go", 'package store\n\nimport "fmt"\n\nconst maxSize = 250\n', ""),
        """
func {name}(key string, value int) bool {{
	if key == "" {{
		panic("the {words} needs a key")
	}}
	limit := {number}
	if value > limit && key != "x" {{
		fmt.Println("the {words} is too large", value)
		return false
	}}
	store(key, value)
	return true
}}
""",
    ),
    "java": (
        *(".java", "class Store {\n    private static final int MAX_SIZE = 250;\n", "}\n"),
        """
    public boolean {name}(String key, int value) {{
        if (key == null) {{
            throw new IllegalArgumentException("the {words} needs a key");
        }}
        int limit = {number};
        if (value > limit && key.isEmpty()) {{
            log.info("the {words} is too large", value);
            return false;
        }}
        store(key, value);
        return true;
    }}
""",
    ),
    "csharp": (
        *(".cs", "class Store\n{\n    private readonly int maxSize = 250;\n", "}\n"),
        """
    public bool {name}(string key, int value = 7)
    {{
        if (key == null)
        {{
            throw new ArgumentException("the {words} needs a key");
        }}
        var limit = {number};
        if (value > limit && key.Length < 5)
        {{
            Console.WriteLine("the {words} is too large", value);
            return false;
        }}
        Keep(key, value);
        return true;
    }}
""",
    ),
    "rust": (
        *(
            ".rs",
            "#[derive(Debug, Clone)]\npub struct Entry {\n    id: u32,\n    size: u32,\n}\n",
            "",
        ),
        """
pub fn {name}(key: &str, value: u32) -> bool {{
    if key.is_empty() {{
        panic!("the {words} needs a key");
    }}
    let limit = {number};
    if value > limit && key != "x" {{
        println!("the {words} is too large {{}}", value);
        return false;
    }}
    store(key, value);
    true
}}
""",
    ),
}
NAMES = ("parse_header", "load_user", "send_reply", "close_stream", "check_order")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four files of each language, in two repositories."""
    root = tmp_path_factory.mktemp("sources")
    for number in range(4):
        for end, start, last, function in CODE.values():
            text = start
            for place, name in enumerate(NAMES):
                words = name.replace("_", " ")
                text += function.format(name=name, words=words, number=30 + 7 * place + number)
            path = root / f"owner+repo{number % 2}" / f"part{number}{end}"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text + last)
    return root


@pytest.fixture(scope="module")
def tasks(folder: Path) -> list[Task]:
    return list(make([folder], 60, 1))


def test_tasks_are_made_in_every_language(tasks: list[Task]) -> None:
    assert len(tasks) > 40
    assert {task.language for task in tasks} == set(LANGUAGES)
    assert {task.repo for task in tasks} == {"owner/repo0", "owner/repo1"}
    assert len({label for task in tasks for label in task.kind.split("+")}) > 20
    assert max(Counter(task.group for task in tasks).values()) <= making.MOST_OF_FILE


def test_both_sides_of_a_task_parse_and_differ(tasks: list[Task]) -> None:
    for task in tasks:
        language = BY_NAME[task.language]
        for text in (task.before, task.after, *task.also):
            assert trees.errors(text, language) == [], task
        assert not task.is_right(task.before), task
        assert all(task.is_right(text) for text in (task.after, *task.also)), task
        assert task.instruction == task.instruction.strip() and "{" not in task.kind


def test_no_blank_of_a_wording_is_left(tasks: list[Task]) -> None:
    blanks = re.compile(r"\{(name|old|new|where|position|callee|key|value|code)\}")
    assert not [task.instruction for task in tasks if blanks.search(task.instruction)]


def test_a_file_gives_no_two_tasks_on_one_function(tasks: list[Task]) -> None:
    for group in {task.group for task in tasks}:
        changed = [name for task in tasks if task.group == group for name in _changed(task)]
        assert len(changed) == len(set(changed)), group


def _changed(task: Task) -> set[str]:
    """The functions that differ between the two sides of a task."""
    before, after = (_functions(text, task.language) for text in (task.before, task.after))
    return {name for name in before if before[name] != after.get(name)}


def _functions(text: str, language: str) -> dict[str, str]:
    lines = text.split("\n")
    return {
        symbol.name: "\n".join(lines[symbol.first_line - 1 : symbol.last_line])
        for symbol in trees.symbols(text, BY_NAME[language])
        if symbol.kind in ("function", "method")
    }


def test_the_same_seed_makes_the_same_tasks(folder: Path, tasks: list[Task]) -> None:
    assert list(make([folder], 7, 1)) == tasks[:7]
    assert list(make([folder], 7, 2)) != tasks[:7]


def test_files_of_other_tasks_are_left_out(folder: Path, tasks: list[Task]) -> None:
    used = frozenset(task.group for task in tasks[:20])
    others = list(make([folder], 15, 1, used))
    assert others and not used & {task.group for task in others}


LAYOUT = {
    "white space": ("go", "package a\n\nvar x = []int{1, 2}\n", "package a\nvar x = []int{1,2}\n"),
    "a last comma": ("python", "x = [1, 2]\n", "x = [\n    1,\n    2,\n]\n"),
    "a semicolon": ("javascript", "let a = 1;\nf(a);\n", "let a = 1\nf(a)\n"),
    "a separator of members": (
        *("typescript", "interface A {\n  b: string\n  c: number\n}\n"),
        "interface A { b: string; c: number; }\n",
    ),
    "a comma of an arm": (
        *("rust", "fn f() { match a { 1 => { b() } _ => c } }\n"),
        "fn f() {\n    match a {\n        1 => { b() },\n        _ => c,\n    }\n}\n",
    ),
    "lines of a comment": ("java", "/* a\n   b */\nclass A {}\n", "/* a b */ class A { }\n"),
}
CONTENT = {
    "a value": ("go", "package a\n\nvar x = 1\n", "package a\n\nvar x = 2\n"),
    "a comment": ("python", "x = 1  # one\n", "x = 1\n"),
    "white space in a text": ("python", 'x = "a  b"\n', 'x = "a b"\n'),
    "white space in a template": ("javascript", "f(`a  ${b}`)\n", "f(`a ${b}`)\n"),
    "a block": ("python", "if a:\n    b()\n    c()\n", "if a:\n    b()\nc()\n"),
    "a semicolon of Rust": ("rust", "fn f() -> u8 { 1 }\n", "fn f() -> u8 { 1; }\n"),
    "a tuple": ("python", "x = (1,)\n", "x = (1)\n"),
    "a text that does not parse": ("java", "class A {}\n", "class A {\n"),
}


@pytest.mark.parametrize(("language", "one", "other"), LAYOUT.values(), ids=LAYOUT)
def test_same_ignores_layout(language: str, one: str, other: str) -> None:
    assert same(one, other, language) and same(other, one, language)


@pytest.mark.parametrize(("language", "one", "other"), CONTENT.values(), ids=CONTENT)
def test_same_tells_content(language: str, one: str, other: str) -> None:
    assert not same(one, other, language) and not same(other, one, language)


def test_each_wish_has_many_wordings_and_seven_languages() -> None:
    path = Path(making.__file__).parent / "wordings.toml"
    kinds = tomllib.loads(path.read_text(encoding="utf-8"))["kinds"]
    forms = dict(kinds)
    for kind, table in kinds.items():
        forms |= {f"{kind}.{name}": form for name, form in table.items() if isinstance(form, dict)}
    for name, form in forms.items():
        lists = {key: texts for key, texts in form.items() if isinstance(texts, list)}
        if not lists and any(isinstance(inner, dict) for inner in form.values()):
            continue  # each of its forms has its own
        assert set(lists) == {"en", *making.OTHERS}, name
        assert sum(_ways(text) for text in lists["en"]) >= 12, name


def _ways(wording: str) -> int:
    ways = 1
    for choice in re.findall(r"\[([^\[\]]*\|[^\[\]]*)\]", wording):
        ways *= choice.count("|") + 1
    return ways


# the command


def test_the_command_writes_lines(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "tasks.jsonl"
    assert main([str(folder), "--count", "7", "--seed", "1", "--out", str(out)]) == 0
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [row["language"] for row in rows[:1]] == ["python"] and len(rows) == 7
    assert "7 tasks" in capsys.readouterr().err
    other = tmp_path / "other.jsonl"
    words = [str(folder), "--count", "7", "--without", str(out), "--out", str(other)]
    assert main(words) == 0
    used = {row["group"] for row in rows}
    assert not used & {json.loads(line)["group"] for line in other.read_text().splitlines()}


def test_fewer_tasks_than_asked_for_are_said(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, few = tmp_path / "tasks.jsonl", tmp_path / "few"
    few.mkdir()
    few.joinpath("part.go").write_text(next(folder.rglob("part0.go")).read_text())
    assert main([str(few), "--count", "5000", "--out", str(out)]) == 1
    count = len(out.read_text().splitlines())
    assert f"only {count} of 5000" in capsys.readouterr().err


BAD = {
    "a folder without usable files": ("empty", [], "no task can be made"),
    "no folder": ("absent", [], "is not a folder"),
    "a count of none": ("empty", ["--count", "0"], "at least 1"),
    "tasks that are not there": ("empty", ["--without", "absent.jsonl"], "absent.jsonl"),
    "tasks of another form": ("empty", ["--without", "empty/notes.txt"], "notes.txt"),
}


@pytest.mark.parametrize(("name", "words", "message"), BAD.values(), ids=BAD)
def test_bad_input_writes_nothing(
    name: str,
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    Path("empty/notes.txt").write_text("[1]\n")
    Path("empty/broken.py").write_text("def f(:\n" * 50)
    assert main([name, *words, "--out", "tasks.jsonl"]) == 2
    assert message in capsys.readouterr().err
    assert not Path("tasks.jsonl").exists()
