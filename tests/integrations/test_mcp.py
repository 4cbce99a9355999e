"""The tools for agents, with the SDK's own client in this process."""

import asyncio
import itertools
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from case_files import rows
from git_repository import Repository
from killed_runs import change, held, killed
from mcp_client import (
    EDIT,
    LONG,
    RENAME,
    RETURN_2,
    Agent,
    Conversation,
    contents,
    repository,
    text_of,
    without_the_sdk,
)

from specedit.errors import UsageError
from specedit.files import journal
from specedit.integrations.mcp import tools
from specedit.integrations.mcp.agent_call import ToApply, Workspace
from specedit.integrations.mcp.tools import AgentServer

TOOLS = [*("find_places", "rename_symbol", "apply_change", "edit_symbol"), *("undo", "status")]
MODES = ("legacy", "auto")  # protocols until 2025-11-25, and since 2026-07-28


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return repository(tmp_path_factory.mktemp("template") / "work")


@pytest.fixture
def repo(template: Repository, tmp_path: Path) -> Repository:
    return template.at(shutil.copytree(template.root, tmp_path / "work"))


@pytest.fixture
def begin(repo: Repository) -> Iterator[Callable[..., Agent]]:
    servers: list[AgentServer] = []

    def agent(*roots: Path, mode: str = "legacy", named: bool = True) -> Agent:
        servers.append(AgentServer({}, Path.cwd()))
        return Agent(servers[-1].server, (roots or (repo.root,)) if named else None, mode)

    yield agent
    assert all(server.close(10) for server in servers)


@pytest.fixture
def talk(begin: Callable[..., Agent]) -> Iterator[Callable[..., Conversation]]:
    """Begin a session; each call of a tool returns what it gives."""
    with ExitStack() as sessions:
        yield lambda *roots, **how: sessions.enter_context(begin(*roots, **how).session())


@pytest.fixture
def agent(talk: Callable[..., Conversation]) -> Conversation:
    """A session with a client whose root is the repository."""
    return talk()


@pytest.fixture
def session(begin: Callable[..., Agent]) -> Callable[..., None]:
    """Run a function within a session: for calls at once."""
    return lambda work, *roots: begin(*roots).run(work)


def test_seven_tools_at_most_are_described_in_few_words(agent):
    tools = agent.tools()
    assert [one.name for one in tools] == TOOLS and len(tools) <= 7
    assert all(one.description and len(one.description) < 200 for one in tools)
    assert all(one.input_schema["additionalProperties"] is False for one in tools)
    assert all("status" in (one.output_schema or {})["properties"] for one in tools)
    size = sum(len(json.dumps(one.input_schema)) + len(one.description or "") for one in tools)
    assert size < 4900
    hints = {one.name: one.annotations and one.annotations.read_only_hint for one in tools}
    assert [name for name, reads in hints.items() if reads] == ["find_places", "status"]


# renames


@pytest.mark.parametrize("mode", MODES)
def test_a_rename_is_a_preview_until_write_and_undo_restores_it(repo, talk, mode):
    before = contents(repo.root)
    agent = talk(mode=mode)
    preview = agent.does("rename_symbol", **RENAME)
    assert preview["status"] == "preview"
    assert preview["summary"] == "4 places in 2 files"  # one is an article
    assert "shop/user.py:5:14: code: self.user_name = ''" in preview["places"]
    assert contents(repo.root) == before
    written = agent.does("rename_symbol", **RENAME, write=True)
    assert written == preview | {"status": "written"}
    assert repo.read("shop/page.py").count("user.email") == 1
    assert "undo: mcp rename" in "".join(agent.does("status")["notes"])
    undone = agent.does("undo")
    assert undone["status"] == "undone" and len(undone["files"]) == 2
    assert contents(repo.root) == before
    assert "left to undo" in agent.fails("undo")


def test_places_are_listed_and_doubtful_ones_are_apart(repo, agent):
    found = agent.does("find_places", name="User.total")
    assert found["status"] == "ok" and "diff" not in found
    assert found["places"] == [
        "shop/page.py:9:21: code: return anything.total()",
        "shop/user.py:7:9: code: def total(self):",
    ]
    doubt = "the class before it is not known; renamed there too: shop/page.py:9"
    assert doubt in found["undecided"]
    found = agent.does("find_places", name="user_name")
    assert any(one.endswith(": notes.md:1") for one in found["undecided"])


