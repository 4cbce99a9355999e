"""Random arguments for every exported function of the kernels, under the sanitizers.

`SPECEDIT_FUZZ=100000` runs as many calls. zig has no address sanitizer: clang is wanted for that.
"""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from kernel_sources import build

from specedit.engines.exact.kernels.library import FOLDER

pytestmark = pytest.mark.tools

CALLS = int(os.environ.get("SPECEDIT_FUZZ", "3000"))
PROGRAM = Path(__file__).parents[1] / "helpers" / "kernel_fuzz.c"
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Wno-psabi")
UNROLLED = ("amx.c", "avx512vnni.c")  # with UBSan each takes minutes to compile


def has_sanitizers(folder: Path) -> bool:
    if shutil.which("clang") is None:
        return False
    empty = folder / "empty.c"
    empty.write_text("int main(void) { return 0; }\n")
    given = ["clang", *SANITIZERS, str(empty), "-o", str(folder / "empty")]
    return subprocess.run(given, capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kernels of this processor and the random calls, with sanitizers."""
    folder = tmp_path_factory.mktemp("fuzz")
    if not has_sanitizers(folder):
        pytest.skip("no clang with sanitizers (apt-get install clang libclang-rt-dev)")
    made, machine = folder / "fuzz", build().native_target().machine
    own = build().VARIANTS[machine]
    others = {name for names in build().VARIANTS.values() for name in names} - set(own)
    sources = [path for path in FOLDER.glob("*.c") if path.stem not in others]

    def compiled(source: Path) -> str:
        features = own.get(source.stem, "").split("+")[1:]
        given = [f"-m{one.replace('_', '-')}" for one in features]
        if machine == "aarch64":
            given = [f"-march=armv8-a{own.get(source.stem, '')}"]
        if source.name in UNROLLED:
            given.append("-fno-sanitize=undefined")
        path = folder / f"{source.stem}.o"
        common = [one for one in build().FLAGS if not one.startswith(("-fno-sanitize", "-O", "-g"))]
        command = ["clang", *common, "-O1", "-g", *SANITIZERS, *given, "-c", source.name]
        subprocess.run([*command, "-o", str(path)], cwd=FOLDER, check=True)
        return str(path)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compiled, sources))
    link = ["clang", "-g", *SANITIZERS, f"-I{FOLDER}", str(PROGRAM), *objects, "-lpthread", "-lm"]
    subprocess.run([*link, "-o", str(made)], check=True)
    return made


@pytest.mark.parametrize("seed", range(2))
def test_no_argument_makes_a_kernel_read_or_write_what_is_not_its_own(program, seed):
    environment = {**os.environ, "ASAN_OPTIONS": "allocator_may_return_null=1"}
    given = [str(program), str(CALLS), str(seed)]
    done = subprocess.run(given, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert done.stdout.startswith(f"{CALLS} calls")
