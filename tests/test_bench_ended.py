"""A bench run that is told to end shows what it has measured until then."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from warm_server import until

CASE = {"filename": "a.py", "instruction": "x", "before": "one = 1\n", "after": "one = 2\n"}


@pytest.mark.skipif(os.name != "posix", reason="Windows ends processes without a word")
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_sigterm_ends_a_run_as_ctrl_c_does_with_what_it_has(
    script: Callable[..., Path], tmp_path: Path, sign: int
) -> None:
    calls = script(replace=[["1", "2"]], delay_s=0.01)
    cases = tmp_path / "cases.jsonl"
    lines = [json.dumps({"id": f"case {n}", **CASE}) + "\n" for n in range(500)]
    cases.write_text("".join(lines))
    command = [sys.executable, "-m", "specedit", "bench", str(cases), "--json"]
    with subprocess.Popen(
        [*command, "--against", "none", "--rounds", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as child:
        until(lambda: calls.exists() and len(calls.read_text().splitlines()) > 8)
        child.send_signal(sign)
        out, err = child.communicate(timeout=60)
    assert child.returncode == 0, err.decode()
    assert b"interrupted" in err
    assert 0 < len(json.loads(out)["cases"]) < len(lines)
