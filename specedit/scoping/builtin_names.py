"""Names that a language, its standard library or its usual hosts bring, as tables. Python's modules
are read, without running a file that a work tree may hold under the same name.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import sys
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path


def words(*texts: str) -> frozenset[str]:
    return frozenset(" ".join(texts).split())


def modules(text: str) -> dict[str, str]:
    """ "module: name name" lines as a mapping from each name to its module."""
    lines = (line.split(": ") for line in map(str.strip, text.strip().split("\n")))
    return {name: module for module, names in lines for name in names.split()}


PYTHON = frozenset(dir(builtins)) | words(
    "__file__ __name__ __doc__ __package__ __spec__ __path__ __loader__ __builtins__",
    "__annotations__ __dict__ __module__ __qualname__ __class__ reveal_type reveal_locals",
    "WindowsError unicode basestring long xrange raw_input unichr reduce buffer cmp execfile",
    "get_ipython display _ __debug__",
)
JAVASCRIPT_HOST = words(
    "undefined NaN Infinity arguments eval isFinite isNaN parseFloat parseInt decodeURI escape",
    "decodeURIComponent encodeURI encodeURIComponent unescape globalThis window self top parent",
    "document console alert confirm prompt fetch setTimeout setInterval clearTimeout clearInterval",
    "setImmediate clearImmediate queueMicrotask structuredClone requestAnimationFrame atob btoa",
    "cancelAnimationFrame requestIdleCallback cancelIdleCallback navigator location history screen",
    "localStorage sessionStorage indexedDB caches crypto performance origin name event status open",
    "close print stop focus blur scroll scrollTo scrollBy getComputedStyle matchMedia getSelection",
    "postMessage addEventListener removeEventListener dispatchEvent innerWidth innerHeight length",
    "outerWidth outerHeight devicePixelRatio scrollX scrollY pageXOffset pageYOffset reportError",
    "frames opener external customElements visualViewport importScripts onmessage isSecureContext",
    "process global require module exports __dirname __filename describe it test expect beforeEach",
    "afterEach beforeAll afterAll before after jest vi cy chai assert sinon suite setup teardown",
    "jasmine spyOn browser page context xit fit xdescribe fdescribe bench expectTypeOf assertType",
    "angular google chrome define ga gtag async await of let static get set type from as",
    "defineProps defineEmits defineExpose defineModel defineOptions defineSlots withDefaults $ _",
    "jQuery webpackChunk __webpack_require__ __DEV__ __VERSION__ wx uni my",
)
GO_PATHS = words(  # packages of the standard library, called as their last part
    "bufio bytes cmp context errors fmt io io/ioutil iter encoding/json log maps math os math/rand",
    "crypto/rand regexp slices log/slog sort strconv strings sync sync/atomic time unicode",
    "unicode/utf8 path/filepath net/http net/http/httptest net/url database/sql os/exec reflect",
    "runtime os/signal testing encoding/hex encoding/base64 crypto/sha256 crypto/md5",
    "encoding/binary text/template html/template crypto/tls net math/bits math/big container/heap",
)
GO_PACKAGES = frozenset(path.rpartition("/")[2] for path in GO_PATHS)
GO = words(
    "append cap clear close complex copy delete imag len make max min new panic print println real",
    "recover true false nil iota any bool byte comparable error rune string uintptr int int8 int16",
    "int32 int64 uint uint8 uint16 uint32 uint64 float32 float64 complex64 complex128 _ init main",
)
RUST_MODULES = modules(  # of the standard library, and in no prelude
    """
    std::collections: HashMap HashSet BTreeMap BTreeSet VecDeque BinaryHeap
    std::sync: Arc Mutex RwLock OnceLock
    std::rc: Rc
    std::cell: RefCell Cell OnceCell
    std::borrow: Cow
    std::time: Duration Instant
    std::path: PathBuf Path
    std::fs: File
    std::io: BufReader BufWriter
    std::marker: PhantomData
    """
)
RUST_TYPES = frozenset(RUST_MODULES)
RUST = words(
    "self Self super crate std core alloc drop main matches assert debug_assert concat env file",
    "line column stringify i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 bool char",
    "str proc_macro test println format vec",
)
JAVA_MODULES = modules(  # of java.*, and rarely defined elsewhere
    """
    java.util: List Map Set ArrayList HashMap HashSet LinkedList LinkedHashMap TreeMap Arrays
    java.util: Collections Optional Objects Iterator Collection Deque
    java.util.stream: Collectors Stream IntStream
    java.io: IOException UncheckedIOException InputStream OutputStream BufferedReader
    java.math: BigDecimal BigInteger
    java.time: LocalDate LocalDateTime Instant Duration
    java.nio.file: Files Paths
    java.nio.charset: StandardCharsets
    java.util.concurrent: ConcurrentHashMap TimeUnit ExecutorService Executors CompletableFuture
    java.util.concurrent.atomic: AtomicInteger AtomicLong AtomicBoolean
    """
)
JAVA_TYPES = frozenset(JAVA_MODULES)
CSHARP = words("value field nameof var dynamic args _ when not and or global await yield get set")
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
    for stmt in body:
        if isinstance(stmt, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield stmt.name
        elif isinstance(stmt, ast.Assign | ast.AnnAssign):
            targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
            for target in targets:
                yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name))
        elif isinstance(stmt, ast.Import | ast.ImportFrom):
            for alias in stmt.names:
                if alias.name == "*" and isinstance(stmt, ast.ImportFrom) and stmt.module:
                    yield from module_names(stmt.module)
                yield (alias.asname or alias.name).partition(".")[0]
        elif isinstance(stmt, ast.If | ast.Try):
            handlers = stmt.handlers if isinstance(stmt, ast.Try) else []
            bodies = [stmt.body, stmt.orelse, *(handler.body for handler in handlers)]
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
