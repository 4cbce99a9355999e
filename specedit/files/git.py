"""Asks git: which files to work on, what is staged, what would be lost.

Names are bytes to git; here they are paths, byte for byte. A repository's configuration can name
programs: for its file monitor, hooks, filters, diffs and remotes. Here stands the command line, and
the environment, under which git starts none of them; the only home of GitPython, imported when the
first question is asked (0.1 s). Where a file's work tree begins is found without git.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from specedit.errors import GitError, InputError, UsageError
from specedit.files import regular


def real(path: str | Path) -> Path:
    """The path with every link followed; `Path.resolve` raises where they go round in circles."""
    return Path(os.path.realpath(path))


def is_too_wide(folder: Path) -> bool:
    """Whether a folder, links followed, is a file system's top, or holds the user's home."""
    return folder == folder.parent or real(Path.home()).is_relative_to(folder)


def path_of_uri(uri: str) -> Path:
    from urllib.parse import unquote, urlsplit  # few commands have URIs

    try:
        parts = urlsplit(uri)
        path = unquote(parts.path, errors="surrogateescape")
        if parts.scheme == "file" and "\0" not in os.fsdecode(os.fsencode(path)):
            if os.name == "nt":
                from urllib.request import url2pathname

                place = f"//{parts.netloc}{parts.path}" if parts.netloc else parts.path
                return Path(url2pathname(place))
            return Path(path)
    except ValueError:
        pass  # it is not a URI, or not a name that a file can have
    raise InputError(f"{uri} does not name a file")


def top_of(folder: Path) -> Path | None:
    """The nearest folder, this one or one above it, that has a `.git` which can be one."""
    place = real(folder)
    return next((at for at in (place, *place.parents) if _is_git(at / ".git")), None)


def _is_git(place: Path) -> bool:
    """A file that names the repository's folder, or that folder; git passes an empty one by."""
    return place.is_file() or (place / "HEAD").is_file() or (place / "HEAD").is_symlink()


def beyond(name: str | Path) -> Path | None:
    """Where a file really lies, when a link on the way there leads out of the work tree that the
    link is in, or into its `.git`. A cloned repository may bring such a link."""
    target, at = real(name), Path.cwd()
    if target == Path(name).absolute():
        return None  # no link on the way
    for part in Path(name).parts:
        at = real(at).parent if part == ".." else at / part
        if not at.is_symlink():
            continue
        top = top_of(at.parent)
        if top is not None and not is_inside(target, top):
            return target
        at = real(at)
    return None


def is_inside(target: Path, top: Path) -> bool:
    """Whether a file, links followed, is in the work tree and not in a `.git`."""
    if not target.is_relative_to(top):
        return False
    return all(part.lower() != ".git" for part in target.relative_to(top).parts)


def check_within(name: str | Path, allowed: Path | None = None) -> None:
    """Refuse a file that a link puts outside, unless its target is the one that was `allowed`."""
    target = beyond(name)
    if target is not None and target != allowed:
        raise InputError(
            f"a link to {target}, which is outside its work tree or in its .git",
            file=os.fspath(name),
            hint="Name that file itself if it is the one to edit; at a terminal you are asked.",
        )


def patch_name(name: str, path: Path | None, root: Path = Path()) -> str:
    """The name of a file in a patch, so that `git apply` finds it from `root`.

    In a work tree git counts from its top, in whatever folder it is called; outside, from there.
    A file of another work tree is counted from that one's top."""
    place, here = real(root / name if path is None else path), real(root)
    if (base := top_of(here)) is None or not place.is_relative_to(base):
        base = here if place.is_relative_to(here) else top_of(place.parent)
    return str(place) if base is None else place.relative_to(base).as_posix()


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
FILTERING = (  # what passes contents through filters: writing the index reads files as old as it
    *("diff", "status", "cat-file", "hash-object", "update-index"),
)
USER_SCOPES = ("system", "global", "command")  # scopes that only the user can write
QUIET = {"clean": "", "smudge": "", "process": "", "required": "false"}


