"""`specedit lsp` with the client of pygls."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from git_repository import Repository

pytestmark = pytest.mark.tools

FILES = {
    "shop/__init__.py": "",
    "shop/user.py": "class User:\n    def __init__(self) -> None:\n        self.user_name = '🙂'\n",
    "shop/page.py": (
        "from shop.user import User\n\n\n"
        "def title(user: User, user_name: str) -> str:\n"
        "    return '🙂' + user.user_name + user_name\n"
    ),
    "notes.md": "`user_name` is a column.\n",
}


def run(work: Any) -> None:
    asyncio.run(asyncio.wait_for(work, 60))


class Desk:
    """An editor with a repository open."""

    def __init__(self, root: Path, script: dict[str, Any]) -> None:
        self.root = root
        self.repository = Repository.init(root)
        for name, text in FILES.items():
            self.repository.write(name, text)
        self.repository.git("add", "-A")
        self.script = root.parent / "script.json"
        self.script.write_text(json.dumps(script))
        self.applied: list[Any] = []
        self.progress: list[Any] = []

    async def open(self) -> AsyncIterator[Any]:
        from lsprotocol import types as lsp
        from pygls.lsp.client import LanguageClient

        client = LanguageClient("editor", "1")

        @client.feature(lsp.WORKSPACE_APPLY_EDIT)
        def apply(params: lsp.ApplyWorkspaceEditParams) -> lsp.ApplyWorkspaceEditResult:
            self.applied.append(params)
            return lsp.ApplyWorkspaceEditResult(applied=True)

        @client.feature(lsp.WINDOW_WORK_DONE_PROGRESS_CREATE)
        def create(params: lsp.WorkDoneProgressCreateParams) -> None:
            self.token = params.token

        @client.feature(lsp.PROGRESS)
        def reported(params: lsp.ProgressParams) -> None:
            self.progress.append(params.value)

        @client.feature(lsp.WINDOW_SHOW_MESSAGE)
        def message(params: lsp.ShowMessageParams) -> None:
            pass

        env = {**os.environ, "TESTS_SCRIPT": str(self.script), "SPECEDIT_SERVER": "off"}
        words = ("-m", "specedit", "lsp", "--model", "scripted")
        await client.start_io(sys.executable, *words, cwd=str(self.root), env=env)
        literals = lsp.ClientCodeActionLiteralOptions(lsp.ClientCodeActionKindOptions([]))
        capabilities = lsp.ClientCapabilities(
            workspace=lsp.WorkspaceClientCapabilities(apply_edit=True),
            window=lsp.WindowClientCapabilities(work_done_progress=True),
            text_document=lsp.TextDocumentClientCapabilities(
                rename=lsp.RenameClientCapabilities(prepare_support=True),
                code_action=lsp.CodeActionClientCapabilities(code_action_literal_support=literals),
            ),
        )
        await client.initialize_async(
            lsp.InitializeParams(capabilities=capabilities, root_uri=self.root.as_uri())
        )
        client.initialized(lsp.InitializedParams())
        for name in ("shop/user.py", "shop/page.py"):
            text = (self.root / name).read_text("utf-8")
            item = lsp.TextDocumentItem(self.uri(name), "python", 1, text)
            client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        try:
            yield client
        finally:
            await client.shutdown_async(None)
            client.exit(None)
            await client.stop()

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()


def applied(desk: Desk, edit: Any) -> dict[str, str]:
    """The texts after a workspace edit, by file."""
    results = {}
    for change in edit.document_changes:
        name = Path(change.text_document.uri.removeprefix(desk.root.as_uri() + "/")).as_posix()
        lines = FILES[name].splitlines(keepends=True)
        for one in sorted(change.edits, key=lambda one: -one.range.start.line):
            assert one.range.start.character == one.range.end.character == 0
            lines[one.range.start.line : one.range.end.line] = [one.new_text]
        results[name] = "".join(lines)
    return results


def test_rename_is_of_the_whole_work_tree(tmp_path):
    desk = Desk(tmp_path / "repo", {"replace": []})

    async def work() -> None:
        from lsprotocol import types as lsp

        async for client in desk.open():
            document = lsp.TextDocumentIdentifier(desk.uri("shop/page.py"))
            at = lsp.Position(4, 25)  # of `user.user_name`, behind a character of two units
            asked = lsp.PrepareRenameParams(document, at)
            prepared = await client.text_document_prepare_rename_async(asked)
            assert prepared.placeholder == "user_name"
            start, end = prepared.range.start.character, prepared.range.end.character
            assert (start, end) == (23, 32)
            params = lsp.RenameParams(document, at, "login")
            edit = await client.text_document_rename_async(params)
            assert applied(desk, edit) == {
                "shop/user.py": FILES["shop/user.py"].replace("user_name", "login"),
                "shop/page.py": FILES["shop/page.py"].replace("user.user_name", "user.login"),
            }
            with pytest.raises(Exception, match="keyword"):
                await client.text_document_rename_async(lsp.RenameParams(document, at, "class"))
            blank = lsp.PrepareRenameParams(document, lsp.Position(1, 0))
            assert await client.text_document_prepare_rename_async(blank) is None

    run(work())


def test_a_selection_is_edited_with_an_instruction_and_undone(tmp_path):
    desk = Desk(tmp_path / "repo", {"replace": [["user_name", "login"]], "delay_s": 0.01})

    async def work() -> None:
        from lsprotocol import types as lsp

        async for client in desk.open():
            uri = desk.uri("shop/user.py")
            span = lsp.Range(lsp.Position(1, 0), lsp.Position(3, 0))
            result = await client.text_document_code_action_async(
                lsp.CodeActionParams(
                    lsp.TextDocumentIdentifier(uri), span, lsp.CodeActionContext([])
                )
            )
            (action,) = result
            assert action.title == "Edit with instruction…"
            assert "specedit.edit" in str(action.command)
            asked = lsp.ExecuteCommandParams("specedit.edit", [uri, [2, 3]])
            with pytest.raises(Exception, match="no instruction"):  # as the action sends it: none
                await client.workspace_execute_command_async(asked)
            params = lsp.ExecuteCommandParams("specedit.edit", [uri, [2, 3], "Rename it."])
            done = await client.workspace_execute_command_async(params)
            assert done["status"] == "edited"
            wanted = FILES["shop/user.py"].replace("user_name", "login")
            assert applied(desk, desk.applied[0].edit) == {"shop/user.py": wanted}
            kinds = [one["kind"] for one in map(plain, desk.progress)]
            assert kinds[0] == "begin" and kinds[-1] == "end" and "report" in kinds
            messages = [one.get("message") or "" for one in map(plain, desk.progress)]
            assert any("login" in one for one in messages), "the text is shown as it grows"
            version = lsp.VersionedTextDocumentIdentifier(version=2, uri=uri)
            whole = lsp.TextDocumentContentChangeWholeDocument(wanted)
            client.text_document_did_change(lsp.DidChangeTextDocumentParams(version, [whole]))
            undo = lsp.ExecuteCommandParams("specedit.undo", [])
            assert (await client.workspace_execute_command_async(undo))["undone"] == 1
            (change,) = desk.applied[1].edit.document_changes
            assert "user_name" in change.edits[0].new_text

    run(work())


def plain(value: Any) -> dict[str, Any]:
    """A progress value, as whatever the client made of it."""
    if isinstance(value, dict):
        return value
    return {name: getattr(value, name, None) for name in ("kind", "message")}
