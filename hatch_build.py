"""Compiles the exact engine's C sources while the package is built, with the compiler in `ziglang`,
and makes the manual pages.

The platforms, the processor features that each variant's file may use, and the flags are here; what
the sources compute is in `specedit.engines.exact.kernels`.

A build that fails never breaks an installation: the wheel is then pure, the reason stands in it as
`not-built.txt`, and the generic engine is used. A variable changes that: SPECEDIT_BUILD=required
fails instead, SPECEDIT_BUILD=none makes the pure wheel, and SPECEDIT_BUILD=<platform tag> makes the
wheel of another platform (and fails where it cannot).

`python hatch_build.py [-o FOLDER] [PLATFORM]` compiles into the tree, or into FOLDER.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run as a script, or read by a test
    BuildHookInterface = object  # type: ignore[assignment,misc]

ROOT = Path(__file__).resolve().parent
KERNELS = Path("specedit", "engines", "exact", "kernels")
REQUIRED, NONE = "required", "none"
SOURCES = runpy.run_path(str(ROOT / KERNELS / "sources.py"))  # there is no package yet
NOT_BUILT, version = SOURCES["NOT_BUILT"], SOURCES["version"]
PATIENCE = 1200  # seconds for one file: zig builds a platform's C library first

# Also when zig links: it would compile the runtime of a sanitizer that no file uses.
NO_SANITIZER = "-fno-sanitize=undefined"
# What the same bits on every machine ask of the compiler: no contraction, no fast maths.
FLAGS = (
    *("-std=gnu11", "-O3", "-g0", "-fPIC", "-fvisibility=hidden", NO_SANITIZER),
    *("-ffp-contract=off", "-fno-fast-math", "-fno-math-errno", "-Wall", "-Wextra"),
)
BASE = {"x86_64": "x86_64", "aarch64": "generic"}  # every other file: any processor of its kind
AVX512 = "+avx512f+avx512bw+avx512vl+avx512dq+avx512vnni"
VARIANTS = {  # what dispatch.c asks a processor for before it runs a variant's file, and no more
    "x86_64": {
        "avx2": "+avx2",
        "avxvnni": "+avx2+avxvnni",
        "avx512vnni": AVX512,
        "amx": f"{AVX512}+avx512vbmi+amx_tile+amx_int8",
    },
    "aarch64": {"neon": "", "dotprod": "+dotprod", "i8mm": "+dotprod+i8mm"},
}
LINUX_ONLY = frozenset({"amx"})  # elsewhere no call asks the system for leave to use the tiles


class CannotBuild(Exception):
    """The reason that no library was compiled."""


class Target(NamedTuple):  # a dataclass needs its module registered, and hatchling does not
    """One platform: its wheel's tag, and how zig calls it."""

    tag: str
    triple: str
    suffix: str

    @property
    def machine(self) -> str:
        return self.triple.partition("-")[0]

    @property
    def library(self) -> str:
        return str(SOURCES["library_name"](self.suffix))


TARGETS = (
    Target("manylinux_2_17_x86_64", "x86_64-linux-gnu.2.17", ".so"),
    Target("manylinux_2_17_aarch64", "aarch64-linux-gnu.2.17", ".so"),
    Target("musllinux_1_2_x86_64", "x86_64-linux-musl", ".so"),
    Target("musllinux_1_2_aarch64", "aarch64-linux-musl", ".so"),
    Target("macosx_11_0_arm64", "aarch64-macos.11.0", ".dylib"),
    Target("macosx_11_0_x86_64", "x86_64-macos.11.0", ".dylib"),
    Target("win_amd64", "x86_64-windows-gnu", ".dll"),
    Target("win_arm64", "aarch64-windows-gnu", ".dll"),
)


def target_of(tag: str) -> Target:
    for target in TARGETS:
        if target.tag == tag:
            return target
    known = ", ".join(target.tag for target in TARGETS)
    raise CannotBuild(f"there are no kernels for {tag} (there are for {known})")


def native_target() -> Target:
    """The platform of the Python that runs this."""
    system, machine = sysconfig.get_platform(), platform.machine().lower()
    if system.startswith("linux-"):
        musl = "musl" in str(sysconfig.get_config_var("HOST_GNU_TYPE"))
        libc = "musllinux_1_2_" if musl else "manylinux_2_17_"
        return target_of(libc + system.removeprefix("linux-"))
    if system.startswith("macosx-"):  # a universal Python runs as what the processor is
        return target_of(f"macosx_11_0_{machine}")
    return target_of(system.replace("-", "_"))


