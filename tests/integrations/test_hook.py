"""The hook on real commits: what is asked, what is written, and what the commit becomes."""

from pathlib import Path

import pytest
from git_repository import Repository
from hook_repository import Hooked

pytestmark = pytest.mark.tools

INSTRUCTION = '[[tool.specedit.hook]]\ninstruction = "Old becomes New."\nfiles = ["*.py"]\n'
CHECK = INSTRUCTION + 'mode = "check"\n'


@pytest.fixture
def hooked(tmp_path: Path) -> Hooked:
    """A repository with one commit, a rule and the hook."""
    made = Hooked.make(tmp_path / "repo", INSTRUCTION)
    made.repo.commit({"kept.py": "x = 1\n"})
    assert made.specedit("hook", "install")[0] == 0
    return made


UNCHECKED = "unchecked for “Old becomes New.”: the model changed nothing"


def test_a_rule_that_only_the_model_can_check_never_passes_in_silence(hooked):
    hooked.repo.write("a.py", "x = 2\n")
    hooked.repo.git("add", "a.py")
    for _ in range(2):
        code, _, text = hooked.specedit("hook", "run")
        assert code == 0 and f"a.py: {UNCHECKED}" in text
    code, text = hooked.commit()
    assert code == 0 and f"a.py: {UNCHECKED}" in text
    assert (hooked.asked, hooked.repo.status()) == (1, "")


def test_a_rule_of_names_leaves_the_file_of_the_rules(tmp_path):
    """It rewrote itself, and then found nothing in any file."""
    hooked = Hooked.make(tmp_path / "repo", '[[tool.specedit.hook]]\nrename = {Old = "New"}\n')
    hooked.repo.stage({"a.py": "Old = 2\n"})
    assert hooked.specedit("hook", "run")[0] == 1
    assert hooked.repo.read("a.py") == "New = 2\n"
    assert 'rename = {Old = "New"}' in hooked.repo.read("pyproject.toml")


def test_a_fix_is_left_to_look_at_and_the_commit_does_not_happen(hooked):
    hooked.repo.write("a.py", "Old = 2\n")
    hooked.repo.git("add", "a.py")
    code, text = hooked.commit()
    assert code == 1
    assert (
        "-Old = 2\n+New = 2\n" in text
        and "a.py: rewritten by “Old becomes New.”, not staged" in text
    )
    assert hooked.repo.read("a.py") == "New = 2\n"
    assert hooked.repo.git("show", ":a.py") == "Old = 2\n"
    hooked.repo.git("add", "a.py")
    assert hooked.commit() == (0, "")
    assert hooked.asked == 1, "what the hook wrote itself is not asked about again"


def test_check_mode_writes_nothing(tmp_path):
    hooked = Hooked.make(tmp_path / "repo", CHECK)
    hooked.repo.stage({"a.py": "Old = 2\n"})
    before = hooked.repo.status()
    code, out, err = hooked.specedit("hook", "run")
    assert (
        code == 1
        and "-Old = 2\n+New = 2\n" in out
        and "“Old becomes New.”: +1 -1 (check: not written)" in err
    )
    assert hooked.repo.status() == before and hooked.repo.read("a.py") == "Old = 2\n"


def test_stdout_is_a_patch_that_git_applies(tmp_path):
    hooked = Hooked.make(tmp_path / "repo", CHECK)
    for name in ("a b.py", "é.py", "crlf.py"):
        hooked.repo.write(name, "Old = 2\r\n" if name == "crlf.py" else "Old = 2\n")
    hooked.repo.git("add", "-A")
    (tmp_path / "patch").write_text(hooked.specedit("hook", "run")[1], newline="")
    hooked.repo.git("apply", str(tmp_path / "patch"))
    assert hooked.repo.read("a b.py") == hooked.repo.read("é.py") == "New = 2\n"


def test_only_staged_content_counts(hooked):
    hooked.repo.write("a.py", "x = 2\n")
    hooked.repo.git("add", "a.py")
    hooked.repo.write("a.py", "x = 2\nOld = 3\n")
    hooked.repo.write("new.py", "Old = 3\n")
    code, out, err = hooked.specedit("hook", "run")
    assert (code, out) == (0, "") and UNCHECKED in err
    assert hooked.repo.read("a.py") == "x = 2\nOld = 3\n"


