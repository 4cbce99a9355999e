"""The scheduler inside vLLM's own engine: the same texts in fewer steps, whatever is predicted.

`test_contract` asks the whole server. Needs an environment with vLLM and pytest:
`python -m pytest -m vllm`. One tiny random model.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from vllm_server import VOCABULARY, tiny

pytestmark = pytest.mark.vllm
SIZE = 40  # ids of an answer


class Served:
    """vLLM's engine in this process, and how many steps it took."""

    def __init__(self, folder: Path, *, drafts: bool) -> None:
        from vllm import LLM

        from specedit.integrations.vllm import launch
        from specedit.integrations.vllm.drafting import MAX_DRAFT_IDS

        ours: dict[str, Any] = {}
        if drafts:
            method = {"method": "custom_class", "model": launch.PROPOSER}
            ours["scheduler_cls"] = launch.SCHEDULER
            ours["speculative_config"] = {**method, "num_speculative_tokens": MAX_DRAFT_IDS}
        self.llm = LLM(
            str(folder),
            dtype="bfloat16",
            max_model_len=1024,
            max_num_seqs=8,
            enforce_eager=True,
            async_scheduling=False,
            enable_prefix_caching=False,
            **ours,
        )
        self.steps = 0
        scheduler = self.llm.llm_engine.engine_core.engine_core.scheduler
        self.scheduler = scheduler
        inner = scheduler.schedule

        def schedule(*given: Any, **named: Any) -> Any:
            made = inner(*given, **named)
            self.steps += made.total_num_scheduled_tokens > 0
            return made

        scheduler.schedule = schedule

    def write(
        self,
        prompts: Sequence[Sequence[int]],
        predictions: Sequence[Any] = (),
        size: int = SIZE,
        temperature: float = 0.0,
    ) -> list[list[int]]:
        """The answers' ids; `predictions` stand beside their prompts."""
        from vllm import SamplingParams

        from specedit.integrations.vllm.drafting import PREDICTION

        items = [*predictions, *[None] * (len(prompts) - len(predictions))]
        asked = [
            SamplingParams(
                temperature=temperature,
                seed=3,
                max_tokens=size,
                ignore_eos=True,
                extra_args=None if ids is None else {PREDICTION: ids},
            )
            for ids in items
        ]
        self.steps = 0
        whole = [{"prompt_token_ids": list(prompt)} for prompt in prompts]
        result = self.llm.generate(whole, asked, use_tqdm=False)
        return [list(one.outputs[0].token_ids) for one in result]


PROMPTS = [[5, 9, 30, 7], [100, 3, 3, 8, 250], [17], list(range(40, 90))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
    return tiny(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def plain(folder: Path) -> list[list[int]]:
    return Served(folder, drafts=False).write(PROMPTS)


@pytest.fixture(scope="module")
def served(folder: Path, plain: list[list[int]]) -> Iterator[Served]:
    yield Served(folder, drafts=True)


def one_by_one(served: Served, predictions: Sequence[Any]) -> tuple[list[list[int]], int]:
    result, steps = [], 0
    for prompt, ids in zip(PROMPTS, predictions, strict=True):
        result += served.write([prompt], [ids])
        steps += served.steps
    return result, steps


HOSTILE = {
    "another text": list(range(200)),
    "special ids": [VOCABULARY - 1, VOCABULARY - 2] * 50,
    "ids that are none": [10**9, -5, 7],
    "too large": list(range(256)) * 400,
    "no ids": ["x", 1.5],
    "text": "abc",
    "a number": 7,
    "empty": [],
}


@pytest.mark.parametrize("ids", HOSTILE.values(), ids=HOSTILE)
def test_a_wrong_prediction_changes_no_text(served, plain, ids):
    result, steps = one_by_one(served, [ids] * len(PROMPTS))
    assert result == plain and steps <= SIZE * len(PROMPTS)


def test_a_right_prediction_takes_few_steps_and_none_a_step_for_each_id(served, plain):
    for predictions, most in ((plain, 4), ([None] * len(PROMPTS), SIZE)):
        result, steps = one_by_one(served, predictions)
        assert result == plain and steps <= most * len(PROMPTS)
    assert steps == SIZE * len(PROMPTS)


def test_one_of_many_with_a_prediction_is_done_first(served, plain):
    assert served.write(PROMPTS, [plain[0]]) == plain
    assert served.steps <= SIZE


def test_an_answer_ends_at_the_windows_end(served):
    prompt = list(range(1, 251)) * 4
    alone = served.write([prompt], [None], 500)
    assert served.write([prompt], alone, 500) == alone
    assert len(prompt) + len(alone[0]) <= 1024


def test_a_build_that_spoils_drafted_samples_is_offered_none(served, plain):
    from specedit.integrations.vllm.launch import drafts_spoil_sampling

    if not drafts_spoil_sampling():
        pytest.skip("this build samples drafts right")
    alone = served.write(PROMPTS[:1], [None], temperature=0.7)
    assert served.write(PROMPTS[:1], plain[:1], temperature=0.7) == alone
    assert served.steps == SIZE