def compile_library(folder: Path, target: Target, made: Path) -> None:
    """Compile every source that the target's processors can run, and link them to `made`."""
    if importlib.util.find_spec("ziglang") is None:
        raise CannotBuild("the compiler, ziglang, is not installed (pip install ziglang)")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        work = Path(name)
        jobs = list(_objects(folder, target, work))
        if not jobs:
            raise CannotBuild(f"there are no C sources in {folder}")
        with ThreadPoolExecutor(max(1, os.cpu_count() or 1)) as pool:
            list(pool.map(lambda job: _zig(job[1], folder, work), jobs))
        linked = work / made.name
        objects = [str(path) for path, _ in jobs]
        # the path after -o becomes the name of a library for macOS: it must name no folder
        given = ["-target", target.triple, NO_SANITIZER, "-shared", "-s", "-o", made.name]
        _zig([*given, *objects], work, work)
        if target.suffix == ".dll":
            _remove_time(linked)
        made.parent.mkdir(parents=True, exist_ok=True)
        beside = made.with_name(f"{made.name}.{os.getpid()}")
        try:
            shutil.copy(linked, beside)
            beside.replace(made)  # whole or not at all: a running process keeps the old one
        finally:
            beside.unlink(missing_ok=True)


def _remove_time(library: Path) -> None:
    """Clear the time of the build in a Windows library, so that two builds are equal."""
    data = bytearray(library.read_bytes())
    header = int.from_bytes(data[0x3C:0x40], "little")
    data[header + 8 : header + 12] = bytes(4)
    library.write_bytes(data)


def _objects(folder: Path, target: Target, work: Path) -> Iterator[tuple[Path, list[str]]]:
    """Each object file with the arguments that make it."""
    base, own = BASE[target.machine], VARIANTS[target.machine]
    everywhere = {name for names in VARIANTS.values() for name in names}
    stamp = f'-DSPECEDIT_KERNELS="{version(folder)}"'
    for source in sorted(folder.glob("*.c")):
        variant = source.stem
        if variant in everywhere - set(own) or (
            variant in LINUX_ONLY and "linux" not in target.triple
        ):
            continue
        made = work / f"{source.stem}.o"
        processor = f"-mcpu={base}{own.get(variant, '')}"
        wide = ["-mprefer-vector-width=512"] if "avx512f" in processor else []
        yield (
            made,
            [
                *("-target", target.triple, processor, *wide, *FLAGS, stamp),
                *("-c", source.name, "-o", str(made)),
            ],
        )


def _zig(arguments: list[str], folder: Path, work: Path) -> None:
    environment = dict(os.environ)
    for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"):
        environment.setdefault(name, str(work / "cache"))  # leaves nothing behind
    command = [sys.executable, "-m", "ziglang", "cc", *arguments]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotBuild(f"the compiler does not run: {error}") from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-2000:]
        raise CannotBuild(f"the compiler stopped with {done.returncode}: {said}")
    if done.stderr.strip():
        print(done.stderr.strip(), file=sys.stderr)


class KernelsHook(BuildHookInterface):  # type: ignore[type-arg,unused-ignore]
    """Puts the library, or the reason why there is none, into a wheel or an editable tree."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        wish, root = os.environ.get("SPECEDIT_BUILD", ""), Path(self.root)
        editable = version == "editable"
        self._made = root / KERNELS if editable else Path(tempfile.mkdtemp())
        try:
            if wish == NONE:
                raise CannotBuild("SPECEDIT_BUILD=none asked for the package without it")
            target = native_target() if wish in ("", REQUIRED) else target_of(wish)
            made = self._made / target.library
            compile_library(root / KERNELS, target, made)
        except (CannotBuild, OSError) as error:
            if wish not in ("", NONE):
                raise
            self._without(str(error), build_data, editable)
            return
        (self._made / NOT_BUILT).unlink(missing_ok=True)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{target.tag}"
        if not editable:
            build_data["force_include"][str(made)] = (KERNELS / made.name).as_posix()

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            shutil.rmtree(self._made, ignore_errors=True)

    def _without(self, reason: str, build_data: dict[str, Any], editable: bool) -> None:
        self.app.display_warning(f"specedit is built without its compiled kernels: {reason}")
        said = self._made / NOT_BUILT
        try:
            said.write_text(reason + "\n", "utf-8")
        except OSError:  # a tree that cannot be written to: the report says "not built" alone
            return
        if not editable:
            build_data["force_include"][str(said)] = (KERNELS / said.name).as_posix()


def main() -> None:
    """Compile into the tree, while the sources are being changed."""
    parser = argparse.ArgumentParser(description="Compile the exact engine's kernels.")
    parser.add_argument("platform", nargs="?", help="the tag of another platform's wheel")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / KERNELS, metavar="FOLDER")
    asked = parser.parse_args()
    try:
        target = target_of(asked.platform) if asked.platform else native_target()
        made = asked.output / target.library
        compile_library(ROOT / KERNELS, target, made)
    except CannotBuild as error:
        sys.exit(f"hatch_build.py: {error}")
    print(made)


if __name__ == "__main__":
    main()
