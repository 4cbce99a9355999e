"""Installs git's pre-commit hook, a script that calls `specedit hook run`, which applies the
rules of a repository (`hook_rules`) to its staged files (`staged`).

An existing hook is renamed, called first, and restored by uninstall. A file that specedit did not
write, or that was edited since, is never overwritten.
"""

from __future__ import annotations

import contextlib
import os
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
echo "specedit is not installed any more: this commit was not checked." >&2
echo "Install it, or delete this hook: $0" >&2
exit 1
"""


def _script() -> bytes:
    python = shlex.quote(Path(sys.executable).as_posix())
    return SCRIPT.format(mark=MARK, aside=ASIDE, python=python).encode()


def _is_ours(path: Path) -> bool:
    with contextlib.suppress(OSError):
        return MARK.encode() in regular.read(path)
    return False


def _without_python(script: bytes) -> bytes:
    """The script without what may differ between two of our versions: python's path, and `-P`."""
    return re.sub(rb"(?m)^python=.*$", b"python=", script).replace(b" -P -m ", b" -m ")


def _refuse_edited(hook: Path, then: str) -> None:
    """An error if specedit wrote the hook and its lines were changed."""
    if _is_ours(hook) and _without_python(regular.read(hook)) != _without_python(_script()):
        raise UsageError(
            f"{hook} was written by specedit and edited since; it was not changed.",
            hint=f"Move your own lines to {ASIDE} beside it, which it calls first, "
            f"delete {NAME}, then {then}.",
        )


def install(root: Path) -> list[str]:
    """Write the hook; returns what was done, a line each."""
    if (elsewhere := git.hooks_path(root)) is not None:
        raise UsageError(
            f"core.hooksPath is set to {elsewhere!r}: git ignores this repository's hooks folder, "
            "and the other folder may serve several repositories.",
            hint="Call `specedit hook run` from the pre-commit hook there, "
            "or unset it: git config --unset core.hooksPath",
        )
    folder = git.hooks_folder(root)
    hook, aside = folder / NAME, folder / ASIDE
    _refuse_edited(hook, "install again")
    lines = []
    if os.path.lexists(hook) and not _is_ours(hook):
        if os.path.lexists(aside):
            raise UsageError(
                f"neither {hook} nor {aside} was written by specedit; both were left unchanged.",
                hint="Merge the two files, or delete one of them, then install again.",
            )
        folder.mkdir(parents=True, exist_ok=True)
        hook.rename(aside)
        lines.append(f"moved the existing hook to {aside}; it is called first")
    atomic.whole(hook, _script(), 0o755)
    return [*lines, f"wrote {hook}"]


def uninstall(root: Path) -> list[str]:
    """Delete our hook and restore the previous one; returns what was done, a line each."""
    folder = git.hooks_folder(root)
    hook, aside = folder / NAME, folder / ASIDE
    if os.path.lexists(hook) and not _is_ours(hook):
        previous = f" The previous hook is {aside}." if os.path.lexists(aside) else ""
        message = f"{hook} was not written by specedit; it was left unchanged.{previous}"
        raise UsageError(message, hint="Another tool may have replaced the hook: look at the file.")
    _refuse_edited(hook, "uninstall again")
    lines = []
    if os.path.lexists(hook):
        hook.unlink()
        lines.append(f"deleted {hook}")
    if os.path.lexists(aside):
        aside.rename(hook)
        lines.append(f"restored the previous hook: {hook}")
    return lines or [f"{folder} has no hook of specedit"]
