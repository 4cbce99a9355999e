"""The kernels as they are built and installed, and on processors that are not this one.

Real compilers, installers and emulators. What cannot be run here is linked and looked at: libraries
for macOS and for Windows on ARM have every variant in them, and nobody has run them.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import pytest
from case_files import rows
from exact_models import kernel, kernels_here
from kernel_sources import ROOT, build, compiled, copied, driver, has_compiler

from specedit.engines.exact.kernels.library import Library, load
from specedit.engines.exact.kernels.sources import library_name
from specedit.errors import UsageError

pytestmark = [
    pytest.mark.tools,
    pytest.mark.skipif(not has_compiler(), reason="pip install ziglang"),
]
HERE = [name for name in kernels_here() if name != "reference"]
KERNELS = Path("specedit", "engines", "exact", "kernels")


@pytest.fixture(scope="module", autouse=True)
def _compiler_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Compile a platform's C library, and kernels that are the same, once."""
    folder = str(tmp_path_factory.getbasetemp() / "zig")
    names = ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")
    with mock.patch.dict(os.environ, {name: os.environ.get(name, folder) for name in names}):
        yield


# -- a processor that lies ---------------------------------------------------------------

WRONG = """
static void wrong(const uint8_t *rows, size_t stride, int count, const int8_t *panel, size_t step,
    int panels, int inputs, int32_t *sums, const int8_t *ahead, size_t ahead_step,
    int lines) {
    gemm8(rows, stride, count, panel, step, panels, inputs, sums, ahead, ahead_step, lines);
    HARM;
}
#define gemm8 wrong
"""
OFF_BY_ONE = "sums[LANES * (count - 1) + 11] += count == 15"
ILLEGAL = "__builtin_trap()"


def harmed(folder: Path, variant: str, harm: str) -> Path:
    """The library, with a processor that does something else where `variant` multiplies."""
    source = copied(folder) / f"{variant}.c"
    begin, end = source.read_text().split(f"#define VARIANT {variant}")
    wrong = WRONG.replace("HARM", harm)
    source.write_text(f"{begin}{wrong}#define VARIANT {variant}{end}")
    compiled(folder)
    return folder


@pytest.mark.parametrize(
    ("harm", "said"),
    [(OFF_BY_ONE, "its gemm8 are wrong on this processor"), (ILLEGAL, "when it is used")],
    ids=["a wrong sum", "an illegal instruction"],
)
def test_a_variant_that_is_wrong_on_this_processor_is_left_out(harm, said, tmp_path):
    found = load(harmed(tmp_path, HERE[0], harm))
    note = found.note if isinstance(found, Library) else found
    assert note.startswith(f"{HERE[0]} fails the self-check: ") and said in note
    if len(HERE) > 1:
        assert isinstance(found, Library) and found.name == HERE[1]
    with kernel(HERE[0]), pytest.raises(UsageError, match=said):
        load(tmp_path)


def test_a_wrong_elementwise_function_is_found_too(tmp_path):
    """The constant of one variant's exp in its last digit."""
    source = copied(tmp_path) / f"{HERE[0]}.c"
    (tmp_path / "other.h").write_text(
        (tmp_path / "rows.h").read_text().replace("1.6666665459e-1f", "1.6666667e-1f")
    )
    source.write_text(source.read_text().replace('"rows.h"', '"other.h"'))
    compiled(tmp_path)
    found = load(tmp_path)
    note = found.note if isinstance(found, Library) else found
    assert note.startswith(f"{HERE[0]} fails the self-check: its swiglu are wrong")


def test_a_library_that_ends_the_process_is_never_loaded_in_this_one(tmp_path):
    with (copied(tmp_path) / "pool.c").open("a") as file:
        file.write("__attribute__((constructor)) static void at_once(void) { __builtin_trap(); }")
    compiled(tmp_path)
    found = load(tmp_path)
    assert isinstance(found, str) and "does not load: the process ends with" in found


# -- the pool ----------------------------------------------------------------------------

SUSPENDED = Path(__file__).with_name("suspended.c").read_text("utf-8")


def test_a_suspended_thread_does_not_read_the_steps_of_the_next_pass(tmp_path):
    (copied(tmp_path) / "suspended.c").write_text(SUSPENDED)
    triple = build().native_target().triple
    program = tmp_path / "suspended.exe"
    given = ["-target", triple, "-O1", "-pthread", "suspended.c", "-o", str(program)]
    build()._zig(given, tmp_path, tmp_path)
    assert run(program) == ["2"]


# -- other processors --------------------------------------------------------------------

