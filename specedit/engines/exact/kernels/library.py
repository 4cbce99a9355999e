"""The compiled kernels: their call interface, and the library and variant of this machine.

The structures and signatures are those of specedit.h. The best variant that passed the self-check
is used, or the one that `SPECEDIT_KERNEL` names. The check runs once, in a process of its own
(sources.py): a variant that differs from plain C in a bit, or crashes, is excluded.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import platform
import signal
import subprocess
import sys
from ctypes import POINTER, c_char_p, c_float, c_int, c_int8, c_int32, c_uint64, c_void_p
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from specedit.engines.exact.kernels.sources import NOT_BUILT, library_name, version
from specedit.errors import UsageError
from specedit.files import atomic, stored
from specedit.models.store import store_path
from specedit.settings import nearest

INTERFACE = 11


class Shape(ctypes.Structure):
    _fields_ = (
        *((name, c_int32) for name in ("layers", "hidden", "hidden_true", "inner", "group_size")),
        *((name, c_int32) for name in ("heads", "kv_heads", "half", "half_true", "vocabulary")),
        ("residual", c_int32),
        ("epsilon", c_float),
        *((name, c_int32) for name in ("gated", "key_heads", "value_heads", "key_size")),
        *((name, c_int32) for name in ("value_size", "taps", "tiled")),
        *((name, c_int32) for name in ("experts", "chosen", "shared", "unscaled")),
    )


class CLinear(ctypes.Structure):
    _fields_ = (
        ("panels", c_void_p),
        ("scales", c_void_p),
        ("offsets", c_void_p),
        ("outputs", c_int32),
        ("inputs", c_int32),
        ("group_size", c_int32),
        ("bits", c_int32),
    )


class CLayer(ctypes.Structure):
    _fields_ = (
        ("norm", c_void_p),
        ("qkv", CLinear),
        ("bias", c_void_p),
        ("query_norm", c_void_p),
        ("key_norm", c_void_p),
        ("out", CLinear),
        ("inner_norm", c_void_p),
        ("gate_up", CLinear),
        ("down", CLinear),
        ("unrotated", c_int32),
        ("router", c_void_p),
        *((name, c_void_p) for name in ("convolution", "projection", "decay", "shift")),
        ("state_norm", c_void_p),
    )


class CWeights(ctypes.Structure):
    _fields_ = (
        ("layers", POINTER(CLayer)),
        ("embedding", c_void_p),
        ("norm", c_void_p),
        ("head", CLinear),
        ("frequencies", c_void_p),
        ("id_norm", c_void_p),
        ("state_norm", c_void_p),
        ("fuse", CLinear),
    )


class CSubset(ctypes.Structure):
    _fields_ = (("rows", CLinear), ("count", c_int32))


class CPass(ctypes.Structure):
    _fields_ = (
        ("ids", POINTER(c_int32)),
        ("parents", POINTER(c_int32)),
        ("width", c_int32),
        ("start", c_int32),
        ("choices", POINTER(c_int32)),
        ("logits", POINTER(c_float)),
        ("hidden", POINTER(c_float)),
        ("subset", POINTER(CSubset)),
        ("caches", POINTER(c_void_p)),
        ("starts", POINTER(c_int32)),
        ("margins", POINTER(c_float)),
        ("progress", POINTER(c_int32)),
        ("states", POINTER(c_float)),
    )


class CHead(ctypes.Structure):
    _fields_ = (
        ("of_state", CLinear),
        ("of_id", CLinear),
        ("down", CLinear),
        ("output", CLinear),
        ("bias", c_void_p),
        ("guessed", c_int32),
        ("gated", c_int32),
        ("sharpness", c_float),
    )


class CGuess(ctypes.Structure):
    _fields_ = (
        ("states", POINTER(c_float)),
        ("ids", POINTER(c_int32)),
        ("width", c_int32),
        ("most", c_int32),
        ("made", POINTER(c_float)),
        ("guesses", POINTER(c_int32)),
        ("chances", POINTER(c_float)),
    )


SIGNATURES = {
    "interface": (c_int, ()),
    "variant": (c_char_p, (c_int,)),
    "can": (c_int, (c_int,)),
    "difference": (c_char_p, (c_int, c_int, c_uint64, c_int)),
    "version": (c_char_p, ()),
    "quantize": (c_int, (c_int, c_void_p, *(c_int,) * 4, c_void_p, c_void_p, c_void_p)),
    "pool_new": (c_void_p, (c_int,)),
    "pool_free": (None, (c_void_p,)),
    "model_new": (c_void_p, (c_int, POINTER(Shape), POINTER(CWeights))),
    "model_free": (None, (c_void_p,)),
    "cache_new": (c_void_p, (c_void_p,)),
    "cache_free": (None, (c_void_p,)),
    "cache_reserve": (c_int, (c_void_p, c_int)),
    "cache_bytes": (c_uint64, (c_void_p,)),
    "cache_copy": (c_int, (c_void_p, c_void_p, c_int)),
    "cache_row_bytes": (c_uint64, (c_void_p,)),
    "cache_rows": (c_int, (c_void_p, c_void_p, c_int, c_int)),
    "cache_keep": (c_int, (c_void_p, c_int, POINTER(c_int32), c_int)),
    "cache_crop": (c_int, (c_void_p, c_void_p, c_void_p, c_int)),
    "cache_state_bytes": (c_uint64, (c_void_p,)),
    "cache_state": (c_int, (c_void_p, c_void_p, c_int, c_int)),
    "run": (c_int, (c_void_p, c_void_p, c_void_p, POINTER(CPass))),
    "guess_run": (c_int, (c_void_p, c_void_p, POINTER(CHead), POINTER(CGuess))),
    "output_rows": (
        c_int,
        (
            *(c_void_p, POINTER(c_int32), c_int, c_int, c_int),
            *(POINTER(c_int8), POINTER(c_float), POINTER(c_int32)),
        ),
    ),
    "products": (c_int, (c_void_p, c_void_p, c_int)),
    "attention": (c_int, (c_void_p, c_void_p, c_void_p, c_int, c_int)),
}


def bind(library: ctypes.CDLL) -> ctypes.CDLL:
    """Give every function of a loaded library its types."""
    for name, (result, arguments) in SIGNATURES.items():
        function = getattr(library, f"specedit_{name}")
        function.restype, function.argtypes = result, arguments
    return library


NO_KERNELS = "Install specedit from a wheel for this platform, or use --engine huggingface."
FOLDER = Path(__file__).parent
VARIABLE = "SPECEDIT_KERNEL"
REFERENCE = "reference"
# of all processors, so that another one's name is recognized
VARIANTS = ("amx", "avx512vnni", "avxvnni", "avx2", "i8mm", "dotprod", "neon", REFERENCE)


@dataclass(frozen=True, slots=True)
class Library:
    """A loaded library and the variant that is used."""

    lib: ctypes.CDLL
    variant: int
    name: str
    note: str = ""  # faster variants, and why they are not used here


def load(folder: Path = FOLDER, store: Path | None = None) -> Library | str:
    """The library with the best variant that this processor has, or why there is none."""
    forced = os.environ.get(VARIABLE, "")
    if forced and forced not in VARIANTS:
        raise UsageError(
            f"{VARIABLE}: there is no kernel {forced!r}.", hint=nearest(forced, list(VARIANTS))
        )
    result = _checked(folder, store or store_path())
    if isinstance(result, str):
        if forced:
            raise UsageError(
                f"{VARIABLE}={forced} cannot be used: {result}.", hint=f"Unset {VARIABLE}."
            )
        return result
    lib, wrong = result
    return _forced(lib, wrong, forced) if forced else _best(lib, wrong)


def why_not() -> str | None:
    """Why no kernel can be used here, in words; None when one can."""
    result = load()
    return result if isinstance(result, str) else None


def _checked(folder: Path, store: Path) -> tuple[ctypes.CDLL, dict[str, str]] | str:
    """The loaded library with what is wrong with each variant; or why none can be loaded."""
    path = folder / library_name()
    if not path.is_file():
        try:
            because = (folder / NOT_BUILT).read_text("utf-8").strip()
        except OSError:
            because = "this is a source tree that was not built (python hatch_build.py)"
        return f"the kernels were not compiled: {because}"
    result, wanted = findings(path, store), version(folder)
    if result.version != wanted and not result.fails:  # never kept so: these findings are damaged
        result = findings(path, store, again=True)
    if result.fails:
        return f"{path} does not load: {result.fails}"
    if result.version != wanted:
        return f"{path} was made from other sources ({result.version}, and these are {wanted})"
    lib = _opened(path)
    if isinstance(lib, str):
        return lib
    if not _usable(lib) <= (result.wrong or {}).keys():  # the system allows more than before
        result = findings(path, store, again=True)
    return lib, result.wrong or {}


@cache
def _opened(path: Path) -> ctypes.CDLL | str:
    try:
        lib = bind(ctypes.CDLL(str(path)))
    except (OSError, AttributeError) as error:
        return f"{path} does not load: {error}"
    if (interface := lib.specedit_interface()) != INTERFACE:
        return f"{path} speaks interface {interface}, and this is {INTERFACE}"
    return lib


def _names(lib: ctypes.CDLL) -> list[str]:
    """The library's variants, best first."""
    names: list[str] = []
    while result := lib.specedit_variant(len(names)):
        names.append(result.decode())
    return names


