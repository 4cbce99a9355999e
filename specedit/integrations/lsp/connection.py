"""The connection to an editor: pygls, and what it leaves open.

A message that is damaged or not valid is answered with an error and costs nothing but itself. Each
request is a task of one event loop, which alone holds the state and sends; slow work runs in
threads.
"""

from __future__ import annotations

import asyncio
import re
import threading
import traceback
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import asynccontextmanager, suppress
from typing import Any, BinaryIO, TypeVar

from cattrs import Converter, transform_error
from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidRequest,
    JsonRpcParseError,
    JsonRpcServerNotInitialized,
)
from pygls.io_ import StdoutWriter
from pygls.lsp.server import LanguageServer
from pygls.protocol import JsonRPCNotification, JsonRPCRequestMessage, LanguageServerProtocol

from specedit.errors import SpeceditError
from specedit.files.startup import home
from specedit.files.undo import recover
from specedit.integrations.lsp.document_edits import Documents, Encoding

MAX_MESSAGE_BYTES = 256 << 20
# At the end of a line rather than all of it: what precedes it is the body of a damaged message.
LENGTH = re.compile(rb"Content-Length:[ \t]*(\S*)[ \t]*\r?\n\Z", re.IGNORECASE)
CAPABILITIES = {  # of an editor, by group
    "workspace": ("applyEdit",),
    "window": ("workDoneProgress",),
    "textDocument": ("rename", "codeAction"),
    "general": ("positionEncodings",),
}
ERROR, WARNING, INFO = types.MessageType.Error, types.MessageType.Warning, types.MessageType.Info

Result = TypeVar("Result")


def in_thread(work: Callable[[], Result]) -> Awaitable[Result]:
    """The result of slow work, in a thread that, unlike one of a pool, lets the process end."""
    future = Future[Result]()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as problem:
            future.set_exception(problem)

    threading.Thread(target=run, daemon=True).start()
    return asyncio.wrap_future(future)


def capabilities_read(declared: Any) -> Any:
    """The capabilities that decide anything here: later versions have others."""
    if not isinstance(declared, dict):
        return declared
    return {
        name: {key: group[key] for key in CAPABILITIES[name] if key in group}
        for name, group in declared.items()
        if name in CAPABILITIES and isinstance(group, dict)
    }


class MessageReader:
    """stdin as pygls reads it. A length that is not valid is refused, and the next message read."""

    def __init__(self, stream: BinaryIO, refuse: Callable[[str], None]) -> None:
        self._stream = stream
        self._refuse = refuse

    async def readline(self) -> bytes:
        """One line of a header, its length written as pygls expects it."""
        line = await in_thread(self._stream.readline)
        if (header := LENGTH.search(line)) is None:
            return line
        length = int(header[1]) if re.fullmatch(rb"[0-9]{1,12}", header[1]) else -1
        if not 0 <= length <= MAX_MESSAGE_BYTES:
            length_shown = header[1].decode("ascii", "replace")
            self._refuse(f"a Content-Length of {length_shown!r}, not 0 to {MAX_MESSAGE_BYTES}")
            return b"-\r\n"
        return b"Content-Length: %d\r\n" % length

    def readexactly(self, size: int) -> Awaitable[bytes]:
        return in_thread(lambda: self._stream.read(size))


class MessageWriter(StdoutWriter):
    """stdout. An editor that is gone is no error: reading ends too."""

    def write(self, data: bytes) -> None:
        with suppress(OSError, ValueError):
            super().write(data)


