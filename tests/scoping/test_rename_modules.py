"""Which modules are the project's own: over many files, only their members are renamed."""

from pathlib import Path

import pytest
from case_files import cases
from renaming import is_here, planned_of_many

from specedit.edit.report import Edit

FILES = (
    *("python/pyproject.toml", "python/app/models.py", "python/tests/test_app.py"),
    *("java/pom.xml", "java/src/main/java/com/acme/Item.java"),
    *("java/src/test/java/com/acme/ItemTest.java", "web/package.json", "web/src/api.ts"),
    *("web/node_modules/@acme/far/index.js", "my-crate/Cargo.toml", "my-crate/tests/it.rs"),
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in FILES:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / "go" / "cmd").mkdir(parents=True)
    (tmp_path / "go" / "go.mod").write_text("module example.com/acme/shop\n\ngo 1.22\n")
    return tmp_path


@cases("rename/rename.toml", "modules")
def test_what_is_known_to_come_from_elsewhere(tree, file, module, ours):
    assert is_here(module, tree / file) is ours


def test_without_a_file_nothing_is_known():
    assert is_here("requests", None)


@cases("rename/rename.toml", "many")
def test_over_many_files_only_the_project_s_own_is_renamed(tree, text, after):
    work = planned_of_many(text, "get", "fetch", tree / "python" / "tests" / "test_app.py")
    if after is None:
        assert isinstance(work, Edit) and work.status == "unchanged"
        assert "a member of requests" in work.notes[0] or "import" in work.notes[0]
    else:
        assert not isinstance(work, Edit)
        assert work.known == after
