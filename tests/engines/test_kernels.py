"""Which kernel serves, and why not another; that every variant here computes what plain C does.

Whole passes are compared in test_exact_families.py; compiling, and other processors, in
test_kernel_build.py.
"""

import _ctypes
import json
import multiprocessing
import os
import platform
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from exact_models import kernel, kernels_here, save
from kernel_sources import copied

from specedit.engines import cores
from specedit.engines.exact.engine import ExactEngine, open_exact
from specedit.engines.exact.kernels.library import VARIANTS, Library, load
from specedit.engines.exact.kernels.sources import library_name
from specedit.errors import UsageError

BUILT = (
    platform.machine().lower() in ("x86_64", "amd64", "aarch64", "arm64")
    and platform.libc_ver()[0] != "musl"
)
HERE = kernels_here()
ELSEWHERE = sorted(set(VARIANTS) - set(HERE))
needs_library = pytest.mark.skipif(not HERE, reason="test_the_kernels_are_compiled says why")


def served(folder: Path | None = None) -> Library:
    found = load(folder) if folder else load()
    assert isinstance(found, Library), found
    return found


def why_not(folder: Path) -> str:
    found = load(folder)
    assert isinstance(found, str)
    return found


@pytest.mark.skipif(not BUILT, reason=f"there are no kernels for {platform.machine()}")
def test_the_kernels_are_compiled():
    found = load()
    assert isinstance(found, Library), f"{found}: pip install ziglang, and run the tests again"
    assert found.name == HERE[0] and found.name != "reference" and not found.note


@needs_library
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("one", HERE)
def test_every_function_of_a_variant_is_plain_c_bit_for_bit(one, seed):
    lib = served().lib
    names = [name.decode() for i in range(99) if (name := lib.specedit_variant(i))]
    for other in HERE:
        differs = lib.specedit_difference(names.index(one), names.index(other), 100 + seed, 40)
        assert differs is None, f"{differs} of {one} and {other}"


@needs_library
@pytest.mark.parametrize("name", HERE)
def test_a_kernel_can_be_forced(name):
    with kernel(name):
        assert served().name == name


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_kernel_of_another_processor_is_refused(name):
    with kernel(name), pytest.raises(UsageError, match=f"SPECEDIT_KERNEL={name} cannot be used"):
        load()


def test_an_unknown_kernel_is_an_error_of_the_command_line(specedit, tmp_path):
    save("llama, no bias", tmp_path / "model")
    (tmp_path / "a.py").write_text("a = 1\n")
    given = ("edit", "Add a docstring to a", "a.py", "--diff", "--model", tmp_path / "model")
    done = specedit(*given, cwd=tmp_path, env={"SPECEDIT_KERNEL": "avx513"})
    assert done.returncode == 2 and b"no kernel 'avx513'" in done.stderr and not done.stdout
    assert b"avx512vnni" in done.stderr


def test_without_kernels_an_error_says_what_to_do(tmp_path, monkeypatch):
    files = save("llama, no bias", tmp_path / "model")[1]
    reason = "the kernels were not compiled: no compiler"
    monkeypatch.setattr("specedit.engines.exact.engine.load", lambda: reason)
    with pytest.raises(UsageError, match="not compiled: no compiler") as found:
        open_exact(files, store=tmp_path)
    assert "a wheel" in found.value.hint and "--engine huggingface" in found.value.hint


@pytest.mark.parametrize(
    "given",
    [
        ("edit", "Return 0", "a.py", "--engine", "huggingface"),
        ("edit", "Return 0", "a.py", "--device", "cuda"),
    ],
    ids=lambda given: " ".join(given[-2:]),
)
def test_what_needs_torch_names_the_extra_where_it_is_missing(
    specedit, given, tmp_path, monkeypatch
):
    monkeypatch.setattr(cores, "find_spec", lambda name: None)
    save("llama, no bias", tmp_path / "model")
    words = {"type": "BPE", "vocab": {"a": 0}, "merges": []}
    bytes_ = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    words = {"pre_tokenizer": bytes_, "model": words}
    (tmp_path / "model" / "tokenizer.json").write_text(json.dumps(words))
    (tmp_path / "a.py").write_text("a = 1\n")
    done = specedit(*given, "--model", tmp_path / "model", cwd=tmp_path)
    assert done.returncode == 2 and not done.stdout
    assert b"needs torch and transformers" in done.stderr
    assert b"pip install 'specedit[torch]'" in done.stderr


