"""The plugin in more than one process: the same texts in as few steps, however vLLM is split.

A tiny random model, or the one of the folder that VLLM_TEST_MODEL names; two nodes are two
processes on loopback.
"""

import contextlib
import os
import sys
from pathlib import Path

import pytest
from vllm_server import Vllm, free_port, serving, speaking, until_terminated

pytestmark = [pytest.mark.vllm, pytest.mark.long]
PLAIN = ("--dtype", "float32", "--enforce-eager", "--max-model-len", "1024", "--max-num-seqs", "8")
TEXTS = ("Username = 1", "x y z", "héé 😀")
SIZE = 60


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    named = os.environ.get("VLLM_TEST_MODEL")
    return Path(named) if named else speaking(tmp_path_factory.mktemp("speaking"))


def asked(server: Vllm, predictions: dict[str, str]) -> tuple[dict[str, str], int]:
    """The answers, and the steps that they took."""
    before, result = server.steps(), {}
    for text in TEXTS:
        guess = predictions.get(text)
        fields = {"prediction": {"type": "content", "content": guess}} if guess else {}
        answer = server.chat(text, max_tokens=SIZE, temperature=0, **fields)
        assert answer.status == 200, answer.body
        result[text] = answer.json["choices"][0]["message"]["content"]
    return result, server.steps() - before


@pytest.fixture(scope="module")
def alone(
    model: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, str], tuple[int, int]]:
    """What one process writes, and its steps without predictions and with right ones."""
    log = tmp_path_factory.mktemp("alone") / "log"
    with serving(model, log, *PLAIN, "--distributed-executor-backend", "uni") as server:
        texts, plain = asked(server, {})
        again, predicted = asked(server, texts)
    assert again == texts
    return texts, (plain, predicted)


WAYS = ["tensor parallel", "data parallel", "two nodes"]


@pytest.mark.parametrize("way", WAYS)
def test_texts_and_steps_are_those_of_one_process(model, alone, tmp_path, way):
    texts, steps = alone
    flags = [*PLAIN]
    with contextlib.ExitStack() as stack:
        if way == "data parallel":
            flags += ["--data-parallel-size", "2"]
        else:
            flags += ["--tensor-parallel-size", "2"]
        if way == "two nodes":
            flags += ["--nnodes", "2", "--master-addr", "127.0.0.1"]
            flags += ["--master-port", str(free_port())]
            other = [sys.executable, "-m", "specedit", "vllm", "serve", str(model), "--headless"]
            other += [*flags, "--node-rank", "1"]  # another machine of the same server
            variables = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1"}
            stack.enter_context(until_terminated(other, tmp_path / "other", variables))
            flags += ["--node-rank", "0"]
        server = stack.enter_context(serving(model, tmp_path / "log", *flags))
        result, plain = asked(server, {})
        assert result == texts
        again, predicted = asked(server, texts)
        assert again == texts
        print(f"{way}: {plain} steps without predictions, {predicted} with; one process {steps}")
        # Widths follow what steps cost, and two processes' steps cost something else.
        assert plain >= 2 * predicted and predicted <= 1.5 * steps[1]