def ask(
    here: Path, *words: str, codes: Sequence[int] = (0,), stdin: bytes = b"", hooks: bool = False
) -> tuple[int, bytes]:
    """Run git in `here`; its exit code and stdout. A code not in `codes` is an error. `hooks`: the
    question is where hooks lie, which the setting that switches them off would answer."""
    filters = [] if words[0] not in FILTERING else list(_no_filters(here))
    settings = [word for text in (*SETTINGS, *filters) for word in ("-c", text)]
    line = ["git", "--no-pager", "--literal-pathspecs", *settings, *(() if hooks else NO_HOOKS)]
    code, out, text = _run(here, [*line, words[0], *FLAGS.get(words[0], ()), *words[1:]], stdin)
    if code not in codes:
        raise GitError(f"git {' '.join(words[:2])}: {text.strip() or f'exit code {code}'}")
    return code, out


def _run(here: Path, line: Sequence[str], stdin: bytes = b"") -> tuple[int, bytes, str]:
    if shutil.which("git") is None:  # GitPython says so once only, when it is imported
        why = "git cannot be used: it is not installed"
        raise GitError(why, hint="Install git, or name files.")
    from git.cmd import Git

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
    """Settings under which every filter is what the user's own configuration says, or nothing,
    and no hook of a configuration runs.

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
    hooks: set[str] = set()  # that newer versions of git start besides those of `core.hooksPath`
    own: dict[str, dict[str, str]] = {}
    foreign: dict[str, set[str]] = {}
    for scope, setting in zip(fields[::2], fields[1::2], strict=True):
        key, _, value = setting.partition(b"\n")
        section, _, rest = key.decode("utf-8", "surrogateescape").partition(".")
        name, _, variable = rest.rpartition(".")
        if section == "hook" and name:
            hooks.add(name)
        if section != "filter" or variable not in QUIET:
            continue
        if scope.decode() in USER_SCOPES:
            own.setdefault(name, {})[variable] = value.decode("utf-8", "surrogateescape")
        else:
            foreign.setdefault(name, set()).add(variable)
    for name in sorted({*foreign, *hooks}):
        if "=" in name:  # the command line cannot name it
            raise GitError(
                f"{here}: the configuration has a filter or hook called {name!r}, "
                "which cannot be switched off, so git was not asked.",
                hint="It is a program that git runs. Look at .git/config.",
            )
    for name in sorted(hooks):
        yield f"hook.{name}.enabled=false"
        yield f"hook.{name}.event="
    for name in sorted(foreign):
        kept = own.get(name, {})
        if "process" in foreign[name] - kept.keys():  # set to nothing, it hides the user's others
            kept = {}
        for variable in sorted(foreign[name] | {"required"}):
            yield f"filter.{name}.{variable}={kept.get(variable, QUIET[variable])}"


# Paths that may stand on a command line; more, and git is asked about all of them
MAX_PATH_ARGUMENTS = 100
REGULAR = ("100644", "100755")  # no symlinks, no submodules


@dataclass(frozen=True, slots=True)
class Staged:
    """One regular file as the index holds it. `name` counts from the work tree's top."""

    name: str
    blob: str  # its object id: the digest of its content
    conflicted: bool = False


def _names(out: bytes) -> list[str]:
    return [os.fsdecode(name) for name in out.split(b"\0") if name]


def _line(out: bytes) -> str:
    return os.fsdecode(out.removesuffix(b"\n").removesuffix(b"\r"))


def _top(here: Path) -> Path | None:
    """The work tree's top. Git is asked there alone: what is below may be cloned."""
    is_named = "GIT_DIR" in os.environ or "GIT_WORK_TREE" in os.environ  # by the user, or git
    place = Path.cwd() if is_named else _nearest(here)  # a GIT_DIR alone makes any folder a top
    if place is None:
        return None
    out = ask(place, "rev-parse", "--show-toplevel")[1]
    if not out.strip():
        return None
    result = Path(_line(out))
    if not is_named and real(result) != place:
        raise GitError(
            f"{place}: its git configuration says that the work tree is {result}.",
            hint="specedit works in the folder that holds .git; core.worktree names another.",
        )
    return result


