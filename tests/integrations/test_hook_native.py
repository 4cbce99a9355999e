"""Installing and taking away the native hook: what was there before comes back as it was."""

import re
import stat
from pathlib import Path

import pytest
from hook_repository import Hooked

pytestmark = pytest.mark.tools

RULES = '[[tool.specedit.hook]]\ninstruction = "Old becomes New."\nfiles = ["*.py"]\n'
FOREIGN = "#!/bin/sh\necho foreign $# >> foreign.log\nexit {code}\n"


@pytest.fixture
def hooked(tmp_path: Path) -> Hooked:
    return Hooked.make(tmp_path / "repo", RULES)


def hooks(hooked: Hooked) -> dict[str, tuple[bytes, int]]:
    folder = hooked.repo.root / ".git/hooks"
    result = folder.iterdir() if folder.is_dir() else ()
    return {p.name: (p.read_bytes(), stat.S_IMODE(p.stat().st_mode)) for p in result}


def foreign(hooked: Hooked, code: int = 0, mode: int = 0o755) -> Path:
    path = hooked.repo.write(".git/hooks/pre-commit", FOREIGN.format(code=code))
    path.chmod(mode)
    return path


@pytest.mark.parametrize("there", [None, 0o755, 0o644, 0o700], ids=str)
def test_uninstall_puts_everything_back(hooked, there):
    if there is not None:
        foreign(hooked, mode=there)
    before = hooks(hooked)
    for _ in range(2):  # installing twice is installing once
        assert hooked.specedit("hook", "install")[0] == 0
    assert set(hooks(hooked)) == {"pre-commit", *(f"{name}.before-specedit" for name in before)}
    assert hooked.specedit("hook", "uninstall")[0] == 0
    assert hooks(hooked) == before
    assert hooked.specedit("hook", "uninstall")[0] == (0 if there is None else 2)
    assert hooks(hooked) == before


@pytest.mark.parametrize(
    ("code", "mode", "asked", "result"),
    [(0, 0o755, 1, 0), (3, 0o755, 0, 1), (0, 0o644, 1, 0)],
    ids=["passes", "fails", "not executable"],
)
def test_the_hook_that_was_there_is_called_first(hooked, code, mode, asked, result):
    foreign(hooked, code, mode)
    hooked.specedit("hook", "install")
    hooked.repo.stage({"a.py": "x = 1\n"})
    assert hooked.commit()[0] == result
    assert (hooked.repo.root / "foreign.log").exists() == (mode == 0o755)
    assert hooked.asked == asked


def test_a_linked_hook_is_moved_not_followed(hooked, tmp_path):
    target = tmp_path / "shared-hook"
    target.write_text(FOREIGN.format(code=0))
    link = hooked.repo.root / ".git/hooks/pre-commit"
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(target)
    hooked.specedit("hook", "install")
    assert target.read_text() == FOREIGN.format(code=0) and not link.is_symlink()
    hooked.specedit("hook", "uninstall")
    assert link.is_symlink() and link.readlink() == target


def test_two_foreign_hooks_are_one_too_many(hooked):
    foreign(hooked)
    hooked.repo.write(".git/hooks/pre-commit.before-specedit", "mine")
    before = hooks(hooked)
    code, _, text = hooked.specedit("hook", "install")
    assert code == 2 and "both were left unchanged" in text
    assert hooks(hooked) == before


def test_a_hook_written_over_ours_is_left_alone(hooked):
    foreign(hooked)
    hooked.specedit("hook", "install")
    hooked.repo.write(".git/hooks/pre-commit", "#!/bin/sh\n# another tool\n")
    before = hooks(hooked)
    code, _, text = hooked.specedit("hook", "uninstall")
    assert code == 2 and "before-specedit" in text
    assert hooks(hooked) == before


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_lines_added_to_our_hook_are_not_lost(hooked, command):
    hooked.specedit("hook", "install")
    path = hooked.repo.root / ".git/hooks/pre-commit"
    path.write_text(path.read_text().replace("exec ", "echo mine\n    exec ", 1))
    before = hooks(hooked)
    code, _, text = hooked.specedit("hook", command)
    assert code == 2 and "was not changed" in text and "pre-commit.before-specedit" in text
    assert hooks(hooked) == before


def test_a_hook_of_another_python_is_ours(hooked):
    hooked.specedit("hook", "install")
    path = hooked.repo.root / ".git/hooks/pre-commit"
    ours = path.read_text()
    path.write_text(re.sub("(?m)^python=.*", "python=/gone", ours))
    assert hooked.specedit("hook", "install")[0] == 0 and path.read_text() == ours
    path.write_text(re.sub("(?m)^python=.*", "python='/gone too'", ours))
    assert hooked.specedit("hook", "uninstall")[0] == 0 and hooks(hooked) == {}


@pytest.mark.parametrize("where", ["my hooks", "/elsewhere", ""])
def test_core_hookspath_is_refused_with_the_way_out(hooked, where):
    hooked.repo.git("config", "core.hooksPath", where)
    code, _, text = hooked.specedit("hook", "install")
    assert code == 2 and "core.hooksPath" in text and "specedit hook run" in text
    assert not (hooked.repo.root / "my hooks").exists() and hooks(hooked) == {}


def test_outside_a_repository_is_an_error(hooked, tmp_path):
    outside = Hooked(hooked.repo.at(tmp_path), hooked.calls)
    outside.repo.env["GIT_CEILING_DIRECTORIES"] = str(tmp_path.parent)
    for command in ("install", "uninstall", "run"):
        code, _, text = outside.specedit("hook", command)
        assert code == 2 and "no git work tree" in text


def test_a_hook_whose_python_is_gone_says_what_to_do(hooked):
    hooked.specedit("hook", "install")
    path = hooked.repo.root / ".git/hooks/pre-commit"
    text = path.read_text()
    line = next(line for line in text.splitlines() if line.startswith("python="))
    path.write_text(text.replace(line, "python=/gone/python"))
    hooked.repo.env["PATH"] = "/usr/bin:/bin"
    hooked.repo.git("add", "-A")
    code, spelling = hooked.commit()
    assert code == 1 and "not installed any more" in spelling


def test_modules_that_lie_in_the_repository_are_not_run_by_its_hook(hooked):
    hooked.specedit("hook", "install")
    for name in ("specedit/__init__.py", "typer.py", "a.py"):
        hooked.repo.write(name, "open('was-run', 'w')\n")
    hooked.repo.git("add", "-A")
    assert hooked.commit()[0] == 0
    assert hooked.asked > 0 and not (hooked.repo.root / "was-run").exists()


def test_a_hook_of_ours_from_before_it_said_so_is_ours(hooked):
    hooked.specedit("hook", "install")
    now = hooks(hooked)
    hook = hooked.repo.root / ".git/hooks/pre-commit"
    hook.write_bytes(hook.read_bytes().replace(b" -P -m ", b" -m "))
    assert hooked.specedit("hook", "install")[0] == 0
    assert hooks(hooked) == now
