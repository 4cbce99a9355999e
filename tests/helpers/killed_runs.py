"""A rename of three files whose process is killed."""

import os
from collections.abc import Callable
from pathlib import Path

from faults import child, ended

from specedit.files import atomic
from specedit.files.recorder import Recorder
from specedit.files.source import read

NAMES = ("a.py", "b.py", "c.py")
OLD, NEW = b"username = 1\n", b"email = 1\n"


def held(tree: Path) -> list[bytes]:
    return [(tree / name).read_bytes() for name in NAMES]


def change(store: Path, tree: Path) -> None:
    texts = [(read(tree / name), NEW) for name in NAMES]
    Recorder(store, "rename").write_all(texts)


def die_at(number: int) -> None:
    """In a child: the process ends before its write of that number, or before the mark goes."""
    real, count = atomic.replace, 0

    def counted(*given: object, **more: object) -> None:
        nonlocal count
        if count == number:
            os._exit(9)
        count += 1
        real(*given, **more)  # type: ignore[arg-type]

    atomic.replace = counted  # type: ignore[assignment]
    if number == len(NAMES):
        os_unlink = Path.unlink
        Path.unlink = (  # type: ignore[method-assign]
            lambda path, **more: os._exit(9) if path.name == "unfinished" else os_unlink(path)
        )


def killed(number: int, work: Callable[[], None]) -> None:
    def dies() -> None:
        die_at(number)
        work()

    assert ended(child(dies)) == 9
