"""`specedit lsp`: the protocol's side, over stdin and stdout.

Offers rename with its check, "Edit with instruction" on a selection with progress and
cancellation, and `specedit.undo`. Knows pygls and what editors send; what is renamed or asked is
decided below. One command runs at a time, in a thread of its own.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInternalError, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from specedit.errors import SpeceditError
from specedit.lsp.asking import ask
from specedit.lsp.renaming import named_at, rename_at, tree_of
from specedit.report import Edit
from specedit.settings import Settings
from specedit.version import VERSION

EDIT, UNDO = "specedit.edit", "specedit.undo"


class EditorServer(LanguageServer):
    """The state: settings, what runs, and what was changed last."""

    def __init__(self, settings: Settings) -> None:
        super().__init__("specedit", VERSION)
        self.settings = settings
        self.stopped: dict[str | int, threading.Event] = {}  # by progress token
        self.before: dict[str, tuple[str, str]] = {}  # by uri: the text before, and after
        self.busy = threading.Lock()

    def text(self, uri: str) -> str:
        return str(self.workspace.get_text_document(uri).source)

    def opened(self) -> Mapping[Path, str]:
        held = self.workspace.text_documents.values()
        return {Path(one.path): str(one.source) for one in held if one.path}


def serve(settings: Settings) -> None:
    """Speak with the editor until it leaves."""
    made(settings).start_io()


def made(settings: Settings) -> EditorServer:
    """A server with all that it offers."""
    server = EditorServer(settings)
    _renaming(server)
    _editing(server)
    return server


def _renaming(server: EditorServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def rename(ls: EditorServer, params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        uri = params.text_document.uri
        path, text = _path(uri), ls.text(uri)
        try:
            tree = tree_of(path, ls.opened())
            at = _offset(ls, uri, text, params.position)
            found = rename_at(tree, path, at, params.new_name, ls.settings)
        except SpeceditError as problem:
            raise JsonRpcInvalidParams(str(problem)) from problem
        changes = []
        for name, guess in found.files.items():
            place = tree.root / name
            there = from_fs_path(str(place)) or ""
            there = uri if place == path else there
            before = tree.project.text(name) or ""
            changes.append(_edit(ls, there, before, guess.text))
        for name, doubts in found.undecided.items():
            for doubt in doubts:
                _say(ls, f"{name}: {doubt.text}", lsp.MessageType.Warning)
        return lsp.WorkspaceEdit(document_changes=changes)

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare(ls: EditorServer, params: lsp.PrepareRenameParams) -> Any:
        uri = params.text_document.uri
        text = ls.text(uri)
        found = named_at(text, _offset(ls, uri, text, params.position))
        if found is None:
            return None
        span = _range(ls, uri, text, found.start, found.end)
        return lsp.PrepareRenamePlaceholder(range=span, placeholder=found.text)


def _editing(server: EditorServer) -> None:
    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.RefactorRewrite]),
    )
    def actions(ls: EditorServer, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        span = params.range
        if span.start == span.end:
            return []
        lines = [span.start.line + 1, span.end.line + (1 if span.end.character else 0)]
        command = lsp.Command(
            title="Edit with instruction…",
            command=EDIT,
            arguments=[params.text_document.uri, lines],
        )
        kind = lsp.CodeActionKind.RefactorRewrite
        return [lsp.CodeAction(title=command.title, kind=kind, command=command)]

    @server.thread()
    @server.command(EDIT)
    def edit(ls: EditorServer, uri: str, lines: list[int], *said: str) -> dict[str, Any]:
        instruction = said[0] if said else ""
        if not ls.busy.acquire(blocking=False):
            raise JsonRpcInternalError("An edit is running already; cancel it first.")
        try:
            return _edited(ls, uri, (int(lines[0]), int(lines[1])), instruction)
        except SpeceditError as problem:
            _say(ls, str(problem), lsp.MessageType.Error)
            raise JsonRpcInvalidParams(str(problem)) from problem
        finally:
            ls.busy.release()

    @server.thread()
    @server.command(UNDO)
    def undo(ls: EditorServer) -> dict[str, Any]:
        changes = [
            _edit(ls, uri, after, before)
            for uri, (before, after) in ls.before.items()
            if ls.text(uri) == after
        ]
        if not changes:
            _say(ls, "There is nothing to undo, or it was changed since.", lsp.MessageType.Warning)
            return {"undone": 0}
        ls.before.clear()
        _apply(ls, "specedit: undo", changes)
        return {"undone": len(changes)}

    @server.feature(lsp.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def cancel(ls: EditorServer, params: lsp.WorkDoneProgressCancelParams) -> None:
        if params.token in ls.stopped:
            ls.stopped[params.token].set()


def _edited(ls: EditorServer, uri: str, lines: tuple[int, int], instruction: str) -> dict[str, Any]:
    """Run one edit to its end: progress on the way, a workspace edit at last."""
    path, text = _path(uri), ls.text(uri)
    token = str(uuid.uuid4())
    stop = ls.stopped[token] = threading.Event()
    progress = ls.work_done_progress
    progress.create(token).result(timeout=10)
    progress.begin(token, lsp.WorkDoneProgressBegin(title="specedit", cancellable=True))
    found: Edit | None = None
    said = "cancelled; nothing was changed"
    try:
        for item in ask(path, text, instruction, lines, ls.settings, stop.is_set):
            if isinstance(item, Edit):
                found = item
            else:
                progress.report(token, lsp.WorkDoneProgressReport(message=item))
        if found is not None:
            said = "; ".join(found.problems) or found.status
    finally:
        del ls.stopped[token]
        progress.end(token, lsp.WorkDoneProgressEnd(message=said))
    if found is None or found.status in ("refused", "failed"):
        kind = lsp.MessageType.Info if found is None else lsp.MessageType.Error
        _say(ls, said, kind)
        return {"status": "cancelled" if found is None else found.status}
    after = found.after.decode("utf-8", "surrogatepass")
    if after != text:
        if ls.text(uri) != text:
            _say(ls, "The text changed meanwhile; nothing was edited.", lsp.MessageType.Warning)
            return {"status": "refused"}
        ls.before = {uri: (text, after)}
        _apply(ls, "specedit", [_edit(ls, uri, text, after)])
    return {"status": "edited" if after != text else "unchanged"}


def _apply(ls: EditorServer, label: str, changes: list[Any]) -> None:
    edit = lsp.WorkspaceEdit(document_changes=changes)
    ls.workspace_apply_edit(lsp.ApplyWorkspaceEditParams(edit=edit, label=label))


def _edit(ls: EditorServer, uri: str, before: str, after: str) -> lsp.TextDocumentEdit:
    """What makes one text of the other, hunk by hunk, whole lines."""
    from specedit.text.lines import lines_of, opcodes

    old, new = lines_of(before), lines_of(after)
    edits: list[Any] = []
    for tag, a, b, c, d in opcodes(old, new):
        if tag == "equal":
            continue
        start = sum(map(len, old[:a]))
        end = start + sum(map(len, old[a:b]))
        span = _range(ls, uri, before, start, end)
        edits.append(lsp.TextEdit(range=span, new_text="".join(new[c:d])))
    held = ls.workspace.text_documents.get(uri)
    version = held.version if held is not None else None
    named = lsp.OptionalVersionedTextDocumentIdentifier(uri=uri, version=version)
    return lsp.TextDocumentEdit(text_document=named, edits=edits)


def _range(ls: EditorServer, uri: str, text: str, start: int, end: int) -> lsp.Range:
    return lsp.Range(start=_position(ls, text, start), end=_position(ls, text, end))


def _position(ls: EditorServer, text: str, at: int) -> lsp.Position:
    line = text.count("\n", 0, at)
    begin = text.rfind("\n", 0, at) + 1
    units = ls.workspace.position_codec.client_num_units(text[begin:at])
    return lsp.Position(line=line, character=units)


def _offset(ls: EditorServer, uri: str, text: str, position: lsp.Position) -> int:
    lines = text.splitlines(keepends=True)
    there = ls.workspace.position_codec.position_from_client_units(lines, position)
    return sum(map(len, lines[: there.line])) + there.character


def _path(uri: str) -> Path:
    path = to_fs_path(uri)
    if path is None:
        raise JsonRpcInvalidParams(f"{uri} is no file")
    return Path(path)


def _say(ls: EditorServer, text: str, kind: lsp.MessageType) -> None:
    ls.window_show_message(lsp.ShowMessageParams(type=kind, message=f"specedit: {text}"))
