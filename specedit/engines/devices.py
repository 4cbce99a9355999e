"""What this machine has: its processor, and what torch could do, without importing torch (1 s).

torch and transformers are the extra `specedit[torch]`. A yes to a GPU is a maybe; a no is a no.
"""

from __future__ import annotations

import platform
import re
import sys
from importlib.util import find_spec
from pathlib import Path

from specedit.errors import UsageError

# of Nvidia, of Windows' Linux, of AMD
DRIVERS = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg", "/dev/kfd")
BUILT_FOR = re.compile(r"^(cuda|hip)\b[^=]*=\s*['\"]", re.MULTILINE)


def require_torch(what: str, because: str = "") -> None:
    """An error that names the extra where `what` cannot run without it; `because`: why it runs."""
    missing = [name for name in ("torch", "transformers") if find_spec(name) is None]
    if missing:
        reason = f"{because}; " if because else ""
        raise UsageError(
            f"{reason}{what} needs {' and '.join(missing)}, which this installation lacks.",
            hint="pip install 'specedit[torch]'",
        )


def may_have_gpu() -> bool:
    """False where there is no torch, or no GPU for it."""
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return False
    if sys.platform == "darwin":
        return platform.machine() == "arm64"
    if sys.platform == "linux" and not any(Path(driver).exists() for driver in DRIVERS):
        return False
    try:
        version = Path(spec.origin).with_name("version.py").read_text("utf-8")
    except OSError:
        return True
    return BUILT_FOR.search(version) is not None


def processor_name() -> str:
    """The processor's name, or its architecture where the system does not name it."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            named = (line for line in lines if line.startswith("model name"))
            return next(named).partition(":")[2].strip()
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
