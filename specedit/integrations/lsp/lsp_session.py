"""One editor's session: it answers the editor's messages.

Messages are handled in order, under one lock. A rename and an edit run in threads of their own;
their results are sent under the same lock, and only for the version that they were made from.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from specedit.edit.report import Edit, Figures
from specedit.integrations.lsp.connection import (
    CONTENT_MODIFIED,
    ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_INITIALIZED,
    REQUEST_FAILED,
    WARNING,
    Connection,
    Message,
    Pending,
    RequestError,
    checked,
    error_of,
    param,
    position_of,
    range_of,
)
from specedit.integrations.lsp.document_edits import (
    Document,
    Documents,
    EditProgress,
    TreeEdit,
    change_documents,
    edit_lines,
    identifier_at,
    rename_at,
    uri_of,
)
from specedit.settings import Settings
from specedit.version import VERSION

EDIT, UNDO = "specedit.edit", "specedit.undo"
PROPOSE, APPLY, REPORT = "specedit/propose", "specedit/apply", "specedit/report"
STATUS = "specedit/status"  # of the warm server
REGIONS = "specedit/regions"  # sent before the model is asked: what may change
TITLE = "Edit with instruction…"
REFACTOR = "refactor.rewrite"
CHANGED = "the text changed meanwhile; nothing was edited"


class Session(Connection):
    """The state of one editor's session. `receive` takes messages, `send` is called with ours."""

    def __init__(self, settings: Settings, send: Callable[[Message], None]) -> None:
        self.shut_down = False  # no further request is answered
        self.ended = False  # the editor has sent `exit`
        super().__init__(send)
        self._settings = settings
        self._documents = Documents()
        self._editing = threading.Lock()
        self._last: tuple[str, str, str] | None = None  # uri, text before and after the last edit
        self._trace: Path | None = None  # the passes of the last proposal
        self._requests: Mapping[str, Callable[[Any], object]] = {
            "shutdown": self._shutdown,
            "textDocument/prepareRename": self._prepare_rename,
            "textDocument/codeAction": self._code_actions,
            REPORT: self._report,
        }
        self._slow: Mapping[str, Callable[[int | str, Any], None]] = {
            "textDocument/rename": self._start_rename,
            "workspace/executeCommand": self._start_command,
            PROPOSE: partial(self._start_proposal, PROPOSE),
            APPLY: partial(self._start_proposal, APPLY),
            STATUS: self._start_status,
        }
        self._notifications: Mapping[str, Callable[[Any], None]] = {
            "exit": self._exit,
            "$/cancelRequest": self._cancel_request,
            "window/workDoneProgress/cancel": self._cancel_progress,
            "textDocument/didOpen": self._documents.opened,
            "textDocument/didChange": self._documents.changed,
            "textDocument/didClose": self._documents.closed,
        }

    def receive(self, message: object) -> None:
        """Handle one message; a RequestError stands for one that could not be read."""
        with self._lock:
            if isinstance(message, RequestError):
                self._refuse(None, message)
            elif isinstance(message, dict) and isinstance(message.get("method"), str):
                if "id" in message:
                    self._request(message["id"], message["method"], message.get("params"))
                else:
                    self._notified(message["method"], message.get("params"))
            elif isinstance(message, dict) and ("result" in message or "error" in message):
                answered = self._responses.pop(str(message.get("id")), None)
                if answered is not None:
                    answered(message)
            else:
                problem = "neither a request, a notification nor a response"
                self._refuse(None, RequestError(INVALID_REQUEST, problem))

    # requests and notifications

    def _request(self, number: object, method: str, params: object) -> None:
        if not isinstance(number, int | str) or number in self._running:
            problem = "the id is not a new number or string"
            self._refuse(None, RequestError(INVALID_REQUEST, problem))
            return
        try:
            if method == "initialize":
                self._reply(number, self._initialize(params))
                return
            if self._capabilities is None:
                raise RequestError(NOT_INITIALIZED, "`initialize` comes first")
            if self.shut_down:
                raise RequestError(INVALID_REQUEST, "the server is shutting down")
            if method in self._slow:
                self._slow[method](number, params)
            elif method in self._requests:
                self._reply(number, self._requests[method](params))
            else:
                raise RequestError(METHOD_NOT_FOUND, f"unknown method {method}")
        except Exception as problem:
            self._refuse(number, problem)

    def _notified(self, method: str, params: object) -> None:
        if method not in self._notifications or (self.shut_down and method != "exit"):
            return
        try:
            self._notifications[method](params)
        except Exception as problem:  # it has no reply
            self._log(f"{method}: {error_of(problem)['message']}")

    def _initialize(self, params: object) -> object:
        if self._capabilities is not None:
            raise RequestError(INVALID_REQUEST, "`initialize` comes once")
        self._capabilities = param(params, "capabilities", dict)
        prepares = self._can("textDocument", "rename", "prepareSupport")
        return {
            "capabilities": {
                "positionEncoding": "utf-16",
                "textDocumentSync": {"openClose": True, "change": 1},  # whole texts
                "renameProvider": {"prepareProvider": True} if prepares else True,
                "codeActionProvider": {"codeActionKinds": [REFACTOR]},
                "executeCommandProvider": {"commands": [EDIT, UNDO]},
            },
            "serverInfo": {"name": "specedit", "version": VERSION},
        }

    def _shutdown(self, _: object) -> None:
        self.shut_down = True
        for request in list(self._running.values()):
            self._cancel(request)

    def _exit(self, _: object) -> None:
        self.ended = True

    # rename

    def _prepare_rename(self, params: object) -> object:
        document = self._documents.get(uri_of(params))
        line, column = document.place(position_of(params, "position"))
        identifier = identifier_at(document.lines[line], column)
        if identifier is None:
            return None
        span = document.range((line, identifier.start()), (line, identifier.end()))
        return {"range": span, "placeholder": identifier[0]}

    def _start_rename(self, number: int | str, params: object) -> None:
        document = self._documents.get(uri_of(params))
        position = position_of(params, "position")
        new, opened = param(params, "newName", str), self._documents.files()

        def rename(request: Pending) -> None:
            place = document.place(position)
            renamed = rename_at(document, place, new, opened, self._settings)
            edits = [changed.edit_to(text) for changed, text in renamed.texts]
            used = (document, *(changed for changed, _ in renamed.texts))
            with self._lock:
                if not all(map(self._documents.is_current, used)):
                    raise RequestError(CONTENT_MODIFIED, CHANGED)
                if self._finish(request, {"documentChanges": edits}):
                    self._summarize(renamed, new)

        self._start(Pending(number, edits=False), rename)

    def _summarize(self, renamed: TreeEdit, new: str) -> None:
        """One message for the user; every uncertain place is in the log."""
        if not renamed.doubts:
            return
        self._log("\n".join(renamed.doubts))
        text = f"renamed `{renamed.old}` to `{new}`. Look at {renamed.doubts[0]}"
        if len(renamed.doubts) > 1:
            text += f" (and {len(renamed.doubts) - 1} more, in the log)"
        self._show(WARNING, text)

    # edits

    def _code_actions(self, params: object) -> list[Message]:
        start, end = range_of(params, "range")
        context = param(params, "context", dict)
        kinds = context.get("only")
        included = not isinstance(kinds, list) or any(
            kind == "" or f"{REFACTOR}.".startswith(f"{kind}.") for kind in kinds
        )
        if not included:
            return []
        document, is_empty = self._documents.get(uri_of(params)), start == end
        start, end = document.place(start), document.place(end)  # it may be past the end
        lines = [start[0] + 1, max(start[0] + 1, end[0] + (1 if end[1] else 0))]
        offered = [] if is_empty else [(TITLE, EDIT)]
        commands = [
            {"title": title, "command": command, "arguments": [uri_of(params), lines]}
            for title, command in offered
        ]
        if not self._can("textDocument", "codeAction", "codeActionLiteralSupport"):
            return commands
        return [
            {"title": command["title"], "kind": REFACTOR, "command": command}
            for command in commands
        ]

    def _start_command(self, number: int | str, params: object) -> None:
        command = param(params, "command", str)
        assert isinstance(params, dict)
        arguments = checked(params.get("arguments") or [], "arguments", list)
        if command not in (EDIT, UNDO):
            raise RequestError(INVALID_PARAMS, f"unknown command {command}")
        if not self._can("workspace", "applyEdit"):
            problem = "the editor does not support workspace/applyEdit"
            raise RequestError(REQUEST_FAILED, problem)
        if command == UNDO:
            self._undo(Pending(number, edits=False))
            return
        self._refuse_second()
        by_place = dict(enumerate(arguments))
        uri = checked(by_place.get(0), "the first argument, a URI,", str)
        lines = checked_lines(by_place.get(1))
        document = self._documents.get(uri)
        text = checked(by_place.get(2, ""), "the third argument, an instruction,", str)
        request = Pending(number, edits=True, token=params.get("workDoneToken"))

        def edit(request: Pending) -> None:
            with self._editing:  # a cancelled edit ends within a pass
                self._edit(request, document, lines, text)

        self._start(request, edit)
        self._begin_progress(request)

    def _edit(
        self, request: Pending, document: Document, lines: tuple[int, int], instruction: str
    ) -> None:
        def report(message: str) -> None:
            self._progress(request, "report", message=message)

        progress = EditProgress(request.stopped, report)
        edit = edit_lines(document, instruction, lines, self._settings, progress, applies=True)
        refused = edit.status in ("refused", "failed")
        text = document.text if refused else edit.after.decode("utf-8")
        change = document.edit_to(text)
        with self._lock:
            if request.stopped.is_set():
                return
            if edit.findings:
                self._log("\n".join(f"{finding.kind}: {finding.text}" for finding in edit.findings))
            if refused:
                problem = "; ".join(edit.problems) or edit.status
                self._show(ERROR, problem)
                self._finish(request, {"status": edit.status, "problem": problem})
            elif text == document.text:
                self._finish(request, {"status": "unchanged"})
            elif not self._documents.is_current(document):
                self._show(WARNING, CHANGED)
                self._finish(request, {"status": "refused", "problem": CHANGED})
            else:
                self._apply(request, [change], (document.uri, document.text, text))

    def _refuse_second(self) -> None:
        if any(request.edits for request in self._running.values()):
            problem = "an edit is running already; cancel it first"
            raise RequestError(REQUEST_FAILED, problem)

    # proposals: the editor shows them, and applies what the user accepts

    def _start_proposal(self, method: str, number: int | str, params: Any) -> None:
        """`specedit/propose` has an instruction, and lines or none; `specedit/apply` a change, and
        a document or none."""
        params = checked(params, "params", dict)
        self._refuse_second()
        read, settings = self._documents.get, self._settings
        if method == APPLY:
            change = param(params, "change", str)
            document = read(uri_of(params)) if "textDocument" in params else None

            def edited(progress: EditProgress) -> Iterable[tuple[Document, Edit]]:
                return change_documents(document, change, read, settings, progress)
        else:
            instruction = param(params, "instruction", str)
            lines = checked_lines(params["lines"]) if params.get("lines") is not None else None
            about = read(uri_of(params))

            def edited(progress: EditProgress) -> Iterable[tuple[Document, Edit]]:
                return [(about, edit_lines(about, instruction, lines, settings, progress))]

        request = Pending(number, edits=True, token=params.get("workDoneToken"))

        def propose(request: Pending) -> None:
            def opened(regions: object) -> None:
                with self._lock:
                    if not request.stopped.is_set():
                        self._notify(REGIONS, {"token": request.token, "regions": regions})

            def report(message: str) -> None:
                self._progress(request, "report", message=message)

            with self._editing:
                self._forget_trace()
                handle, name = tempfile.mkstemp(".jsonl", "specedit-")
                os.close(handle)
                self._trace = Path(name)
                progress = EditProgress(request.stopped, report, opened, self._trace)
                with closing(progress):
                    edits = [*edited(progress)]
            result = proposal_of(edits) | {"model": progress.model}
            with self._lock:
                if not all(self._documents.is_current(changed) for changed, _ in edits):
                    raise RequestError(CONTENT_MODIFIED, CHANGED)
                self._finish(request, result)

        self._start(request, propose)
        self._begin_progress(request)

    def _report(self, _: object) -> object:
        """The page of the last proposal's passes."""
        if self._trace is None or not self._trace.stat().st_size:
            problem = "the last edit asked no model, so there is no report"
            raise RequestError(REQUEST_FAILED, problem)
        from specedit.view.html import page
        from specedit.view.trace import read

        return {"html": page(read(self._trace))}

    def _start_status(self, number: int | str, _: object) -> None:
        """The status of a warm server; null where none runs."""

        def ask(request: Pending) -> None:
            from specedit.server import client
            from specedit.server.runtime import runtime_folder

            record = runtime_folder().record()
            self._finish(request, client.status(record) if record else None)

        self._start(Pending(number, edits=False), ask)

    def _forget_trace(self) -> None:
        if self._trace is not None:
            self._trace.unlink(missing_ok=True)
            self._trace = None

    def close(self, timeout_s: float) -> bool:
        ended = super().close(timeout_s)
        self._forget_trace()
        return ended

    def _undo(self, request: Pending) -> None:
        uri, before, after = self._last or ("", "", "")
        document = next(
            (document for document in self._documents.files() if document.uri == uri), None
        )
        if document is None or document.text != after:
            self._show(WARNING, "there is nothing to undo, or the text changed since")
            self._reply(request.id, {"undone": 0})
            return
        self._running[request.id] = request
        self._apply(request, [document.edit_to(before)], (uri, after, before))

    def _apply(
        self, request: Pending, changes: Sequence[Message], made: tuple[str, str, str]
    ) -> None:
        """Send an edit for one version of a document, and answer the request when the editor has
        answered. An editor that does not support versioned edits ignores the version."""
        undoes = not request.edits

        def applied(response: Message) -> None:
            answer = response.get("result")
            done = isinstance(answer, dict) and answer.get("applied") is True
            if done:
                self._last = None if undoes else made
            else:
                self._show(WARNING, "the editor did not apply the edit")
            status = (
                {"undone": int(done)} if undoes else {"status": "edited" if done else "refused"}
            )
            self._finish(request, status)

        request.sent = True
        label = "specedit: undo" if undoes else "specedit"
        edit = {"documentChanges": list(changes)}
        self._ask("workspace/applyEdit", {"label": label, "edit": edit}, applied)