def _nearest(here: Path) -> Path | None:
    """The folder with a `.git`, here or above, unless the user said not to look so high."""
    result, place = top_of(here), real(here)
    if result is None or result == place:
        return result
    for ceiling in filter(None, os.environ.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep)):
        if place.is_relative_to(real(ceiling)) and real(ceiling).is_relative_to(result):
            return None
    return result


def top(here: Path) -> Path:
    if (result := _top(here.absolute())) is None:
        raise GitError(
            f"{here.absolute()} is in no git work tree.", hint="Name the files to work on."
        )
    return result


def choose(
    here: Path,
    *,
    containing: Sequence[str] = (),
    any_case: bool = False,
    staged: bool = False,
    changed: bool = False,
    since: str | None = None,
) -> list[Path]:
    """Files of the work tree of `here`, named as seen from there, in the order of their names.

    `staged`: they differ between HEAD and the index. `changed`: between HEAD and the work tree, new
    files too. `since`: changed since this branch left REF, committed or not. `containing`: of those
    (else of all files that git does not ignore) the ones that hold any of these texts. Deleted
    files, symlinks and submodules are left out."""
    root = top(here)
    chosen: set[str] | None = None
    if staged:
        chosen = {entry.name for entry in staged_files(root)}
    if changed:
        chosen = (chosen or set()) | set(_differing(root, "HEAD"))
    if since is not None:
        chosen = (chosen or set()) | set(_differing(root, _left(root, since)))
    if containing:
        wanted = [word for text in containing for word in ("-e", text)]
        grep = ("grep", "-lzF", "--untracked", *(["-i"] if any_case else []), *wanted)
        every = _names(ask(root, *grep, codes=(0, 1))[1])
        holding = {name for name in every if _is_text(root / name)}
        chosen = holding if chosen is None else chosen & holding
    paths = [root / name for name in sorted(chosen or ())]
    return [_seen(path, here) for path in paths if _editable(path)]


def known(root: Path) -> list[str]:
    """The names of all files that git tracks in a work tree or does not ignore, in order."""
    words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return sorted(set(_names(ask(root, *words)[1])))


def not_checked_out(root: Path, text: str) -> list[str]:
    """The files with this text that a sparse checkout leaves out of the work tree."""
    if not ask(root, "config", "--get", "core.sparseCheckout", codes=(0, 1))[1]:
        return []
    entries = ask(root, "ls-files", "-z", "-t")[1].split(b"\0")
    absent = {os.fsdecode(entry[2:]) for entry in entries if entry.startswith(b"S ")}
    grep = ("grep", "--cached", "-lzIF", "-e", text)
    return sorted(absent & set(_names(ask(root, *grep, codes=(0, 1))[1]))) if absent else []


def submodules(root: Path) -> list[str]:
    """The folders of a work tree that are work trees of their own."""
    if not (root / ".gitmodules").exists():
        return []
    entries = ask(root, "ls-files", "-z", "--stage")[1].split(b"\0")
    return [
        os.fsdecode(entry.partition(b"\t")[2]) for entry in entries if entry.startswith(b"160000")
    ]


def under(folder: Path) -> list[Path]:
    """The regular files under a folder that git tracks, named as the folder is, in name order."""
    root = top(folder)
    at = os.path.relpath(real(folder), real(root)).replace(os.sep, "/")
    out = ask(root, "ls-files", "-z", "--", at)[1]
    paths = [root / name for name in sorted(set(_names(out)))]
    at_folder = real(folder)
    return [folder / os.path.relpath(real(path), at_folder) for path in paths if _editable(path)]


