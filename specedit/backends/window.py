"""How many ids a server takes, prompt and answer together: asked of one that the user named.

vLLM says it in its list of models; where nobody says it, nobody knows. Sends no text.
"""

from __future__ import annotations

import json
import urllib.request
from http.client import HTTPException
from typing import Any

from specedit.backends.remote import PROFILES, NoRedirect, address, api_key
from specedit.settings import Settings

PROFILE = "vllm"  # the one whose servers say it
PATIENCE_S = 5.0
LARGEST = 1 << 20  # bytes of a list of models
MOST = 1 << 24  # ids that anybody's window has


def window(settings: Settings) -> int | None:
    """The window of the model that `--server URL` serves; None where it is not told."""
    if settings.server in ("auto", "off") or settings.profile != PROFILE:
        return None
    parts, host = address(settings.server)
    base = settings.server.rstrip("/")
    url = (base if parts.path.strip("/") else f"{base}/v1") + "/models"
    lent = "server" in settings.from_repository
    key = "" if lent else api_key(PROFILES[PROFILE], host, parts.scheme == "https")
    headers = {"Authorization": f"Bearer {key}".encode().decode("latin-1")} if key else {}
    try:
        request = urllib.request.Request(url, headers=headers)
        with urllib.request.build_opener(NoRedirect).open(request, timeout=PATIENCE_S) as answer:
            found = json.loads(answer.read(LARGEST))
    except (OSError, HTTPException, ValueError, RecursionError):
        return None  # whether it serves at all is for the edit itself to say
    return _told(found, settings.model)


def _told(found: Any, model: str) -> int | None:
    """What the list says of this model, or of the only one."""
    rows = found.get("data") if isinstance(found, dict) else None
    rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    named = [row for row in rows if row.get("id") == model] or (rows if len(rows) == 1 else [])
    size = named[0].get("max_model_len") if named else None
    return size if type(size) is int and 0 < size <= MOST else None
