"""`specedit vllm serve | args | check`: vLLM with Predicted Outputs, by its own command.

Every flag that is not ours is passed to vLLM.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

import typer

from specedit.cli.options import argument
from specedit.cli.streams import say
from specedit.errors import DONE, FAILED
from specedit.view.terminal import harmless

app = typer.Typer(help="Serve Predicted Outputs inside vLLM.", rich_markup_mode=None)
WITHOUT_HELP = {  # --help is vLLM's, too
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "help_option_names": [],
}


@app.command(context_settings=WITHOUT_HELP)
def serve(
    context: typer.Context, model: str = argument(None, "The model: a hub id or a folder")
) -> int:
    """Start `vllm serve MODEL` with predictions. Further flags are vLLM's own."""
    from specedit.integrations.vllm import launch

    words = launch.command(model, context.args)
    variables = launch.environment(launch.installed(), launch.capability())
    for line in launch.warning():
        say(line)
    say(shlex.join([*(f"{name}={value}" for name, value in variables.items()), *words]))
    if sys.platform == "win32":
        return subprocess.call(words, env={**os.environ, **variables})
    os.execve(words[0], words, {**os.environ, **variables})


@app.command(context_settings=WITHOUT_HELP)
def args(context: typer.Context) -> int:
    """Print the flags for your own launcher. Use `vllm serve MODEL $(specedit vllm args)`."""
    from specedit.integrations.vllm.launch import flags

    print(shlex.join(flags(context.args)))
    return DONE


@app.command()
def check() -> int:
    """Check the installed vLLM's version, and list what does not work."""
    from specedit.integrations.vllm.launch import installed, not_loading, warning

    vllm = installed()
    if vllm is None:
        print("vLLM is not installed in this environment.")
        return FAILED
    print(f"{vllm.name} {vllm.version}: {'tested' if vllm.tested else 'not tested'}")
    broken = not_loading()
    for line in (*warning(), *broken):
        print(harmless(line))
    return DONE if vllm.tested and not broken else FAILED