@pytest.mark.parametrize("mark", ["--assume-unchanged", "--skip-worktree"])
def test_staged_content_counts_where_git_does_not_look_at_the_work_tree(mark, hooked):
    hooked.repo.stage({"a.py": "Old = 1\n"})
    hooked.repo.git("update-index", mark, "a.py")
    hooked.repo.write("a.py", "x = 1\n")
    code, out, err = hooked.specedit("hook", "run")
    assert code == 1 and "-Old = 1\n+New = 1\n" in out and "not rewritten" in err


@pytest.mark.parametrize("name", ["new.py", "no_such.py", "folder"])
def test_a_named_file_that_git_does_not_have_is_an_error(hooked, name):
    hooked.repo.write("new.py", "Old = 3\n")
    hooked.repo.write("folder/a.py", "Old = 3\n")
    hooked.repo.git("add", "folder")
    code, out, err = hooked.specedit("hook", "run", "folder/a.py", name)
    assert (code, out) == (2, "") and f"{name} is not a file in git's index" in err


LINES = "".join(f"x{n} = {n}\n" for n in range(12))


def test_a_partly_staged_file_keeps_what_is_not_staged(hooked):
    hooked.repo.write("a.py", "Old = 0\n" + LINES)
    hooked.repo.git("add", "a.py")
    hooked.repo.write("a.py", "Old = 0\n" + LINES + "Old = 9  # later\n")
    code, out, err = hooked.specedit("hook", "run")
    assert code == 1 and "its unstaged changes are kept" in out + err
    assert hooked.repo.read("a.py") == "New = 0\n" + LINES + "Old = 9  # later\n"
    assert hooked.repo.git("show", ":a.py") == "Old = 0\n" + LINES


def test_a_partly_staged_file_is_left_where_both_change_a_line(hooked):
    hooked.repo.write("a.py", "Old = 0\n")
    hooked.repo.git("add", "a.py")
    hooked.repo.write("a.py", "Old = 1  # mine\n")
    code, out, err = hooked.specedit("hook", "run")
    assert code == 1
    assert (
        "-Old = 0\n+New = 0\n" in out + err and "a.py: not rewritten: the same lines" in out + err
    )
    assert hooked.repo.read("a.py") == "Old = 1  # mine\n"


def test_a_staged_file_that_is_gone_from_the_work_tree_is_not_written(hooked):
    path = hooked.repo.write("a.py", "Old = 0\n")
    hooked.repo.git("add", "a.py")
    path.unlink()
    code, out, err = hooked.specedit("hook", "run")
    assert (
        code == 1 and "not rewritten: it is not in the work tree" in out + err and not path.exists()
    )


def test_a_link_in_the_place_of_a_staged_file_is_not_followed(hooked):
    path = hooked.repo.write("a.py", "Old = 0\n")
    hooked.repo.git("add", "a.py")
    path.unlink()
    path.symlink_to(hooked.repo.write("other.txt", "Old = 0\n"))
    code, out, err = hooked.specedit("hook", "run")
    assert code == 1 and "a.py: not rewritten: a link" in out + err
    assert hooked.repo.read("other.txt") == "Old = 0\n"


def test_what_is_no_text_is_neither_asked_about_nor_mentioned(tmp_path):
    hooked = Hooked.make(tmp_path / "repo", INSTRUCTION.replace("*.py", "**"))
    hooked.repo.commit({"pyproject.toml": INSTRUCTION.replace("*.py", "**")})
    hooked.repo.write("logo.png", b"\x89PNG\0Old")
    hooked.repo.write("empty.py", "")
    (hooked.repo.root / "link").symlink_to("logo.png")
    hooked.repo.git("add", "-A")
    assert hooked.specedit("hook", "run") == (0, "", "")
    assert hooked.asked == 0


def test_text_that_cannot_be_read_is_named_and_holds_up_nothing(hooked):
    hooked.repo.stage({"latin.py": "# Größe Old\n".encode("latin-1")})
    code, _, text = hooked.specedit("hook", "run")
    assert code == 0 and "latin.py: not UTF-8" in text


