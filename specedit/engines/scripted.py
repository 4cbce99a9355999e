"""An engine that plays a script, for tests and replay: no model, no torch.

Knows the answer it should give. Whatever it is fed, its choice on the script's path is the
script's next id, and off that path something that depends on all it was fed, so that a loop
which trusts a choice made after a wrong draft is caught.
"""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from specedit.engines.base import GREEDY, Choices, EngineInfo, Prefill, Sampling, common
from specedit.errors import ModelError

END = 256
WINDOW = 1 << 20
_MASK = (1 << 61) - 1

Answer = Sequence[int] | Callable[[Sequence[int]], Sequence[int]]


class ScriptedEngine:
    """Says `answer` and then `end` after any prompt, whatever is drafted."""

    def __init__(
        self,
        answer: Answer,
        end: int = END,
        *,
        window: int = WINDOW,
        vocabulary: int = END + 1,
        delay_s: float = 0.0,
        calls: Path | None = None,
    ) -> None:
        self._answer = answer
        self._end = end
        self._delay_s = delay_s
        self._calls = calls
        self._audit = False
        self._script: list[int] = []  # prompt, answer, end
        self._on_script = 0  # positions of the cache that agree with the script
        self._ids: list[int] = []
        self._marks: list[int] = [0]  # _marks[n] depends on the first n ids of the cache
        self.info = EngineInfo(
            name="scripted",
            device="cpu",
            threads=1,
            window=window,
            vocabulary=vocabulary,
            exact=True,
            note="plays a script",
        )

    @property
    def length(self) -> int:
        return len(self._ids)

    def begin(
        self, prompt: Sequence[int], sampling: Sampling = GREEDY, *, audit: bool = False
    ) -> Iterator[Prefill]:
        started = time.perf_counter()
        if self._calls is not None:
            with self._calls.open("a", encoding="utf-8") as calls:
                calls.write(f"begin {len(prompt)}\n")
        self._audit = audit
        held = prompt[:-1]
        reused = common(held, self._ids)
        answer = self._answer(prompt) if callable(self._answer) else self._answer
        self._script = [*prompt, *answer, self._end]
        self._on_script = reused
        self.crop(reused)
        self._feed(held[reused:])
        yield Prefill(len(held), len(held), reused, time.perf_counter() - started)

    def forward(self, ids: Sequence[int]) -> Choices:
        if len(self._ids) + len(ids) > self.info.window:
            raise ModelError(
                f"{len(self._ids) + len(ids)} positions do not fit the window of {self.info.window}"
            )
        if self._delay_s:
            time.sleep(self._delay_s)
        first = len(self._ids)
        self._feed(ids)
        lengths = range(first + 1, len(self._ids) + 1)
        chosen = [self._choice(length) for length in lengths]
        if not self._audit:
            return Choices(chosen)
        rows = [struct.pack("<2f", self._marks[n] % 65521, self._choice(n)) for n in lengths]
        return Choices(chosen, rows)

    def crop(self, length: int) -> None:
        del self._ids[length:]
        del self._marks[length + 1 :]
        self._on_script = min(self._on_script, length)

    def _feed(self, ids: Sequence[int]) -> None:
        for token in ids:
            at = len(self._ids)
            if self._on_script == at and at < len(self._script) and self._script[at] == token:
                self._on_script += 1
            self._ids.append(token)
            self._marks.append((self._marks[-1] * 1_000_003 + token + 1) & _MASK)

    def _choice(self, length: int) -> int:
        if self._on_script >= length < len(self._script):
            return self._script[length]
        return self._marks[length] % self.info.vocabulary


class ScriptedTokenizer:
    """Bytes are ids; one more id ends the answer."""

    ends = frozenset({END})
    size = END + 1

    def encode(self, text: str) -> list[int]:
        return list(text.encode("utf-8"))

    def piece(self, token: int) -> bytes:
        return bytes([token]) if token < END else b""

    def special(self, name: str) -> int | None:
        return END if name in ("<|im_end|>", "<|endoftext|>") else None


def from_file(path: Path) -> ScriptedEngine:
    """The engine a script file describes.

    `{"answer": TEXT}` says TEXT; `{"replace": [[OLD, NEW], ...]}` says the prompt's last fenced
    block with the replacements made, then the closing fence. `then`: a list of such objects, for
    the second prompt and those after it; the last of all answers every further one. `delay_s` slows
    each pass down, `calls` names a file that gets a line for each prompt.
    """
    try:
        script: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise ModelError(f"{path}: not a script: {problem}") from problem
    if not isinstance(script, dict):
        raise ModelError(f"{path}: a script is a JSON object")
    calls = Path(script["calls"]) if "calls" in script else None
    delay_s = float(script.get("delay_s", 0.0))
    said = [_said(path, one) for one in (script, *script.get("then", ()))]

    def answer(prompt: Sequence[int]) -> Sequence[int]:
        now = said.pop(0) if len(said) > 1 else said[0]
        return now(prompt) if callable(now) else now

    return ScriptedEngine(answer, delay_s=delay_s, calls=calls)


def _said(path: Path, script: Any) -> Answer:
    if "answer" in script:
        return str(script["answer"]).encode("utf-8")
    if "replace" in script:
        pairs = [(str(old).encode(), str(new).encode()) for old, new in script["replace"]]

        def answer(prompt: Sequence[int]) -> list[int]:
            block, closing = fenced(bytes(token for token in prompt if token < END))
            for old, new in pairs:
                block = block.replace(old, new)
            return list(block + closing)

        return answer
    raise ModelError(f"{path}: a script has an `answer` or a list `replace`")


def fenced(prompt: bytes) -> tuple[bytes, bytes]:
    """The lines inside the last complete pair of fences, and the fence that closes them."""
    lines = prompt.splitlines(keepends=True)
    block, closing, opened, mark = b"", b"```", -1, b""
    for at, line in enumerate(lines):
        ticks = line[: len(line) - len(line.lstrip(b"`"))]
        if opened < 0 and len(ticks) >= 3:
            opened, mark = at, ticks
        elif opened >= 0 and line.rstrip() == mark:
            block, closing, opened = b"".join(lines[opened + 1 : at]), mark, -1
    return block, closing
