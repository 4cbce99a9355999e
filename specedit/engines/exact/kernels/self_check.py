"""The self-check of a library on this machine: run once, its result kept in the store.

A variant that differs from plain C in a bit, or crashes, is excluded before it is used. The check
runs in a process of its own (probe.py).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import platform
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from specedit.files import atomic, stored

KEPT = "kernels.json"
PROBE = Path(__file__).with_name("probe.py")
MACHINES = 8  # most results that are kept, of machines and libraries that share a store
TIMEOUT = 120  # seconds; it takes less than one on an idle machine
CPUINFO = 16384  # bytes of it that are read: one processor's name and features


@dataclass(frozen=True)
class Findings:
    """The result of the self-check of a library."""

    version: str = ""
    fails: str = ""  # why it does not load
    wrong: dict[str, str] | None = None  # variant -> what is wrong with it; "" is nothing

    def of(self, variant: str) -> str:
        return (self.wrong or {}).get(variant, "it has not been checked")


def findings(library: Path, store: Path, *, again: bool = False) -> Findings:
    """The kept result for these very bytes on this processor, or a new one."""
    key, kept = _key(library), stored.read(store / KEPT, dict[str, Findings]) or {}
    known = kept.pop(key, None)
    if known is not None and known.wrong is not None and not known.fails and not again:
        return known
    found = _probe(library)
    if not found.fails:  # a file may load later; what a processor computes stays the same
        recent = dict([*kept.items(), (key, found)][-MACHINES:])
        text = json.dumps({name: asdict(one) for name, one in recent.items()}, indent=1)
        with contextlib.suppress(OSError):  # not kept: run again next time
            atomic.whole(store / KEPT, text.encode())
    return found


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
    for line in done.stdout.splitlines():
        try:
            lines.append(json.loads(line))
        except ValueError:
            break
    return lines, _ending(done.returncode, done.stderr)


def _ending(code: int, stderr: str) -> str:
    if code == 0:
        return ""
    if code < 0:
        try:
            return f"the process ends with {signal.Signals(-code).name}"
        except ValueError:
            return f"the process ends with signal {-code}"
    last = stderr.strip().splitlines()[-1:] or [""]
    return f"the process ends with {code:#x} {last[0]}".strip()


def _key(library: Path) -> str:
    """These bytes and this processor. Neither the file's place nor its date says what it computes:
    a new version of the package often has the same library."""
    code = hashlib.sha256(library.read_bytes()).hexdigest()[:32]
    processor = hashlib.sha256(_processor().encode()).hexdigest()[:16]
    return f"{code} | {processor}"


def _processor() -> str:
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as file:
            lines = file.read(CPUINFO).split("\n\n")[0].splitlines()
    except OSError:
        return system
    named = ("model name", "flags", "Features", "CPU part", "CPU implementer")
    return " ".join([system, *(line for line in lines if line.startswith(named))])
