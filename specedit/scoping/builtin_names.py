"""Names that a language, its standard library or its usual hosts bring, as tables."""

from __future__ import annotations

import builtins


def words(*texts: str) -> frozenset[str]:
    return frozenset(" ".join(texts).split())


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
GO = words(
    "append cap clear close complex copy delete imag len make max min new panic print println real",
    "recover true false nil iota any bool byte comparable error rune string uintptr int int8 int16",
    "int32 int64 uint uint8 uint16 uint32 uint64 float32 float64 complex64 complex128 _ init main",
)
RUST_TYPES = words(  # of the standard library, and in no prelude
    "HashMap HashSet BTreeMap BTreeSet VecDeque BinaryHeap Arc Mutex RwLock OnceLock Rc RefCell",
    "Cell OnceCell Cow Duration Instant PathBuf Path File BufReader BufWriter PhantomData",
)
RUST = words(
    "self Self super crate std core alloc drop main matches assert debug_assert concat env file",
    "line column stringify i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 bool char",
    "str proc_macro test println format vec",
)
CSHARP = words("value field nameof var dynamic args _ when not and or global await yield get set")
BUILTINS = {  # by language
    "python": PYTHON,
    **dict.fromkeys(("javascript", "typescript", "tsx"), JAVASCRIPT_HOST),
    "go": GO,
    "rust": RUST,
    "csharp": CSHARP,
}
