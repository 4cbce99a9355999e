"""`specedit doctor`: what works on this machine, and what to do where it does not."""

from __future__ import annotations

from dataclasses import asdict

from specedit.cli.options import AsJson
from specedit.cli.streams import put, put_object
from specedit.errors import DONE, FAILED


def doctor(as_json: AsJson = False) -> int:
    """Show what works on this machine, and what to do where it does not; exit 2 if edits fail."""
    from specedit.machine_check import STOPS, lines

    found = list(lines())
    works = all(line.state != STOPS for line in found)
    if as_json:
        put_object({"works": works, "lines": [asdict(line) for line in found]})
    else:
        for line in found:
            put(f"{line.state:<6} {line.topic:<10} {line.text}\n")
            if line.advice:
                put(f"{'':18}{line.advice}\n")
    return DONE if works else FAILED
