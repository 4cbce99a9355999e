"""The command line before a vLLM server with the plugin: `--with`, places, tries, its figures.

The server is a recorded endpoint that says what vLLM says; `test_contract` asks the real one.
"""

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from endpoint import Endpoint, listening, stream
from fruits import python
from git_repository import Repository

WINDOW = 65536
MODEL = "Qwen/Qwen2.5-Coder-32B-Instruct"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with listening() as result:
        result.listed = json.dumps({"data": [{"id": MODEL, "max_model_len": WINDOW}]}).encode()
        result.extra = {"x-specedit-exact": "no"}
        yield result


def reported(text: str) -> bytes:
    """The stream of an answer, with the figures that the plugin's server adds."""
    details = {"accepted_prediction_tokens": 31, "rejected_prediction_tokens": 2}
    usage = {"completion_tokens": 42, "prompt_tokens": 50, "completion_tokens_details": details}
    usage["prompt_tokens_details"] = {"cached_tokens": 25}
    return stream(text, usage=usage, drafts=(35, 30))


def fields(endpoint: Endpoint) -> list[str]:
    return ["--server", endpoint.url, "--profile", "vllm", "--model", MODEL]


def words(request: dict[str, Any]) -> str:
    return "".join(message["content"] for message in request["messages"])


def said_of(request: dict[str, Any], change: Callable[[str], str]) -> bytes:
    """The prediction, changed: what a model that copies answers."""
    return reported(change(request["prediction"]["content"]))


def test_the_report_says_model_steps_accepted_and_cached(endpoint, inside, tmp_path):
    (tmp_path / "a.py").write_text("a = 1\n")
    endpoint.says = lambda request: said_of(request, lambda text: text.replace("1", "2"))
    done = inside("edit", "2", "a.py", "--json", *fields(endpoint), cwd=tmp_path)
    report = json.loads(done.stdout)
    (file,) = report["files"]
    assert (tmp_path / "a.py").read_text() == "a = 2\n"
    assert report["model"]["name"] == MODEL
    assert (file["passes"], file["tokens"]["reused"]) == (10, 25)
    assert file["prediction"]["accepted"] == 30 and file["tokens"]["completion"] == 40
    assert any("not exact there" in note for note in file["notes"])
    (tmp_path / "a.py").write_text("a = 1\n")
    done = inside("edit", "2", "a.py", *fields(endpoint), cwd=tmp_path)
    shown = done.stderr.decode()
    assert "10 passes" in shown and "not exact there" in shown


def test_a_long_file_beside_is_shown_by_its_signatures(endpoint, inside, tmp_path):
    long = "def helper():\n    return 'a helper'\n\n\n" * 300
    (tmp_path / "a.py").write_text("a = 1\n")
    (tmp_path / "other.py").write_text(long)
    endpoint.says = lambda request: said_of(request, lambda text: text.replace("1", "2"))
    wanted = ("edit", "2", "a.py", "--with", "other.py", "--diff")
    done = inside(*wanted, *fields(endpoint), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert long not in words(endpoint.requests[0]) and "def helper" in words(endpoint.requests[0])
    assert endpoint.paths == ["/v1/chat/completions"]


def test_places_of_a_large_file_go_one_by_one_each_with_its_own_prediction(
    endpoint, inside, tmp_path
):
    text = python()
    (tmp_path / "a.py").write_text(text)
    endpoint.says = lambda request: said_of(
        request, lambda part: part.replace("total = 4\n", "total = 99\n")
    )
    instruction = "Let weigh_lemon_4 start at 99"
    done = inside("edit", instruction, "a.py", "--json", *fields(endpoint), cwd=tmp_path)
    (file,) = json.loads(done.stdout)["files"]
    assert (tmp_path / "a.py").read_text() == text.replace("total = 4\n", "total = 99\n")
    assert [one["symbol"] for one in file["regions"]] == ["weigh_lemon_4"]
    assert len(endpoint.requests) == 1
    guess = endpoint.requests[0]["prediction"]["content"]
    assert "def weigh_lemon_4" in guess and len(guess) < len(text) / 5
    assert file["regions"][0]["passes"] == 10


@pytest.mark.skipif(sys.platform == "win32", reason="the command is sh's")
def test_a_further_try_has_the_earlier_answers_as_predictions_too(
    endpoint, inside, tmp_path, monkeypatch
):
    tree = Repository.init(tmp_path / "tree")
    tree.commit({"calc.py": "def add(a, b):\n    return a - b\n"})
    for name, value in tree.env.items():
        monkeypatch.setenv(name, value)
    answers = ["a ** b", "0 + a + b"]  # each of another size: no second passes between
    endpoint.says = lambda request: reported(
        f"```python\ndef add(a, b):\n    return {answers[min(len(endpoint.requests), 2) - 1]}\n```"
    )
    test = "grep -q 'a + b' calc.py || { echo 'calc.py:2:1: error: no sum'; exit 1; }"
    done = inside(
        *("edit", "Mend add", "calc.py", "--json", "--test", test, "--tries", "4"),
        *fields(endpoint),
        cwd=tree.root,
    )
    assert done.returncode == 0, done.stderr
    (file,) = json.loads(done.stdout)["files"]
    assert tree.read("calc.py") == "def add(a, b):\n    return 0 + a + b\n"
    assert [one["kept"] for one in file["tries"]] == [False, True]
    assert [one["passes"] for one in file["tries"]] == [10, 10]
    first, second = endpoint.requests
    assert [one["content"] for one in first["predictions"]] == [
        "```\ndef add(a, b):\n    return a - b\n"  # how an answer without a language begins
    ]
    guesses = [second["prediction"], *second.get("predictions", ())]
    assert any("a ** b" in one["content"] for one in guesses)
    assert any("a - b" in one["content"] for one in guesses)
    assert (first["temperature"], second["temperature"] > 0) == (0, True) and "seed" in second
