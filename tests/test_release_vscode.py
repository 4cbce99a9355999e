"""The VS Code extension is checked, tested and packaged as the release does it."""

import shutil
import subprocess
import zipfile

import pytest

from release import vscode

NPM = shutil.which("npm")


@pytest.mark.tools
@pytest.mark.skipif(NPM is None, reason="needs npm")
def test_the_extension_is_packaged(tmp_path, monkeypatch):
    assert NPM is not None
    if subprocess.run([NPM, "ping"], cwd=tmp_path, capture_output=True, check=False).returncode:
        pytest.skip("npm's registry does not answer")
    folder = tmp_path / "editors" / "vscode"
    ignored = shutil.ignore_patterns("node_modules", "dist")
    shutil.copytree(vscode.FOLDER, folder, ignore=ignored)
    shutil.copy(vscode.FOLDER.parent.parent / "LICENSE", tmp_path)
    monkeypatch.setattr(vscode, "FOLDER", folder)
    packed = tmp_path / "specedit.vsix"
    vscode.package(packed)
    with zipfile.ZipFile(packed) as archive:
        names = {name.lower() for name in archive.namelist()}
    assert {"extension/package.json", "extension/readme.md", "extension/license.txt"} <= names
    assert not any("node_modules" in name or name.endswith(".ts") for name in names)
