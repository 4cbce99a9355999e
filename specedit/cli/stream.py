"""Filter mode: stdin to stdout. On any failure the input is written unchanged, with exit code 2."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING

from specedit.cli.output import put, put_json
from specedit.errors import FAILED, INTERRUPTED, SpeceditError
from specedit.view.terminal import harmless

if TYPE_CHECKING:
    from specedit.edit.inputs import Planner
    from specedit.edit.report import Report
    from specedit.settings import Settings


def filter_stream(command: str, planner: Planner, settings: Settings) -> int:
    """Read all of stdin, then write exactly one text: the new one or the old one."""
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
        print(f"specedit: {harmless(str(error))}", file=sys.stderr)
    except KeyboardInterrupt:
        print("specedit: interrupted; the text is unchanged", file=sys.stderr)
        code = INTERRUPTED
    except Exception as error:  # guarantee 5: the text is always returned
        message = harmless(f"unexpected {type(error).__name__}: {error}")
        print(f"specedit: {message}", file=sys.stderr)
    if report is not None and settings.json:
        put_json(report)
    elif report is not None and settings.diff:
        put("".join(edit.diff for edit in report.edits if edit.changed))
    elif not (settings.json or settings.diff):
        sys.stdout.buffer.write(data if settings.check else out)
        sys.stdout.buffer.flush()
    return code


def _run(command: str, data: bytes, planner: Planner, settings: Settings) -> Report:
    from specedit.cli.follower import Follower
    from specedit.edit.inputs import of_stdin
    from specedit.edit.session import EditSession
    from specedit.server.connect import connect

    one = of_stdin(data, settings.stdin_filename)
    with closing(connect(settings)) as backend:
        session = EditSession(command, [one], planner, backend, settings)
        with Follower(session, settings) as follower:
            for _ in follower.edits():
                pass
            follower.report(on_stdout=not (settings.check or settings.diff or settings.json))
            return session.report()