def test_words_of_ordinary_language_are_not_renamed_without_a_model(repo, agent):
    wanted = {"name": "total", "path": "shop/user.py", "new_name": "add_up", "write": True}
    result = agent.does("rename_symbol", **wanted)
    assert "may be ordinary language: not renamed" in "".join(result["undecided"])
    assert "may total things" in repo.read("shop/user.py")
    assert "def add_up(self)" in repo.read("shop/user.py")


def test_a_file_or_a_line_chooses_one_of_several_things(repo, agent):
    functions = (f"def {name}():\n    n = {n}\n    return n\n" for n, name in ((1, "f"), (2, "g")))
    repo.commit({"a.py": "\n\n".join(functions)})
    wanted = {"name": "n", "new_name": "m", "path": "a.py"}
    problem = agent.fails("rename_symbol", **wanted)
    assert problem == "a.py: declares `n` 2 times; `line` chooses one: 2, 7"
    problem = agent.fails("rename_symbol", **wanted, line=4)
    assert "line 4 has no `n`; lines that have it: 2, 3, 7, 8" in problem
    assert "line 99 has no" in agent.fails("rename_symbol", **wanted, line=99)
    agent.does("rename_symbol", **wanted, line=8, write=True)
    assert repo.read("a.py").splitlines()[5:] == ["def g():", "    m = 2", "    return m"]
    assert repo.read("a.py").splitlines()[1] == "    n = 1"
    problem = agent.fails("find_places", name="user_name", path=str(repo.root / "shop/page.py"))
    assert "does not declare `user_name`; declared: shop/user.py:5" in problem
    taken = agent.fails("rename_symbol", name="g", new_name="f", path="a.py")
    assert "nothing was renamed" in taken


def test_a_long_result_is_cut_with_a_count_and_the_rest_is_asked_for(repo, agent):
    repo.commit({"b.py": "value = 1\n" + "print(value, 'a line of some length')\n" * 250})
    seen: list[str] = []
    for _ in range(30):
        result = agent.call("find_places", name="value", skip=len(seen))
        assert len(text_of(result)) <= 4000
        found = result.structured_content
        seen += [place for place in found["places"] if not place.startswith("…")]
        if "more" not in found:
            break
        assert found["summary"] == "251 places in 1 file"
        assert found["places"][-1] == f"… and {251 - len(seen)} more"
        assert found["more"].endswith(f"find_places with skip: {len(seen)}")
    assert len(set(seen)) == 251
    change = "".join(f"print(value, {n}, 'an argument of some length')\n" for n in range(150))
    result = agent.call("apply_change", path="b.py", change=f"value = 1\n{change}# ...\n")
    assert len(text_of(result)) <= 4000 and "apply_change with skip" in text_of(result)


def test_a_rename_that_leaves_uses_is_incomplete_until_that_is_allowed(repo, agent):
    uses = "".join(f"def f{n}(x):\n    return x.send_all()\n\n\n" for n in range(30))
    other = "class Other:\n    def send_all(self):\n        pass\n\n\n"
    mail = "class Mail:\n    def send_all(self):\n        pass\n\n\n"
    repo.commit({"mail.py": f"{mail}{other}{uses}"})
    before = contents(repo.root)
    wanted = {"name": "Mail.send_all", "new_name": "send_each", "write": True}
    result = agent.does("rename_symbol", **wanted)
    assert result["status"] == "incomplete" and contents(repo.root) == before
    assert len(result["left"]) == 21 and result["left"][-1] == "… and 10 more"
    assert result["left"][0] == "mail.py:12:14: return x.send_all()"
    assert "allow_incomplete: true" in result["summary"]
    done = agent.does("rename_symbol", **wanted, allow_incomplete=True)
    assert done["status"] == "written" and "def send_each" in repo.read("mail.py")


@rows("tool wanted")
def test_a_tool_speaks_of_its_own_arguments(agent, tool, wanted):
    result = agent.call(tool, **wanted)
    assert "--" not in text_of(result).replace("--- a/", "") and result.is_error


# changes and edits


SNIPPET = "class User:\n    # ... existing code ...\n    def total(self):\n        return 2\n"
SEARCH = "<<<<<<< SEARCH\n  return 1  # the total\n=======\n  return 2\n>>>>>>> REPLACE\n"
DIFF = """\
--- a/shop/user.py
+++ b/shop/user.py
@@ -90,2 +99,2 @@
     def total(self):
-        return 1  # the total
+        return 2
"""


