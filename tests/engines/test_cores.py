"""A pass works on the performance cores of one NUMA node, of those that this process may use."""

import ctypes
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specedit.engines.cores import CPU_SET, Threads, default_threads, thread_count

Tree = dict[str, str]
SLOW, TWINS, NODES, LIMIT = (
    "efficiency cores",
    "second threads of cores",
    "other NUMA nodes",
    "cores beyond the container's CPU limit",
)


def processors(siblings: list[str], capacities: tuple[int, ...] = ()) -> Tree:
    """Each logical processor's siblings, and what ARM says of its speed."""
    tree = {f"cpu{at}/topology/thread_siblings_list": text for at, text in enumerate(siblings)}
    tree |= {f"cpu{at}/cpu_capacity": str(number) for at, number in enumerate(capacities)}
    return {f"devices/system/cpu/{path}": text for path, text in tree.items()}


def nodes(*lists: str) -> Tree:
    return {f"devices/system/node/node{at}/cpulist": text for at, text in enumerate(lists)}


def single(count: int) -> list[str]:
    return [str(at) for at in range(count)]


# 2 performance cores of two threads each, and 4 efficiency cores
HYBRID = processors(["0-1", "0-1", "2-3", "2-3", "4", "5", "6", "7"]) | {
    "devices/cpu_core/cpus": "0-3",
    "devices/cpu_atom/cpus": "4-7",
}
SERVER = processors([f"{at % 4},{at % 4 + 4}" for at in range(8)]) | nodes("0-1,4-5", "2-3,6-7")
V2, V1 = "fs/cgroup/cpu.max", "fs/cgroup/cpu/cpu.cfs_{}_us"


def made(tree: Tree, folder: Path) -> Path:
    for name, text in tree.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n", "ascii")
    return folder


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's sysfs")
@pytest.mark.parametrize(
    ("tree", "allowed", "count", "left_out"),
    [
        (processors(single(4)), range(4), 4, ()),
        (processors(["0,2", "1,3", "0,2", "1,3"]), range(4), 2, (TWINS,)),
        (processors(["0-1", "0-1", "2-3", "2-3"]), range(3), 2, (TWINS,)),
        (processors(["0,2", "1,3", "0,2", "1,3"]), [1], 1, ()),
        ({}, range(3), 3, ()),
        (HYBRID, range(8), 2, (SLOW, TWINS)),
        (HYBRID, range(2, 6), 1, (SLOW, TWINS)),
        (HYBRID, range(4, 8), 4, ()),
        (SERVER, range(8), 2, (TWINS, NODES)),
        (SERVER, range(2, 4), 2, ()),
        (SERVER, range(1, 4), 2, (NODES,)),
        (processors(single(3)) | nodes("0-2", ""), range(3), 3, ()),
        (processors(single(8), (462,) * 4 + (1024,) * 4), range(8), 4, (SLOW,)),
        (processors(single(8), (572,) * 4 + (1024,) * 4), range(8), 4, (SLOW,)),
        (processors(single(8), (718,) * 4 + (1024,) * 4), range(8), 8, ()),
        (processors(single(8), (462,) * 4 + (1024,) * 4), range(4), 4, ()),
        (processors(single(4)) | {V2: "250000 100000"}, range(4), 2, (LIMIT,)),
        (processors(single(4)) | {V2: "50000 100000"}, range(4), 1, (LIMIT,)),
        (processors(single(4)) | {V2: "800000 100000"}, range(4), 4, ()),
        (processors(single(4)) | {V2: "max 100000"}, range(4), 4, ()),
        (
            processors(single(4)) | {V1.format("quota"): "200000", V1.format("period"): "100000"},
            range(4),
            2,
            (LIMIT,),
        ),
        (
            processors(single(4)) | {V1.format("quota"): "-1", V1.format("period"): "100000"},
            range(4),
            4,
            (),
        ),
        (processors(single(4)) | nodes("0-x"), range(4), 4, ()),
    ],
    ids=[
        *("single", "two threads", "pinned", "one", "a system that does not tell"),
        *("hybrid", "hybrid, pinned", "hybrid, efficiency cores only"),
        *("two nodes", "one of two nodes", "the larger node", "a node of memory only"),
        *("big and little", "Apple M2", "big and middle", "little only"),
        *("limit", "less than one", "high limit", "no limit", "old limit", "no old limit"),
        "a file that is not understood",
    ],
)
def test_the_default_on_linux(tree, allowed, count, left_out, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(allowed))
    assert default_threads(made(tree, tmp_path)) == (count, left_out)


@pytest.mark.parametrize(
    ("sets", "count", "left_out"),
    [
        ([(0, 0, 0, 0), (0, 0, 0, 0), (0, 1, 0, 0)], 2, (TWINS,)),
        ([(0, 0, 0, 1), (0, 1, 0, 1), (0, 2, 0, 0), (0, 3, 0, 0), (0, 4, 0, 0)], 2, (SLOW,)),
        ([(0, 0, 0, 0), (0, 1, 0, 0), (1, 0, 0, 0), (1, 1, 0, 0), (1, 2, 0, 0)], 3, (NODES,)),
        ([], 7, ()),
    ],
    ids=["two threads", "hybrid", "two nodes", "a system that does not tell"],
)
def test_the_default_on_windows(sets, count, left_out, tmp_path, monkeypatch):
    records = b"".join(CPU_SET.pack(32, *numbers).ljust(32, b"\0") for numbers in sets)

    def fill(buffer: Any, room: Any, size: Any, process: object, flags: int) -> bool:
        size._obj.value = len(records)
        if buffer is not None:
            ctypes.memmove(buffer, records, len(records))
        return buffer is not None and bool(records)

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    kernel = SimpleNamespace(GetSystemCpuSetInformation=fill)
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)
    assert default_threads(tmp_path) == (count, left_out)


@pytest.mark.parametrize(
    ("answers", "count", "left_out"),
    [
        ({b"hw.physicalcpu": 10, b"hw.perflevel0.physicalcpu": 8}, 8, (SLOW,)),
        ({b"hw.physicalcpu": 4}, 4, ()),
        ({}, 7, ()),
    ],
    ids=["two kinds", "Intel", "a system that does not tell"],
)
def test_the_default_on_macos(answers, count, left_out, tmp_path, monkeypatch):
    def answer(name: bytes, value: Any, *more: object) -> int:
        value._obj.value = answers.get(name, 0)
        return 0 if name in answers else -1

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace(sysctlbyname=answer))
    assert default_threads(tmp_path) == (count, left_out)


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's sysfs")
def test_doctor_says_what_the_default_leaves_out(inside, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    threads = default_threads(made(HYBRID, tmp_path))
    monkeypatch.setattr("specedit.machine_check.default_threads", lambda: threads)
    text = inside("doctor", env={"SPECEDIT_THREADS": "0"}).stdout.decode()
    assert "2 of 8; left out: efficiency cores, second threads of cores" in text
    text = inside("doctor", env={"SPECEDIT_THREADS": "1"}).stdout.decode()
    assert "1 of 8" in text and "left out" not in text


@pytest.mark.parametrize(("wanted", "expected"), [(0, 2), (1, 1), (2, 2), (4, 4), (4096, 4)])
def test_threads_are_bounded_by_the_cores(wanted, expected, monkeypatch):
    monkeypatch.setattr("specedit.engines.cores.logical_cores", lambda: 4)
    monkeypatch.setattr("specedit.engines.cores.default_threads", lambda: Threads(2, ()))
    assert thread_count(wanted) == expected