def _differing(root: Path, ref: str) -> Iterator[str]:
    known = ask(root, "rev-parse", "--verify", "-q", ref, codes=(0, 1, 128))[0] == 0
    if not known:  # HEAD, before the first commit
        yield from _names(ask(root, "ls-files", "-z")[1])
    else:
        diff = ("diff", "--name-only", "-z", "--no-renames", "--diff-filter=d")
        yield from _names(ask(root, *diff, ref, "--")[1])
    yield from _names(ask(root, "ls-files", "-z", "--others", "--exclude-standard")[1])


def _left(root: Path, ref: str) -> str:
    """The commit where this branch left `ref`; `ref` itself where they share no history."""
    code, out = ask(root, "rev-parse", "--verify", "-q", f"{ref}^{{commit}}", codes=(0, 1, 128))
    if code or ref.startswith("-"):
        raise UsageError(f"--since {ref}: git knows no such commit.", hint="git log --oneline")
    commit = _line(out)
    code, out = ask(root, "merge-base", commit, "HEAD", codes=(0, 1, 128))
    return _line(out).partition("\n")[0] if code == 0 else commit


def marked(root: Path, paths: Sequence[str], *attributes: str) -> dict[str, str]:
    """The files for which .gitattributes sets one of these, each with the one it sets."""
    names = b"".join(os.fsencode(path) + b"\0" for path in paths)
    out = ask(root, "check-attr", "-z", "--stdin", *attributes, stdin=names)[1]
    parts = [os.fsdecode(part) for part in out.split(b"\0")]
    rows = zip(parts[::3], parts[1::3], parts[2::3], strict=False)
    return {path: name for path, name, value in rows if value in ("set", "true")}


def _is_text(path: Path) -> bool:
    """Whether a file's bytes are text to git, whatever an attribute says."""
    try:
        with path.open("rb") as file:
            return b"\0" not in file.read(8000)
    except OSError:
        return False