def _usable(lib: ctypes.CDLL) -> set[str]:
    """The variants that this processor has, without plain C."""
    names = enumerate(_names(lib))
    return {name for index, name in names if name != REFERENCE and lib.specedit_can(index)}


def _best(lib: ctypes.CDLL, wrong: dict[str, str]) -> Library | str:
    notes, usable = [], _usable(lib)
    for index, name in enumerate(_names(lib)):
        if name not in usable:
            continue
        if reason := wrong.get(name, "it was not checked"):
            notes.append(f"{name} fails the self-check: {reason}")
        else:
            return Library(lib, index, name, "; ".join(notes))
    return "; ".join(notes) or "this processor has none of the instructions the kernels use"


def _forced(lib: ctypes.CDLL, wrong: dict[str, str], name: str) -> Library:
    names = _names(lib)
    if name not in names:
        reason = "it is for another kind of processor or system"
    elif not lib.specedit_can(names.index(name)):
        reason = "this processor or its system does not have what it needs"
    elif name != REFERENCE and (result := wrong.get(name, "it was not checked")):
        reason = f"it fails the self-check: {result}"
    else:
        return Library(lib, names.index(name), name)
    usable = _usable(lib)
    here = [*(name for name in names if name in usable), REFERENCE]
    raise UsageError(
        f"{VARIABLE}={name} cannot be used: {reason}.", hint=f"This machine has {', '.join(here)}."
    )


