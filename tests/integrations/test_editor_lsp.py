"""Neovim, headless, with `specedit lsp`: its own rename over files, and its own code action."""

from pathlib import Path
from typing import Any

import pytest
from editing import Desk, find
from git_repository import Repository

from specedit.integrations import editors

pytestmark = pytest.mark.tools

USER = "class User:\n    def __init__(self) -> None:\n        self.user_name = 'x'\n"
PAGE = (
    "from user import User\n\n\n"
    "def title(user: User, user_name: str) -> str:\n"
    "    return user.user_name + user_name\n"
)
ASKED = "# specedit: Old becomes New.\nOld = 2\n"
# Neovim's own words, as a person's keys would say them; `until` waits for what comes of them.
DRIVER = Path(__file__).with_name("driver.lua").read_text("utf-8")
READY = """
until_so("a server", function() return #vim.lsp.buf_get_clients() > 0 end)
for _, client in pairs(vim.lsp.buf_get_clients()) do
  until_so("initialized", function() return client.initialized and not client.is_stopped() end)
end
"""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk.make(tmp_path)
    made.write("user.py", USER)
    made.write("page.py", PAGE)
    made.write("asked.py", ASKED)
    Repository.init(made.root).git("add", "-A")
    return made


def drive(desk: Desk, body: str) -> dict[str, Any]:
    """What Neovim's buffers hold after these lines of Lua."""
    script = desk.root.parent / "drive.lua"
    script.write_text(DRIVER.replace("{body}", body))
    snippet = desk.root.parent / "snippet.lua"
    snippet.write_text(editors.snippet(editors.editor("neovim")))
    line = [find("nvim"), "--headless", "-u", "NONE", "-i", "NONE", "-n"]
    text = "let g:specedit_warm = 0 | let g:specedit_lsp = 1 | set hidden"
    line += ["--cmd", f"filetype on | {text}", "-c", f"source {snippet}", "-c", f"luafile {script}"]
    result = desk.result(desk.run(*line))
    assert "problem" not in result, result
    return result


def test_neovims_rename_is_of_all_files(desk):
    result = drive(
        desk,
        f"""
vim.cmd("edit page.py")
{READY}
vim.api.nvim_win_set_cursor(0, {{ 5, 18 }})
vim.lsp.buf.rename("login")
until_so("the rename", function() return text("page.py"):find("user.login", 1, true) end)
until_so("the other file", function() return vim.fn.bufnr("user.py") > 0 end)
""",
    )
    assert result["texts"]["page.py"] == PAGE.replace("user.user_name", "user.login")
    assert result["texts"]["user.py"] == USER.replace("user_name", "login")
    assert (desk.root / "user.py").read_text() == USER, "the editor writes, not the server"


def test_neovims_code_action_edits_the_selection(desk):
    result = drive(
        desk,
        f"""
vim.cmd("edit asked.py")
{READY}
vim.ui.select = function(items, _, choose) choose(items[1]) end
if vim.lsp.buf.range_code_action then
  vim.lsp.buf.range_code_action(nil, {{ 1, 0 }}, {{ 2, 7 }})
else
  vim.lsp.buf.code_action({{ range = {{ start = {{ 1, 0 }}, ["end"] = {{ 2, 7 }} }} }})
end
until_so("the edit", function() return text("asked.py"):find("New = 2", 1, true) end)
""",
    )
    assert result["texts"]["asked.py"] == "New = 2\n"
