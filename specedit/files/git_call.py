"""One call of git, made so that nothing a repository says is run.

A repository's configuration can name programs: for its file monitor, hooks, filters, diffs and
remotes. Here stands the command line, and the environment, under which git starts none of them; the
only home of GitPython, imported when the first question is asked.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from specedit.errors import GitError

NOWHERE = "/dev/null"  # git for Windows knows it too
NO_HOOKS = ("-c", f"core.hooksPath={NOWHERE}")
SETTINGS = (  # on the command line, which no file of a repository overrides
    "safe.bareRepository=explicit",  # a repository inside a folder that was cloned is only a folder
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.virtualFilesystem=",
    "core.sshCommand=false",
    "core.gitProxy=",
    "core.alternateRefsCommand=true",
    "core.askPass=",
    "core.editor=false",
    "sequence.editor=false",
    "core.pager=cat",
    "credential.helper=",  # empties the list
    "gpg.program=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
)
ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",  # an object that is missing is not fetched by a remote's program
    "GIT_ALLOW_PROTOCOL": "none",  # for a git that does not know the line above
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "false",
}
FLAGS = {  # a submodule is a repository of its own, with a configuration of its own
    "diff": ("--no-ext-diff", "--no-textconv", "--ignore-submodules=all"),
    "status": ("--ignore-submodules=all",),
    "grep": ("--no-textconv", "--no-recurse-submodules", "--no-color"),  # names are for us
}
FILTERING = ("diff", "status", "cat-file", "hash-object")  # what passes contents through filters
OWN = ("system", "global", "command")  # scopes that only the user can write
QUIET = {"clean": "", "smudge": "", "process": "", "required": "false"}


def ask(
    here: Path,
    *words: str,
    codes: Sequence[int] = (0,),
    stdin: bytes = b"",
    hooks: bool = False,
) -> tuple[int, bytes]:
    """Run git in `here`; its exit code and stdout. Any code not in `codes` is an error.

    `hooks`: the question is where hooks lie, which the setting that switches them off would answer.
    """
    filters = [] if words[0] not in FILTERING else list(_no_filters(here))
    settings = [word for text in (*SETTINGS, *filters) for word in ("-c", text)]
    line = ["git", "--no-pager", "--literal-pathspecs", *settings, *(() if hooks else NO_HOOKS)]
    code, out, text = _run(here, [*line, words[0], *FLAGS.get(words[0], ()), *words[1:]], stdin)
    if code not in codes:
        raise GitError(f"git {' '.join(words[:2])}: {text.strip() or f'exit code {code}'}")
    return code, out


def _run(here: Path, line: Sequence[str], stdin: bytes = b"") -> tuple[int, bytes, str]:
    try:
        from git.cmd import Git
    except ImportError as error:  # GitPython looks for git when it is imported
        raise GitError(f"git cannot be used: {error}", hint="Install git, or name files.") from None
    with tempfile.TemporaryFile() as file:
        file.write(stdin)
        file.seek(0)
        code, out, err = Git(str(here)).execute(
            list(line),
            istream=file,
            with_extended_output=True,
            with_exceptions=False,
            stdout_as_string=False,
            strip_newline_in_stdout=False,
            env=ENVIRONMENT,
        )
    return code, out, err if isinstance(err, str) else err.decode("utf-8", "replace")


def _no_filters(here: Path) -> Iterator[str]:
    """Settings under which every filter is what the user's own configuration says, or nothing.

    Names of filters are free, so git is asked for all that are configured. A git that tells no
    scopes (before 2.26) has none that is surely the user's."""
    base = ["git", *(word for text in SETTINGS for word in ("-c", text)), *NO_HOOKS, "config"]
    code, out, _ = _run(here, [*base, "--list", "-z", "--show-scope"])
    if code:
        code, out, text = _run(here, [*base, "--list", "-z"])
        if code:
            raise GitError(f"git config: {text.strip()}")
        fields = [field for part in out.split(b"\0")[:-1] for field in (b"unknown", part)]
    else:
        fields = out.split(b"\0")[:-1]
    own: dict[str, dict[str, str]] = {}
    foreign: dict[str, set[str]] = {}
    for scope, setting in zip(fields[::2], fields[1::2], strict=True):
        key, _, value = setting.partition(b"\n")
        section, _, rest = key.decode("utf-8", "surrogateescape").partition(".")
        name, _, variable = rest.rpartition(".")
        if section != "filter" or variable not in QUIET:
            continue
        if scope.decode() in OWN:
            own.setdefault(name, {})[variable] = value.decode("utf-8", "surrogateescape")
        else:
            foreign.setdefault(name, set()).add(variable)
    for name in sorted(foreign):
        if "=" in name:  # the command line cannot name it
            raise GitError(
                f"{here}: the repository's configuration has a filter called {name!r}, "
                "which cannot be switched off, so git was not asked.",
                hint="A filter is a program that git runs. Look at .git/config.",
            )
        kept = own.get(name, {})
        if "process" in foreign[name] - kept.keys():  # set to nothing, it hides the user's others
            kept = {}
        for variable in sorted(foreign[name] | {"required"}):
            yield f"filter.{name}.{variable}={kept.get(variable, QUIET[variable])}"
