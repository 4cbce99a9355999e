"""Names that a language, its standard library or its usual hosts bring, as tables."""

from __future__ import annotations

import builtins


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
