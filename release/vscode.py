"""`python -m release.vscode -o FILE.vsix`: the VS Code extension, checked, tested and packaged."""

from __future__ import annotations

import argparse
import shutil
import subprocess
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "editors" / "vscode"
LARGEST = 400_000  # bytes of the package


def package(target: Path) -> None:
    """Build the extension with the versions of its lock file."""
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit("npm is missing: install Node.js 20 or later")
    shutil.copy(FOLDER.parent.parent / "LICENSE", FOLDER)
    if not (FOLDER / "node_modules").is_dir():
        subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=FOLDER, check=True)
    for step in ("check", "test", "package"):
        subprocess.run([npm, "run", "--silent", step], cwd=FOLDER, check=True)
    built = FOLDER / "dist" / "specedit.vsix"
    if (size := built.stat().st_size) > LARGEST:
        raise SystemExit(f"{built.name} has {size} bytes; the limit is {LARGEST}")
    shutil.copy(built, target)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("specedit.vsix"))
    package(parser.parse_args().output.absolute())
