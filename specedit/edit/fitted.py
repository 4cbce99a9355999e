"""What was fitted to checked answers, by `ModelInfo.calibration` (`confidence.json`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("confidence.json")


@cache
def fits() -> Mapping[str, Mapping[str, Any]]:
    """The fit of each model that has one."""
    models: Mapping[str, Mapping[str, Any]] = json.loads(PATH.read_text("utf-8"))["models"]
    return models
