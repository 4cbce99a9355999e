"""The requests of an editor, and the server that answers them.

A rename and an edit run in threads; their results are sent only for the versions of the documents
that they were made from.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from cattrs import Converter
from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.io_ import run_async
from pygls.lsp.server import LanguageServer

from specedit.edit.report import Edit, Figures
from specedit.errors import InputError
from specedit.integrations.lsp.connection import (
    ERROR,
    WARNING,
    Connection,
    MessageReader,
    MessageWriter,
    Result,
)
from specedit.integrations.lsp.document_edits import (
    CHANGED,
    Document,
    EditProgress,
    RegionLines,
    TreeEdit,
    change_documents,
    edit_lines,
    identifier_at,
    rename_at,
)
from specedit.settings import Settings
from specedit.version import VERSION
from specedit.view.trace import TraceWriter, page, read

EDIT, UNDO = "specedit.edit", "specedit.undo"
PROPOSE, APPLY, REPORT = "specedit/propose", "specedit/apply", "specedit/report"
STATUS = "specedit/status"  # of the warm server
REGIONS = "specedit/regions"  # sent before the model is asked: what may change
TITLE = "Edit with instruction…"
REFACTOR = types.CodeActionKind.RefactorRewrite


class Session(Connection):
    """The requests of one editor, and what is kept between them."""

    def __init__(self, settings: Settings, server: LanguageServer, converter: Converter) -> None:
        super().__init__(server, converter)
        server.protocol = self
        self._settings = settings
        self._is_editing = False
        self._edit_lock = threading.Lock()  # a cancelled edit holds it until its pass ends
        self._last: tuple[str, str, str] | None = None  # uri, text before and after the last edit
        self._folder = tempfile.TemporaryDirectory(prefix="specedit-")  # deleted with the process
        self._trace = Path(self._folder.name, "trace.jsonl")  # the passes of the last proposal
        answers: dict[str, Callable[[Any], Awaitable[object]]] = {
            types.TEXT_DOCUMENT_PREPARE_RENAME: self._prepare_rename,
            types.TEXT_DOCUMENT_RENAME: self._rename,
            types.TEXT_DOCUMENT_CODE_ACTION: self._code_actions,
            types.WORKSPACE_EXECUTE_COMMAND: self._command,
            PROPOSE: self._propose,
            APPLY: self._propose_merge,
            REPORT: self._report,
            STATUS: self._status,
        }
        for method, handle in answers.items():
            self.answer(method, handle)
        actions = types.CodeActionOptions(code_action_kinds=[REFACTOR])
        self.fm.feature_options[types.TEXT_DOCUMENT_CODE_ACTION] = actions
        self.fm.commands.update({EDIT: self._edit, UNDO: self._undo})

    # rename

    async def _prepare_rename(
        self, params: types.PrepareRenameParams
    ) -> types.PrepareRenamePlaceholder | None:
        document = self.documents.get(params.text_document.uri)
        line, column = document.place(params.position)
        identifier = identifier_at(document.lines[line], column)
        if identifier is None:
            return None
        span = document.range((line, identifier.start()), (line, identifier.end()))
        return types.PrepareRenamePlaceholder(span, identifier[0])

    async def _rename(self, params: types.RenameParams) -> types.WorkspaceEdit:
        document, opened = self.documents.get(params.text_document.uri), self.documents.files()
        place, new = document.place(params.position), params.new_name
        renamed = await self.in_thread(
            lambda: rename_at(document, place, new, opened, self._settings)
        )
        self.documents.check_current((document, *(changed for changed, _ in renamed.texts)))
        self._summarize(renamed, new)
        changes = [changed.edit_to(text) for changed, text in renamed.texts]
        return types.WorkspaceEdit(document_changes=changes)

    def _summarize(self, renamed: TreeEdit, new: str) -> None:
        """One message for the user; every uncertain place is in the log."""
        if not renamed.doubts:
            return
        self.log("\n".join(renamed.doubts))
        text = f"renamed `{renamed.old}` to `{new}`. Look at {renamed.doubts[0]}"
        if len(renamed.doubts) > 1:
            text += f" (and {len(renamed.doubts) - 1} more, in the log)"
        self.show(WARNING, text)

    # edits

    async def _code_actions(
        self, params: types.CodeActionParams
    ) -> list[types.Command] | list[types.CodeAction]:
        kinds, span = params.context.only, params.range
        included = kinds is None or any(
            kind == "" or (REFACTOR + ".").startswith(kind + ".") for kind in kinds
        )
        if not included or span.start == span.end:
            return []
        document = self.documents.get(params.text_document.uri)
        start, end = sorted((document.place(span.start), document.place(span.end)))
        lines = [start[0] + 1, max(start[0] + 1, end[0] + (1 if end[1] else 0))]
        command = types.Command(TITLE, EDIT, arguments=[document.uri, lines])
        if not self.editor_has("text_document.code_action.code_action_literal_support"):
            return [command]
        return [types.CodeAction(TITLE, kind=REFACTOR, command=command)]

    async def _command(self, params: types.ExecuteCommandParams) -> dict[str, Any]:
        if params.command not in self.fm.commands:
            raise JsonRpcInvalidParams(f"unknown command {params.command}")
        if not self.editor_has("workspace.apply_edit"):
            raise InputError("the editor does not support workspace/applyEdit")
        result: dict[str, Any] = await self.fm.commands[params.command](params)
        return result

    async def _edit(self, params: types.ExecuteCommandParams) -> dict[str, Any]:
        arguments = dict(enumerate(params.arguments or ()))
        uri = checked(arguments.get(0), "the first argument, a URI,", str)
        lines = checked_lines(arguments.get(1))
        text = checked(arguments.get(2, ""), "the third argument, an instruction,", str)
        document = self.documents.get(uri)
        work = partial(edit_lines, document, text, lines, self._settings, applies=True)
        edit = await self._run(params.work_done_token, work)
        if edit.findings:
            self.log("\n".join(f"{finding.kind}: {finding.text}" for finding in edit.findings))
        if edit.status in ("refused", "failed"):
            problem = "; ".join(edit.problems) or edit.status
            self.show(ERROR, problem)
            return {"status": edit.status, "problem": problem}
        after = edit.after.decode("utf-8")
        if not edit.changed or after == document.text:
            return {"status": "unchanged"}
        if not self.documents.is_current(document):
            self.show(WARNING, CHANGED)
            return {"status": "refused", "problem": CHANGED}
        if not await self._apply("specedit", document.edit_to(after)):
            return {"status": "refused"}
        self._last = document.uri, document.text, after
        return {"status": "edited"}

    async def _undo(self, _: types.ExecuteCommandParams) -> dict[str, Any]:
        uri, before, after = self._last or ("", "", "")
        document = next((file for file in self.documents.files() if file.uri == uri), None)
        if document is None or document.text != after:
            self.show(WARNING, "there is nothing to undo, or the text changed since")
            return {"undone": 0}
        done = await self._apply("specedit: undo", document.edit_to(before))
        if done:
            self._last = None
        return {"undone": int(done)}

    async def _apply(self, label: str, edit: types.TextDocumentEdit) -> bool:
        """Let the editor apply an edit of one version of a document; whether it has."""
        if self.msg_id is not None:
            self._request_futures.pop(self.msg_id, None)  # too late to cancel
        params = types.ApplyWorkspaceEditParams(types.WorkspaceEdit(document_changes=[edit]), label)
        try:
            answer = await self.send_request_async(types.WORKSPACE_APPLY_EDIT, params)
        except JsonRpcException:
            answer = None
        if answer is None or not answer.applied:
            self.show(WARNING, "the editor did not apply the edit")
            return False
        return True

    async def _run(self, token: Any, edit: Callable[[EditProgress], Result]) -> Result:
        """Run an edit in a thread; one that is cancelled ends after its pass."""
        if self._is_editing:
            raise InputError("an edit is running already; cancel it first")
        self._is_editing, stopped = True, threading.Event()
        try:
            async with self.progress_of(token) as report:

                def work() -> Result:
                    with self._edit_lock:
                        return edit(EditProgress(stopped, report))

                return await self.in_thread(work)
        finally:
            self._is_editing = False
            stopped.set()

    # proposals: the editor shows them, and applies what the user accepts

    async def _propose(self, params: Any) -> dict[str, Any]:
        """The Edit of an instruction, in lines or in the whole document."""
        params = checked(params, "params", dict)
        instruction = checked(params.get("instruction"), "instruction", str)
        lines = checked_lines(params["lines"]) if params.get("lines") is not None else None
        document = self._document(params)
        edit = partial(edit_lines, document, instruction, lines, self._settings)
        return await self._proposal(params, lambda progress: [(document, edit(progress))])

    async def _propose_merge(self, params: Any) -> dict[str, Any]:
        """The Edits of a change, for the files that it names, or else for the document."""
        params = checked(params, "params", dict)
        change = checked(params.get("change"), "change", str)
        document = self._document(params) if "textDocument" in params else None
        edits = partial(change_documents, document, change, self.documents.get, self._settings)
        return await self._proposal(params, edits)

    def _document(self, params: dict[str, Any]) -> Document:
        identifier = checked(params.get("textDocument"), "textDocument", dict)
        return self.documents.get(checked(identifier.get("uri"), "uri", str))

    async def _proposal(
        self,
        params: dict[str, Any],
        edit: Callable[[EditProgress], Iterable[tuple[Document, Edit]]],
    ) -> dict[str, Any]:
        loop, token = asyncio.get_running_loop(), params.get("workDoneToken")

        def opened(regions: Sequence[RegionLines]) -> None:
            sent = {"token": token, "regions": regions}
            loop.call_soon_threadsafe(self.notify, REGIONS, sent)

        def work(progress: EditProgress) -> tuple[list[tuple[Document, Edit]], str]:
            self._trace.unlink(missing_ok=True)
            with closing(TraceWriter(self._trace)) as trace:
                progress.opened, progress.trace = opened, trace
                return [*edit(progress)], progress.model

        edits, model = await self._run(token, work)
        self.documents.check_current(document for document, _ in edits)
        return proposal_of(edits) | {"model": model}

    async def _report(self, _: object) -> dict[str, Any]:
        """The page of the last proposal's passes."""
        if not self._trace.is_file() or not self._trace.stat().st_size:
            raise InputError("the last edit asked no model, so there is no report")
        return {"html": page(read(self._trace))}

    async def _status(self, _: object) -> object:
        """The status of a warm server; None where none runs."""
        from specedit.server import client
        from specedit.server.runtime import runtime_folder

        record = runtime_folder().record()
        return await self.in_thread(lambda: client.status(record) if record else None)


