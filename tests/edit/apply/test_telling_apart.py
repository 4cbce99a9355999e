"""What a snippet replaces, what it adds and what it removes: the cases that are easily confused."""

from __future__ import annotations

import pytest

from specedit.edit.apply.change import read_change
from specedit.edit.apply.merging import merge_parts

RETRY = '''def retry(call, tries):
    """Call a function until it succeeds.

    It waits between two calls.
    Errors are raised after the last one."""
    for attempt in range(tries):
        call(attempt)
    return None


class Runner:
    """Runs one thing."""

    def run(self):
        return self.go()
'''
ADD = """/**
 * Adds two numbers.
 *
 * @param a one number
 * @param b another number
 */
export function add(a: number, b: number): number {
  return a + b;
}
"""
SORT = """package sorting

import "sort"

type sorter []int

func (s sorter) Len() int { return len(s) }

func (s sorter) Less(i, j int) bool {
\treturn s[i] < s[j]
}

func Sort(ids []int) {
\tsort.Sort(sorter(ids))
}

func helper() {
\tlog()
}
"""
_SORTED = 'package sorting\n\nimport "sort"\n\nfunc Sort(ids []int) {\n\tsort.Ints(ids)\n}\n\n'
_SORT = "\nfunc Sort(ids []int) {\n\tsort.Ints(ids)\n}\n"
OLD = """class Old:
    def load(self):
        return 1

    def save(self):
        return 2


class Other:
    def load(self):
        return 3


def load(path):
    return open(path)
"""
TREE = """#include <map>

class Tree {
 public:
  void load();
};

void Tree::load() {
  size = 1;
}

int helper(int size) {
  return size;
}
"""
POOL = """package pool

type Pool struct {
\tmax int
}

// Run runs it.
func (p *Pool) Run() {
\tgo work(p.queue, p.wait)
}

// work does it.
func work(queue chan int, wait *Wait) {
\tfor task := range queue {
\t\ttask()
\t}
\twait.Done()
}
"""
_RUN = "// Run runs it.\nfunc (p *Pool) Run() {\n\tgo p.work()\n}\n\n"
_WORK = """// work does it.
func (p *Pool) work() {
\tfor task := range p.queue {
\t\ttask()
\t}
\tp.wait.Done()
}
"""
TASKS = """class Pool:
    def run(self):
        work(self.queue, self.wait)


def work(queue, wait):
    for task in queue:
        task.start()
    wait.done()
    return queue
"""
IMPL = """struct Pool;

impl Pool {
    fn run(&self) {
        work(&self.queue, &self.wait);
    }
}

fn work(queue: &Queue, wait: &Wait) {
    for task in queue {
        task.start();
    }
    wait.done();
}
"""
MEMBER = (
    "\tpublic class Member\n\t{\n\t\tpublic bool Writes\n        {\n\t\t\tget { return true; }\n"
    "        }\n\t}\n"
)
DATES = """function date(format) {
  switch (format) {
    case 'iso':
      return date.toISOString();
    case 'web':
      return date.toUTCString();
  }
}
"""
FETCH = """int main(void) {
  CURL *curl = curl_easy_init();
  curl_easy_setopt(curl, CURLOPT_URL, "https://example.org/repositories/all/issues");
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0);
  return 0;
}
"""
WORDS = """def words_of(text):
    text = clean(text)
    text = text.lower()
    words = text.split()
    count(words)
    return words
"""
SERVER = """export function make(options: Options): Server {
  const server = new Server(options.port);
  server.on('close', () => console.log('closed'));
  return server;
}
"""
RENDER = """class Renderer
{
    void Write(Table table)
    {
        EnsureLine();

        bool hasWidth = false;
        foreach (var column in table.Columns)
        {
            if (column.Width != 1.0f)
            {
                hasWidth = true;
                break;
            }
        }

        foreach (var row in table)
        {
            WriteRow(row);
        }
    }
}
"""
EDITOR = """impl Editor {
    pub fn extension(&mut self, val: &str) -> &mut Self {
        self.extension = val.into();
        self
    }

    pub fn save(&mut self, val: bool) -> &mut Self {
        self.save = val;
        self
    }

    pub fn edit(&self) -> Builder {
        let builder = Builder::new()
            .suffix(&self.extension)
            .build();
        builder
    }
}
"""
SHOWN = '''def shown(value):
    """Show it.

    Example:
        ```pycon
        >>> shown(3)
        3

        ```
    """
    return value
'''
STORAGE = """class Storage {
  Data find(int count) const {
    auto it = all.find(count);
    if (it != all.end()) {
      return it->second;
    }
    if (count > 0) {
      it = all.find(ANY);
      if (it != all.end()) {
        return it->second;
      }
    }
    return Data {};
  }
};
"""
BRANCH = """function help() {
  if (all) {
    list();
  } else if (some) {
    aliases();
  }
  out(options, 1);
}
"""
VALUE = """function text(value) {
  if (typeof value === 'number') {
    value = String(value);
  }
  if (!value) {
    return none();
  }
  return value;
}
"""
RUN = """function run(first, second) {
  check(first);
  if (second.isOld) {
    return reset();
  }
  count(second);
  return first;
}
"""
LOADED = """package run

func run(first, second *Item) error {
\tcheck(first)
\tif err := second.load(); err != nil {
\t\treturn err
\t}
\tcount(second)
\treturn nil
}
"""
STYLE = """impl Difference {
    fn between(first: &Style, next: &Style) -> Difference {
        if first.is_old && !next.is_old {
            return Reset;
        }

        // A color cannot be taken away.
        if first.color.is_some() && next.color.is_none() {
            return Reset;
        }
        Keep
    }
}
"""
JOB = """class Table
{
    public void Write(Format format)
    {
        Out(Text(format));
    }

    public void Clear()
    {
        rows.Clear();
    }
}
"""
_RETRIED = RETRY.replace("call, tries", "call, tries, wait").replace("(attempt)", "(attempt, wait)")
_RETRY = """    for attempt in range(tries):
        call(attempt, wait)
    return None
"""
_HEAD = "def retry(call, tries, wait):\n"
_FIRST = '    """Call a function until it succeeds.\n'
_ADDED = ADD.replace("b: number)", "b: number, c = 0)").replace("a + b;", "a + b + c;")
_ADD = """export function add(a: number, b: number, c = 0): number {
  return a + b + c;
}
"""
MERGED = {  # file, text, snippet, result
    "the last line of a docstring": (
        "retry.py",
        RETRY,
        f'{_HEAD}{_FIRST}\n    ..."""\n{_RETRY}',
        _RETRIED,
    ),
    "the end of a docstring below a marker": (
        "retry.py",
        RETRY,
        f'{_HEAD}{_FIRST}    ... (unchanged)\n    """\n{_RETRY}',
        _RETRIED,
    ),
    "a docstring that is a marker": (
        "retry.py",
        RETRY,
        f'{_HEAD}    """..."""\n{_RETRY}',
        _RETRIED,
    ),
    "the first line of a docstring": (
        "retry.py",
        RETRY,
        f'{_HEAD}    """...\n    Errors are raised after the last one."""\n{_RETRY}',
        _RETRIED,
    ),
    "the last line of a comment": (
        "add.ts",
        ADD,
        f"/**\n * Adds two numbers.\n * ... */\n{_ADD}",
        _ADDED,
    ),
    "the first line of a comment": (
        "add.ts",
        ADD,
        f"/** ...\n * @param b another number\n */\n{_ADD}",
        _ADDED,
    ),
    "names with slashes in a comment that removes": (
        "sorting.go",
        SORT,
        f'import "sort"\n\n// (type sorter and its Len/Less methods removed)\n{_SORT}',
        _SORTED + "func helper() {\n\tlog()\n}\n",
    ),
    "a type that a comment removes, with its methods": (
        "sorting.go",
        SORT,
        f'import "sort"\n\n// type sorter removed\n{_SORT}',
        _SORTED + "func helper() {\n\tlog()\n}\n",
    ),
    "a class that a comment removes, with methods outside of it": (
        "tree.cpp",
        TREE,
        "#include <map>\n\n// class Tree removed\n\n"
        "int helper(int size) {\n  return size + 1;\n}\n",
        "#include <map>\n\nint helper(int size) {\n  return size + 1;\n}\n",
    ),
    "a qualified name in a comment that removes": (
        "old.py",
        OLD,
        "# Old.load removed\n",
        OLD.replace("    def load(self):\n        return 1\n\n", ""),
    ),
    "a function that becomes a method": (
        "pool.go",
        POOL,
        f"// ...\n\n{_RUN}// ...\n\n{_WORK}\n// ...\n",
        POOL[: POOL.index("// Run")] + _RUN + _WORK,
    ),
    "a method that becomes a function": (
        "pool.go",
        POOL[: POOL.index("// Run")] + _RUN + _WORK,
        POOL[POOL.index("// Run") :],
        POOL,
    ),
    "lines with tabs that the snippet has with spaces": (
        "member.cs",
        MEMBER,
        "public class Member\n{\n    public bool Writes\n    {\n        get { return false; }\n"
        "    }\n}\n",
        MEMBER.replace("true", "false"),
    ),
    "a block that stays below new code in place of another one": (
        "renderer.cs",
        RENDER,
        "    void Write(Table table)\n    {\n        EnsureLine();\n        WriteWidths(table);\n\n"
        "        foreach (var row in table)\n        {\n            // ...\n        }\n    }\n",
        RENDER.replace(
            RENDER[RENDER.index("\n        bool") : RENDER.index("\n        foreach (var row")],
            "        WriteWidths(table);\n",
        ),
    ),
    "a text of Python with fences": (
        "shown.py",
        SHOWN,
        SHOWN.replace("return value", "return value + 1"),
        SHOWN.replace("return value", "return value + 1"),
    ),
    "a function without its indentation, of which some lines are elsewhere": (
        "storage.hpp",
        STORAGE,
        "Data find(int count) const {\n  auto it = all.find(count);\n  if (it != all.end()) {\n"
        "    return it->second;\n  }\n  if (count > 1) {\n    it = all.find(ANY);\n"
        "    if (it != all.end()) {\n      return it->second;\n    }\n  }\n"
        "  return Data {};\n}\n",
        STORAGE.replace("count > 0", "count > 1"),
    ),
    "a branch above an if that is like it": (
        "value.ts",
        VALUE,
        "  if (typeof value === 'number') {\n    value = String(value);\n"
        "  } else if (value instanceof Date) {\n    value = value.toISOString();\n  }\n  // ...\n",
        VALUE.replace(
            "  }\n  if (!value)",
            "  } else if (value instanceof Date) {\n    value = value.toISOString();\n  }\n"
            "  if (!value)",
        ),
    ),
    "a block like the one above it": (
        "style.rs",
        STYLE,
        "        if first.is_old && !next.is_old {\n            return Reset;\n        }\n\n"
        "        if first.is_bold && !next.is_bold {\n            return Reset;\n        }\n\n"
        "        // ...\n",
        STYLE.replace(
            "        // A color",
            "        if first.is_bold && !next.is_bold {\n            return Reset;\n        }\n\n"
            "        // A color",
        ),
    ),
    "a method with another return type": (
        "jobs.cs",
        JOB,
        "public Table Write(Format format)\n{\n    Start(format);\n    return this;\n}\n",
        JOB.replace("void Write", "Table Write").replace(
            "        Out(Text(format));", "        Start(format);\n        return this;"
        ),
    ),
    "a method beside another one that has its shortest line": (
        "editor.rs",
        EDITOR,
        "    pub fn extension(&mut self, val: &str) -> &mut Self {\n"
        "        self.extension = val.into();\n        self\n    }\n\n"
        "    pub fn prefix(&mut self, val: &str) -> &mut Self {\n"
        "        self.prefix = val.into();\n        self\n    }\n\n    // ...\n\n"
        "    pub fn edit(&self) -> Builder {\n"
        "        let builder = Builder::new()\n            .suffix(&self.extension)\n"
        "            // ...\n    }\n",
        EDITOR.replace(
            "    pub fn save",
            "    pub fn prefix(&mut self, val: &str) -> &mut Self {\n"
            "        self.prefix = val.into();\n        self\n    }\n\n    pub fn save",
        ),
    ),
    "an else in place of a bracket": (
        "dates.js",
        DATES.replace("'iso':", "'iso': if (old) {").replace("    case 'web':", "    }"),
        "    case 'iso': if (old) {\n      return date.toISOString();\n    } else {\n"
        "      count();\n    }\n    // ...\n",
        DATES.replace("'iso':", "'iso': if (old) {").replace(
            "    case 'web':", "    } else {\n      count();\n    }"
        ),
    ),
}
REFUSED = {  # file, text, snippet, words of the refusal
    "a bracket in place of another branch": (
        "branch.js",
        BRANCH,
        "function help() {\n  if (all) {\n    // ...\n  }\n  out(options, 2);\n}\n",
        "may replace this line, or stand beside it",
    ),
    "a new block with the lines of the next one": (
        "run.js",
        RUN,
        "function run(first, second) {\n  check(first);\n  if (limit > 3) {\n    return reset();\n"
        "  }\n  // ...\n}\n",
        "may be a new block, or one in place of this",
    ),
    "a new Go block like the next one": (
        "run.go",
        LOADED,
        "func run(first, second *Item) error {\n\tcheck(first)\n"
        "\tif err := first.load(); err != nil {\n\t\treturn err\n\t}\n\t// ...\n}\n",
        "may be a new block, or one in place of this",
    ),
    "new lines at the end of a function of which lines follow": (
        "words.py",
        WORDS,
        "def words_of(text):\n    # ...\n    text = text.lower()\n    log(text)\n",
        "ends what it shows of a definition, and lines of the file follow",
    ),
    "a new case above one that is not shown": (
        "dates.js",
        DATES,
        "  switch (format) {\n    case 'iso':\n      return date.toISOString();\n"
        "    case 'unix':\n      return date.seconds();\n    // ...\n  }\n",
        "may replace this line, or stand beside it show the line below it: `return date.toUTC",
    ),
    "a call beside one with another last argument": (
        "fetch.c",
        FETCH,
        "int main(void) {\n  CURL *curl = curl_easy_init();\n"
        "  curl_easy_setopt(curl, CURLOPT_URL, url);\n  // ...\n}\n",
        "may replace this line, or stand beside it",
    ),
    "a name that is set by what it is": (
        "words.py",
        WORDS,
        "def words_of(text):\n    text = clean(text)\n    text = text.strip()\n    # ...\n",
        "may replace this line, or stand beside it",
    ),
    "an error above lines that stay": (
        "server.ts",
        SERVER,
        "export function make(options: Options): Server {\n"
        "  const server = new Server(options.port);\n  throw new Error('unsupported');\n"
        "  // ...\n}\n",
        "would keep the line below it from running: `server.on('close'",
    ),
    "a function whose lines a new method has": (
        "tasks.py",
        TASKS,
        "class Pool:\n    def run(self):\n        self.work()\n\n    def work(self):\n"
        "        for task in self.queue:\n            task.start()\n        self.wait.done()\n"
        "        return self.queue\n",
        "is like `work`, which would stay",
    ),
    "a Rust function whose lines a new method has": (
        "pool.rs",
        IMPL,
        "impl Pool {\n    fn run(&self) {\n        self.work();\n    }\n\n    fn work(&self) {\n"
        "        for task in &self.queue {\n            task.start();\n        }\n"
        "        self.wait.done();\n    }\n}\n",
        "is like `work`, which would stay",
    ),
    "a name that several have": ("old.py", OLD, "# load removed\n", "may remove one of several"),
    "a name elsewhere in a comment that removes": (
        "sorting.go",
        SORT,
        f'import "sort"\n\n// sorter with Len, Less and helper() removed\n{_SORT}',
        "names what is elsewhere, too: `helper`",
    ),
}


def merged(name: str, text: str, snippet: str) -> tuple[str | None, str]:
    parts = [part for one in read_change(snippet) for part in one.parts]
    result = merge_parts(text, parts, name)
    return result.text, "; ".join(f"{one.reason} {one.hint}" for one in result.ambiguous)


@pytest.mark.parametrize("case", MERGED)
def test_a_snippet_says_what_it_replaces_and_removes(case: str) -> None:
    name, text, snippet, wanted = MERGED[case]
    result, reasons = merged(name, text, snippet)
    assert result is not None, reasons
    assert [line for line in result.split("\n") if line.strip()] == [
        line for line in wanted.split("\n") if line.strip()
    ]


@pytest.mark.parametrize("case", REFUSED)
def test_a_snippet_that_may_mean_two_things_is_refused(case: str) -> None:
    name, text, snippet, words = REFUSED[case]
    result, reasons = merged(name, text, snippet)
    assert result is None
    assert words in reasons
