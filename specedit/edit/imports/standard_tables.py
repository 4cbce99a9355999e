"""What the standard libraries of C# and Node.js offer, as tables.

Those of Go, Java and Rust are in `check.builtin_names`, those of Python in `python_library`.
"""

from __future__ import annotations

from specedit.check.builtin_names import modules, words

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
NODE_MEMBERS = {  # members of Node.js's modules that are told from those of a variable
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
