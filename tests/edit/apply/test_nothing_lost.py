"""What a snippet does not show stays, or the change is refused: nothing is lost in silence."""

from __future__ import annotations

import pytest

from specedit.edit.apply.change import read_change
from specedit.edit.apply.merging import merge_parts

JOBS = """namespace Jobs
{
    public class Schedule
    {
        public Unit RunAt(int hours)
        {
            return RunAt(Today.AddHours(hours));
        }

        public Unit RunAt(Date time)
        {
            CalculateNextRun = time;
            return new Unit(this);
        }

        public Schedule Named(string name)
        {
            Name = name;
            return this;
        }
    }
}
"""
STORE = """package store

func (s *Store) Put(key string) error {
\ts.mu.Lock()
\treturn nil
}

// Delete removes a key.
func (s *Store) Delete(key string) error {
\ts.mu.Lock()
\treturn nil
}
"""
NET = """def environ(url):
    no = get(url)
    bypass = look(no)
    if bypass:
        return {}

    # the settings of the system
    log(url)
    return proxies()
"""
LOAD = """class Loader:
    def close(self):
        self.handle.close()
        self.closed = True

    def load(self, path):
        text = read(path)
        rows = parse(text)
        rows = [row for row in rows if row]
        log("rows", rows)
        check(rows)
        self.rows = rows
        return rows


def trash(items):
    return items
"""
DELAY = """/**
 * The milliseconds that a value stands for.
 *
 * @param {String} value of an option
 */
function delay(value) {
  var millis = 0;
  if (value.match(/ms$/)) {
    millis = parseInt(value, 10);
  } else {
    // seconds, with or without a unit
    millis = parseFloat(value) * 1000;
  }
  return millis;
}
"""
PAGE = """function Page() {
  return (
    <div>
      <h1>Welcome</h1>
      <p>Read this first.</p>
      <Button />
    </div>
  );
}
"""
RULES = """using System;
using Acme.Http;
using Acme.Options;
using Acme.Time;

namespace Acme.Rules
{
    public class Rules
    {
        public Rules Allow(Rules rules, string name, Address address)
        {
            return rules.Allow(name, seen => seen.Equals(address));
        }

        public Rules Allow(Rules rules, string name, Network network)
        {
            return rules.Allow(name, seen => network.Contains(seen));
        }

        public Rules Block(Rules rules, string name, Network network)
        {
            return rules.Block(name, seen => network.Contains(seen));
        }
    }
}
"""
_MOVED = """            use std::io::Write as _;
            let stderr = std::io::stderr();
            let mut stderr = stderr.lock();
            let _ = writeln!(stderr, "{}", info);
            let _ = writeln!(stderr, "{}", info.place);
            let _ = writeln!(stderr, "{}", info.text);
            let _ = writeln!(stderr, "{}", info.thread);
            let _ = writeln!(stderr, "{}", info.reason);
            stderr.flush();
            count_dumps();
"""
PANIC = (
    """fn setup() {
    hook(|info| {
        let path = persist(info);
        if path.is_none() {
"""
    + _MOVED
    + """        }
        print_msg(path);
    });
}

fn handle() -> Style {
    if cfg!(debug_assertions) {
        Style::Debug
    } else {
        match ::std::env::var("TRACE") {
            Ok(_) => Style::Debug,
            Err(_) => Style::Human,
        }
    }
}
"""
)
TOOLS = """package tools

func open(root string) *Dir {
\tswitch {
\tcase err != nil:
\t\tlog.Printf("open(%s): %s", root, err)
\t\treturn nil
\tcase !isPackage(d):
\t\tlog.Printf("open(%s): not a package directory", root)
\t\treturn nil
\t}
\tif depth < 0 {
\t\tdepth = 9
\t}
\treturn d
}
"""
_BELOW = PANIC[PANIC.index(_MOVED) + len(_MOVED) : PANIC.index("fn handle")]
_DUMP = "fn dump(info: &Info) {\n" + _MOVED.replace("            ", "    ") + "}\n\n"
LINE = """const MARK = '\\n';

const LONGEST = 80;

function wide(text) {
  return text.length > LONGEST;
}

function ends(text) {
  return text === MARK;
}
"""
BUILD = """package build

type Builder struct {
\tEvicted Func
\tPurged  Func
\tAdded   Func
}

func (b *Builder) Evicted(f Func) *Builder {
\tb.evicted = f
\treturn b
}

func (b *Builder) Purged(f Func) *Builder {
\tb.purged = f
\treturn b
}

func (b *Builder) Added(f Func) *Builder {
\tb.added = f
\treturn b
}

func (b *Builder) All() *Builder {
\tb.evicted = call(first,
\t\t\t\tsecond)
\treturn b
}
"""
WRAPPER = """pub struct Duration(StdDuration);

impl Deref for Duration {
    type Target = StdDuration;
    fn deref(&self) -> &StdDuration {
        &self.0
    }
}

impl From<StdDuration> for Duration {
    fn from(val: StdDuration) -> Self {
        Duration(val)
    }
}

impl From<Duration> for StdDuration {
    fn from(val: Duration) -> Self {
        val.0
    }
}

impl FromStr for Duration {
    fn from_str(text: &str) -> Self {
        parse(text)
    }
}
"""
REFUSED = {  # file, text, snippet, words of the refusal
    "an overload in a namespace": (
        "jobs.cs",
        JOBS,
        "        public Unit RunAt(int hours)\n        {\n"
        "            check(hours);\n            return RunAt(Today.AddHours(hours));\n        }\n\n"
        "        public Schedule Named(string name)\n        {\n            check(name);\n"
        "            Name = name;\n",
        "`Jobs.Schedule.RunAt`",
    ),
    "a function whose name a new one takes": (
        "net.py",
        NET,
        "def bypassed(url):\n    no = get(url)\n    # ...\n    if bypass:\n        return True\n\n"
        "    return False\n\ndef environ(url):\n    if bypassed(url):\n        return {}\n"
        "    return proxies()\n",
        "`environ`",
    ),
    "the end of a function": (
        "load.py",
        LOAD,
        "    def load(self, path):\n        text = read(path)\n",
        "without its last 6 lines",
    ),
    "two snippets that change one line": (
        "load.py",
        LOAD,
        "```python\n    def load(self, path):\n        text = read(path, 'utf-8')\n# ...\n```\n\n"
        "```python\n    def load(self, path):\n        text = read(path, 'ascii')\n# ...\n```\n",
        "overlaps with another part of the change make one part of both",
    ),
    "two snippets of which one has a line that the other removes": (
        "load.py",
        LOAD,
        "```python\n        rows = parse(text)\n        check(rows)\n```\n\n"
        '```python\n        log("rows", rows)\n        check(rows)\n        count(rows)\n```\n',
        "overlaps with another part of the change make one part of both",
    ),
    "a block whose name others have in theirs": (
        "wrapper.rs",
        WRAPPER,
        "// ...\n\nimpl From<Duration> for StdDuration {\n    fn from(val: Duration) -> Self {\n"
        "        val.0\n    }\n}\n\nimpl Duration {\n"
        "    /// Returns the wrapped value.\n    pub const fn into_inner(self) -> StdDuration {\n"
        "        self.0\n    }\n}\n\nimpl From<StdDuration> for Duration {\n    // ...\n}\n\n"
        "// ...\n",
        "removes `Duration.deref`",
    ),
    "a case that may be new": (
        "tools.go",
        TOOLS,
        '// ...\n\t\treturn nil\n\tcase root == "/" && !d.IsDir():\n'
        '\t\tlog.Printf("open(%s): not a directory", root)\n\t\treturn nil\n\t}\n'
        "\tif depth < 0 {\n\t\t// ...\n",
        "may replace these lines, or stand beside them",
    ),
}
MERGED = {  # file, text, snippet, old line, what stands in its place
    "the comment above a definition that is shown in part": (
        "store.go",
        STORE,
        "\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\treturn nil\n}\n\n"
        "func (s *Store) Delete(key string) error {\n\ts.mu.Lock()\n",
        "func (s *Store) Put(key string) error {\n\ts.mu.Lock()\n",
        "func (s *Store) Put(key string) error {\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n",
    ),
    "a method with a new function's name": (
        "load.py",
        LOAD,
        "def trash(items):\n    return items\n\n\ndef close(handle):\n    handle.close()\n",
        "    return items\n",
        "    return items\n\n\ndef close(handle):\n    handle.close()\n",
    ),
    "what a comment of new code names": (
        "load.py",
        LOAD,
        "# removed items go to trash()\ndef purge(items):\n    return trash(items)\n\n\n"
        "def trash(items):\n    return items\n",
        "def trash(items):\n",
        "# removed items go to trash()\ndef purge(items):\n    return trash(items)\n\n\n"
        "def trash(items):\n",
    ),
    "a comment without dots below the first line of a class": (
        "jobs.cs",
        JOBS,
        "    public class Schedule\n    {\n        // same as before\n\n"
        "        public bool Due()\n        {\n            return true;\n        }\n\n"
        "        // same as before\n    }\n",
        "            Name = name;\n            return this;\n        }\n",
        "            Name = name;\n            return this;\n        }\n\n"
        "        public bool Due()\n        {\n            return true;\n        }\n",
    ),
    "the first line of a block, changed": (
        "tools.go",
        TOOLS,
        "func open(root string) *Dir {\n\t// ...\n\tif depth <= 0 {\n\t\tdepth = 9\n\t}\n"
        "\treturn d\n}\n",
        "\tif depth < 0 {\n",
        "\tif depth <= 0 {\n",
    ),
    "a new branch, and an else that stays": (
        "delay.js",
        DELAY,
        "function delay(value) {\n  var millis = 0;\n  if (value.match(/ms$/)) {\n"
        "    millis = parseInt(value, 10);\n  } else if (value.match(/m$/)) {\n"
        "    millis = parseInt(value, 10) * 60000;\n  } else {\n    // ... as before\n  }\n"
        "  return millis;\n}\n",
        "  } else {\n",
        "  } else if (value.match(/m$/)) {\n    millis = parseInt(value, 10) * 60000;\n"
        "  } else {\n",
    ),
    "a marker in a comment of several lines": (
        "delay.js",
        DELAY,
        "/**\n * The milliseconds that a value stands for.\n * ...\n */\n"
        "function delay(value) {\n"
        "  var millis = 1;\n  // ...\n}\n",
        "  var millis = 0;\n",
        "  var millis = 1;\n",
    ),
    "a marker of JSX": (
        "page.jsx",
        PAGE,
        "    <div>\n      {/* ... existing code ... */}\n      <p>Read this first.</p>\n"
        "      <Button show={false} />\n    </div>\n",
        "      <Button />\n",
        "      <Button show={false} />\n",
    ),
    "assignments that the file has": (
        "load.py",
        LOAD,
        "        text = read(path)\n        rows = parse(text)\n"
        "        rows = [row for row in rows]\n"
        '        log("rows", rows)\n',
        "        rows = [row for row in rows if row]\n",
        "        rows = [row for row in rows]\n",
    ),
    "an overload like one that stands before its neighbour": (
        "rules.cs",
        RULES,
        "        public Rules Allow(Rules rules, string name, Network network)\n        {\n"
        "            return rules.Allow(name, seen => network.Contains(seen));\n        }\n\n"
        "        public Rules Allow(Rules rules, string name, params Address[] all)\n        {\n"
        "            return rules.Allow(name, seen => all.Contains(seen));\n        }\n",
        "        public Rules Block(",
        "        public Rules Allow(Rules rules, string name, params Address[] all)\n        {\n"
        "            return rules.Allow(name, seen => all.Contains(seen));\n        }\n\n"
        "        public Rules Block(",
    ),
    "members that are deeper than the class that is shown": (
        "rules.cs",
        RULES,
        "public class Rules\n{\n    // ...\n\n"
        "        public Rules Block(Rules rules, string name, Network network)\n        {\n"
        "            check(network);\n"
        "            return rules.Block(name, seen => network.Contains(seen));\n        }\n}\n",
        "            return rules.Block(",
        "            check(network);\n            return rules.Block(",
    ),
    "an import at the end of those that are shown": (
        "rules.cs",
        RULES,
        "using System;\nusing Acme.Http;\nusing Acme.Logging;\n// ... other usings ...\n\n"
        "namespace Acme.Rules\n{\n    // ...\n}\n",
        "using Acme.Options;\n",
        "using Acme.Logging;\nusing Acme.Options;\n",
    ),
    "lines that a new function has": (
        "panic.rs",
        PANIC,
        "    hook(|info| {\n        let path = persist(info);\n        if path.is_none() {\n"
        "            dump(info);\n"
        f"        }}\n        // ...\n    }});\n\n// ...\n\n{_DUMP}"
        "fn handle() -> Style {\n    // ...\n}\n",
        _MOVED + _BELOW,
        f"            dump(info);\n{_BELOW}{_DUMP}",
    ),
    "misquoted lines above several brackets": (
        "panic.rs",
        PANIC,
        '<<<<<<< SEARCH\n        match std::env::var("TRACE") {\n'
        "            Ok(_) => Style::Debug,\n"
        "            Err(_) => Style::Human,\n        }\n=======\n"
        '        match ::std::env::var("TRACE") {\n            Ok(v) if v != "0" => Style::Debug,\n'
        "            _ => Style::Human,\n        }\n>>>>>>> REPLACE\n",
        "            Ok(_) => Style::Debug,\n            Err(_) => Style::Human,\n",
        '            Ok(v) if v != "0" => Style::Debug,\n            _ => Style::Human,\n',
    ),
    "imports above a function, and no marker between them": (
        "rules.cs",
        RULES,
        "using System;\nusing Acme.Http;\nusing Acme.Logging;\nusing Acme.Options;\n"
        "using Acme.Time;\n\n"
        "        public Rules Block(Rules rules, string name, Network network)\n        {\n"
        "            return rules.Block(name, seen => network.Contains(seen));\n        }\n",
        "using Acme.Options;\n",
        "using Acme.Logging;\nusing Acme.Options;\n",
    ),
    "a constant with another name in all that is shown": (
        "line.js",
        LINE,
        "const END = '\\n';\n\n// ...\n\nfunction ends(text) {\n  return text === END;\n}\n",
        "MARK",
        "END",
    ),
    "a quotation of almost the lines": (
        "line.js",
        LINE,
        "<<<<<<< SEARCH\nfunction ends(text: String): Bool {\n  return text === MARK\n}\n=======\n"
        "function ends(text) {\n  return text == MARK;\n}\n>>>>>>> REPLACE\n",
        "===",
        "==",
    ),
    "what else has the name of what a comment removes": (
        "build.go",
        BUILD,
        "func (b *Builder) Evicted(f Func) *Builder {\n\tb.evicted = f\n\treturn b\n}\n\n"
        "// Purged removed\n\n"
        "func (b *Builder) Added(f Func) *Builder {\n\tb.added = f\n\treturn b\n}\n",
        "func (b *Builder) Purged(f Func) *Builder {\n\tb.purged = f\n\treturn b\n}\n",
        "",
    ),
    "aligned lines that are misquoted": (
        "build.go",
        BUILD,
        "<<<<<<< SEARCH\n\tb.evicted = call(first,\n\t\tsecond)\n\treturn b\n=======\n"
        "\tb.evicted = call(first,\n\t\tthird)\n\treturn b\n>>>>>>> REPLACE\n",
        "\t\t\t\tsecond)\n",
        "\t\tthird)\n",
    ),
    "a bracket that closes what is left out": (
        "jobs.cs",
        JOBS,
        "    public class Schedule\n    {\n        // (unchanged)\n        }\n\n"
        "        public Schedule Named(string name)\n        {\n"
        "            Name = name ?? this.Id;\n"
        "            return this;\n        }\n    }\n}\n",
        "            Name = name;\n",
        "            Name = name ?? this.Id;\n",
    ),
}


def merged(name: str, text: str, snippet: str) -> tuple[str | None, str]:
    parts = [part for one in read_change(snippet) for part in one.parts]
    result = merge_parts(text, parts, name)
    return result.text, "; ".join(f"{one.reason} {one.hint}" for one in result.ambiguous)


@pytest.mark.parametrize("case", REFUSED)
def test_guarantee_11_what_would_be_lost_refuses_a_snippet(case: str) -> None:
    name, text, snippet, words = REFUSED[case]
    result, reasons = merged(name, text, snippet)
    assert result is None
    assert words in reasons


@pytest.mark.parametrize("case", MERGED)
def test_what_a_snippet_does_not_show_stays(case: str) -> None:
    name, text, snippet, old, new = MERGED[case]
    result, reasons = merged(name, text, snippet)
    assert result is not None, reasons
    assert old in text
    assert [line for line in result.split("\n") if line.strip()] == [
        line for line in text.replace(old, new).split("\n") if line.strip()
    ]


def test_a_snippet_of_thousands_of_definitions_is_refused_at_once() -> None:
    text = "".join(f"value_{number} = {number}\n" for number in range(5_001))
    after, why = merged("a.py", text, text.replace(" = ", " = -"))
    assert after is None and "too long to compare" in why
