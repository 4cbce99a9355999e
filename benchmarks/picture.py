"""Pictures of real runs of specedit, as a terminal shows them: README's, and that of `repeat`.

python -m benchmarks.picture .assets/run.svg
python -m benchmarks.picture .assets/repeat.svg
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

SOURCE = Path(__file__).parents[1] / "fixtures" / "user" / "before.cs"
WORDS = ("rename", "Username", "Email", "User.cs")
COLUMNS = 84  # more are too small to read at the width of a README


TESTS = """\
import unittest


class TestCart(unittest.TestCase):
    def test_names(self):
        self.assertTrue("apple" in self.names)
        self.assertTrue(self.first in self.cart.items)


class TestShop(unittest.TestCase):
    def test_prices(self):
        self.assertTrue(not self.errors)
        self.assertTrue(price(1) in {10, 20})
"""
EXAMPLE = 'assertTrue("apple" in self.names)', 'assertIn("apple", self.names)'


def renaming(folder: str) -> list[tuple[str, ...]]:
    shutil.copy(SOURCE, Path(folder, WORDS[-1]))
    return [("specedit", *WORDS, "--server", "off")]


def repeating(folder: str) -> list[tuple[str, ...]]:
    """A repository with one change made by hand."""
    place = Path(folder, "test_shop.py")
    place.write_text(TESTS)
    author = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for words in (("init", "-q"), ("add", "."), (*author, "commit", "-qm", "tests")):
        subprocess.run(["git", *words], cwd=folder, check=True)
    place.write_text(TESTS.replace(*EXAMPLE))
    return [("git", "diff", "-U0"), ("specedit", "repeat", "--yes")]


def main(picture: str) -> None:
    terminal = {"FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    with tempfile.TemporaryDirectory() as folder:
        commands = {"run": renaming, "repeat": repeating}[Path(picture).stem](folder)
        for name, *words in commands:
            start = (
                [sys.executable, "-m", name]
                if name == "specedit"
                else [name, "-c", "color.ui=always"]
            )
            done = subprocess.run(
                [*start, *words],
                cwd=folder,
                env={**os.environ, **terminal},
                capture_output=True,
                check=True,
            )
            shown = [word for word in words if word not in ("--server", "off")]
            console.print(Text(f"$ {' '.join((name, *shown))}\n", style="bold"))
            text = (done.stdout + done.stderr).decode().replace("\r", "")
            console.print(Text.from_ansi(text))
    # without the fonts of a web server, which a README does not load
    form = re.sub(r"\s*@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    console.save_svg(picture, title="specedit", unique_id=Path(picture).stem, code_format=form)


if __name__ == "__main__":
    main(sys.argv[1])