@pytest.mark.parametrize("change", [SNIPPET, SEARCH, DIFF], ids=["snippet", "search", "diff"])
def test_a_change_is_merged_without_a_model(repo, agent, change):
    before = contents(repo.root)
    wanted = {"path": "shop/user.py", "change": change}
    preview = agent.does("apply_change", **wanted)
    assert (preview["status"], preview["summary"]) == ("preview", "shop/user.py: +1 -1")
    assert "+        return 2" in preview["diff"] and contents(repo.root) == before
    written = agent.does("apply_change", **wanted, write=True)
    assert written == preview | {"status": "written"}
    assert repo.read("shop/user.py").endswith("def total(self):\n        return 2\n")
    agent.does("undo")
    assert contents(repo.root) == before


def test_a_doubtful_place_is_refused_and_no_model_is_asked(repo, agent, script):
    calls = script(answer="```")
    wanted = {"path": "shop/user.py", "change": "# ...\n        return cost\n# ...\n"}
    assert "may replace this line" in agent.fails("apply_change", **wanted)
    assert not calls.exists()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("<<<<<<< SEARCH\nno such line\n=======\nx\n>>>>>>> REPLACE\n", "not in the file"),
        (DIFF.replace("shop/user.py", "shop/page.py"), "is for shop/page.py, not for"),
        (DIFF.replace("a/shop/user.py", "/dev/null"), ""),
        (DIFF.replace("shop/user.py", "../../etc/passwd"), "not for shop/user.py"),
        ("\0\n", "binary"),
        (" \n", "empty"),
    ],
    ids=["absent", "another file", "created", "outside", "binary", "empty"],
)
def test_a_change_without_one_place_is_refused(repo, agent, change, problem):
    before = contents(repo.root.parent)
    wanted = {"path": "shop/user.py", "change": change, "write": True}
    assert problem in agent.fails("apply_change", **wanted)
    assert contents(repo.root.parent) == before


def test_an_edit_shows_its_diff_and_reports_progress(repo, agent, script):
    script(**RETURN_2)
    before = contents(repo.root)
    preview = agent.does("edit_symbol", **EDIT)
    assert "-        return 1  # the total\n+        return 2" in preview["diff"]
    assert preview["status"] == "preview" and contents(repo.root) == before
    written = agent.does("edit_symbol", **EDIT, write=True)
    assert (written["status"], written["summary"]) == ("written", "shop/user.py: +1 -1")
    assert "return 2" in repo.read("shop/user.py")
    agent.does("undo")
    assert contents(repo.root) == before
    problem = agent.fails("edit_symbol", **EDIT | {"symbol": "User.nothing"})
    assert "nothing" in problem and contents(repo.root) == before
    numbers = [number for number, _ in agent.inner.progress]
    assert numbers and all(b > a or b == 1 for a, b in itertools.pairwise(numbers))
    assert any("tokens" in text for _, text in agent.inner.progress)


def test_an_edit_that_is_refused_is_an_error_and_writes_nothing(repo, agent, script):
    script(replace=[["return 1", "return ((1"]])
    before = contents(repo.root)
    result = agent.call("edit_symbol", **EDIT, write=True)
    assert result.is_error and json.loads(text_of(result))["status"] == "refused"
    assert contents(repo.root) == before


@rows("extra writes")
def test_an_answer_for_a_symbol_has_that_symbol_and_private_helpers(
    repo, agent, script, extra, writes
):
    script(replace=[["return 1  # the total\n", f"return 2\n\n{extra}"]])
    before = contents(repo.root)
    result = agent.call("edit_symbol", **EDIT, write=True)
    assert result.is_error != writes, text_of(result)
    assert writes or "has more than that and private helpers" in text_of(result)
    assert (contents(repo.root) != before) == writes


def test_a_model_is_never_downloaded(repo, agent):
    problem = agent.fails("edit_symbol", **EDIT)
    assert problem.endswith("specedit model pull qwen2.5-coder-1.5b")
    assert "not installed" in "".join(agent.does("status")["notes"])


# where tools may read and write