# -- what is wrong with a library --------------------------------------------------------


def test_a_tree_that_was_not_built_says_how(tmp_path):
    assert "hatch_build.py" in why_not(copied(tmp_path))


def test_an_installation_without_kernels_says_why(tmp_path):
    folder = copied(tmp_path)
    (folder / "not-built.txt").write_text("the compiler is at lunch\n")
    assert why_not(folder) == "the kernels were not compiled: the compiler is at lunch"
    with kernel("avx2"), pytest.raises(UsageError, match="at lunch"):
        load(folder)


@needs_library
@pytest.mark.parametrize("share", [0.0, 0.001, 0.25, 0.5, 0.75])
def test_a_library_that_is_cut_short_is_not_used(share, tmp_path):
    path = copied(tmp_path, with_library=True) / library_name()
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    assert "does not load" in why_not(tmp_path)


def test_another_library_is_not_used(tmp_path):
    shutil.copy(_ctypes.__file__, copied(tmp_path) / library_name())
    assert "does not load" in why_not(tmp_path) and "specedit_version" in why_not(tmp_path)


@needs_library
def test_a_library_of_other_sources_is_not_used(tmp_path):
    folder = copied(tmp_path, with_library=True)
    assert served(folder).name == HERE[0]
    with (folder / "rope.c").open("a") as file:
        file.write("/* newer */\n")
    assert "made from other sources" in why_not(folder)


# -- what is remembered of a machine --------------------------------------------------------


def remembered() -> Path:
    return Path(os.environ["SPECEDIT_HOME"]) / "kernels.json"


@needs_library
def test_what_the_self_check_found_is_asked_for_once(tmp_path):
    folder = copied(tmp_path, with_library=True)
    served(folder)
    known = json.loads(remembered().read_text())
    next(iter(known.values()))["wrong"][HERE[0]] = "it is tired"
    remembered().write_text(json.dumps(known))
    found = load(folder)
    if len(HERE) == 2:  # plain C is all that is left
        assert found == f"{HERE[0]} fails the self-check: it is tired"
    else:
        assert isinstance(found, Library) and found.name == HERE[1]
        assert found.note == f"{HERE[0]} fails the self-check: it is tired"
    with kernel(HERE[0]), pytest.raises(UsageError, match="it is tired"):
        load(folder)
    path = folder / library_name()
    other = folder / "other"
    other.write_bytes(path.read_bytes() + b"\0")  # other bytes: nothing is known of them
    other.replace(path)
    assert served(folder).name == HERE[0]


@needs_library
@pytest.mark.parametrize(
    "change",
    [
        *({"wrong": {HERE[0]: 1}}, {"wrong": None}, {"wrong": [HERE[0]]}, {"wrong": {}}),
        *({"version": 1}, {"version": ""}, {"fails": "it does not load"}, {"fails": 0}),
    ],
    ids=str,
)
def test_damaged_findings_are_made_again(change):
    served()
    sound = remembered().read_text()
    key, kept = next(iter(json.loads(sound).items()))
    remembered().write_text(json.dumps({key: {**kept, **change}}))
    assert served().name == HERE[0]
    assert remembered().read_text() == sound