def _editable(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _seen(path: Path, here: Path) -> Path:
    try:
        relative = Path(os.path.relpath(path, here.resolve()))
    except ValueError:  # another drive
        return path
    return relative if here.absolute() == Path.cwd() else here / relative


def dirty(paths: Iterable[Path]) -> set[Path]:
    """Of these paths, those that hold what no commit holds: changed, staged or new files; never one
    outside any work tree, or one that git ignores."""
    tops: dict[Path, Path | None] = {}
    places: dict[Path, list[tuple[Path, Path]]] = {}
    for path in paths:
        place = real(path)
        if place.parent not in tops:
            tops[place.parent] = _top(place.parent) if place.parent.is_dir() else None
        if (root := tops[place.parent]) is not None:
            places.setdefault(root, []).append((path, place))
    results: set[Path] = set()
    for root, members in places.items():
        names = [os.path.relpath(place, real(root)) for _, place in members]
        status = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
        few = ("--", *names) if len(names) <= MAX_PATH_ARGUMENTS else ()
        out = ask(root, *status, *few)[1]
        changed = {line[3:] for line in _names(out)}
        posix = (name.replace(os.sep, "/") for name in names)
        results |= {path for (path, _), name in zip(members, posix, strict=True) if name in changed}
    return results


def staged_files(root: Path) -> list[Staged]:
    """The regular files that this commit would add or change, in name order. While merging, a file
    that comes from another parent as it is belongs to that parent's commit."""
    results = _raw(root, ())
    merged = root / _line(ask(root, "rev-parse", "--git-path", "MERGE_HEAD")[1])
    for other in regular.read(merged).decode("ascii").split() if merged.is_file() else ():
        theirs = {entry.name for entry in _raw(root, (other,))}
        results = [entry for entry in results if entry.name in theirs or entry.conflicted]
    return results


def _raw(root: Path, against: tuple[str, ...]) -> list[Staged]:
    words = ("diff", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames")
    fields = ask(root, *words, *against, "--")[1].split(b"\0")
    found = []
    for meta, name in zip(fields[::2], fields[1::2], strict=False):
        _, mode, _, blob, status = meta.decode("ascii").split()
        if status != "D":
            found.append((os.fsdecode(name), mode, blob, status == "U"))
    return _entries(found)


def _entries(found: Iterable[tuple[str, str, str, bool]]) -> list[Staged]:
    """The regular files among names with mode, blob and conflict, in name order."""
    results: dict[str, Staged] = {}
    for name, mode, blob, conflicted in found:
        if conflicted:
            results[name] = Staged(name, blob, conflicted=True)
        elif mode in REGULAR:
            results.setdefault(name, Staged(name, blob))
    return sorted(results.values(), key=lambda entry: entry.name)


def indexed(root: Path, names: Sequence[str] | None = None) -> list[Staged]:
    """The index's content of these files (named from the top), or of all."""
    wanted, found = set(names or ()), []
    for line in ask(root, "ls-files", "-z", "--stage")[1].split(b"\0"):
        meta, _, name = line.partition(b"\t")
        if name and (names is None or os.fsdecode(name) in wanted):
            mode, blob, stage = meta.decode("ascii").split()
            found.append((os.fsdecode(name), mode, blob, stage != "0"))
    return _entries(found)


def indexed_with(root: Path, text: str) -> list[str]:
    """The files whose content in the index has a text."""
    return _names(ask(root, "grep", "-lzIF", "--cached", "-e", text, codes=(0, 1))[1])


def from_top(root: Path, paths: Iterable[Path]) -> list[str]:
    """Paths as git's index names them; a path outside the work tree is an error."""
    results = []
    for path in paths:
        place = real(path.parent) / path.name
        try:
            results.append(place.relative_to(root.resolve()).as_posix())
        except ValueError:
            raise UsageError(f"{path} is not in {root}.") from None
    return results


def content(root: Path, entry: Staged) -> bytes:
    """The staged content: the work tree's bytes where they are what is staged, whatever git says of
    them; else as a checkout would write it (newlines and encoding included)."""
    with suppress(OSError):
        data = regular.read(root / entry.name)
        kind = "sha1" if len(entry.blob) == 40 else "sha256"
        plain = hashlib.new(kind, b"blob %d\0" % len(data) + data, usedforsecurity=False)
        if plain.hexdigest() == entry.blob or blob_of(root, entry.name, data) == entry.blob:
            return data
    return ask(root, "cat-file", "--filters", f"--path={entry.name}", entry.blob)[1]


def committed(path: Path) -> bytes | None:
    """A file's content in the last commit; None where there is none."""
    root = _top(path.parent)
    if root is None:
        return None
    code, out = ask(root, "cat-file", "blob", f"HEAD:{from_top(root, [path])[0]}", codes=(0, 128))
    return None if code else out


def blob_of(root: Path, name: str, data: bytes) -> str:
    """The object id that `data` would have, if it were staged as `name`. Nothing is stored."""
    return _line(ask(root, "hash-object", "--stdin", f"--path={name}", stdin=data)[1])


def merge(root: Path, current: bytes, base: bytes, other: bytes) -> bytes | None:
    """`current` with the changes from `base` to `other`; None where both changed the same lines."""
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder, name) for name in ("current", "base", "other")]
        for place, data in zip(places, (current, base, other), strict=True):
            place.write_bytes(data)
        code, out = ask(root, "merge-file", "-p", *map(str, places), codes=range(256))
    if code > 127:
        raise InputError("git merge-file cannot read the file as text.")
    return out if code == 0 else None


def hooks_folder(root: Path) -> Path:
    """Where this repository's hooks live; worktrees share it."""
    return root / _line(ask(root, "rev-parse", "--git-path", "hooks", hooks=True)[1])


def hooks_path(root: Path) -> str | None:
    """`core.hooksPath`, when it is set anywhere."""
    code, out = ask(root, "config", "--get", "core.hooksPath", codes=(0, 1), hooks=True)
    return _line(out) if code == 0 else None
