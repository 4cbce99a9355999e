"""The compiled kernels of this machine: the library, and the variant that is used.

That is the best one that passed the self-check, or the one that `SPECEDIT_KERNEL` names.
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from specedit.engines.exact.kernels.calls import INTERFACE, bind
from specedit.engines.exact.kernels.self_check import findings
from specedit.engines.exact.kernels.sources import NOT_BUILT, library_name, version
from specedit.errors import UsageError
from specedit.models.store import store_path
from specedit.settings import nearest

FOLDER = Path(__file__).parent
VARIABLE = "SPECEDIT_KERNEL"
REFERENCE = "reference"
# of all processors, so that another one's name is recognized
VARIANTS = ("amx", "avx512vnni", "avxvnni", "avx2", "i8mm", "dotprod", "neon", REFERENCE)


@dataclass(frozen=True)
class Library:
    """A loaded library and the variant that is used."""

    lib: ctypes.CDLL
    variant: int
    name: str
    note: str = ""  # faster variants, and why they are not used here


def load(folder: Path = FOLDER, store: Path | None = None) -> Library | str:
    """The library with the best variant that this processor has, or why there is none."""
    forced = os.environ.get(VARIABLE, "")
    if forced and forced not in VARIANTS:
        raise UsageError(
            f"{VARIABLE}: there is no kernel {forced!r}.", hint=nearest(forced, list(VARIANTS))
        )
    found = _checked(folder, store or store_path())
    if isinstance(found, str):
        if forced:
            raise UsageError(
                f"{VARIABLE}={forced} cannot be used: {found}.", hint=f"Unset {VARIABLE}."
            )
        return found
    lib, wrong = found
    return _forced(lib, wrong, forced) if forced else _best(lib, wrong)


def _checked(folder: Path, store: Path) -> tuple[ctypes.CDLL, dict[str, str]] | str:
    """The loaded library with what is wrong with each variant; or why none can be loaded."""
    path = folder / library_name()
    if not path.is_file():
        try:
            because = (folder / NOT_BUILT).read_text("utf-8").strip()
        except OSError:
            because = "this is a source tree that was not built (python hatch_build.py)"
        return f"the kernels were not compiled: {because}"
    found, wanted = findings(path, store), version(folder)
    if found.version != wanted and not found.fails:  # never kept so: these findings are damaged
        found = findings(path, store, again=True)
    if found.fails:
        return f"{path} does not load: {found.fails}"
    if found.version != wanted:
        return f"{path} was made from other sources ({found.version}, and these are {wanted})"
    lib = _opened(path)
    if isinstance(lib, str):
        return lib
    if not _usable(lib) <= (found.wrong or {}).keys():  # the system allows more than before
        found = findings(path, store, again=True)
    return lib, found.wrong or {}


@cache
def _opened(path: Path) -> ctypes.CDLL | str:
    try:
        lib = bind(ctypes.CDLL(str(path)))
    except (OSError, AttributeError) as error:
        return f"{path} does not load: {error}"
    if (interface := lib.specedit_interface()) != INTERFACE:
        return f"{path} speaks interface {interface}, and this is {INTERFACE}"
    return lib


def _names(lib: ctypes.CDLL) -> list[str]:
    """The library's variants, best first."""
    names: list[str] = []
    while found := lib.specedit_variant(len(names)):
        names.append(found.decode())
    return names


def _usable(lib: ctypes.CDLL) -> set[str]:
    """The variants that this processor has, without plain C."""
    names = enumerate(_names(lib))
    return {name for index, name in names if name != REFERENCE and lib.specedit_can(index)}


def _best(lib: ctypes.CDLL, wrong: dict[str, str]) -> Library | str:
    notes, usable = [], _usable(lib)
    for index, name in enumerate(_names(lib)):
        if name not in usable:
            continue
        if reason := wrong.get(name, "it was not checked"):
            notes.append(f"{name} fails the self-check: {reason}")
        else:
            return Library(lib, index, name, "; ".join(notes))
    return "; ".join(notes) or "this processor has none of the instructions the kernels use"


def _forced(lib: ctypes.CDLL, wrong: dict[str, str], name: str) -> Library:
    names = _names(lib)
    if name not in names:
        reason = "it is for another kind of processor or system"
    elif not lib.specedit_can(names.index(name)):
        reason = "this processor or its system does not have what it needs"
    elif name != REFERENCE and (found := wrong.get(name, "it was not checked")):
        reason = f"it fails the self-check: {found}"
    else:
        return Library(lib, names.index(name), name)
    usable = _usable(lib)
    here = [*(one for one in names if one in usable), REFERENCE]
    raise UsageError(
        f"{VARIABLE}={name} cannot be used: {reason}.", hint=f"This machine has {', '.join(here)}."
    )