@needs_library
def test_a_store_that_cannot_be_written_is_no_obstacle(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SPECEDIT_HOME", str(tmp_path / "file"))
    assert served().name == HERE[0]


# -- arguments --------------------------------------------------------


@needs_library
def test_arguments_out_of_range_are_refused_and_change_nothing(engine, tmp_path):
    passes, most = engine.passes, 2**31 - 1
    cache = passes.new_cache()
    passes.read(IDS[:20], cache)
    other = save("llama, no bias", tmp_path, num_key_value_heads=4)[1]
    their = open_exact(other, store=tmp_path).passes.new_cache()
    outputs = passes.outputs(32)
    for call in (
        lambda: cache.keep(-1, [0, 1]),
        lambda: cache.keep(10, [most]),
        lambda: cache.reserve(-1),
        lambda: cache.reserve(most),
        lambda: their.copy(cache, 10),
        lambda: passes.attention(cache, most, 1),
        lambda: passes.attention(cache, -1, 1),
        lambda: passes.attention(their, 0, 1),
        lambda: passes.products(0),
        lambda: passes.output_rows([1, 2], most, 32, *outputs._arrays),
        lambda: passes.output_rows([1, 2], 31, 32, *outputs._arrays),
    ):
        with pytest.raises(ValueError, match="refuse"):
            call()
    assert cache.ids == IDS[:20] and their.ids == []


# -- threads --------------------------------------------------------

IDS = [(7 * i * i + 3) % 517 for i in range(150)]


def digest(engine: ExactEngine) -> bytes:
    for _ in engine.begin(IDS[:90], audit=True):
        pass
    rows = engine.forward(IDS[90:]).rows
    assert rows is not None
    return b"".join(rows)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> ExactEngine:
    folder = tmp_path_factory.mktemp("model")
    files = save("qwen2, grouped, tied", folder)[1]
    return open_exact(files, store=folder)


@needs_library
def test_busy_neighbours_change_no_bit(engine):
    """More threads than cores, and other processes on all of them: nobody runs when expected."""
    engine.passes.use_threads(1)
    expected = digest(engine)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        for threads in (2, 3, 7):
            for _ in range(5):
                engine.passes.use_threads(threads)  # and as many begin and end
                assert digest(engine) == expected
    finally:
        for process in busy:
            process.kill()
            process.wait()


@needs_library
def test_threads_that_pass_at_once_wait_for_each_other(engine):
    passes, found = engine.passes, []
    ids = [IDS[at:] + IDS[:at] for at in (0, 40, 80)]
    expected = [passes.choose(given, passes.new_cache(), rows=False)[0] for given in ids]

    def work(index: int) -> None:
        for _ in range(5):
            cache = passes.new_cache()
            if index == 2:
                passes.use_threads(2)
            found.append(passes.choose(ids[index], cache, rows=False)[0] == expected[index])

    threads = [threading.Thread(target=work, args=(index,)) for index in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 15


@needs_library
def test_a_long_pass_says_how_far_it_is_and_can_be_ended(engine, monkeypatch):
    monkeypatch.setattr("specedit.engines.exact.kernels.passes.LONG_PASS_S", 1e-5)
    ids = IDS * 3
    engine.cache.crop(0)
    done = [event.done for event in engine.begin(ids)]
    assert done == sorted(done) and done[-1] == len(ids) - 1
    expected = digest(engine)
    for _ in range(200):  # on a busy machine a small pass may end before anybody looks
        engine.cache.crop(0)
        steps = engine.begin(ids)
        next(steps)
        middle = 0 < next(steps).done < len(ids) - 1
        steps.close()
        if middle:
            break
    assert middle, "in the middle of its only pass, too"
    assert engine.length == 0
    assert digest(engine) == expected


ENDS_IN_A_PASS = """
import sys, threading, time
from pathlib import Path
from specedit.engines.exact.engine import open_exact
from specedit.models.store import ModelFiles
engine = open_exact(ModelFiles("small", Path(sys.argv[1]), "folder"), store=Path(sys.argv[1]))
engine.passes.use_threads(2)
begun = threading.Event()
def work():
    while True:
        list(engine.begin(list(range(400))))
        begun.set()
threading.Thread(target=work, daemon=True).start()
begun.wait(60)
"""


@needs_library
def test_a_process_ends_well_while_a_thread_is_in_a_pass(tmp_path):
    """What a pass works in was freed at exit under its hands: two of three ended with SIGSEGV."""
    save("qwen2, grouped, tied", tmp_path)
    given = [sys.executable, "-c", ENDS_IN_A_PASS, str(tmp_path)]
    for _ in range(4):
        assert subprocess.run(given, capture_output=True, check=False).returncode == 0


def _child(engine: ExactEngine, expected: bytes) -> None:
    found = digest(engine)
    engine.passes.use_threads(2)  # the threads of the parent's pool are not waited for
    sys.exit(0 if found == expected == digest(engine) else 1)


@needs_library
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are never copied here")
def test_a_copied_process_has_threads_of_its_own(engine):
    engine.passes.use_threads(3)
    expected = digest(engine)
    process = multiprocessing.get_context("fork").Process(target=_child, args=(engine, expected))
    process.start()
    process.join(60)
    ended = process.exitcode
    process.kill()
    assert ended == 0
    assert digest(engine) == expected
