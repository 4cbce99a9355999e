"""Which modules are the project's own: over many files, only their members are renamed."""

from pathlib import Path

import pytest
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


@pytest.mark.parametrize(
    ("file", "module", "ours"),
    [
        ("python/tests/test_app.py", "requests", False),
        ("python/tests/test_app.py", "app.models", True),
        ("python/tests/test_app.py", "app", True),
        ("python/tests/test_app.py", ".models", True),
        ("python/app/models.py", "os.path", False),
        ("java/src/test/java/com/acme/ItemTest.java", "com.acme.Item", True),
        ("java/src/test/java/com/acme/ItemTest.java", "java.util.List", False),
        ("java/src/test/java/com/acme/ItemTest.java", "com.google.common.Lists", False),
        ("web/src/index.ts", "./api", True),
        ("web/src/index.ts", "@/api", True),
        ("web/src/index.ts", "src/api", True),
        ("web/src/index.ts", "axios", False),
        ("web/src/index.ts", "node:fs", False),
        ("web/src/index.ts", "@acme/far", False),
        ("web/src/index.ts", "@acme/near", True),
        ("my-crate/tests/it.rs", "my_crate::Item", True),
        ("my-crate/tests/it.rs", "crate::Item", True),
        ("my-crate/tests/it.rs", "std::collections::HashMap", False),
        ("go/cmd/main.go", "example.com/acme/shop/store", True),
        ("go/cmd/main.go", "example.com/acme/shopping", False),
        ("go/cmd/main.go", "net/http", False),
    ],
)
def test_what_is_known_to_come_from_elsewhere(tree, file, module, ours):
    assert is_here(module, tree / file) is ours


def test_without_a_file_nothing_is_known():
    assert is_here("requests", None)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("import requests\nrequests.get(1)  # get it\n", None),
        ("from requests import get\nget(1)\n", None),
        ("import app\napp.get(1)\n", "import app\napp.fetch(1)\n"),
        ("from app.models import get\nget(1)\n", "from app.models import fetch\nfetch(1)\n"),
        (
            "import requests, app\nrequests.get(app.get)\n",
            "import requests, app\nrequests.get(app.fetch)\n",
        ),
    ],
    ids=["member", "import", "our member", "our import", "both"],
)
def test_over_many_files_only_the_project_s_own_is_renamed(tree, text, after):
    work = planned_of_many(text, "get", "fetch", tree / "python" / "tests" / "test_app.py")
    if after is None:
        assert isinstance(work, Edit) and work.status == "unchanged"
        assert "a member of requests" in work.notes[0] or "import" in work.notes[0]
    else:
        assert not isinstance(work, Edit)
        assert work.known == after
