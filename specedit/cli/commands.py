"""Commands from annotated functions, on click.

A parameter of a command is `Annotated[TYPE, Option(...)]` or `Annotated[TYPE, Argument(...)]`. Its
name, type and default come from the function's signature. Types are str, int, float, bool, Path, a
list of them, and each of these or None.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin

import click
from click import BadParameter as BadParameter
from click import Context as Context

Function = TypeVar("Function", bound=Callable[..., Any])


class Option:
    """A flag. Without names it is `--name`, and `--name/--no-name` for a bool."""

    def __init__(
        self,
        *names: str,
        help: str = "",
        metavar: str | None = None,
        min: float | None = None,
        max: float | None = None,
        show_default: bool | str = True,
        hidden: bool = False,
        envvar: str | None = None,
    ) -> None:
        self.names = names
        self.min, self.max = min, max
        self.show_default = show_default
        self.attributes: dict[str, Any] = {
            "help": help,
            "metavar": metavar,
            "hidden": hidden,
            "envvar": envvar,
        }


class Argument:
    """A word without a flag."""

    def __init__(self, *, help: str = "", metavar: str | None = None) -> None:
        self.help = help
        self.metavar = metavar


class _Argument(click.Argument):
    """click's, with a line in the command's help."""

    def __init__(self, declaration: Argument, **attributes: Any) -> None:
        super().__init__(metavar=declaration.metavar, **attributes)
        self.line = declaration.help


class _Sections(click.Command):
    """Help has a section for arguments."""

    def format_options(self, ctx: Context, formatter: click.HelpFormatter) -> None:
        arguments = [p for p in self.params if isinstance(p, _Argument) and p.line]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl([(p.make_metavar(ctx), p.line) for p in arguments])
        super().format_options(ctx, formatter)


class Commands(_Sections, click.Group):
    """A group of commands, which help lists in the order of their definition."""

    def list_commands(self, ctx: Context) -> list[str]:
        return list(self.commands)

    def add(self, name: str, function: Callable[..., Any], **settings: Any) -> None:
        """Add a function as the command `name`."""
        help = inspect.cleandoc(function.__doc__ or "")
        callback, params = _parameters(function)
        self.add_command(_Sections(name, callback=callback, params=params, help=help, **settings))

    def define(self, name: str | None = None, **settings: Any) -> Callable[[Function], Function]:
        """Decorate a function: it becomes a command of this group."""

        def decorate(function: Function) -> Function:
            self.add(name or function.__name__, function, **settings)
            return function

        return decorate

    def itself(self, function: Function) -> Function:
        """Decorate a function: the group runs it, with a subcommand and without one."""
        self.callback, params = _parameters(function)
        self.params += params
        self.invoke_without_command = True
        self.help = inspect.cleandoc(function.__doc__ or self.help or "")
        return function


def _parameters(
    function: Callable[..., Any],
) -> tuple[Callable[..., Any], list[click.Parameter]]:
    """click's callback for a function, and click's parameters."""
    declared = inspect.signature(function, eval_str=True).parameters
    params = [_parameter(p) for p in declared.values() if p.annotation is not Context]
    context = [name for name, p in declared.items() if p.annotation is Context]
    lists = {p.name: declared[p.name].default for p in params if p.multiple or p.nargs == -1}

    def callback(**values: Any) -> Any:
        for name, default in lists.items():
            values[name] = list(values[name]) or default
        values.update(dict.fromkeys(context, click.get_current_context()))
        return function(**values)

    return callback, params


def _parameter(declared: inspect.Parameter) -> click.Parameter:
    kind, declaration = get_args(declared.annotation)
    if get_origin(kind) in (types.UnionType, Union):
        kind = next(one for one in get_args(kind) if one is not type(None))
    several = get_origin(kind) is list
    (kind,) = get_args(kind) if several else (kind,)
    required = declared.default is inspect.Parameter.empty
    default: Mapping[str, Any] = {} if required or several else {"default": declared.default}
    if isinstance(declaration, Argument):
        return _Argument(
            declaration,
            param_decls=[declared.name],
            type=_type(kind),
            nargs=-1 if several else 1,
            required=required,
            **default,
        )
    dashed = "--" + declared.name.replace("_", "-")
    names = declaration.names or (f"{dashed}/--no-{dashed[2:]}" if kind is bool else dashed,)
    shown = declared.default not in (None, "", False) or isinstance(declaration.show_default, str)
    typed = {"is_flag": True} if kind is bool else {"type": _type(kind, declaration)}
    return click.Option(
        [declared.name, *names],
        multiple=several,
        required=required,
        show_default=declaration.show_default if shown else False,
        **typed,
        **default,
        **declaration.attributes,
    )


def _type(kind: Any, declaration: Option | None = None) -> Any:
    if kind is Path:
        return click.Path(path_type=Path)
    if declaration is not None and (declaration.min, declaration.max) != (None, None):
        ranged: Any = click.IntRange if kind is int else click.FloatRange
        return ranged(declaration.min, declaration.max)
    return kind
