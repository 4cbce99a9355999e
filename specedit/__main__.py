"""`python -m specedit` and the `specedit` command: the one error boundary is in `specedit.cli`."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import sys


def main() -> None:
    gc.set_threshold(50_000)  # 700 means 100 collections while modules are imported: 6 ms
    try:
        _quiet()
        _own_modules()
        from specedit.files.startup import raise_interrupts

        raise_interrupts()
        from specedit.cli import run, streams

        streams.open_closed()
        code = run(sys.argv[1:])
        if alone := _alone():
            atexit._run_exitfuncs()  # each is called once
        code = streams.flush_all(code)
        if alone:
            os._exit(code)  # without taking modules apart, which takes 30 ms
    except KeyboardInterrupt:  # before there is a command, or after it
        code = 130
        with contextlib.suppress(OSError, AttributeError):  # stderr is closed
            sys.stderr.write("specedit: interrupted; nothing half-written\n")
    sys.exit(code)


def _alone() -> bool:
    """Whether no thread has to be waited for."""
    import threading

    return all(
        thread.daemon or thread is threading.main_thread() for thread in threading.enumerate()
    )


def _quiet() -> None:
    """Raise a Ctrl-C that Python cannot raise, as in a callback of an import, a little later and
    without the lines that Python would print."""
    before = sys.unraisablehook

    def hook(unraisable: sys.UnraisableHookArgs, /) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            before(unraisable)
            return
        import _thread

        _thread.start_new_thread(_interrupt, ())  # here it would be raised in this very hook

    sys.unraisablehook = hook


def _interrupt() -> None:
    import _thread
    import time

    time.sleep(0.001)
    _thread.interrupt_main()


def _own_modules() -> None:
    """`python -m` looks for modules in the current folder first: a repository's `typer.py` would be
    run as ours."""
    here = ""
    with contextlib.suppress(OSError):
        here = os.getcwd()  # noqa: PTH109
    if not sys.flags.safe_path and sys.path and sys.path[0] in ("", here):
        del sys.path[0]


if __name__ == "__main__":
    main()
