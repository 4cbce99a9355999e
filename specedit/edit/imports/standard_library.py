"""What standard libraries offer: Python's modules, and those of C# and Node.js as tables.

Python's are read without running a file that a work tree may hold under the same name. The tables
of Go, Java and Rust are in `check.builtin_names`.
"""

from __future__ import annotations

import ast
import importlib
import sys
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path

from specedit.check.builtin_names import modules, words

NOT_OFFERED = ("antigravity", "this", "test", "idlelib", "__main__", "lib2to3", "turtledemo")
FROM_MODULES = (  # whose names are imported one by one; the first that has a name offers it
    *("pathlib", "dataclasses", "collections", "collections.abc", "functools", "itertools"),
    *("contextlib", "abc", "enum", "datetime", "decimal", "typing"),
)
CALLED = words(  # names of `typing` that code calls
    "TypeVar NamedTuple TypedDict NewType ParamSpec TypeVarTuple cast overload"
)
OF_CLASS = words(  # called on the class `datetime`, not on the module
    "now utcnow today strptime fromisoformat fromtimestamp utcfromtimestamp combine"
)


@lru_cache(maxsize=64)
def module_names(module: str) -> frozenset[str]:
    """The names of a module; empty for one that is not of the standard library."""
    if module.partition(".")[0] not in sys.stdlib_module_names or module in NOT_OFFERED:
        return frozenset()
    if module in sys.builtin_module_names:  # found before any folder is looked at
        return frozenset(dir(importlib.import_module(module)))
    library = sysconfig.get_path("stdlib")
    folder, _, last = module.rpartition(".")
    spec = PathFinder.find_spec(last, [str(Path(library, folder)), f"{library}/lib-dynload"])
    if spec is None or not spec.origin:
        return frozenset()
    loaded = sys.modules.get(module)
    if loaded is not None and getattr(loaded, "__file__", None) == spec.origin:
        return frozenset(dir(loaded))
    if not spec.origin.endswith(".py"):
        return frozenset()
    return frozenset(_top_level(ast.parse(Path(spec.origin).read_bytes()).body))


def _top_level(body: list[ast.stmt]) -> Iterator[str]:
    for one in body:
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield one.name
        elif isinstance(one, ast.Assign | ast.AnnAssign):
            targets = one.targets if isinstance(one, ast.Assign) else [one.target]
            for target in targets:
                yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name))
        elif isinstance(one, ast.Import | ast.ImportFrom):
            for alias in one.names:
                if alias.name == "*" and isinstance(one, ast.ImportFrom) and one.module:
                    yield from module_names(one.module)
                yield (alias.asname or alias.name).partition(".")[0]
        elif isinstance(one, ast.If | ast.Try):
            handlers = one.handlers if isinstance(one, ast.Try) else []
            bodies = [one.body, one.orelse, *(handler.body for handler in handlers)]
            for part in bodies:
                yield from _top_level(part)


@lru_cache(maxsize=32)
def offered_names(module: str) -> frozenset[str]:
    """The public names that a module of FROM_MODULES defines itself."""
    loaded = importlib.import_module(module)  # the package imports these itself
    names = getattr(loaded, "__all__", None) or [
        name
        for name, value in vars(loaded).items()
        if not name.startswith("_") and getattr(value, "__module__", module) == module
    ]
    return frozenset(names)


CSHARP_NAMESPACES = modules(
    """
    System: Console Math Exception ArgumentException ArgumentNullException DateTime TimeSpan Guid
    System: InvalidOperationException NotSupportedException NotImplementedException Environment
    System: ArgumentOutOfRangeException Uri Func Action Lazy StringComparison StringComparer Convert
    System.Collections.Generic: List Dictionary HashSet IEnumerable IList IDictionary Queue Stack
    System.Collections.Generic: KeyValuePair IReadOnlyList IReadOnlyDictionary SortedDictionary
    System.Collections.Generic: LinkedList ICollection IReadOnlyCollection EqualityComparer
    System.Collections.Concurrent: ConcurrentDictionary ConcurrentQueue ConcurrentBag
    System.Diagnostics: Stopwatch Debug Debugger Process
    System.Globalization: CultureInfo NumberStyles DateTimeStyles
    System.IO: Path File Directory Stream StreamReader StreamWriter MemoryStream FileStream
    System.IO: IOException FileNotFoundException FileInfo DirectoryInfo TextReader TextWriter
    System.Linq: Enumerable
    System.Net.Http: HttpClient HttpResponseMessage HttpRequestMessage
    System.Text: StringBuilder Encoding
    System.Text.Json: JsonSerializer JsonSerializerOptions JsonDocument
    System.Text.RegularExpressions: Regex RegexOptions
    System.Threading: CancellationToken CancellationTokenSource SemaphoreSlim Interlocked Monitor
    System.Threading.Tasks: Task ValueTask
    """
)
CSHARP_IMPLICIT = words(  # namespaces that `ImplicitUsings` of a project makes visible
    "System System.IO System.Linq System.Collections.Generic System.Net.Http System.Threading",
    "System.Threading.Tasks",
)
NODE_MEMBERS = {  # members of Node.js's modules whose names a variable's members rarely have
    "path": words(
        "join resolve dirname basename extname relative sep normalize isAbsolute parse posix win32"
    ),
    "fs": words(
        "readFile readFileSync writeFile writeFileSync existsSync mkdirSync mkdir readdirSync",
        "readdir statSync stat unlink unlinkSync promises createReadStream createWriteStream",
        "appendFile appendFileSync copyFileSync renameSync accessSync access constants rmSync",
    ),
    "os": words("tmpdir homedir EOL platform cpus hostname arch totalmem freemem userInfo release"),
    "util": words("promisify inspect format inherits isDeepStrictEqual deprecate types"),
    "child_process": words("exec execSync spawn spawnSync execFile execFileSync fork"),
    "zlib": words("gzip gzipSync gunzip gunzipSync createGzip deflateSync inflateSync"),
}
RUST_PATHS = dict.fromkeys(  # modules that are used by their own name
    words("fmt io fs env mem thread process cmp iter collections time"), "std"
)
NODE_MODULES = NODE_MEMBERS.keys() | words("http https crypto url events stream assert buffer")