def test_a_filter_that_fails_ends_one_file_and_not_the_run(hooked, tmp_path):
    hooked.repo.stage({"a.py": "Old = 1\n", "b.py": "Old = 1\n"})
    hooked.repo.write(".gitattributes", "a.py filter=lacking\n")
    hooked.repo.write("a.py", "Old = 2\n")
    (tmp_path / "global").write_text('[filter "lacking"]\nclean = false\nrequired = true\n')
    hooked.repo.env["GIT_CONFIG_GLOBAL"] = str(tmp_path / "global")
    code, out, err = hooked.specedit("hook", "run")
    assert code == 1 and "a.py: git hash-object" in err and "b/b.py" in out


def test_a_refused_answer_stops_the_commit_and_writes_nothing(tmp_path):
    hooked = Hooked.make(tmp_path / "repo", INSTRUCTION, replace=[["x = 2", "x = = 2"]])
    hooked.repo.stage({"a.py": "x = 2\n"})
    code, out, err = hooked.specedit("hook", "run")
    assert (code, out) == (2, "") and "a.py: “Old becomes New.”:" in err and "--no-verify" in err
    assert hooked.repo.read("a.py") == "x = 2\n"


def test_rules_are_asked_in_order_and_each_sees_the_fix_before(tmp_path):
    two = INSTRUCTION + INSTRUCTION.replace("Old becomes New.", "New becomes Newer.")
    hooked = Hooked.make(tmp_path / "repo", two, replace=[["New", "Newer"], ["Old", "New"]])
    hooked.repo.stage({"a.py": "Old = 1\n"})
    assert hooked.specedit("hook", "run")[0] == 1
    assert hooked.repo.read("a.py") == "Newer = 1\n"
    hooked.repo.git("add", "-A")
    assert hooked.specedit("hook", "run") == (0, "", "")


def test_a_file_over_the_time_budget_is_named_and_holds_up_nothing(tmp_path):
    slow = INSTRUCTION + "max_seconds = 0.2\n"
    hooked = Hooked.make(tmp_path / "repo", slow, delay_s=0.15)
    for name in ("a.py", "b.py"):
        hooked.repo.write(name, LINES * 9 + "Old = 1\n")
    hooked.repo.git("add", "-A")
    code, out, err = hooked.specedit("hook", "run")
    assert (code, out) == (0, "")
    for name in ("a.py", "b.py"):
        assert f"{name}: unchecked for “Old becomes New.”: over 0.2 s" in err
    assert hooked.repo.read("a.py").endswith("Old = 1\n")


@pytest.mark.parametrize(
    "change",
    [
        "nothing",
        "the rule",
        "the content",
        "the name",
        "the model",
        "another rule",
        "the seen file",
    ],
)
def test_what_was_seen_clean_is_asked_again_only_when_it_could_matter(tmp_path, change):
    hooked = Hooked.make(tmp_path / "repo", INSTRUCTION)
    repo = hooked.repo
    repo.stage({"a.py": "x = 1\n"})
    assert hooked.specedit("hook", "run")[0] == 0
    match change:
        case "the rule":
            repo.write("pyproject.toml", INSTRUCTION.replace("becomes", "turns into"))
        case "another rule":
            repo.write("pyproject.toml", INSTRUCTION + INSTRUCTION.replace("becomes", "is"))
        case "the content":
            repo.write("a.py", "x = 2\n")
        case "the name":
            repo.git("mv", "a.py", "b.py")
        case "the model":
            repo.env["SPECEDIT_MODEL"] = "qwen2.5-coder-0.5b"
        case "the seen file":
            (tmp_path / "store/hook/seen").write_bytes(b"\xff\0garbage\n")
    repo.git("add", "--", "*.py")
    assert hooked.specedit("hook", "run")[0] == 0
    assert hooked.asked == (1 if change == "nothing" else 2)


