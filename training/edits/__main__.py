"""Train an adapter on the edits of repositories: README.md tells the steps.

python -m training.edits mine REPOSITORY… --out commits.jsonl
python -m training.edits examples commits.jsonl --out examples.npz
python -m training.edits train examples.npz --out FOLDER --seconds 600
python -m training.edits quantize FOLDER --out FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import typer
from safetensors.numpy import load_file, save_file

from specedit.cli.model import model_in_use
from specedit.cli.options import option
from specedit.cli.streams import say
from specedit.errors import ModelError, SpeceditError
from specedit.models.adapter import CONFIG, FACTORS, opened
from specedit.models.resolve import present
from specedit.models.store import hashed
from specedit.models.vocabulary import load_tokenizer
from training.edits import commits, examples

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)
MAX_SHIPPED_RANK = 8


@app.command()
def mine(
    repositories: list[Path],
    out: Path = option(..., "Add a JSON line for each commit to this file"),
    most: int = option(200, "Take at most so many of each repository"),
) -> None:
    """Find small commits of one file."""
    with out.open("a", encoding="utf-8") as file:
        for repository in repositories:
            rows = list(commits.mined(repository, most))
            file.writelines(f"{json.dumps(row)}\n" for row in rows)
            say(f"{repository}: {len(rows)} commits")


@app.command("examples")
def make_examples(
    rows: Path,
    out: Path = option(..., "Write the examples to this file (.npz)"),
    instructions: Path | None = option(None, "Take instructions from these JSON lines"),
    most: int = option(4096, "Leave out examples of more ids"),
) -> None:
    """Write commits as prompts and right answers, in the vocabulary of the model in use."""
    written = {row["id"]: row for row in commits.read_rows(instructions)} if instructions else {}
    tokenizer = load_tokenizer(present(model_in_use()))
    made = list(examples.examples_of(commits.read_rows(rows), written, tokenizer, most))
    examples.save(out, made)
    say(f"{len(made)} examples, {sum(len(each.ids) for each in made):,} ids, in {out}")


@app.command()
def train(
    data: list[Path],
    out: Path = option(..., "Write the adapter to this folder"),
    seconds: float = option(600.0, "Train for so many seconds"),
    rank: int = option(8, "Rows of a factor"),
    rate: float = option(2e-4, "Learning rate"),
    ids: int = option(16384, "Ids of a step"),
    passes: int = option(2, "Go over the examples so often, if there is time"),
    device: str = option("cuda", "Train on this device"),
) -> None:
    """Train an adapter for the model in use."""
    import torch

    from specedit.engines.huggingface.loading import load
    from training.edits import learning

    files = present(model_in_use())
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    model = load(files, dtype, device)
    layers = learning.with_low_rank(model, rank)
    every = [each for path in data for each in examples.load(path)]
    held = [each for each in every if each.held]
    rest = [each for each in every if not each.held]
    try:
        before = learning.measured(model, held, ids)
        steps = learning.learn(model, rest, seconds, rate, ids, passes, say)
    except torch.OutOfMemoryError as error:
        message = f"{ids} ids of a step do not fit into the memory of the card"
        raise ModelError(message, hint=f"Use fewer: --ids {ids // 2}") from error
    after = learning.measured(model, held, ids)
    text = "held-out loss of {} ids: {:.4f}, and {:.4f} before"
    for kind, now, then in zip(("changed", "copied"), after, before, strict=True):
        say(text.format(kind, now, then))
    learning.save(layers, out, files.name, files.sha256)
    say(f"{steps} steps; try it: specedit edit … --adapter {out}")


@app.command()
def quantize(
    folder: Path,
    out: Path = option(..., "Write the adapter to this folder"),
    licence: str = option("", "Licence of the adapter"),
    origin: str = option("", "What it was trained on, and how"),
) -> None:
    """Write an adapter with factors in int8, half as large, as one that is published."""
    opened(folder)  # refuses what is not an adapter
    config = json.loads((folder / CONFIG).read_text("utf-8"))
    if config["r"] > MAX_SHIPPED_RANK:
        say(f"rank {config['r']}: what is shipped has at most {MAX_SHIPPED_RANK}")
    tensors = {}
    for name, values in load_file(folder / FACTORS).items():
        values = values.astype(np.float32)
        scales = np.abs(values).max(int(".lora_A." in name), keepdims=True) / 127
        scales = np.maximum(scales, np.float32(1e-30))
        tensors[name] = np.rint(values / scales).astype(np.int8)
        tensors[f"{name.removesuffix('weight')}scales"] = scales.reshape(-1).astype(np.float32)
    out.mkdir(parents=True, exist_ok=True)
    save_file(tensors, out / FACTORS)
    about = config.get("specedit", {}) | {"licence": licence, "origin": origin}
    config["specedit"] = about | {"sha256": hashed(out / FACTORS, out.name)}
    (out / CONFIG).write_text(json.dumps(config, indent=1) + "\n", "utf-8")
    say(f"{out}: {sum(path.stat().st_size for path in out.iterdir()):,} bytes")


if __name__ == "__main__":
    try:
        app()
    except SpeceditError as problem:
        sys.exit(str(problem))
