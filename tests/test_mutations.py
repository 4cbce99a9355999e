"""Eleven mutations, one for each guarantee: the default tests turn red with each of them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# By guarantee: a module, what stands there, what a mistake makes of it, and tests that must fail.
MUTATIONS = {
    "1 a draft changes the text": (
        *("decode/loop.py", "range(common(ids, choices.ids) + 1)", "range(len(choices.ids))"),
        "decode/test_trees.py",
    ),
    "2 every draft is offered": (
        *("decode/width.py", "return max(self._free, affordable, 0)", "return self._widest - 1"),
        "test_guarantees.py decode/test_predictions.py decode/test_trees.py decode/test_merge.py",
    ),
    "3 another program's change is lost": (
        *("files/atomic.py", "if file.read() != data:", "if not file:"),
        "files/test_atomic.py files/test_source.py",
    ),
    "4 messages are on stdout": (
        *("cli/streams.py", "sys.stderr), file=sys.stderr, flush", "sys.stderr), flush"),
        "cli/test_cli_edit.py",
    ),
    "5 a filter that fails returns nothing": (
        *("cli/__init__.py", "        copy_stdin()  # guarantee 5", "        pass"),
        "cli/test_cli_edit.py",
    ),
    "6 a repository names a server": (
        *("settings/table.py", "server: str = _restricted(", "server: str = _open("),
        "settings/test_trust.py",
    ),
    "7 the command line imports torch": (
        *("cli/__init__.py", "import contextlib\n", "import contextlib\n\nimport torch\n"),
        "test_architecture.py",
    ),
    "8 a choice depends on chance": (
        *(
            "engines/sampling.py",
            'struct.pack("<qq", seed, position)',
            "__import__('os').urandom(16)",
        ),
        "decode/test_sampling.py",
    ),
    "9 a try is not journalled": (
        *("files/recorder.py", "self._recorder.write_all(texts)", "list(map(_write, texts))"),
        "files/test_trial.py",
    ),
    "10 every setting is open": (
        *("settings/table.py", 'bool(entries()[name]["kind"] == RESTRICTED)', "False"),
        "settings/test_trust.py",
    ),
    "11 definitions disappear": (
        *("check/answer.py", "if not checks.may_remove and", "if checks.may_remove and"),
        "check/test_check.py",
    ),
}
EXTRA = {  # what a mutation needs in its module
    "files/recorder.py": "\n\ndef _write(text):\n    Path(text[0].path).write_bytes(text[1])\n"
}


@pytest.mark.long
@pytest.mark.parametrize("name", MUTATIONS)
def test_the_default_tests_turn_red(name, tmp_path):
    module, old, new, files = MUTATIONS[name]
    skipped = shutil.ignore_patterns(".git", "__pycache__", ".*_cache")
    shutil.copytree(ROOT, tmp_path / "copy", ignore=skipped, symlinks=True)
    path = tmp_path / "copy" / "specedit" / module
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new) + EXTRA.get(module, ""), "utf-8")
    tests = [f"tests/{file}" for file in files.split()]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-n",
            "0",
            "-x",
            "-m",
            "not long and not real",
            *tests,
        ],
        cwd=tmp_path / "copy",
        env={**os.environ, "PYTHONPATH": str(tmp_path / "copy")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout[-2000:]  # 1: tests failed