def test_many_files_with_nothing_new_load_no_model(tmp_path):
    hooked = Hooked.make(tmp_path / "repo", INSTRUCTION)
    for n in range(60):
        hooked.repo.write(f"src/{n:03}.py", f"x = {n}\n")
    hooked.repo.git("add", "-A")
    assert hooked.specedit("hook", "run")[0] == 0
    assert hooked.asked == 60
    loaded = hooked.process(
        "import sys; from specedit.cli import run; print(run(['hook', 'run']));"
        "print({'torch', 'transformers', 'tree_sitter', 'specedit.decode.loop'} & {*sys.modules})"
    )
    assert loaded.split("\n")[:2] == ["0", "set()"]
    assert hooked.asked == 60


def test_the_first_commit_of_a_repository(tmp_path):
    hooked = Hooked.make(tmp_path / "repo", INSTRUCTION)
    assert hooked.specedit("hook", "install")[0] == 0
    hooked.repo.stage({"a.py": "Old = 1\n"})
    assert hooked.commit()[0] == 1
    assert hooked.repo.read("a.py") == "New = 1\n"
    hooked.repo.git("add", "-A")
    assert hooked.commit() == (0, "")


def test_an_empty_index_is_clean(hooked):
    assert hooked.commit("--allow-empty") == (0, "")
    hooked.repo.git("rm", "-q", "kept.py")
    assert hooked.specedit("hook", "run") == (0, "", "")


@pytest.mark.parametrize("name", ["with space.py", "naïve 文/ü.py", "quote'\".py", "-dash.py"])
def test_names_of_any_kind(hooked, name):
    hooked.repo.write(name, "Old = 1\n")
    hooked.repo.git("add", "-A")
    code, out, err = hooked.specedit("hook", "run")
    assert code == 1 and f"{name}: rewritten" in out + err
    assert hooked.repo.read(name) == "New = 1\n"


@pytest.mark.parametrize("words", [["-a"], ["--", "a.py"], ["--amend", "-a"]], ids=" ".join)
def test_commits_that_bring_an_index_of_their_own(hooked, words):
    hooked.repo.commit({"a.py": "x = 1\n", "b.py": "x = 1\n"})
    hooked.repo.write("a.py", "Old = 1\n")
    code, text = hooked.commit(*words)
    assert code == 1 and "-Old = 1\n+New = 1\n" in text
    assert hooked.repo.read("a.py") == "New = 1\n"


def test_worktrees_share_the_hook(hooked):
    hooked.repo.git("worktree", "add", "-q", "../second tree", "-b", "side")
    side = Hooked(hooked.repo.at(hooked.repo.root.parent / "second tree"), hooked.calls)
    side.repo.stage({"a.py": "Old = 1\n"})
    assert side.commit()[0] == 1
    assert side.repo.read("a.py") == "New = 1\n" and hooked.repo.status() == ""


def test_a_submodule_has_rules_and_a_hook_of_its_own(hooked, tmp_path):
    lib = Repository.init(tmp_path / "lib")
    lib.commit({"a.py": "x = 1\n", "pyproject.toml": INSTRUCTION})
    allow = ("-c", "protocol.file.allow=always")
    hooked.repo.git(*allow, "submodule", "add", "-q", str(lib.root), "sub")
    sub = Hooked(hooked.repo.at(hooked.repo.root / "sub"), hooked.calls)
    assert sub.specedit("hook", "install")[0] == 0
    sub.repo.stage({"a.py": "Old = 1\n"})
    assert sub.commit()[0] == 1
    assert sub.repo.read("a.py") == "New = 1\n"
    sub.repo.git("commit", "-qan", "-m", "mine")
    hooked.repo.git("add", "-A")
    assert hooked.specedit("hook", "run") == (0, "", ""), "no file of the superproject"
    sub.repo.git("rm", "-q", "pyproject.toml")
    sub.repo.stage({"a.py": "Old = 2\n"})
    assert sub.specedit("hook", "run")[0] == 0, "the superproject's rules are not the submodule's"


