"""Whether there may be a GPU that torch could use: asked without importing torch, which takes 1 s.

Knows what a driver and a build of torch leave on the disk. A yes is a maybe; a no is a no.
"""

from __future__ import annotations

import platform
import re
import sys
from importlib.util import find_spec
from pathlib import Path

# of Nvidia, of Windows' Linux, of AMD
DRIVERS = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg", "/dev/kfd")
BUILT_FOR = re.compile(r"^(cuda|hip)\b[^=]*=\s*['\"]", re.MULTILINE)


def may_have_gpu() -> bool:
    """False where this torch, or this machine, certainly has none."""
    if sys.platform == "darwin":
        return platform.machine() == "arm64"
    if sys.platform == "linux" and not any(Path(driver).exists() for driver in DRIVERS):
        return False
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return False
    try:
        said = Path(spec.origin).with_name("version.py").read_text("utf-8")
    except OSError:
        return True
    return BUILT_FOR.search(said) is not None
