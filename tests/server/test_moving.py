"""The manual's programs for those who move from OpenAI's Predicted Outputs run as they stand there.

`openai` for node comes from npm; SPECEDIT_NODE_MODULES names a folder that has it.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from warm_server import Running, running

from specedit import manual

WHERE = os.environ.get("SPECEDIT_NODE_MODULES")
CODE = "class User:\n    username = ''\n"
PAGE = (Path(manual.__file__).parent / "server.md").read_text()
SECTION = PAGE.partition("## Moving from OpenAI's predicted outputs")[2].partition("\n## ")[0]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    script = {"replace": [["username", "email"]], "answer": CODE.replace("username", "email")}
    with running(tmp_path, script, aliases=("gpt-4o", "gpt-4.1")) as found:
        (tmp_path / "user.py").write_text(CODE)
        yield found


def ran(server: Running, folder: Path, language: str, *command: str) -> str:
    """What a program of the manual prints, with the server's own address."""
    match = re.search(rf"```{language}\n(.*?)```", SECTION, re.DOTALL)
    assert match is not None and "http://127.0.0.1:8737" in match[1]
    program = folder / "program.mjs"
    program.write_text(match[1].replace("http://127.0.0.1:8737", server.record.url))
    env = {**os.environ, "OPENAI_API_KEY": "any"}
    done = subprocess.run(
        [*command, program], cwd=folder, capture_output=True, text=True, timeout=60, env=env
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def counts(printed: str) -> list[int]:
    names = ("accepted_prediction_tokens", "rejected_prediction_tokens")
    return [int(re.search(rf"{name}[:=] ?(\d+)", printed)[1]) for name in names]  # type: ignore[index]


def test_the_python_client_streams_and_its_last_chunk_counts_the_prediction(server, tmp_path):
    pytest.importorskip("openai")
    printed = ran(server, tmp_path, "python", sys.executable)
    text, _, usage = printed.rpartition("CompletionUsage")
    assert text == CODE.replace("username", "email")
    accepted, rejected = counts(usage)
    assert accepted > 10 and rejected > 0


@pytest.mark.tools
def test_the_javascript_client_gets_the_same_counts(server, tmp_path):
    if shutil.which("node") is None or not WHERE or not (Path(WHERE) / "openai").is_dir():
        pytest.skip("node or its openai package is not here (SPECEDIT_NODE_MODULES)")
    (tmp_path / "node_modules").symlink_to(WHERE)
    printed = ran(server, tmp_path, "javascript", "node")
    assert "email = ''" in printed and "username" not in printed
    accepted, rejected = counts(printed)
    assert accepted > 10 and rejected > 0


def test_the_names_are_listed_and_others_refused(server):
    listed = [model["id"] for model in server.ask("GET", "/v1/models").json["data"]]
    assert listed == ["scripted", "gpt-4o", "gpt-4.1"]
    assert server.ask("GET", "/v1/models/gpt-4.1").status == 200
    assert server.chat("x", model="gpt-4.1").json["model"] == "scripted"
    assert server.chat("x", model="gpt-3.5").status == 404
