"""code-server, which is VS Code in a browser, with the extension installed, and one window of it.

The tools come from `editors/vscode/install-code-server`; `SPECEDIT_VSCODE` names their folder.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from editing import Desk

TOOLS = Path(os.environ.get("SPECEDIT_VSCODE", Path.home() / ".cache" / "specedit-vscode"))
SCREENSHOTS = os.environ.get("SPECEDIT_SCREENSHOTS")  # a folder, for a look at them
PATIENCE_MS = 300_000
SETTINGS = {
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "workbench.reduceMotion": "on",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "chat.disableAIFeatures": True,
    "telemetry.telemetryLevel": "off",
    "extensions.autoCheckUpdates": False,
    "update.mode": "none",
    "files.autoSave": "off",
    "files.hotExit": "off",
    "editor.minimap.enabled": False,
    "editor.cursorBlinking": "solid",
    "editor.accessibilitySupport": "off",
    "git.enabled": False,
    "security.workspace.trust.startupPrompt": "never",
    "security.workspace.trust.banner": "never",
    "security.workspace.trust.untrustedFiles": "open",
}


def node(*words: str, **more: Any) -> subprocess.Popen[bytes]:
    """A process of Node.js 24 from the tools."""
    program = TOOLS / "node" / "node_modules" / "node" / "bin" / "node"
    return subprocess.Popen([str(program), *words], **more)


@dataclass
class CodeServer:
    """A running code-server, with the extension installed."""

    url: str
    process: subprocess.Popen[bytes]

    @classmethod
    @contextmanager
    def start(cls, folder: Path, vsix: Path, *, trusts: bool = True) -> Iterator[CodeServer]:
        entry = str(
            TOOLS / "code-server" / "node_modules" / "code-server" / "out" / "node" / "entry.js"
        )
        data, extensions = folder / "data", folder / "extensions"
        (data / "User").mkdir(parents=True)
        settings = {**SETTINGS, "security.workspace.trust.enabled": not trusts}
        (data / "User" / "settings.json").write_text(json.dumps(settings))
        (folder / "config.yaml").write_text("")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        flags = ["--config", str(folder / "config.yaml"), "--user-data-dir", str(data)]
        flags += ["--extensions-dir", str(extensions)]
        env = {k: v for k, v in os.environ.items() if not k.startswith("SPECEDIT_")}
        env |= {"HOME": str(folder), "XDG_DATA_HOME": str(folder / "share")}
        with (folder / "log").open("wb") as log:
            out = {"stdout": log, "stderr": log, "env": env}
            install = node(entry, *flags, "--install-extension", str(vsix), **out)
            assert install.wait(PATIENCE_MS / 1000) == 0, (folder / "log").read_text()
            flags += ["--auth", "none", "--bind-addr", f"127.0.0.1:{port}", "--disable-telemetry"]
            flags += ["--disable-update-check", "--disable-getting-started-override"]
            flags += ["--reconnection-grace-time", "1"]  # a closed window ends its processes
            process = node(entry, *flags, **out)
        try:
            url = f"http://127.0.0.1:{port}"
            until(lambda: answers(url), "code-server answers")
            yield cls(url, process)
        finally:
            process.terminate()
            process.wait(30)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def until(true: Callable[[], bool], what: str, timeout_s: float = PATIENCE_MS / 1000) -> None:
    end = time.monotonic() + timeout_s
    while not true():
        assert time.monotonic() < end, f"it did not happen: {what}"
        time.sleep(0.05)


def program_of(desk: Desk) -> Path:
    """A program that runs the real command line with the desk's environment: the one place that
    chooses the scripted engine."""
    own = ("SPECEDIT_", "TESTS_", "PYTHONPATH")
    kept = {name: value for name, value in desk.env.items() if name.startswith(own)}
    exports = [f"export {name}={shlex.quote(value)}" for name, value in kept.items()]
    program = desk.root.parent / "bin" / "specedit"
    real = program.read_text().splitlines()
    program.write_text("\n".join([real[0], *exports, *real[1:]]) + "\n")
    return program


def shot(page: Any, name: str) -> None:
    if SCREENSHOTS:
        page.screenshot(path=str(Path(SCREENSHOTS) / f"{name}.png"))


class Window:
    """One window on a folder, driven by keys and clicks as a user does."""

    def __init__(self, page: Any, server: CodeServer, desk: Desk) -> None:
        self.page = page
        self.desk = desk
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{server.url}/?folder={desk.root}")
        page.wait_for_selector(".monaco-workbench .part.editor")
        page.wait_for_selector("#specedit\\.specedit\\.specedit\\.model, [id*='specedit.model']")

    def open(self, name: str) -> None:
        self.page.keyboard.press("Control+P")
        self.wait_box()
        self.page.keyboard.type(name)
        self.page.wait_for_selector(f".quick-input-list [aria-label^='{name}']")
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector(f".tab.active[data-resource-name='{name}']")
        self.page.wait_for_selector(".editor-instance .view-line")
        self.page.wait_for_selector(".editor-instance .monaco-editor.focused")

    def wait_box(self) -> None:
        """Wait until keys go to the box at the top."""
        self.page.wait_for_selector(".quick-input-widget input:focus")

    def command(self, title: str) -> None:
        self.page.keyboard.press("F1")
        self.wait_box()
        self.page.keyboard.type(title)
        self.page.wait_for_selector(f".quick-input-list .monaco-list-row:has-text('{title}')")
        self.page.keyboard.press("Enter")

    def keys(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def select(self, first: int, last: int) -> None:
        """Select whole lines, from 1, both ends in."""
        self.keys("Control+Home", *["ArrowDown"] * (first - 1))
        self.keys(*["Shift+ArrowDown"] * (last - first + 1))
        self.page.wait_for_selector(f".statusbar-item:has-text('Ln {last + 1}, Col 1 (')")

    def ask(self) -> None:
        """Begin an edit: the instruction can be typed after it."""
        self.keys("Control+Alt+E")
        self.page.wait_for_selector(".quick-input-title:has-text('specedit: edit')")
        self.wait_box()

    def instruct(self, instruction: str) -> None:
        self.ask()
        self.page.keyboard.type(instruction)
        self.page.wait_for_selector(f".quick-input-list .monaco-list-row:has-text('{instruction}')")
        self.keys("Enter")

    def lines(self) -> list[str]:
        """The visible lines of the active editor."""
        lines = self.page.eval_on_selector_all(
            ".editor-group-container.active .editor-instance .view-line",
            "all => all.map(one => [parseFloat(one.style.top), one.innerText])",
        )
        return [text.replace("\xa0", " ").rstrip("\n") for _, text in sorted(lines)]

    def lenses(self) -> str:
        texts = self.page.locator(".codelens-decoration").all_inner_texts()
        return " ".join(" ".join(texts).replace("|", " ").split())

    def wait_lens(self, text: str) -> None:
        until(lambda: text in self.lenses(), f"a lens with {text!r}")

    def wait_text(self, text: str) -> None:
        until(lambda: text in "\n".join(self.lines()), f"{text!r} in the editor")

    def message(self, text: str) -> None:
        """Wait for a notification with this text."""
        self.page.wait_for_selector(f".notification-list-item-message:has-text({json.dumps(text)})")

    def apply_preview(self) -> None:
        """Apply what VS Code's refactor preview shows."""
        self.page.locator(".bulk-edit-panel .monaco-button:has-text('Apply')").click()

    def save(self) -> None:
        self.keys("Control+S")
        self.page.wait_for_function("!document.querySelector('.tab.active.dirty')")

    def save_all(self, *names: str) -> None:
        """Save all files once these are marked as changed: VS Code saves what a tab shows, and
        opens the tab of a file that a preview changed a moment later."""
        for name in names:
            self.page.wait_for_selector(f".tab.dirty:has-text('{name}')")
        self.command("File: Save All Files")

    def shot(self, name: str) -> None:
        shot(self.page, name)

    def closed(self) -> None:
        """Wait until no proposal is shown, and the document has the focus."""
        self.page.wait_for_selector(".tab:has-text('(proposed)')", state="detached")
        self.page.wait_for_selector(".tab.active:not(:has-text('(proposed)'))")
        self.page.wait_for_selector(".editor-instance .monaco-editor.focused")

    def marked(self) -> int:
        """How many lines are marked as open to change."""
        return int(
            self.page.evaluate(
                "[...document.querySelectorAll('.view-overlays .cdr')].filter(one =>"
                " getComputedStyle(one).borderLeftWidth === '3px').length"
            )
        )

    def wait_panel(self, text: str) -> None:
        """Wait for a text in the output panel."""
        lines = self.page.locator(".part.panel .view-line")
        until(lambda: text in "\n".join(lines.all_inner_texts()).replace("\xa0", " "), text)