@pytest.mark.parametrize("name", [
    *("../outside.py", "shop/../../outside.py", "link.py", "folder/outside.py"),
    *(".git/config", "shop/.GIT/x", "a\x1b[31m.py", "a\0.py", "a\n.py", "a\u202e.py"),
    *("ABSOLUTE", "/etc/passwd", "missing.py", "x" * 4097, "~/x.py"),
], ids=ascii)  # fmt: skip
def test_a_path_elsewhere_is_refused(repo, agent, script, name):
    script(replace=[["secret", "stolen"]])
    outside = repo.root.parent / "outside.py"
    outside.write_text("def secret():\n    return 'secret'\n")
    (repo.root / "link.py").symlink_to(outside)
    (repo.root / "folder").symlink_to(outside.parent)
    path = str(outside) if name == "ABSOLUTE" else name
    before = contents(repo.root.parent)
    change = "<<<<<<< SEARCH\n'secret'\n=======\n'stolen'\n>>>>>>> REPLACE\n"
    edit = {"symbol": "secret", "instruction": "Say stolen.", "write": True}
    rename = {"name": "secret", "new_name": "stolen", "write": True}
    for problem in (
        agent.fails("edit_symbol", path=path, **edit),
        agent.fails("rename_symbol", path=path, **rename),
        agent.fails("find_places", path=path, name="secret"),
        agent.fails("apply_change", path=path, change=change, write=True),
    ):
        assert "return" not in problem and "\x1b" not in problem and len(problem) < 500
    assert contents(repo.root.parent) == before


def test_files_behind_a_link_in_the_place_of_a_folder_are_neither_read_nor_renamed(repo, agent):
    elsewhere = repo.root.parent / "elsewhere"
    (repo.root / "shop").rename(elsewhere)
    (repo.root / "shop").symlink_to(elsewhere)  # git's index still has shop/user.py
    before = contents(elsewhere)
    wanted = RENAME | {"write": True}
    assert "shop" not in agent.fails("rename_symbol", **wanted)
    assert contents(elsewhere) == before


def test_a_root_below_the_top_of_a_work_tree_stays_the_limit(repo, talk, script):
    repo.commit({"other/use.py": "from shop.user import User\nUser().user_name\n"})
    script(**RETURN_2)
    agent = talk(repo.root / "shop")
    result = agent.does("rename_symbol", **RENAME, write=True)
    assert result["files"] == ["page.py: 1 place", "user.py: 3 places"]
    wanted = {"symbol": "User.total", "instruction": "Return 2."}
    assert agent.does("edit_symbol", path="user.py", **wanted)
    assert "outside" in agent.fails("edit_symbol", path="../other/use.py", **wanted)
    assert "user_name" in repo.read("other/use.py") and "user_name" in repo.read("notes.md")


def test_roots_can_change_and_several_need_a_path(repo, agent, tmp_path):
    second = repository(tmp_path / "second")
    wanted = RENAME | {"write": True}
    agent.does("rename_symbol", **wanted)
    agent.inner.roots = (second.root,)
    assert "outside" in agent.fails("find_places", name="x", path=str(repo.root))
    assert "left to undo" in agent.fails("undo")
    agent.does("rename_symbol", **wanted)
    agent.inner.roots = (repo.root, second.root)
    assert str(second.root) in agent.fails("find_places", name="email")
    found = agent.does("find_places", name="email", path=str(second.root))
    assert found["roots"] == [str(second.root)] and len(found["places"]) == 2
    assert [agent.does("undo")["status"] for _ in range(2)] == ["undone"] * 2
    agent.inner.roots = ()
    assert "names no folder" in agent.fails("status")
    assert contents(repo.root) == contents(second.root)


@pytest.mark.parametrize("mode", MODES)
def test_without_roots_the_working_directory_is_the_workspace(repo, talk, monkeypatch, mode):
    monkeypatch.chdir(repo.root)

    assert talk(mode=mode, named=False).does("status")["roots"] == [str(repo.root)]
    monkeypatch.chdir("/")
    assert "started in /" in talk(mode=mode, named=False).fails("status")


@pytest.mark.parametrize("uri", ["https://example.org/", "file://elsewhere/tmp", "file:///%00", ""])
def test_a_root_that_is_no_folder_here_is_left_out(uri, tmp_path):
    assert Workspace.of_client([uri, tmp_path.as_uri()]).roots == (tmp_path.resolve(),)
    with pytest.raises(UsageError, match="names no folder"):
        Workspace.of_client([uri])


def test_outside_of_git_one_file_is_renamed(tmp_path, talk):
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain/a.py").write_text("value = 1\nprint(value)\n")
    agent = talk(tmp_path / "plain")
    wanted = {"name": "value", "new_name": "amount", "write": True}
    assert "no git work tree" in agent.fails("rename_symbol", **wanted)
    agent.does("rename_symbol", **wanted, path="a.py")
    assert (tmp_path / "plain/a.py").read_text() == "amount = 1\nprint(amount)\n"


