"""vLLM's scheduler, with drafts for the requests that have a prediction.

Before each step, every request that decodes gets the ids that are worth their share of the step;
vLLM verifies them like any draft, and the next step reads from the request what was accepted. The
state is an attribute of the request. A request without a prediction is not touched.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from vllm.v1.core.sched.scheduler import Scheduler

from specedit.integrations.vllm.drafting import (
    MAX_DRAFT_IDS,
    PREDICTION,
    Drafting,
    Steps,
    log,
    parted,
    served_tokenizer,
)
from specedit.integrations.vllm.launch import check_recurrent, drafts_spoil_sampling

STATE = "specedit_drafting"
LOGITS_BYTES = 1 << 29  # largest memory of a step's logits for drafted ids


class PredictedScheduler(Scheduler):
    """`--scheduler-cls specedit.integrations.vllm.scheduler.PredictedScheduler`."""

    def __init__(self, vllm_config: Any, *arguments: Any, **named: Any) -> None:
        model = vllm_config.model_config
        check_recurrent(model.model, model.hf_config.to_dict())
        super().__init__(vllm_config, *arguments, **named)
        self._steps = Steps()
        self._most = max(MAX_DRAFT_IDS, LOGITS_BYTES // (4 * model.get_vocab_size()))
        self._tokenizer = served_tokenizer(model.tokenizer or model.model)
        self._greedy_only = drafts_spoil_sampling()
        self._began = 0.0
        self._step = 0

    def schedule(self, *arguments: Any, **named: Any) -> Any:
        offered = self._offer()
        output = super().schedule(*arguments, **named)
        taken = output.scheduled_spec_decode_tokens
        for request in offered:
            state: Drafting = getattr(request, STATE)
            state.offered(len(taken.get(request.request_id, ())))
            request.spec_token_ids = []
        self._began = time.perf_counter()
        return output

    def update_from_output(self, scheduler_output: Any, model_runner_output: Any) -> Any:
        seconds = time.perf_counter() - self._began
        widths = scheduler_output.num_scheduled_tokens
        decoding = all(
            request is not None and request.num_output_tokens > 0
            for request in map(self.requests.get, widths)
        )
        if decoding:  # the ids of a prompt cost less: they need no logits
            self._steps.add(scheduler_output.total_num_scheduled_tokens, seconds)
        return super().update_from_output(scheduler_output, model_runner_output)

    def update_draft_token_ids(self, draft_token_ids: Any) -> None:
        """The proposer has none."""

    def _offer(self) -> list[Any]:
        """Give each request that decodes its draft for this step; returns those with drafters."""
        if not self._steps.known:
            return []
        ready = [request for request in self.running if self._decodes(request)]
        offered = []
        left = min(self._most, self._unused(len(ready)))
        self._step += 1
        first = self._step % max(1, len(ready))  # another one, if not all fit into the step
        ratio, share = self._steps.ratio(len(self.running)), self._steps.share(len(self.running))
        for request in (*ready[first:], *ready[:first]):
            state = self._state(request)
            written = request.num_output_tokens
            if state is None or written - state.written < state.rest:
                continue
            if written > state.written:
                state.commit(list(request.output_token_ids[state.written :]))
            limit = min(left, self._limit(request))
            ids = state.propose(limit, ratio, share) if limit > 0 else []
            if ids and request.use_structured_output:
                ids = self.structured_output_manager.validate_tokens(request, ids)
            request.spec_token_ids = ids
            left -= len(request.spec_token_ids)
            offered.append(request)
        return offered

    def _unused(self, ready: int) -> int:
        """Ids of a step for drafts; half of them are left for prompts that wait."""
        ids: int = self.max_num_scheduled_tokens - len(self.running)
        return ids // 2 if self.waiting or ready < len(self.running) else ids

    def _decodes(self, request: Any) -> bool:
        """Whether its prompt and its answer without the last id are in the cache."""
        answers = request.num_output_tokens > 0 and request.num_output_placeholders == 0
        return answers and request.num_tokens == request.num_computed_tokens + 1

    def _state(self, request: Any) -> Drafting | None:
        if not hasattr(request, STATE):
            setattr(request, STATE, self._drafting(request))
        state: Drafting | None = getattr(request, STATE)
        return state

    def _drafting(self, request: Any) -> Drafting | None:
        sampling = request.sampling_params
        extra = (sampling.extra_args if sampling is not None else None) or {}
        ids = extra.get(PREDICTION)
        if not ids or request.prompt_token_ids is None:
            return None
        if self._greedy_only and sampling.temperature > 0:
            log.warning("specedit: this build of vLLM spoils drafted samples; none are offered")
            return None
        reach = min(request.max_tokens, self.max_model_len) + MAX_DRAFT_IDS
        known = self.vllm_config.model_config.get_vocab_size()
        parts = parted(ids, reach) if isinstance(ids, Iterable) and type(ids) is not str else []
        if not all(type(token) is int for part in parts for token in part):
            return None  # a client may set it to anything
        predictions = [part for part in parts if min(part) >= 0 and max(part) < known]
        if not predictions:
            return None
        return Drafting(request.prompt_token_ids, predictions, self._tokenizer)

    def _limit(self, request: Any) -> int:
        """Ids that the answer can still take, without the one that the step writes anyway."""
        answer = request.max_tokens - request.num_output_tokens - 1
        window = self.max_model_len - request.num_tokens - 1
        return min(MAX_DRAFT_IDS, self.num_spec_tokens, answer, window)
