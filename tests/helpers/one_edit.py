"""`specedit edit` of one text, in this process, with a model that plays a script."""

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command_line import in_this_process
from scripted_engine import PLACES_QUESTION, fenced


@dataclass(frozen=True)
class Edited:
    """What one run gave: its exit code, its JSON, stderr, the file, and what the model read."""

    code: int
    report: dict[str, Any]
    messages: str
    text: str  # the file afterwards, with its own newlines
    prompts: list[str]

    @property
    def file(self) -> dict[str, Any]:
        (file,) = self.report["files"]
        return file

    @property
    def kinds(self) -> list[str]:
        """The kinds of its findings."""
        return [finding["kind"] for finding in self.file["findings"]]

    @property
    def symbols(self) -> list[str]:
        """The definitions of the regions that were open to change."""
        named = (region["symbol"] or "" for region in self.file["regions"])
        return [symbol for names in named for symbol in names.split(", ")]

    @property
    def proposed(self) -> str:
        """The text that the model's answer makes of the file, written or refused."""
        return Path(self.file["kept"]).read_text("utf-8") if self.file["kept"] else self.text

    @property
    def asked_for_places(self) -> bool:
        """Whether the model was asked which places are meant."""
        return any(PLACES_QUESTION in prompt for prompt in self.prompts)

    @property
    def shown(self) -> str:
        """The text that the model was last asked to edit."""
        return shown_in(self.prompts[-1])


def shown_in(prompt: str) -> str:
    """The last fenced text of a prompt, without the answer's opening fence."""
    return fenced(prompt.encode())[0].decode()


def edit(
    instruction: str,
    text: str,
    *flags: str,
    name: str = "a.py",
    answer: str | Sequence[str] | None = None,
    stdin: str = "",
    **script: Any,
) -> Edited:
    """Edit a file of this text and write it. The model gives `answer`, or several one after the
    other, or what the keys of a script say (`scripted_engine.from_file`); by default it copies."""
    if answer is not None:
        first, *then = [answer] if isinstance(answer, str) else answer
        script |= {"answer": f"{first}```", "then": [{"answer": f"{each}```"} for each in then]}
    with tempfile.TemporaryDirectory() as folder:
        place, file = Path(folder), Path(folder, name)
        prompts = place / "prompts"
        words = "window" not in script
        script = {"replace": [], "words": words, **script, "prompts": str(prompts)}
        (place / "script.json").write_text(json.dumps(script), encoding="utf-8")
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        done = in_this_process(
            *("edit", instruction, name, "--tries", "1", *flags),
            *(() if "--ask" in flags else ("--json",)),
            stdin=stdin.encode(),
            cwd=place,
            env={"TESTS_SCRIPT": str(place / "script.json"), "SPECEDIT_DRAFT": "prediction"},
        )
        read = prompts.read_text("utf-8").splitlines() if prompts.exists() else []
        return Edited(
            done.returncode,
            json.loads(done.stdout or "{}"),
            done.stderr.decode(),
            file.read_bytes().decode(),
            [json.loads(line) for line in read],
        )


def ask(before: str, after: str, typed: Sequence[str]) -> Edited:
    """`edit --ask` of a plain text, where the user types these answers."""
    flags = ("--ask", "--whole", "--allow", "nothing,whitespace")
    stdin = "".join(f"{answer}\n" for answer in typed)
    answer = after if after.endswith("\n") else f"{after}\n"
    return edit("Do it", before, *flags, name="a.txt", answer=answer, stdin=stdin)
