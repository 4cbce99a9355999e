"""The text of --help: commands and options in groups, the most used first."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

COMMANDS = {  # by group; `specedit --help` shows them in this order
    "Edit": ("edit", "refine", "rename", "repeat", "apply", "ask", "undo"),
    "Model": ("model", "doctor"),
    "Server and editors": ("serve", "warm", "editor", "lsp", "mcp", "hook", "vllm"),
    "Inspect": ("view", "config", "trust", "heads", "help"),
}
OPTIONS = {  # parameters by group, of the commands that edit
    "Where": ("symbol", "selected", "near", "lines", "line", "whole", "focus", "scope"),
    "Files": ("context", "changed", "staged", "since", "clean_only", "stdin_filename"),
    "Output": (
        *("diff", "check", "dry_list", "ask", "json", "quiet", "verbose"),
        *("compare", "audit", "trace"),
    ),
    "Checks": (
        *("test", "tries", "test_timeout", "keep_best", "incomplete"),
        *("allow", "strict", "check_with"),
    ),
    "Model": (
        *("model", "no_model", "server", "profile", "warm", "engine", "device", "threads"),
        *("weights", "prompt_form", "prediction", "draft", "draft_model"),
        *("max_tokens", "temperature", "seed", "sampling"),
    ),
}
OTHERS = "Options"


class GroupedCommand(TyperCommand):
    """A command whose --help has the options of OPTIONS in groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        parameters = {parameter.name: parameter for parameter in self.get_params(ctx)}
        grouped = {name for names in OPTIONS.values() for name in names}
        others = [name for name in parameters if name not in grouped]
        arguments = [name for name in others if parameters[name].param_type_name == "argument"]
        rest = [name for name in others if name not in arguments]
        for title, names in {"Arguments": arguments, **OPTIONS, OTHERS: rest}.items():
            shown = [parameters[name] for name in names if name in parameters]
            rows = [row for parameter in shown if (row := parameter.get_help_record(ctx))]
            if names is arguments:  # without their types
                rows = [(term.partition(" <")[0], text) for term, text in rows]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class GroupedCommands(TyperGroup):
    """The command line itself, whose --help has the commands in groups."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        width = max(map(len, self.commands), default=0)
        for title, names in COMMANDS.items():
            known = [(name, self.commands[name]) for name in names if name in self.commands]
            rows = [
                (name.ljust(width), command.get_short_help_str(formatter.width - 6 - width))
                for name, command in known
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