class Connection(LanguageServerProtocol):
    """The messages between an editor and us. `documents` takes the place of pygls' workspace."""

    def __init__(self, server: LanguageServer, converter: Converter) -> None:
        super().__init__(server, converter)
        self.ended = threading.Event()  # the editor has sent `exit`
        self.documents = Documents()
        features = self.fm.builtin_features
        features[types.TEXT_DOCUMENT_DID_OPEN] = self.documents.opened
        features[types.TEXT_DOCUMENT_DID_CHANGE] = self.documents.changed
        features[types.TEXT_DOCUMENT_DID_CLOSE] = self.documents.closed
        features[types.EXIT] = lambda _: self.ended.set()
        self.fm.features[types.INITIALIZE] = self._initialize

    def _initialize(self, _: types.InitializeParams) -> None:
        self.documents.encoding = Encoding(self.workspace.position_encoding)

    @property
    def exit_code(self) -> int:
        """0 after `shutdown`, else 1."""
        return int(not self._shutdown)

    # messages of the editor

    def answer(self, method: str, handle: Callable[[Any], Awaitable[object]]) -> None:
        """Answer the requests of a method. Only an unexpected error prints a traceback."""

        async def answered(params: Any) -> object:
            try:
                return await handle(params)
            except SpeceditError as problem:
                code = types.LSPErrorCodes.RequestFailed
                raise JsonRpcException(str(problem), code) from problem
            except Exception as problem:
                if not isinstance(problem, JsonRpcException):
                    traceback.print_exception(problem)
                raise

        self.fm.add_builtin_feature(method, answered)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """A message as it came: only `handle_message` can answer one that is not valid."""
        return data

    def handle_message(self, message: Any) -> None:
        """Handle one message; one that is not valid is answered with an error."""
        try:
            structured = self._structured(message)
        except JsonRpcException as problem:
            self._refuse(message, problem)
            return
        if structured is not None:
            with suppress(InvalidStateError):  # the response to a request that was cancelled
                super().handle_message(structured)

    def _structured(self, message: Any) -> Any:
        """A message as an object; None for a notification that comes too early."""
        if not isinstance(message, dict) or message.get("jsonrpc") != self.VERSION:
            raise JsonRpcInvalidRequest("not a message of JSON-RPC 2.0")
        if "id" in message and not isinstance(message["id"], int | str):
            raise JsonRpcInvalidRequest("the id is not a number or string")
        method, is_initialized = message.get("method"), self._workspace is not None
        if "id" in message and ("result" in message or "error" in message):
            return super().structure_message(message)
        if not isinstance(method, str):
            raise JsonRpcInvalidRequest("neither a request, a notification nor a response")
        if "id" in message:
            if is_initialized and method == types.INITIALIZE:
                raise JsonRpcInvalidRequest("`initialize` comes once")
            if not is_initialized and method != types.INITIALIZE:
                raise JsonRpcServerNotInitialized("`initialize` comes first")
            if self._shutdown:
                raise JsonRpcInvalidRequest("the server is shutting down")
        elif not is_initialized and method != types.EXIT:
            return None
        if method == types.INITIALIZE and isinstance(message.get("params"), dict):
            capabilities = capabilities_read(message["params"].get("capabilities"))
            message = {**message, "params": {**message["params"], "capabilities": capabilities}}
        if self.get_message_type(method) is not None:
            return super().structure_message(message)
        kind = JsonRPCRequestMessage if "id" in message else JsonRPCNotification
        return kind(**{"params": None, **message})

    def _refuse(self, message: Any, problem: JsonRpcException) -> None:
        """Answer a message that is not valid."""
        error = problem.to_response_error()
        if problem.__cause__ is not None:
            error.code = types.ErrorCodes.InvalidParams
            error.message = "; ".join(transform_error(problem.__cause__))
        fields = message if isinstance(message, dict) else {}
        number: Any = fields.get("id")
        if "method" in fields and "id" not in fields:
            self.documents.forget(fields.get("params"))
            self.log(f"{fields['method']}: {error.message}")
        elif "result" in fields or "error" in fields:
            self._handle_response(number, error=error)
        else:
            is_known = "method" in fields and isinstance(number, int | str)
            self._send_error(number if is_known else None, error)

    def refuse_unread(self, problem: object, _: object = None) -> None:
        """Answer a message that cannot be read."""
        self._send_error(None, JsonRpcParseError.of(problem).to_response_error())

    def _send_error(self, number: Any, error: types.ResponseError) -> None:
        """Send an error as an answer; `number` is None where the message has no id."""
        self._send_data({"jsonrpc": self.VERSION, "id": number, "error": error})

    # work that takes time

    async def in_thread(self, work: Callable[[], Result]) -> Result:
        """The result of slow work, after changes that were interrupted are completed."""
        for line in await in_thread(lambda: recover(home())):
            self.show(INFO, line)
        return await in_thread(work)

    @asynccontextmanager
    async def progress_of(self, token: Any) -> AsyncIterator[Callable[[str], object]]:
        """Progress with the token of a request, else with one of ours where the editor accepts it.
        The function reports from any thread. An editor that cancels it cancels the request."""
        if token is None and self.editor_has("window.work_done_progress"):
            token = str(uuid.uuid4())
            try:
                await self.progress.create_async(token)
            except JsonRpcException:
                token = None
        if token is None:
            yield lambda text: None
            return
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        open_tokens = self.progress.tokens
        begin = types.WorkDoneProgressBegin(title="specedit", cancellable=True)
        self.progress.begin(token, begin)
        open_tokens[token].add_done_callback(lambda _: task.cancel())

        def report(text: str) -> None:
            if token in open_tokens:
                self.progress.report(token, types.WorkDoneProgressReport(message=text))

        outcome = "failed"
        try:
            yield lambda text: loop.call_soon_threadsafe(report, text)
            outcome = "done"
        except asyncio.CancelledError:
            outcome = "cancelled"
            raise
        finally:
            open_tokens.pop(token, None)
            self.progress.end(token, types.WorkDoneProgressEnd(message=outcome))

    def editor_has(self, capability: str) -> bool:
        """Whether the editor declares a capability, named as in `ClientCapabilities`."""
        return bool(get_capability(self.client_capabilities, capability))

    def show(self, kind: types.MessageType, text: str) -> None:
        params = types.ShowMessageParams(kind, f"specedit: {text}")
        self.notify(types.WINDOW_SHOW_MESSAGE, params)

    def log(self, text: str) -> None:
        self.notify(types.WINDOW_LOG_MESSAGE, types.LogMessageParams(INFO, f"specedit: {text}"))