def checked_lines(value: object) -> tuple[int, int]:
    """A first and a last line of the parameters."""
    lines = checked(value, "lines, two line numbers,", list)
    if len(lines) != 2:
        raise RequestError(INVALID_PARAMS, "lines are not two numbers")
    first, last = (checked(line, "a line", int) for line in lines)
    return first, last


def proposal_of(edits: Sequence[tuple[Document, Edit]]) -> Message:
    """The answer to an editor about the Edits of one change, all of them or none."""
    figures = sum((edit.figures for _, edit in edits), Figures())
    drafted = figures.drafted
    problems = [f"{edit.path}: {problem}" for _, edit in edits for problem in edit.problems]
    changed = [(document, edit) for document, edit in edits if edit.changed]
    rated = [edit for _, edit in edits if edit.sure is not None]
    return {
        "confidence": min(
            (edit.confidence for edit in rated if edit.confidence is not None), default=None
        ),
        "sure": all(edit.sure for edit in rated) if rated else None,
        "status": "refused" if problems else "proposed" if changed else "unchanged",
        "problems": problems,
        "notes": [f"{edit.path}: {note}" for _, edit in edits for note in edit.notes],
        "documentChanges": []
        if problems
        else [document.edit_to(edit.after.decode("utf-8")) for document, edit in changed],
        "passes": figures.passes,
        "tokens": figures.completion,
        "proposed": drafted.proposed,
        "accepted": drafted.accepted,
        "seconds": figures.total_s,
    }
