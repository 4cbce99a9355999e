"""Fitting how sure an edit is: what is written is what the tool then finds in a state."""

from __future__ import annotations

import json
import random
import re
import sys
from base64 import b64encode
from pathlib import Path

import numpy as np
import pytest

from specedit.edit import fitted
from specedit.edit.confidence import SIGNALS
from specedit.edit.review import projected
from training import confidence


def test_a_state_that_tells_right_from_wrong_is_found_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(1)
    lines = []
    for number in range(160):
        state = np.array([chance.gauss(0, 1) for _ in range(8)], np.float16)
        right = bool(state[2] > 0)
        row = {
            "id": str(number // 2),
            "signals": [chance.random() for _ in SIGNALS],
            "status": "would-edit",
            "verdict": "right" if right else "wrong",
            "state": b64encode(state.tobytes()).decode(),
        }
        lines.append(json.dumps(row))
    answers = tmp_path / "answers.jsonl"
    answers.write_text("\n".join(lines) + "\n")
    shipped = tmp_path / "confidence.json"
    shipped.write_text(json.dumps({"signals": [], "models": {}}))
    monkeypatch.setattr(fitted, "PATH", shipped)
    monkeypatch.setattr(confidence, "RIDGE", 10.0)
    monkeypatch.setattr(sys, "argv", ["confidence", str(answers), "--write"])
    assert confidence.main() == 0
    areas = dict(re.findall(r"area under the curve, (.*): (.*)\n", capsys.readouterr().out))
    assert float(areas["fit"]) > 0.85 > 0.65 > float(areas["without the review"])
    data = json.loads(shipped.read_text())
    (fit,) = data["models"].values()
    assert data["signals"] == list(SIGNALS) and fit["weights"][-1] > 0
    good, bad = (projected([0, 0, sign, 0, 0, 0, 0, 0], fit) for sign in (1, -1))
    assert good > 1 > -1 > bad
