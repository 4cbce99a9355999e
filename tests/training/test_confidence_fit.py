"""A fit of confidence: from how many answers."""

import json
import sys
from pathlib import Path

import pytest

from specedit.edit.confidence import SIGNALS
from training import confidence


@pytest.mark.parametrize("count", [149, 150])
def test_a_fit_needs_150_answers(count, tmp_path, monkeypatch, capsys):
    path = Path(tmp_path, "answers.jsonl")
    signals = [0.5] * len(SIGNALS)
    rows = [
        {"id": n, "signals": signals, "status": "edited", "passed": n % 2 == 0, "diff": "a\u2028b"}
        for n in range(count)
    ]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]  # as the benchmarks write it
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["confidence", str(path)])
    if count < 150:
        with pytest.raises(SystemExit, match=r"149 answers .* a fit needs 150"):
            confidence.main()
    else:
        assert confidence.main() == 0
        assert "150 answers" in capsys.readouterr().out
