"""Build the source distribution and the wheels of every platform on one machine, and check them.

    python -m pip install hatchling ziglang==VERSION lief twine
    python -m release.wheels [-o dist] [--once] [TAG...]

The commit's files are built, not those of the work tree. Everything is built twice, in two folders,
and must be equal byte for byte (`--once` leaves that out). Of each library it is checked that its
processor, format and needs fit the wheel's tag, and of each file that it names no folder of this
machine. ZIG_GLOBAL_CACHE_DIR keeps the C libraries of the platforms between runs.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TARGETS = {target.tag: target for target in runpy.run_path(str(ROOT / "hatch_build.py"))["TARGETS"]}
MACHINES = {"x86_64": ("X86_64", "AMD64"), "aarch64": ("AARCH64", "ARM64")}
NEEDS = {  # the libraries that every system of a platform has
    "manylinux": re.compile(r"lib(c\.so\.6|m\.so\.6|pthread\.so\.0|dl\.so\.2)|ld-linux-.*"),
    "musllinux": re.compile(r"libc\.so"),
    "macosx": re.compile(r"/usr/lib/libSystem\.B\.dylib"),
    "win": re.compile(r"(kernel32|ntdll|api-ms-win-crt-[\w-]+)\.dll", re.IGNORECASE),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Build and check the wheels.")
    parser.add_argument("tags", nargs="*", metavar="TAG", help=f"of {', '.join(TARGETS)}")
    parser.add_argument("-o", "--output", type=Path, default=Path("dist"), metavar="FOLDER")
    parser.add_argument("--once", action="store_true", help="do not build everything twice")
    asked = parser.parse_args()
    check_compiler()
    commit = ["git", "log", "-1", "--format=%ct"]
    when = subprocess.run(commit, cwd=ROOT, capture_output=True, text=True, check=True)
    os.environ["SOURCE_DATE_EPOCH"] = when.stdout.strip()  # the time of every file in an archive
    asked.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        folders = [Path(one)] if asked.once else [Path(one), Path(other)]
        trees = [unpacked(folder) for folder in folders]
        sdist = kept(trees, "sdist", "", asked.output)
        trees = [source_tree(sdist, folder / "sdist") for folder in folders]
        for tag in asked.tags or TARGETS:
            wheel = kept(trees, "wheel", tag, asked.output)
            check(wheel, tag, [*folders, Path.home(), ROOT])
    files = sorted(map(str, asked.output.iterdir()))
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *files], check=True)


def check_compiler() -> None:
    """The compiler is the pinned one: another version makes other bytes."""
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
    pins = {re.split(r"[=;]+", one)[1].strip() for one in needed if one.startswith("ziglang")}
    if {importlib.metadata.version("ziglang")} != pins:
        sys.exit(f"wheels: install ziglang=={pins.pop()}, which pyproject.toml pins")


def unpacked(folder: Path) -> Path:
    """The files of the commit in a folder."""
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True)
    (folder / "commit.tar").write_bytes(archive.stdout)
    with tarfile.open(folder / "commit.tar") as file:
        file.extractall(folder / "commit", filter="data")
    return folder / "commit"


def source_tree(sdist: Path, folder: Path) -> Path:
    with tarfile.open(sdist) as file:
        file.extractall(folder, filter="data")
    (tree,) = folder.iterdir()
    return tree


def kept(trees: list[Path], kind: str, tag: str, output: Path) -> Path:
    """Build in every tree; the one result, which must be the same in all."""
    started = time.monotonic()
    made = [built(tree, kind, tag) for tree in trees]
    digests = {hashlib.sha256(path.read_bytes()).hexdigest() for path in made}
    if len(digests) > 1:
        contents = [members(path) for path in made]
        names = [name for name in contents[0] if contents[0][name] != contents[1].get(name)]
        sys.exit(f"wheels: {made[0].name} differs between two builds: {', '.join(names)}")
    target = output / made[0].name
    shutil.copy(made[0], target)
    seconds = (time.monotonic() - started) / len(made)
    again = "equal in two builds" if len(made) > 1 else "built once"
    size, digest = target.stat().st_size / 2**20, digests.pop()[:16]
    print(f"{target.name}  {size:.2f} MiB  {digest}  {again}, {seconds:.0f} s each", flush=True)
    return target


def built(tree: Path, kind: str, tag: str) -> Path:
    output = tree.parent / "made"
    shutil.rmtree(output, ignore_errors=True)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(output)],
        cwd=tree,
        env={**os.environ, "SPECEDIT_BUILD": tag},
        stderr=subprocess.DEVNULL,  # hatchling names the file there
        check=True,
    )
    (result,) = output.iterdir()
    return result


def members(path: Path) -> dict[str, bytes]:
    """The files of a wheel or of a source distribution."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist()}
    with tarfile.open(path) as sdist:
        files = ((one.name, sdist.extractfile(one)) for one in sdist.getmembers())
        return {name: file.read() for name, file in files if file is not None}


def check(wheel: Path, tag: str, folders: list[Path]) -> None:
    """Exit with a message if the wheel does not hold what its tag promises."""
    problems: list[str] = []
    contents = members(wheel)
    target = TARGETS[tag]
    for name, data in contents.items():
        problems += [f"{name} names {one}" for one in folders if os.fsencode(one) in data]
    (header,) = (data for name, data in contents.items() if name.endswith(".dist-info/WHEEL"))
    if f"Tag: py3-none-{tag}\n" not in header.decode() or tag not in wheel.name:
        problems.append(f"its tag is not {tag}")
    libraries = [name for name in contents if name.endswith((".so", ".dylib", ".dll"))]
    if [Path(name).name for name in libraries] != [target.library]:
        problems.append(f"its libraries are {libraries}")
    for name in libraries:
        problems += unfit(contents[name], tag)
        if os.fsencode(tempfile.gettempdir()) in contents[name]:
            problems.append(f"{name} names the folder it was built in")
    if problems:
        sys.exit(f"wheels: {wheel.name}: " + "; ".join(problems))


def unfit(data: bytes, tag: str) -> Iterator[str]:
    """What a library needs, and systems of this tag may not have."""
    import lief

    library: Any = lief.parse(list(data))
    platform = tag.partition("_")[0]
    promised = tuple(int(number) for number in re.findall(r"_(\d+)(?=_)", tag)[:2])
    if isinstance(library, lief.ELF.Binary):
        machine = library.header.machine_type.name
        for requirement in library.symbols_version_requirement:
            for symbol in requirement.get_auxiliary_symbols():
                version = tuple(int(one) for one in re.findall(r"\d+", symbol.name))
                if platform != "manylinux" or version > promised:
                    yield f"it needs {symbol.name} of {requirement.name}"
    elif isinstance(library, lief.MachO.Binary):
        machine = library.header.cpu_type.name
        if tuple(library.build_version.minos[:2]) > promised:
            yield f"it needs macOS {library.build_version.minos}"
    else:
        machine = library.header.machine.name
    if machine not in MACHINES[TARGETS[tag].machine]:
        yield f"it is for {machine}"
    for needed in library.libraries:
        name = needed if isinstance(needed, str) else needed.name
        # a library for macOS also lists its own name
        if name != TARGETS[tag].library and not NEEDS[platform].fullmatch(name):
            yield f"it needs {name}"


if __name__ == "__main__":
    main()
