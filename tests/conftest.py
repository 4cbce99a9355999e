"""Shared by all tests: a store of their own, no settings from outside, the real 0.5B model."""

import gc
import itertools
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import command_line
import pytest
import start.sitecustomize  # noqa: F401  (the scripted engine, here and in processes)
from command_line import Specedit
from effort import examples
from hypothesis import settings

# No deadline: how long one example takes depends on the machine.
settings.register_profile("specedit", examples(100), deadline=None)
settings.load_profile("specedit")


# Workers of pytest-xdist inherit the environment that `pytest_configure` has changed.
REAL_HOME = os.environ.setdefault("TESTS_REAL_HOME", os.environ.get("SPECEDIT_HOME", ""))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One process for a few named files and for groups that need the whole machine; otherwise one
    more than there are processors, since a test waits a fifth of its time."""
    files = [word for word in config.args if word.partition("::")[0].endswith(".py")]
    if "not real" not in config.option.markexpr or len(files) == len(config.args) <= 3:
        return 0
    return min((os.cpu_count() or 1) + 1, 4)


def pytest_configure(config: pytest.Config) -> None:
    """Build the tree's own kernels, and keep the user's store untouched.

    Tiny models are faster on one thread: they need a quarter of the processor time. The real model
    runs on all cores.
    """
    from kernel_sources import build_the_tree

    # Python keeps what it compiled: each process that a test starts saves 0.2 s.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job has it so
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if "not real" in config.option.markexpr:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.pop("SPECEDIT_KERNEL", None)
    os.environ["SPECEDIT_HOME"] = tempfile.mkdtemp(prefix="specedit-tests")
    build_the_tree()


def pytest_collection_finish() -> None:
    """What is here now stays: looking for garbage in it would take an eighth of the time."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(os.environ.pop("SPECEDIT_HOME"), ignore_errors=True)


SMALL = "qwen2.5-coder-0.5b"


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A new empty folder for every test.

    `tmp_path_factory.mktemp` lists all folders made before, which takes 13 ms at 4,000 tests.
    """
    root = tmp_path_factory.mktemp("homes")

    def folders() -> Iterator[Path]:
        for number in itertools.count():
            (folder := root / str(number)).mkdir()
            yield folder

    return folders()


@pytest.fixture(scope="session")
def _self_check() -> bytes:
    """What the kernels' self-check has found here: with an empty store it is run again."""
    path = Path(os.environ["SPECEDIT_HOME"]) / "kernels.json"
    return path.read_bytes() if path.exists() else b""


@pytest.fixture(autouse=True)
def _isolated(monkeypatch: pytest.MonkeyPatch, _homes: Iterator[Path], _self_check: bytes) -> None:
    """No test reads this machine's settings or writes to its store."""
    for name in list(os.environ):
        if name.startswith("SPECEDIT_") or name == "TESTS_SCRIPT":
            monkeypatch.delenv(name)
    folder = next(_homes)
    for name in ("home", "config"):
        (folder / name).mkdir()
        monkeypatch.setenv(f"SPECEDIT_{name.upper()}", str(folder / name))
    if _self_check:
        (folder / "home" / "kernels.json").write_bytes(_self_check)
    monkeypatch.setenv("SPECEDIT_SERVER", "off")


@pytest.fixture
def real_home(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store that holds the real 0.5B model, fetched when it is not there."""
    from specedit.models import resolve
    from specedit.models.store import store_path

    if REAL_HOME:
        monkeypatch.setenv("SPECEDIT_HOME", REAL_HOME)
    else:
        monkeypatch.delenv("SPECEDIT_HOME")
    home = store_path()
    resolve.resolve(SMALL, home=home)
    monkeypatch.setenv("SPECEDIT_MODEL", SMALL)
    return home


@pytest.fixture
def specedit() -> Specedit:
    """The command line, in this process."""
    return command_line.in_this_process


inside = specedit  # the same fixture by another name


@pytest.fixture
def process() -> Specedit:
    """The command line in a process of its own: for streams, signals, imports and exits."""
    return command_line.in_its_own_process


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Play a model: `script(replace=[[OLD, NEW]])`, `script(answer=TEXT)`; gives the calls file."""

    def play(**parts: object) -> Path:
        import json

        place, calls = tmp_path / "script.json", tmp_path / "calls"
        place.write_text(json.dumps({"calls": str(calls), **parts}), encoding="utf-8")
        monkeypatch.setenv("TESTS_SCRIPT", str(place))
        return calls

    return play