def serve_streams(settings: Settings, reader: BinaryIO, writer: BinaryIO) -> int:
    """Serve one editor until it leaves; returns the exit code."""
    logging.getLogger("pygls").setLevel(logging.CRITICAL)  # stderr is for what is unexpected
    sync = types.TextDocumentSyncKind.Full
    server = LanguageServer("specedit", VERSION, sync)
    session = Session(settings, server, get_converter())
    session.set_writer(MessageWriter(writer))
    messages = MessageReader(reader, session.refuse_unread)
    asyncio.run(run_async(session.ended, messages, session, error_handler=session.refuse_unread))
    return session.exit_code


def checked(value: object, name: str, kind: type) -> Any:
    """The value, or an error if it is of another type."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise JsonRpcInvalidParams(f"{name} must be of type {kind.__name__}")
    return value


def checked_lines(value: object) -> tuple[int, int]:
    """A first and a last line of the parameters."""
    lines = checked(value, "lines", list)
    if len(lines) != 2:
        raise JsonRpcInvalidParams("lines must be two numbers")
    first, last = (checked(line, "a line", int) for line in lines)
    return first, last


def proposal_of(edits: Sequence[tuple[Document, Edit]]) -> dict[str, Any]:
    """The answer to an editor about the Edits of one change, all of them or none."""
    figures = sum((edit.figures for _, edit in edits), Figures())
    drafted = figures.drafted
    problems = [f"{edit.path}: {problem}" for _, edit in edits for problem in edit.problems]
    changed = [(document, edit) for document, edit in edits if edit.changed]
    changes = [document.edit_to(edit.after.decode("utf-8")) for document, edit in changed]
    rated = [edit for _, edit in edits if edit.sure is not None]
    chances = (edit.confidence for edit in rated if edit.confidence is not None)
    return {
        "confidence": min(chances, default=None),
        "sure": all(edit.sure for edit in rated) if rated else None,
        "status": "refused" if problems else "proposed" if changed else "unchanged",
        "problems": problems,
        "notes": [f"{edit.path}: {note}" for _, edit in edits for note in edit.notes],
        "documentChanges": [] if problems else changes,
        "passes": figures.passes,
        "tokens": figures.completion,
        "proposed": drafted.proposed,
        "accepted": drafted.accepted,
        "seconds": figures.total_s,
    }
