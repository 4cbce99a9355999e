"""The kernels' sources, as the build sees them: compiled here, altered, for other processors."""

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

from specedit.engines.exact.kernels import library

ROOT = Path(__file__).parents[2]
DRIVER = Path(__file__).with_name("kernel_driver.c")


def build() -> ModuleType:
    """The build's own module."""
    if "hatch_build" not in sys.modules:
        spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules["hatch_build"] = module
        spec.loader.exec_module(module)
    return sys.modules["hatch_build"]


def has_compiler() -> bool:
    return importlib.util.find_spec("ziglang") is not None


def build_the_tree() -> None:
    """What these tests run on: the library of this tree, made again when its sources changed."""
    if isinstance(library.load(), library.Library) or not has_compiler():
        return
    try:
        target = build().native_target()
        build().compile_library(library.FOLDER, target, library.FOLDER / target.library)
    except build().CannotBuild as error:  # the one test that wants the library fails
        print(f"the kernels were not compiled: {error}", file=sys.stderr)


def copied(folder: Path, *, with_library: bool = False) -> Path:
    """The sources in a folder of their own, where a test may alter them."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in library.FOLDER.iterdir():
        if path.suffix in (".c", ".h") or (with_library and path.name == library.library_name()):
            shutil.copy(path, folder)
    return folder


def compiled(folder: Path) -> Path:
    """The library of the sources in `folder`, beside them."""
    target = build().native_target()
    made = folder / target.library
    build().compile_library(folder, target, made)
    return made


def driver(folder: Path, triple: str) -> Path:
    """The test program with all of the kernels in it, for some processor and system."""
    made, work = folder / f"{triple}.exe", folder / f"{triple}.objects"
    work.mkdir(parents=True)
    target = build().Target("none", triple, "")
    objects = list(build()._objects(library.FOLDER, target, work))
    for _, arguments in objects:
        build()._zig(arguments, library.FOLDER, work)
    given = ["-target", triple, "-O2", "-fno-sanitize=undefined", "-Wall"]
    given += ["-static"] if "linux" in triple else []
    parts = [f"-I{library.FOLDER}", str(DRIVER), *(str(path) for path, _ in objects)]
    build()._zig([*given, *parts, "-o", str(made)], library.FOLDER, work)
    return made