@pytest.mark.parametrize("tracked", [True, False], ids=["git", "plain"])
def test_the_current_folder_of_the_server_plays_no_part(
    repo, agent, script, monkeypatch, tmp_path, tracked
):
    decoy = repository(tmp_path / "decoy")
    decoy.write("pyproject.toml", "[tool.specedit]\nno_such_setting = 1\n")
    if not tracked:
        shutil.rmtree(repo.root / ".git")
    script(replace=[["return 2", "return 30"]])
    monkeypatch.chdir(decoy.root)
    monkeypatch.setattr(os, "chdir", None)
    monkeypatch.setenv("SPECEDIT_TEST", "touch judged")
    before, unchanged = contents(repo.root), contents(decoy.root)
    of = {"path": "shop/user.py", "write": True}
    applied = agent.does("apply_change", change=SEARCH, **of)
    assert applied["diff"].startswith("diff --git a/shop/user.py b/shop/user.py\n")
    edit = {"symbol": "User.total", "instruction": "Return 3."}
    assert agent.does("edit_symbol", **of, **edit)["status"] == "written"
    result = agent.does("rename_symbol", **RENAME, **of)
    assert "shop/user.py:5:14: code: self.user_name = ''" in result["places"]
    assert {one.folder for one in journal.runs(journal.home())} == {str(repo.root)}
    assert [agent.does("undo")["status"] for _ in range(3)] == ["undone"] * 3
    assert contents(repo.root) == before | {"judged": b""}
    assert contents(decoy.root) == unchanged


# arguments, settings, the journal


@pytest.mark.parametrize(
    ("tool", "arguments", "problem"),
    [
        ("find_places", {}, "name: Field required"),
        ("find_places", {"name": ""}, "should match pattern"),
        ("find_places", {"name": "x" * 201}, "at most 200 characters"),
        ("find_places", {"name": 3}, "valid string"),
        ("find_places", {"name": "a\x1b[31m"}, "should match pattern"),
        ("find_places", {"name": "`a\0b`"}, "should match pattern"),
        ("find_places", {"name": "--open-files-in-pager"}, "is not declared in this work tree"),
        ("find_places", {"name": "a b"}, "is not an identifier"),
        ("find_places", {"name": "x", "line": -1}, "greater than or equal to 0"),
        ("find_places", {"name": "x", "line": True}, "valid integer"),
        ("find_places", {"name": "x", "scope": "all"}, "'code', 'comments' or 'derived'"),
        ("rename_symbol", {"name": "a", "new_name": "b", "model": "/tmp/x"}, "not permitted"),
        ("rename_symbol", {"name": "User", "new_name": "a-b; rm"}, "is not an identifier"),
        ("rename_symbol", {"name": "User", "new_name": "Page", "write": "yes"}, "valid boolean"),
        ("edit_symbol", {"path": "a", "symbol": "b", "instruction": "c" * 20_001}, "at most"),
        ("edit_symbol", {"path": "a", "symbol": "b", "instruction": "c", "test": "id"}, "not perm"),
        ("undo", {"run": "x"}, "not permitted"),
    ],
)
def test_wrong_arguments_are_named_without_their_values(repo, agent, tool, arguments, problem):
    before = contents(repo.root)
    text = agent.fails(tool, **arguments)
    assert problem in text and len(text) < 300 and "\x1b" not in text
    assert contents(repo.root) == before


def test_settings_of_a_cloned_repository_are_open_ones_alone(repo, agent, script):
    calls = script(**RETURN_2)
    restricted = 'server = "http://127.0.0.1:9/v1"\ntest = "touch ran"\nmodel = "./evil"\n'
    repo.commit({"pyproject.toml": f"[tool.specedit]\nno_model = true\n{restricted}"})
    agent.does("edit_symbol", **EDIT, write=True)
    notes = "\n".join(agent.does("status")["notes"])
    assert "test, model ignored: this repository is not trusted" in notes, notes
    assert calls.exists() and not (repo.root / "ran").exists()


def test_the_users_test_judges_what_is_written_and_no_preview(repo, agent, monkeypatch):
    monkeypatch.setenv("SPECEDIT_TEST", "echo ran >> ../ran; grep -q email shop/page.py")
    agent.does("find_places", name="user_name")
    agent.does("rename_symbol", **RENAME)
    assert not (repo.root.parent / "ran").exists()
    assert agent.does("rename_symbol", **RENAME, write=True)["status"] == "written"
    assert (repo.root.parent / "ran").exists()