def test_during_a_merge_only_what_is_resolved_here_is_asked_about(hooked):
    repo = hooked.repo
    repo.commit({"both.py": "x = 1\n"})
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit({"both.py": "x = 2\n", "theirs.py": "Old = 2\n"})
    repo.git("checkout", "-q", "main")
    repo.commit({"both.py": "x = 3\n"})
    repo.git("merge", "-q", "topic", ok=False)
    code, _, err = hooked.specedit("hook", "run")
    assert code == 0 and "both.py: in conflict" in err
    repo.write("both.py", "Old = 4\n")
    repo.git("add", "both.py")
    assert hooked.commit()[0] == 1
    assert repo.read("both.py") == "New = 4\n" and repo.read("theirs.py") == "Old = 2\n"
    repo.git("add", "both.py")
    assert hooked.commit() == (0, "")
    assert len(repo.git("rev-parse", "HEAD^@").split()) == 2


def test_during_a_rebase_a_stopped_commit_is_looked_at(hooked):
    repo = hooked.repo
    repo.commit({"a.py": "x = 1\n"})
    repo.commit({"a.py": "x = 2\n"})
    repo.env["GIT_SEQUENCE_EDITOR"] = "sed -i s/^pick/edit/"
    repo.git("rebase", "-q", "-i", "HEAD~1")
    repo.write("a.py", "Old = 3\n")
    repo.git("add", "a.py")
    assert hooked.commit("--amend")[0] == 1
    repo.git("add", "a.py")
    assert hooked.commit("--amend") == (0, "")
    repo.git("rebase", "--continue")
    assert repo.git("show", "main:a.py") == "New = 3\n" and repo.status() == ""


def test_named_files_are_looked_at_as_the_index_has_them(hooked):
    hooked.repo.commit({"sub/a.py": "Old = 1\n", "b.py": "Old = 1\n"})
    sub = Hooked(hooked.repo.at(hooked.repo.root / "sub"), hooked.calls)
    assert sub.specedit("hook", "run", "a.py")[0] == 1
    assert hooked.repo.read("sub/a.py") == "New = 1\n" and hooked.repo.read("b.py") == "Old = 1\n"
    assert sub.specedit("hook", "run", "../../out.py")[0] == 2


def test_without_rules_nothing_is_asked(tmp_path):
    hooked = Hooked.make(tmp_path / "repo", "[tool.specedit]\nscope = 'code'\n")
    assert "the hook does nothing" in hooked.specedit("hook", "install")[2]
    hooked.repo.stage({"a.py": "Old = 1\n"})
    assert hooked.specedit("hook", "run")[0] == 0
    assert hooked.asked == 0


def test_a_rule_that_is_a_question_is_named(tmp_path):
    rules = INSTRUCTION + '[[tool.specedit.hook]]\ninstruction = "Why is Old old?"\n'
    hooked = Hooked.make(tmp_path / "repo", rules)
    hooked.repo.stage({"a.py": "Fine = 1\n"})
    code, out, err = hooked.specedit("hook", "run")
    assert code == 2 and "The rule “Why is Old old?”: " in out + err


TESTED = INSTRUCTION + """test = "grep -q New a.py && ! grep -q bad a.py"\ntries = 3\n"""


@pytest.fixture
def tested(tmp_path):
    """A rule that names a command, in a repository that is trusted."""
    made = Hooked.make(tmp_path / "repo", TESTED)
    made.repo.stage({"a.py": "Old = 2\n"})
    return made


def test_a_rule_that_names_a_command_needs_trust(tested):
    code, _, text = tested.specedit("hook", "run")
    assert code == 0 and "hook ignored" in text and tested.asked == 0
    for words in (("hook", "run"), ("hook", "install")):
        text = tested.specedit(*words)[2]
        assert "is not trusted" in text and "has no [[" not in text, "it has one"
    tested.specedit("hook", "uninstall")
    assert tested.specedit("trust")[0] == 0
    assert tested.specedit("hook", "run")[0] == 1
    assert tested.repo.read("a.py") == "New = 2\n"
    assert tested.repo.git("show", ":a.py") == "Old = 2\n"


