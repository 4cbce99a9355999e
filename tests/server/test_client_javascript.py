"""The well-known JavaScript example against our server: nothing is changed but the address.

`openai` for node comes from npm; SPECEDIT_NODE_MODULES names a folder that has it.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from warm_server import Running, running

pytestmark = pytest.mark.tools

WHERE = os.environ.get("SPECEDIT_NODE_MODULES")
CODE = "class User {\n  firstName = '';\n  username = '';\n}\n"
EXAMPLE = Path(__file__).with_name("example.mjs").read_text("utf-8")


@pytest.fixture
def example(tmp_path: Path) -> Path:
    if shutil.which("node") is None or not WHERE or not (Path(WHERE) / "openai").is_dir():
        pytest.skip("node or its openai package is not here (SPECEDIT_NODE_MODULES)")
    (tmp_path / "node_modules").symlink_to(WHERE)
    (tmp_path / "example.mjs").write_text(EXAMPLE)
    return tmp_path


@pytest.mark.parametrize("more", [{}, {"stream": True}], ids=["whole", "streamed"])
def test_the_example_runs_as_it_is(example, aliased, more):
    done = subprocess.run(
        ["node", "example.mjs"],
        cwd=example,
        capture_output=True,
        text=True,
        timeout=60,
        env={
            **os.environ,
            "OPENAI_BASE_URL": f"{aliased.record.url}/v1",
            "OPENAI_API_KEY": "none",
            "CODE": CODE,
            "MORE": json.dumps(more),
        },
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert {one["model"] for one in lines} == {"scripted"}
    choices = [choice for one in lines for choice in one["choices"]]
    reported = (one.get("message") or one["delta"] for one in choices)
    text = "".join(one.get("content") or "" for one in reported)
    assert "email" in text and "username" not in text


@pytest.fixture
def aliased(tmp_path: Path) -> Iterator[Running]:
    script = {"replace": [["username", "email"]], "answer": CODE.replace("username", "email")}
    with running(tmp_path, script, aliases=("gpt-4o", "gpt-4.1")) as found:
        yield found


def test_the_names_are_listed_and_others_refused(aliased):
    listed = [one["id"] for one in aliased.ask("GET", "/v1/models").json["data"]]
    assert listed == ["scripted", "gpt-4o", "gpt-4.1"]
    assert aliased.ask("GET", "/v1/models/gpt-4.1").status == 200
    assert aliased.chat("x", model="gpt-4.1").json["model"] == "scripted"
    assert aliased.chat("x", model="gpt-3.5").status == 404
