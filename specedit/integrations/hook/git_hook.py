"""The native hook: a file in git's hooks folder that calls `specedit hook run`.

A hook that is there already is moved aside, called first, and put back on uninstall; nothing that
is not ours is ever overwritten, nor lines that somebody added to ours. Knows git's hooks folder.
Does not know rules.
"""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

from specedit.errors import UsageError
from specedit.files import atomic, git, regular

NAME = "pre-commit"
ASIDE = "pre-commit.before-specedit"
MARK = "# This is specedit's pre-commit hook."
SCRIPT = """\
#!/bin/sh
{mark}
# `specedit hook install` wrote it; `specedit hook uninstall` puts back what was here before.
before=$(dirname -- "$0")/{aside}
if [ -x "$before" ]; then
    "$before" "$@" || exit $?
fi
python={python}
if [ -x "$python" ]; then
    exec "$python" -P -m specedit hook run
elif command -v specedit >/dev/null 2>&1; then
    exec specedit hook run
fi
echo "specedit is not installed any more: this commit was not looked at." >&2
echo "Install it, or delete this hook: $0" >&2
exit 1
"""


def script() -> str:
    python = shlex.quote(Path(sys.executable).as_posix())
    return SCRIPT.format(mark=MARK, aside=ASIDE, python=python)


def is_ours(path: Path) -> bool:
    return MARK.encode() in _held(path)


def is_edited(path: Path) -> bool:
    """Whether it is ours, and holds other lines than we wrote; any python may be in it."""
    return is_ours(path) and _any_python(_held(path)) != _any_python(script().encode())


def _held(path: Path) -> bytes:
    try:
        return regular.read(path)
    except OSError:
        return b""


def _any_python(text: bytes) -> bytes:
    """Without what may differ between two hooks of ours: the python, and `-P`, which keeps the
    modules of the folder we are called in from being taken for Python's, and was not always there.
    """
    return re.sub(rb"(?m)^python=.*$", b"python=", text).replace(b" -P -m ", b" -m ")


def _refuse_edited(hook: Path, then: str) -> None:
    if is_edited(hook):
        raise UsageError(
            f"{hook} is specedit's, and holds lines that specedit did not write: "
            "it stays as it is.",
            hint=f"Lines of your own belong in {ASIDE} beside it, which it calls first. "
            f"Move them there, delete {NAME}, then {then}.",
        )


def _is_there(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def install(root: Path) -> list[str]:
    """Write the hook; what was done, in words for a person."""
    if (elsewhere := git.hooks_path(root)) is not None:
        raise UsageError(
            f"core.hooksPath is set to {elsewhere!r}: git does not look into this repository's "
            "hooks folder, and that one may serve other repositories.",
            hint="Call `specedit hook run` from the pre-commit hook there, "
            "or unset it: git config --unset core.hooksPath",
        )
    folder = git.hooks_folder(root)
    hook, aside = folder / NAME, folder / ASIDE
    _refuse_edited(hook, "install again")
    said = []
    if _is_there(hook) and not is_ours(hook):
        if _is_there(aside):
            raise UsageError(
                f"{hook} is somebody else's, and so is {aside}: there is no place to move it to.",
                hint="Join the two, or delete the one that is not needed.",
            )
        folder.mkdir(parents=True, exist_ok=True)
        hook.rename(aside)
        said.append(f"moved the hook that was there to {aside}; it is called first")
    atomic.whole(hook, script().encode(), 0o755)
    return [*said, f"wrote {hook}"]


def uninstall(root: Path) -> list[str]:
    """Take our hook away and put back the one that was there before; what was done."""
    folder = git.hooks_folder(root)
    hook, aside = folder / NAME, folder / ASIDE
    if _is_there(hook) and not is_ours(hook):
        kept = f" The one that was there before it is {aside}." if _is_there(aside) else ""
        raise UsageError(
            f"{hook} is not specedit's: it stays as it is.{kept}",
            hint="Look at it; something was installed over the hook, or instead of it.",
        )
    _refuse_edited(hook, "uninstall again")
    said = []
    if _is_there(hook):
        hook.unlink()
        said.append(f"deleted {hook}")
    if _is_there(aside):
        aside.rename(hook)
        said.append(f"put back the hook that was there before: {hook}")
    return said or [f"no hook of specedit is in {folder}"]
