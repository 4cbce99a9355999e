"""The version; pyproject.toml says the same."""

from __future__ import annotations

VERSION = "1.0.0"
