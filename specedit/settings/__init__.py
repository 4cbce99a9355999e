"""Settings: what can be chosen, who may choose it, and where each value came from.

`table` (every name, default, help and kind) <- `checks` (is this a value of it?) <- `folder` (the
user's own file) and `trust` (which repositories' words count) <- `layers` (flag over variable over
repository over user's file over default). Nobody else types a default.
Knows no model, no terminal, no file but pyproject.toml and the user's own.
"""

from __future__ import annotations

from specedit.settings.checks import checked as checked
from specedit.settings.layers import NOT_SETTINGS as NOT_SETTINGS
from specedit.settings.layers import Resolved as Resolved
from specedit.settings.layers import find_pyproject as find_pyproject
from specedit.settings.layers import here as here
from specedit.settings.layers import resolve as resolve
from specedit.settings.table import Settings as Settings
from specedit.settings.table import names as names
from specedit.settings.table import nearest as nearest
