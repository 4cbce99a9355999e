"""Filter mode: stdin to stdout. On any failure the input comes out unchanged; the code says so."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from specedit.errors import FAILED, INTERRUPTED, SpeceditError
from specedit.report import Edit, Report

if TYPE_CHECKING:
    from specedit.edit.run import Planner
    from specedit.settings import Settings


def filter_stream(command: str, planner: Planner, settings: Settings) -> int:
    """Read all of stdin, then write exactly one text: the new one, or the old one."""
    data = sys.stdin.buffer.read()
    out = data
    code = FAILED
    report: Report | None = None
    try:
        report = _run(command, data, planner, settings)
        code = report.exit_code(check=settings.check)
        if code != FAILED:
            out = report.edits[0].after
    except SpeceditError as error:
        print(f"specedit: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("specedit: interrupted; the text comes out unchanged", file=sys.stderr)
        code = INTERRUPTED
    except Exception as error:  # whoever pipes a buffer through us must get it back
        print(f"specedit: unexpected {type(error).__name__}: {error}", file=sys.stderr)
    if report is not None and settings.json:
        from specedit.cli.work import put_json

        put_json(report)
    elif report is not None and settings.diff:
        from specedit.cli.work import put

        put("".join(edit.diff for edit in report.edits if edit.changed))
    elif not (settings.json or settings.diff):
        sys.stdout.buffer.write(data if settings.check else out)
        sys.stdout.buffer.flush()
    return code


def _run(command: str, data: bytes, planner: Planner, settings: Settings) -> Report:
    from specedit.backends.connect import connect
    from specedit.cli.early import Early
    from specedit.cli.work import make_screen
    from specedit.edit.run import from_stdin, over

    name = settings.stdin_filename or "stdin"
    backend = connect(settings)
    started = time.perf_counter()
    try:
        early = Early(planner)
        items = over([name], early, backend, settings, read=lambda n: from_stdin(data, n))
        screen, items = early.shown(items, backend, lambda: make_screen(settings, command, [name]))
        with screen:
            edits = []
            for _, item in items:
                if isinstance(item, Edit):
                    screen.edit(name, item)
                    edits.append(item)
                else:
                    screen.event(name, item)
            report = Report(
                command, tuple(edits), screen.model, backend.server, time.perf_counter() - started
            )
            screen.report(report)
    finally:
        backend.close()
    return report