def test_a_rule_s_command_judges_and_only_what_passes_is_written(tested):
    tested.specedit("trust")
    tested.play(answer="New = 'bad'\n```", then=[{"answer": "New = 2\n```"}])
    assert tested.specedit("hook", "run")[0] == 1
    assert tested.repo.read("a.py") == "New = 2\n" and tested.asked == 2
    tested.repo.write("a.py", "Old = 2\n")
    tested.play(answer="New = 'bad'\n```")
    code, _, text = tested.specedit("hook", "run")
    assert code == 2 and "no try of 3 passes" in text
    assert tested.repo.read("a.py") == "Old = 2\n"


def test_what_the_work_tree_does_not_hold_is_not_tested(tested):
    tested.specedit("trust")
    tested.repo.write("a.py", "Old = 2\nmine = 3\n")
    code, _, text = tested.specedit("hook", "run")
    assert code == 0 and "not tested" in text
    assert tested.repo.read("a.py") == "Old = 2\nmine = 3\n"


def test_words_of_prose_that_the_model_leaves_stop_nothing(tmp_path):
    text = 'class A:\n    # Old, not the new of the host\n    Old = ""\n\n'
    text += "    def show(self):\n        return self.Old\n"
    left = text.replace("Old", "New").replace("# New", "# Old")
    rules = '[[tool.specedit.hook]]\nrename = {Old = "New"}\n'
    hooked = Hooked.make(tmp_path / "repo", rules, answer=f"{left}```")
    hooked.repo.stage({"a.py": text})
    assert hooked.specedit("hook", "run")[0] == 1
    assert hooked.repo.read("a.py") == left
    hooked.repo.git("add", "a.py")
    assert hooked.specedit("hook", "run") == (0, "", "")


RENAME = '[[tool.specedit.hook]]\nrename = {Old = "New"}\n'
USES = {
    "a.py": "def Old(): ...\n",
    "b.py": "from a import Old\n\nOld()\n",
    "c d.py": "import a\n\na.Old()\n",
    "other.py": "def Old(): ...\n\n\nOld()  # Old\n",
}


@pytest.fixture
def naming(tmp_path: Path) -> Hooked:
    """A repository with a rule of names, and files that use the old one."""
    made = Hooked.make(tmp_path / "repo", RENAME)
    made.repo.commit(USES)
    assert made.specedit("hook", "install")[0] == 0
    return made


def test_a_renamed_declaration_stops_the_commit_while_other_files_use_the_old_name(naming):
    naming.repo.stage({"a.py": "def Old(): ...  # 2\n"})
    for _ in range(2):  # the fix, and then the commit of the fix
        code, text = naming.commit()
        assert code == 1 and "a.py: “rename Old to New”" in text and "other.py" not in text
        assert "  b.py:1,3: specedit rename Old New b.py\n" in text
        assert "  c d.py:3: specedit rename Old New 'c d.py'\n" in text
        naming.repo.git("add", "a.py")
    for name in ("b.py", "c d.py"):
        assert naming.specedit("rename", "Old", "New", name)[0] == 0
    assert naming.repo.read("b.py") == "from a import New\n\nNew()\n"
    assert naming.repo.read("c d.py") == "import a\n\na.New()\n"
    assert naming.commit()[0] == 1, "they are not staged"
    naming.repo.git("add", "b.py", "c d.py")
    assert naming.commit() == (0, "")


def test_an_old_name_that_means_something_else_stops_nothing(naming):
    naming.repo.stage({"a.py": "def New(): ...\n", "b.py": "", "c d.py": "import a\n\na.New()\n"})
    assert naming.commit() == (0, "")
    naming.repo.stage({"a.py": "def New(): ...  # x\n", "new.py": "class New: ...\n"})
    assert naming.commit() == (0, "")


def test_a_declaration_is_found_below_the_top_of_a_second_work_tree(naming):
    """There git tells a hook its folder, and takes the current one for the top."""
    naming.repo.commit({"a.py": "x = 1\n", **{f"sub/{name}": USES[name] for name in USES}})
    naming.repo.git("worktree", "add", "-q", "../second", "-b", "side")
    side = Hooked(naming.repo.at(naming.repo.root.parent / "second"), naming.calls)
    side.repo.stage({"sub/a.py": "def New(): ...\n"})
    code, text = side.commit()
    assert code == 1 and "  sub/b.py:1,3: specedit rename Old New sub/b.py\n" in text