WINE = Path("/usr/lib/wine/wine64")
x86_linux = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64",
    reason="compares with a program for x86-64 Linux",
)


def run(program: Path, *given: int, processor: str = "", emulator: str = "") -> list[str]:
    if emulator and shutil.which(emulator) is None:
        pytest.skip(f"no {emulator} (apt-get install qemu-user)")
    before = [emulator, *(["-cpu", processor] if processor else [])] if emulator else []
    command = [*before, str(program), *map(str, given)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def x86(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return driver(tmp_path_factory.mktemp("x86"), "x86_64-linux-musl")


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return driver(tmp_path_factory.mktemp("arm"), "aarch64-linux-musl")


def digests(lines: list[str]) -> list[str]:
    found = [line for line in lines if line.startswith("digest ")]
    assert len(found) == 2 and all(re.fullmatch(r"digest \d [0-9a-f]{16}", x) for x in found)
    return found


@x86_linux
def test_logits_have_the_same_bits_on_arm_and_x86(x86, arm):
    """Every variant of both, over the border of two tiles, in three chunkings and a tree."""
    here = run(x86, 530, 20)
    there = run(arm, 530, 6, processor="max", emulator="qemu-aarch64")
    assert there[:4] == [f"variant {name}" for name in ("i8mm", "dotprod", "neon", "reference")]
    assert digests(here) == digests(there)


@x86_linux
@rows("processor variants")
def test_an_arm_processor_runs_what_it_has(processor, variants, x86, arm):
    found = run(arm, 9, 1, processor=processor, emulator="qemu-aarch64")
    assert found[: len(variants) + 1] == [f"variant {name}" for name in [*variants, "reference"]]
    assert digests(found) == digests(run(x86, 9, 1))


@x86_linux
@pytest.mark.parametrize(("processor", "variants"), [("Haswell", ["avx2"]), ("Nehalem", [])])
def test_an_old_x86_processor_runs_what_it_has(processor, variants, x86):
    """An instruction of a newer one anywhere else would end the program."""
    found = run(x86, 9, 1, processor=processor, emulator="qemu-x86_64")
    assert found[: len(variants) + 1] == [f"variant {name}" for name in [*variants, "reference"]]
    assert digests(found) == digests(run(x86, 9, 1))


@x86_linux
def test_logits_have_the_same_bits_on_windows(x86, tmp_path, monkeypatch):
    if not WINE.exists():
        pytest.skip("no wine (apt-get install wine64)")
    monkeypatch.setenv("WINEPREFIX", str(tmp_path / "wine"))
    monkeypatch.setenv("WINEDEBUG", "-all")
    program = driver(tmp_path, "x86_64-windows-gnu")
    here = run(x86, 530, 6)
    there = run(program, 530, 6, emulator=str(WINE))
    assert there == [line for line in here if line != "variant amx"]


X86, ARM = ["avx512vnni", "avxvnni", "avx2"], ["i8mm", "dotprod", "neon"]
ELF, MACH_O, PE = b"\x7fELF", b"\xcf\xfa\xed\xfe", b"MZ"


@pytest.mark.parametrize(
    ("tag", "magic", "variants"),
    ids=lambda value: value if isinstance(value, str) else "",
    argvalues=[
        ("manylinux_2_17_x86_64", ELF, ["amx", *X86]),
        ("manylinux_2_17_aarch64", ELF, ARM),
        ("musllinux_1_2_x86_64", ELF, ["amx", *X86]),
        ("macosx_11_0_arm64", MACH_O, ARM),
        ("macosx_11_0_x86_64", MACH_O, X86),
        ("win_amd64", PE, X86),
        ("win_arm64", PE, ARM),
    ],
)
def test_every_platform_links_with_all_its_variants(tag, magic, variants, tmp_path):
    target = build().target_of(tag)
    made = tmp_path / target.library
    build().compile_library(ROOT / KERNELS, target, made)
    raw = made.read_bytes()
    assert raw.startswith(magic)
    for name in ("specedit_run", "specedit_version", "specedit_difference"):
        assert name.encode() in raw, name
    for name in ["amx", *X86, *ARM]:
        held = re.search(rb"(?<![a-z0-9_])" + name.encode() + b"\0", raw)
        assert bool(held) == (name in variants), name
    assert build().version(ROOT / KERNELS).encode() in raw
    assert os.fsencode(tempfile.gettempdir()) not in raw, "no folder of the build"
    if magic == PE:  # the time of the build would make each build another file
        header = int.from_bytes(raw[0x3C:0x40], "little")
        assert raw[header : header + 4] == b"PE\0\0" and raw[header + 8 : header + 12] == bytes(4)


# -- installing --------------------------------------------------------------------------

LOADED = (
    "from specedit.engines.exact.kernels.library import load;"
    "import specedit, pathlib; found = load();"
    "print(pathlib.Path(specedit.__file__).parents[1], getattr(found, 'name', found), sep='|')"
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What git would check out here, so that nothing is built into the tree of these tests."""
    folder = tmp_path_factory.mktemp("tree")
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]
    wanted = ["specedit", "hatch_build.py", "pyproject.toml", "README.md", "LICENSE", ".gitignore"]
    found = subprocess.run([*listed, *wanted], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, found.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture
def bare(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """A new virtual environment's Python, on a machine without any compiler."""
    home = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"

    def run(*given: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        apart = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        apart["PATH"] = str(python.parent)
        return subprocess.run(
            [str(python), *map(str, given)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**apart, **variables},
            check=False,
        )

    return run


def install(bare: Callable[..., subprocess.CompletedProcess[str]], *what: str | Path) -> None:
    done = bare("-m", "pip", "install", "-q", "--no-deps", *what)
    assert done.returncode == 0, done.stderr


def wheel_of(
    bare: Callable[..., subprocess.CompletedProcess[str]], tree: Path, **variables: str
) -> tuple[str, dict[str, bytes]]:
    """A wheel's name, and what it holds of the kernels."""
    folder = Path(tree.parent / f"wheel-{len(list(tree.parent.iterdir()))}")
    done = bare("-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, tree, **variables)
    assert done.returncode == 0, done.stderr
    (path,) = folder.iterdir()
    with zipfile.ZipFile(path) as file:
        held = {n: file.read(n) for n in file.namelist() if n.startswith(KERNELS.as_posix())}
    return path.name, {Path(name).name: content for name, content in held.items()}


def test_an_installation_has_its_kernels(bare, tree):
    install(bare, tree)
    place, name = bare("-c", LOADED).stdout.strip().split("|")
    assert name == HERE[0] and "site-packages" in place


def test_an_editable_installation_has_its_kernels(bare, tree, tmp_path):
    copy = Path(shutil.copytree(tree, tmp_path / "tree"))
    install(bare, "-e", copy)
    place, name = bare("-c", LOADED).stdout.strip().split("|")
    assert name == HERE[0] and Path(place) == copy


def test_an_sdist_has_all_that_a_build_needs(bare, tree, tmp_path):
    assert bare("-m", "pip", "install", "-q", "build").returncode == 0
    done = bare("-m", "build", "-s", "-o", tmp_path / "dist", tree)
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "dist").iterdir()
    with tarfile.open(path) as file:
        assert not [name for name in file.getnames() if name.endswith(library_name())]
    install(bare, path)
    assert bare("-c", LOADED).stdout.strip().endswith(f"|{HERE[0]}")


def test_a_wheel_with_the_library_is_for_its_platform_alone(bare, tree):
    name, held = wheel_of(bare, tree)
    assert name.endswith(f"-py3-none-{build().native_target().tag}.whl")
    assert library_name() in held and "not-built.txt" not in held


def test_a_wheel_of_another_platform_can_be_asked_for(bare, tree):
    name, held = wheel_of(bare, tree, SPECEDIT_BUILD="macosx_11_0_arm64")
    assert name.endswith("-py3-none-macosx_11_0_arm64.whl")
    assert held["kernels.dylib"].startswith(MACH_O)


def test_sources_that_do_not_compile_still_install_and_say_why(bare, tree, tmp_path):
    copy = Path(shutil.copytree(tree, tmp_path / "tree"))
    with (copy / KERNELS / "rope.c").open("a") as file:
        file.write("int half a function(")
    name, held = wheel_of(bare, copy)
    assert name.endswith("-py3-none-any.whl") and library_name() not in held
    assert b"rope.c" in held["not-built.txt"] and b"error" in held["not-built.txt"]
    install(bare, copy)
    assert "the kernels were not compiled: the compiler stopped" in bare("-c", LOADED).stdout
    done = bare("-m", "pip", "wheel", "--no-deps", copy, SPECEDIT_BUILD="required")
    assert done.returncode != 0


def test_without_a_compiler_an_installation_says_so(bare, tree):
    """As where ziglang has no wheel: its requirement then has a marker that is false."""
    assert bare("-m", "pip", "install", "-q", "hatchling").returncode == 0
    install(bare, "--no-build-isolation", tree)
    said = bare("-c", LOADED).stdout.strip()
    assert "the kernels were not compiled: the compiler, ziglang, is not installed" in said
