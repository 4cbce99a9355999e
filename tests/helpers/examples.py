"""The examples of README and of the manual's pages, and the folder in which they are run."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from git_repository import Repository

from specedit import manual

ROOT = Path(__file__).parents[2]
PAGES = {
    "README": (ROOT / "README.md").read_text("utf-8"),
    **{name: manual.page(name) for name in manual.TOPICS},
}
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# The beginnings of examples that no test runs, and why. Their flags are checked all the same.
NOT_RUN = {
    "python -m pip": "`.ci/run` runs it in a fresh environment",
    "specedit model": "about real models; tests/cli/test_cli_model.py runs it on small ones",
    "specedit edit … --server": "an address in the network; tests/server has its own",
    "specedit edit … --model": "about real models; tests/test_real.py runs one",
    "ast-grep": "another program",
    "specedit mcp": "an agent starts it; tests/integrations/test_mcp.py is one",
    "specedit vllm": "needs vLLM; tests/integrations/test_vllm_cli.py has an imitation",
    "specedit --install-completion": "changes the user's shell configuration",
}

SHOP = ROOT / "samples/shop"  # the folder that the manual's examples are run in
# The model of the examples makes these changes, whatever it is asked for.
SCRIPT = {
    "replace": [
        *(["Username", "Email"], ["username", "email"], ["Teh", "The"]),
        *(["def first(items)", "def first(items, timeout=30)"], ["os.name", "str(os.name)"]),
        ["sum(prices)", "sum(prices or [])"],
        ["os.listdir(path)", "sorted(os.listdir(path))"],
    ]
}


@dataclass(frozen=True)
class Example:
    """One command line of a block, with the lines it goes on over."""

    page: str
    words: str

    def __str__(self) -> str:
        return f"{self.page}: {self.words}"

    @property
    def why_not(self) -> str | None:
        """Why no test runs it."""
        for beginning, why in NOT_RUN.items():
            start, _, flag = beginning.partition(" … ")
            if self.words.startswith(start) and f"{flag} " in f"{self.words} ":
                return why
        return None


def blocks(language: str) -> Iterator[tuple[str, str]]:
    """Each fenced block of a language, with its page."""
    for page, text in PAGES.items():
        for found, body in FENCE.findall(text):
            if found == language:
                yield page, body


def commands(body: str) -> Iterator[str]:
    """The command lines of a block of shell: a line ends where its quotes are closed."""
    held = ""
    for line in body.splitlines():
        held += line
        try:
            words = shlex.split(held, comments=True)
        except ValueError:
            held += "\n"
            continue
        if held.endswith("\\"):
            held += "\n"
            continue
        if words:
            yield held
        held = ""
    assert not held, f"a quote stays open: {held}"


def repository(root: Path) -> Repository:
    """What of a clone the examples are about, with something staged and something changed."""
    made = Repository.init(root)
    fixtures = ("fixtures/user/before.cs", "fixtures/notes/before.py")  # README's examples
    made.commit({name: (ROOT / name).read_text("utf-8") for name in fixtures})
    shop = {path: path.read_text("utf-8") for path in SHOP.rglob("*") if path.is_file()}
    names = {str(path.relative_to(ROOT)): text for path, text in shop.items()}
    made.commit({name: text for name, text in names.items() if not name.endswith("/main.go")})
    made.commit({name: text for name, text in names.items() if name.endswith("/main.go")})
    made.write("samples/shop/src/Staged.cs", shop[SHOP / "User.cs"].replace("first", "Teh first"))
    made.git("add", "samples/shop/src/Staged.cs")
    made.write("samples/shop/user.py", "username = 2  # Teh user\n")
    made.write("pyproject.toml", next(body for page, body in blocks("toml") if page == "hook"))
    return made