TIMINGS_FILE = "kernels.json"
PROBE = Path(__file__).with_name("sources.py")
MACHINES = 8  # most results that are kept, of machines and libraries that share a store
TIMEOUT = 120  # seconds; it takes less than one on an idle machine
CPUINFO = 16384  # bytes of it that are read: one processor's name and features


@dataclass(frozen=True, slots=True)
class Findings:
    """The result of the self-check of a library."""

    version: str = ""
    fails: str = ""  # why it does not load
    wrong: dict[str, str] | None = None  # variant -> what is wrong with it; "" is nothing


def findings(library: Path, store: Path, *, again: bool = False) -> Findings:
    """The kept result for these very bytes on this processor, or a new one."""
    key, kept = _key(library), stored.read(store / TIMINGS_FILE, dict[str, Findings]) or {}
    known = kept.pop(key, None)
    if known is not None and known.wrong is not None and not known.fails and not again:
        return known
    result = _probe(library)
    if not result.fails:  # a file may load later; what a processor computes stays the same
        recent = dict([*kept.items(), (key, result)][-MACHINES:])
        text = json.dumps({name: asdict(result) for name, result in recent.items()}, indent=1)
        with contextlib.suppress(OSError):  # not kept: run again next time
            atomic.whole(store / TIMINGS_FILE, text.encode())
    return result


def _probe(library: Path) -> Findings:
    """Run the self-check, again without each variant that crashes the process."""
    version = ""
    wrong: dict[str, str] = {}
    while True:
        lines, ended = _run(library, list(wrong))
        begun = ""
        for line in lines:
            if "fails" in line:
                return Findings(fails=line["fails"])
            version = line.get("version", version)
            begun = line.get("begins", begun)
            if "ends" in line:
                different = line["different"]
                wrong[line["ends"]] = different and f"its {different} are wrong on this processor"
                begun = ""
        if not ended:
            return Findings(version=version, wrong=wrong)
        if not begun:  # it ended before the first variant
            return Findings(fails=ended)
        wrong[begun] = f"{ended} when it is used"


def _run(library: Path, without: list[str]) -> tuple[list[dict[str, str]], str]:
    """The lines of the process, and how it ended unless it ended normally."""
    command = [sys.executable, "-I", "-S", str(PROBE), str(library), *without]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return [], f"the self-check takes more than {TIMEOUT} seconds"
    except OSError as error:
        return [], f"the self-check cannot be run: {error}"
    lines = []
    with contextlib.suppress(ValueError):
        for line in done.stdout.splitlines():
            lines.append(json.loads(line))
    return lines, _ending(done.returncode, done.stderr)


def _ending(code: int, stderr: str) -> str:
    if code < 0:
        names = {number.value: number.name for number in signal.Signals}
        return f"the process ends with {names.get(-code, f'signal {-code}')}"
    last = stderr.strip().splitlines()[-1:] or [""]
    return f"the process ends with {code:#x} {last[0]}".strip() if code else ""


def _key(library: Path) -> str:
    """These bytes and this processor, wherever the file lies."""
    code = hashlib.sha256(library.read_bytes()).hexdigest()[:32]
    known = [f"{platform.system()} {platform.release()} {platform.machine()}"]
    named = ("model name", "flags", "Features", "CPU part", "CPU implementer")
    with (
        contextlib.suppress(OSError),
        Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as file,
    ):
        lines = file.read(CPUINFO).split("\n\n")[0].splitlines()
        known += [line for line in lines if line.startswith(named)]
    return f"{code} | {hashlib.sha256(' '.join(known).encode()).hexdigest()[:16]}"
