"""What this machine's self-check found about a library: asked once, kept in the store.

Knows the process that checks (probe.py) and where its findings are kept. A variant that computes
anything else than plain C does, or takes the process down, is found here before a number is used.
Does not know which variant is wanted.
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
MACHINES = 8  # that share a store, or files that take turns: so many are remembered
PATIENCE = 120  # seconds: a second at most, on a machine that does something else too
CPUINFO = 16384  # bytes of it that tell one processor's name and features


@dataclass(frozen=True)
class Findings:
    """What the self-check says of a library."""

    version: str = ""
    fails: str = ""  # why it does not load
    wrong: dict[str, str] | None = None  # variant -> what is wrong with it; "" is nothing

    def of(self, variant: str) -> str:
        return (self.wrong or {}).get(variant, "it has not been checked")


def findings(library: Path, store: Path, *, again: bool = False) -> Findings:
    """The kept findings about these very bytes on this processor, or new ones."""
    key, kept = _key(library), stored.read(store / KEPT, dict[str, Findings]) or {}
    known = kept.pop(key, None)
    if known is not None and known.wrong is not None and not known.fails and not again:
        return known
    found = _probe(library)
    if not found.fails:  # why a file does not load may pass; what a processor computes does not
        recent = dict([*kept.items(), (key, found)][-MACHINES:])
        text = json.dumps({name: asdict(one) for name, one in recent.items()}, indent=1)
        with contextlib.suppress(OSError):  # not kept: asked again next time
            atomic.whole(store / KEPT, text.encode())
    return found


def _probe(library: Path) -> Findings:
    """Run the self-check, once more without each variant that takes the process down."""
    version = ""
    wrong: dict[str, str] = {}
    while True:
        said, ended = _run(library, list(wrong))
        begun = ""
        for line in said:
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
        if not begun:  # it ended while the library was loaded, or before anything began
            return Findings(fails=ended)
        wrong[begun] = f"{ended} when it is used"


def _run(library: Path, without: list[str]) -> tuple[list[dict[str, str]], str]:
    """What the process said, and how it ended where it did not end well."""
    command = [sys.executable, "-I", "-S", str(PROBE), str(library), *without]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return [], f"the self-check takes more than {PATIENCE} seconds"
    except OSError as error:
        return [], f"the self-check cannot be run: {error}"
    said = []
    for line in done.stdout.splitlines():
        try:
            said.append(json.loads(line))
        except ValueError:
            break
    return said, _ending(done.returncode, done.stderr)


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
    """These bytes and this processor: of others, nothing is known. Where the file lies and when it
    was written says nothing of what it computes: a new version often brings the same one."""
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
    told = ("model name", "flags", "Features", "CPU part", "CPU implementer")
    return " ".join([system, *(line for line in lines if line.startswith(told))])
