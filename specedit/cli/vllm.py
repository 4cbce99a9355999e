"""`specedit vllm serve | args | check | manifest`: vLLM with Predicted Outputs, by its own command.

Reads words and hands them on: every flag that is not ours is vLLM's.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from typing import Annotated

import typer

from specedit.errors import DONE, FAILED

app = typer.Typer(help="Serve Predicted Outputs inside vLLM.", rich_markup_mode=None)
ITS_OWN = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


@app.command(context_settings=ITS_OWN)
def serve(
    context: typer.Context,
    model: Annotated[str, typer.Argument(help="The model: a hub id or a folder")],
) -> int:
    """Start `vllm serve MODEL` with predictions; further flags are vLLM's own."""
    from specedit.integrations.vllm.launch import (
        capability,
        command,
        environment,
        installed,
        warning,
    )

    words = command(model, context.args)
    more = environment(installed(), capability())
    for line in warning():
        print(f"specedit: {line}", file=sys.stderr)
    shown = shlex.join([*(f"{name}={value}" for name, value in more.items()), *words])
    print(f"specedit: {shown}", file=sys.stderr, flush=True)
    if sys.platform == "win32":
        return subprocess.call(words, env={**os.environ, **more})
    os.execve(words[0], words, {**os.environ, **more})


@app.command(context_settings=ITS_OWN)
def args(context: typer.Context) -> int:
    """Print the flags for your own launcher: `vllm serve MODEL $(specedit vllm args)`."""
    from specedit.integrations.vllm.launch import flags

    print(shlex.join(flags(context.args)))
    return DONE


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def manifest(
    context: typer.Context,
    kind: Annotated[str, typer.Argument(help="image (a Dockerfile), kubernetes or compose")],
    model: Annotated[str, typer.Option(help="Serve this model")] = "",
    image: Annotated[
        str, typer.Option(help="Use the image that `manifest image` was built as")
    ] = "",
    gpus: Annotated[int, typer.Option(min=1, help="Use this many GPUs per replica")] = 1,
    replicas: Annotated[int, typer.Option(min=1, help="Run this many servers")] = 1,
    name: Annotated[str, typer.Option(help="Name the Deployment, its Service and its volume")] = "",
    storage: Annotated[str, typer.Option(help="Request a volume of this size for models")] = "",
) -> int:
    """Print a manifest for a cluster; further flags are vLLM's own."""
    from specedit.integrations.vllm.manifest import Cluster, manifest

    items = {"model": model, "image": image, "name": name, "storage": storage}
    messages = {word: value for word, value in items.items() if value}
    print(manifest(kind, Cluster(gpus=gpus, replicas=replicas, **messages), context.args), end="")
    return DONE


@app.command()
def check() -> int:
    """Say whether the installed vLLM is a tested version, and what does not work in it."""
    from specedit.integrations.vllm.launch import installed, warning

    result = installed()
    if result is None:
        print("vLLM is not installed in this environment.")
        return FAILED
    print(f"{result.name} {result.version}: {'tested' if result.tested else 'not tested'}")
    for line in warning():
        print(line)
    return DONE if result.tested else FAILED
