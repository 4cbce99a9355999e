"""Settings: their defaults, who may choose them, and where each value comes from.

`table` (name, default, help and kind of every setting; whether a value is valid) <- `layers` (flag
over variable over repository over the user's file over default; which repositories are trusted). No
other module states a default.
"""

from __future__ import annotations

from specedit.settings.layers import NOT_SETTINGS as NOT_SETTINGS
from specedit.settings.layers import Resolved as Resolved
from specedit.settings.layers import find_pyproject as find_pyproject
from specedit.settings.layers import here as here
from specedit.settings.layers import resolve as resolve
from specedit.settings.table import REMOVED as REMOVED
from specedit.settings.table import Settings as Settings
from specedit.settings.table import check_removed as check_removed
from specedit.settings.table import checked as checked
from specedit.settings.table import names as names
from specedit.settings.table import nearest as nearest