def test_undo_leaves_the_runs_of_the_user_alone(repo, agent, inside):
    done = inside("rename", "user_name", "email", "--no-model", cwd=repo.root)
    assert done.returncode == 0
    assert "left to undo" in agent.fails("undo")
    assert "email" in repo.read("shop/user.py")


def test_undo_refuses_where_a_file_changed_since(repo, agent):
    agent.does("rename_symbol", **RENAME, write=True)
    repo.write("shop/user.py", "mine = 1\n")
    assert "changed since the run wrote it" in agent.fails("undo")
    assert repo.read("shop/user.py") == "mine = 1\n" and "email" in repo.read("shop/page.py")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked here")
def test_what_a_killed_command_left_is_reverted_first(repo, agent):
    tree = repo.root / "killed"
    tree.mkdir()
    for name in ("a.py", "b.py", "c.py"):
        (tree / name).write_text("username = 1\n")
    killed(2, lambda: change(journal.home(), tree))
    notes = agent.does("find_places", name="user_name")["notes"]
    assert notes[0].startswith("reverted the change of 3 files")
    assert held(tree) == [b"username = 1\n"] * 3


# one call at a time, and its end


def test_calls_at_once_queue_each_in_its_root(repo, session, tmp_path, script):
    second = repository(tmp_path / "second")
    script(**RETURN_2, delay_s=0.005)

    async def work(agent: Agent) -> None:
        edit = {"symbol": "User.total", "instruction": "Return 2.", "write": True}
        results = await asyncio.gather(
            *(
                agent.does("edit_symbol", path=str(one.root / "shop/user.py"), **edit)
                for one in (repo, second)
            ),
            agent.does("find_places", name="user_name", path=str(second.root)),
            agent.does("status"),
        )
        assert [one["status"] for one in results] == ["written", "written", "ok", "ok"]

    before = Path.cwd()
    session(work, repo.root, second.root)
    assert contents(repo.root) == contents(second.root) and Path.cwd() == before
    assert "return 2" in repo.read("shop/user.py")


def test_cancelling_stops_the_model_and_the_calls_that_wait(repo, session, script):
    calls = script(**LONG)
    before = contents(repo.root)

    async def work(agent: Agent) -> None:
        await agent.cancels_two_edits()
        assert (await agent.does("status"))["status"] == "ok"  # it waits for the worker

    session(work)
    assert contents(repo.root) == before
    assert calls.read_text().count("begin") == 1


def busy(repo: Repository) -> dict[str, Any]:
    """A change that took half a minute to refuse: each of its lines has thousands of places."""
    repo.write("busy.py", "    # ... existing code ...\n" * 2)
    change = "    # ... existing code ...\n@@\n*/\n# removed f\n\n" * 900
    return {"path": "busy.py", "change": change}


def test_other_calls_are_answered_while_a_merge_is_busy(repo, session, monkeypatch):
    entered, go = threading.Event(), threading.Event()

    def waits(*given: object) -> Any:
        entered.set()
        assert go.wait(30)
        return find_places(*given)

    find_places, arguments = tools.TOOLS["find_places"]
    monkeypatch.setitem(tools.TOOLS, "find_places", (waits, arguments))

    async def work(agent: Agent) -> None:
        call = asyncio.create_task(agent.does("find_places", name="user_name"))
        await asyncio.to_thread(entered.wait)
        change = "def show(anything):\n    return anything.sum()\n"
        done = await agent.does("apply_change", path="shop/page.py", change=change)
        assert done["status"] == "preview" and not call.done()
        go.set()
        assert (await call)["places"]

    session(work)


def test_a_cancelled_merge_stops_and_writes_nothing(repo):
    class Late(threading.Event):
        asked = 0

        def is_set(self) -> bool:
            self.asked += 1
            return self.asked > 200

    call = tools.Call(Workspace((repo.root,)), {}, stop := Late(), lambda _: None)
    done = tools.perform("apply_change", call, ToApply(**busy(repo)))
    assert done.summary == "cancelled; nothing was written" and stop.asked == 201


def test_a_missing_extra_is_named(inside, monkeypatch):
    without_the_sdk(monkeypatch)
    done = inside("mcp")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b'pip install "specedit[mcp]"' in done.stderr
