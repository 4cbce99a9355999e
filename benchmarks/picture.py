"""README's picture: a real run of specedit, as a terminal shows it.

python -m benchmarks.picture .assets/run.svg
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
WORDS = ("rename", "Username", "Email", "User.cs", "-v")
COLUMNS = 84  # more are too small to read at the width of a README


def main(picture: str) -> None:
    terminal = {"FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(SOURCE, Path(folder, WORDS[3]))
        done = subprocess.run(
            [sys.executable, "-m", "specedit", *WORDS, "--server", "off"],
            cwd=folder,
            env={**os.environ, **terminal},
            stderr=subprocess.PIPE,
            check=True,
        )
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    console.print(Text(f"$ specedit {' '.join(WORDS)}\n", style="bold"))
    console.print(Text.from_ansi(done.stderr.decode().replace("\r", "")), end="")
    # without the fonts of a web server, which a README does not load
    form = re.sub(r"\s*@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    console.save_svg(picture, title="specedit", unique_id="run", code_format=form)


if __name__ == "__main__":
    main(sys.argv[1])
