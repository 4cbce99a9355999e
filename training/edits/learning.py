"""Learning: a low-rank adapter in all linear layers of a model's numbered layers.

The loss of an id counts 1 where the change is, and COPY where the answer is as the prompt. Examples
of similar lengths are learnt together, and the beginning that the prompts of a batch share is
computed once. The learning rate rises for a few steps, and then falls as a cosine until the time is
over. The weights of the model stay as they are.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint
from transformers import DynamicCache

from specedit.engines.huggingface.modules import cache_argument
from specedit.errors import ModelError
from specedit.models.adapter import CONFIG, FACTORS
from training.edits.examples import CHANGED, Example

COPY = 0.15
WARMING_STEPS = 12
SORTED = 512  # examples that are sorted by length before they are cut into batches
MAX_SKIPPED = 8  # steps in a row
# cuDNN's, which torch prefers on some cards, is slower here (by a fifth on an H200)
ATTENTION = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
BEGINNING = 32  # first ids that are equal where prompts have the same form


class LowRank(nn.Module):
    """A linear layer, and the product of two small ones next to it."""

    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base = base
        device, size = base.weight.device, base.in_features
        self.a = nn.Parameter(torch.randn(rank, size, device=device) / size**0.5)
        self.b = nn.Parameter(torch.zeros(base.out_features, rank, device=device))

    def forward(self, x: Any) -> Any:
        inner, result = functional.linear(x, self.a.to(x.dtype)), self.base(x)
        rows = result.flatten(0, -2).addmm(inner.flatten(0, -2), 2.0 * self.b.T.to(x.dtype))
        return rows.view(result.shape)


def with_low_rank(model: Any, rank: int) -> dict[str, LowRank]:
    """Put a `LowRank` in the place of each linear layer that is inside a numbered one."""
    model.requires_grad_(False)
    layers = {}
    for name, layer in list(model.named_modules()):
        if isinstance(layer, nn.Linear) and any(part.isdigit() for part in name.split(".")):
            holder, _, own = name.rpartition(".")
            layers[name] = LowRank(layer, rank)
            setattr(model.get_submodule(holder), own, layers[name])
    return layers


def batches(examples: Sequence[Example], ids: int, chance: random.Random) -> list[list[Example]]:
    """Examples in chance order, of one form and of similar lengths in a batch, each of at most so
    many ids."""
    forms: dict[tuple[int, ...], list[Example]] = {}
    for each in chance.sample(examples, len(examples)):
        forms.setdefault(tuple(each.ids[:BEGINNING]), []).append(each)
    results = list[list[Example]]()
    for order in forms.values():
        for start in range(0, len(order), SORTED):
            batch: list[Example] = []
            for each in sorted(order[start : start + SORTED], key=lambda each: len(each.ids)):
                if batch and len(each.ids) * (len(batch) + 1) > ids:
                    results.append(batch)
                    batch = []
                batch.append(each)
            results.append(batch)
    chance.shuffle(results)
    return results


def shared_ids(model: Any, batch: Sequence[Example]) -> int:
    """How many ids all prompts of the batch begin with, where the model can compute them once."""
    kinds = getattr(model.config, "layer_types", None) or ["full_attention"]
    if len(batch) == 1 or set(kinds) != {"full_attention"}:
        return 0
    prompts = [each.ids[: each.kinds.count(0) - 1] for each in batch]
    columns = enumerate(zip(*prompts, strict=False))
    return next((at for at, ids in columns if len(set(ids)) > 1), min(map(len, prompts)))


def losses(model: Any, batch: Sequence[Example]) -> tuple[Any, Any]:
    """The loss of each id of the answers, and whether it is changed."""
    device, longest = model.device, max(len(each.ids) for each in batch)
    ids = torch.zeros(len(batch), longest, dtype=torch.long)
    kinds = torch.zeros(len(batch), longest, dtype=torch.long)
    for row, each in enumerate(batch):
        ids[row, : len(each.ids)] = torch.tensor(each.ids)
        kinds[row, : len(each.ids)] = torch.tensor(each.kinds)
    ids, kinds = ids.to(device), kinds.to(device)
    known: dict[str, Any] = {"use_cache": False}
    with sdpa_kernel(ATTENTION):
        if shared := shared_ids(model, batch):
            cache = DynamicCache()
            known = {"use_cache": True, cache_argument(model.model): cache}
            model.model(input_ids=ids[:1, :shared], **known)
            cache.batch_repeat_interleave(len(batch))
            ids, kinds = ids[:, shared:], kinds[:, shared:]
        states = model.model(input_ids=ids, **known)
    chosen = kinds[:, 1:] > 0

    def loss(rows: Any) -> Any:
        logits = model.lm_head(rows).float()
        return functional.cross_entropy(logits, ids[:, 1:][chosen], reduction="none")

    # computed again for the gradient: the logits of a batch take gigabytes
    rows = states.last_hidden_state[:, :-1][chosen]
    result = checkpoint(loss, rows, use_reentrant=False)
    return result, kinds[:, 1:][chosen] == CHANGED


@torch.no_grad()
def measured(model: Any, examples: Sequence[Example], ids: int) -> tuple[float, float]:
    """The mean loss of changed ids, and of copied ones."""
    sums = torch.zeros(2, 2)
    for batch in batches(examples, ids, random.Random(0)):
        loss, changed = losses(model, batch)
        for row, chosen in enumerate((changed, ~changed)):
            sums[row] += torch.tensor([loss[chosen].sum().item(), chosen.sum().item()])
    changed_loss, copied_loss = (sums[:, 0] / sums[:, 1].clamp(min=1)).tolist()
    return changed_loss, copied_loss


def learn(
    model: Any,
    examples: Sequence[Example],
    seconds: float,
    rate: float,
    ids: int,
    passes: int,
    log: Callable[[str], None],
) -> int:
    """Go over the examples so often, or until the time is over; returns the steps."""
    parameters = [each for each in model.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=rate, betas=(0.9, 0.98), weight_decay=0.0)
    todo = [b for seed in range(passes) for b in batches(examples, ids, random.Random(seed))]
    started, skipped = time.monotonic(), 0
    for step, batch in enumerate(todo):
        done = max(step / len(todo), (time.monotonic() - started) / seconds)
        if done >= 1:
            return step
        share = 0.5 * (1 + math.cos(math.pi * done))
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / WARMING_STEPS) * share
        loss, changed = losses(model, batch)
        weights = torch.where(changed, 1.0, COPY)
        ((loss * weights).sum() / weights.sum()).backward()
        # one step whose gradient is not a number would make every weight one for good
        skipped = 0 if nn.utils.clip_grad_norm_(parameters, 1.0).isfinite() else skipped + 1
        if skipped > MAX_SKIPPED:
            raise ModelError(
                f"the gradient is not a number in {skipped} steps up to step {step}",
                hint="Use a lower --rate, or another version of torch.",
            )
        if not skipped:
            optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 20 == 0 or skipped:
            news = ", skipped: its gradient is not a number" if skipped else ""
            log(f"step {step}: loss of changed ids {loss[changed].mean().item():.3f}{news}")
    return len(todo)


def save(layers: dict[str, LowRank], folder: Path, base: str, base_sha256: str) -> None:
    """Write a folder as PEFT does; the digest of the model's file is an addition."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors, rank = {}, 0
    for name, layer in layers.items():
        rank = layer.a.shape[0]
        for part, factor in (("A", layer.a), ("B", layer.b)):
            values = factor.detach().to("cpu", torch.float16).contiguous()
            tensors[f"base_model.model.{name}.lora_{part}.weight"] = values
    save_file(tensors, folder / FACTORS)
    about = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": rank, "lora_alpha": 2 * rank}
    about |= {"bias": "none", "base_model_name_or_path": base}
    about["target_modules"] = sorted({name.rpartition(".")[2] for name in layers})
    about["specedit"] = {"base": base, "base_sha256": base_sha256}
    (folder / CONFIG).write_text(json.dumps(about, indent=1) + "\n", "utf-8")
