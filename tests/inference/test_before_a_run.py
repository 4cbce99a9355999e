"""What a command says before it asks a model: the run is long."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import at_a_terminal

from specedit.cli import run_command
from specedit.decode import cost
from specedit.decode.cost import TYPICAL, Curve
from specedit.edit.job import Job, plan_edit
from specedit.files.source import Source
from specedit.inference import estimate
from specedit.models import catalogue
from specedit.models.store import store_path
from specedit.settings import Settings

Script = Callable[..., Path]


def job(text: str, **settings: object) -> Job:
    values = replace(Settings(), **settings)  # type: ignore[arg-type]
    return plan_edit(Source.from_bytes("a.py", text.encode()), "Do it", values)


@pytest.mark.parametrize("setting", [{"server": "http://x"}, {"device": "cuda"}, {"model": "./m"}])
def test_nothing_is_estimated_for_what_is_not_known(setting):
    assert estimate.run_seconds(job("x = 1\n"), (), replace(Settings(), **setting)) is None


@pytest.mark.parametrize(("weights", "times"), [("int8", 1), ("auto", 1), ("int4", 3)])
def test_the_estimate_is_that_of_the_weights_in_use(weights, times):
    entry = catalogue.find("qwen2.5-coder-1.5b")
    assert entry is not None
    for kind, factor in (("int8", 1), ("int4", 3)):
        curve = Curve.of((width, factor * seconds) for width, seconds in TYPICAL.points)
        key = f"{entry.sha256} exact {kind}, balanced, avx2 cpu 2"
        cost.save(store_path() / cost.CURVES_FILE, key, curve)
    settings = replace(Settings(), weights=weights, model=entry.name)
    plain = job("x = 1\n" * 100)
    seconds, _ = estimate.run_seconds(plain, (), settings) or (0.0, 0.0)
    assert seconds == pytest.approx(times * estimate.expected_seconds(plain, TYPICAL))


@pytest.fixture
def long(tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file whose edit counts as long."""
    script(replace=[["x", "y"]], rated=True)
    monkeypatch.setattr(run_command, "LONG_S", 0.0)
    monkeypatch.setattr(run_command, "SHORT", 0)
    monkeypatch.setattr(estimate, "expected_curve", lambda settings: TYPICAL)
    (tmp_path / "a.py").write_text("x = 1\n")
    return tmp_path


MESSAGE = re.compile(rb"specedit: about \d+ s for a.py; `--symbol NAME` takes about 7 s.")


def test_a_long_run_is_announced_in_one_line(long, inside):
    done = inside("edit", "Do it", "a.py", cwd=long)
    assert (done.returncode, len(MESSAGE.findall(done.stderr))) == (0, 1)
    assert not MESSAGE.search(inside("edit", "Do it", "a.py", "-q", cwd=long).stderr)


def test_a_large_file_is_asked_about_before_the_model_reads_anything(long, script):
    pytest.importorskip("pty")
    calls = script(replace=[["price", "cost"]], places="f3")
    text = "".join(f"def f{n}(price, rate):\n    return price * {n}\n\n\n" for n in range(400))
    (long / "a.py").write_text(text)
    code, shown = at_a_terminal(b"\n", "edit", "Round it up", "a.py", cwd=long)
    assert code == 2 and "for a.py; `--symbol NAME` takes about 7 s. Continue?" in shown
    assert not calls.exists(), "the model was not asked where the change belongs"
    code, shown = at_a_terminal(b"y\nn\nn\nn\n", "edit", "Round it up", "a.py", cwd=long)
    assert shown.count("Continue?") == 1 and calls.read_text().count("begin") > 1


@pytest.mark.parametrize(
    ("answer", "flags", "code", "text"),
    [(b"y\n", (), 0, "y = 1\n"), (b"\n", (), 2, "x = 1\n"), (b"", ("--yes",), 0, "y = 1\n")],
    ids=["yes", "no", "--yes"],
)
def test_at_a_terminal_the_user_decides_about_a_long_run(long, answer, flags, code, text):
    pytest.importorskip("pty")
    done, shown = at_a_terminal(answer, "edit", "Do it", "a.py", *flags, cwd=long)
    assert (done, (long / "a.py").read_text()) == (code, text)
    assert ("Continue? [y/N]" in shown) == (not flags)
