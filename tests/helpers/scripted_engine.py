"""An engine that plays a script, for tests and `benchmarks.replay`: no model, no torch.

A test in this process builds a ScriptedEngine, uses the fixture `script`, or calls
`one_edit.edit`. A test that starts a process sets `TESTS_SCRIPT` to the path of a script in its
environment; `start/sitecustomize.py`, which conftest.py puts on PYTHONPATH, does the rest. An
environment that is made anew needs `PYTHONPATH=START` (of `hook_repository`).

Whatever the engine is fed, its choice on the script's path is the script's next id. Off it, the
choice depends on all ids it was fed, which exposes a loop that trusts a choice after a rejected
draft.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from specedit.engines.base import GREEDY, Choices, EngineInfo, Prefill, Row, Sampling, common
from specedit.errors import ModelError

if TYPE_CHECKING:
    from specedit.inference.model import LoadedModel
    from specedit.settings import Settings

END = 256
WINDOW = 1 << 20
VOCABULARY = 1 << 16  # of words
PLACES_QUESTION = "Which parts will be changed?"
_MASK = (1 << 61) - 1

Answer = Sequence[int] | Callable[[Sequence[int]], Sequence[int]]
WORD = re.compile(r" ?[^\W_]+|\n *|[^\w\n]|_")


class _ScriptNode(NamedTuple):
    """An id with all before it: how many there are, a mark of them, whether the script says so."""

    token: int
    length: int
    mark: int
    right: bool


NOTHING = _ScriptNode(-1, 0, 0, True)


class ScriptedTokenizer:
    """Bytes are ids; one more id ends the answer."""

    ends = frozenset({END})
    size = END + 1
    begin = None

    def encode(self, text: str) -> list[int]:
        return list(text.encode("utf-8"))

    def encode_template(self, text: str) -> list[int]:
        return self.encode(text)

    def piece(self, token: int) -> bytes:
        return bytes([token]) if token < END else b""

    def special(self, name: str) -> int | None:
        return END if name in ("<|im_end|>", "<|endoftext|>") else None

    def text(self, tokens: Sequence[int]) -> bytes:
        return b"".join(map(self.piece, tokens))


class WordTokenizer(ScriptedTokenizer):
    """Words, marks and runs of blanks are ids, met in order: closer to a real vocabulary.

    An id that is not met yet is a byte.
    """

    size = VOCABULARY

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._pieces: list[bytes] = []

    def encode(self, text: str) -> list[int]:
        return [self._ids.get(word) or self._met(word) for word in WORD.findall(text)]

    def _met(self, word: str) -> int:
        self._pieces.append(word.encode())
        self._ids[word] = END + len(self._pieces)
        return self._ids[word]

    def piece(self, token: int) -> bytes:
        if END < token <= END + len(self._pieces):
            return self._pieces[token - END - 1]
        return super().piece(token % (END + 1))


BYTES = ScriptedTokenizer()


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
        trees: bool = True,
        hidden: int = 4,
        sure: float = 0.0,
        margin: float | None = 9.0,
        hold: Path | None = None,
        second: Sequence[tuple[bytes, bytes]] = (),
        tokenizer: ScriptedTokenizer = BYTES,
    ) -> None:
        self._answer = answer
        self._tokenizer = tokenizer
        self._end = end
        self._delay_s = delay_s
        self._calls = calls
        # chance of its choices in whole rows of logits; 0: rows are marks, or leave no choice where
        # choices are sampled
        self._sure = sure
        self._margin = (
            margin  # of each choice over the second best; None, or sampled: it does not say
        )
        # where one of these texts begins in an answer it is least sure; its second choice there
        self._second = second
        self._unsure_at: int | None = None
        self._hold = hold
        self._passes = 0
        self._audit = self._watching = self._sampled = False
        self._script: list[int] = []  # prompt, answer, end
        self._ids: list[int] = []
        self._nodes: list[_ScriptNode] = []  # one for each id in the cache
        self._parents: Sequence[int] | None = None  # of the last pass
        self._tree: int | None = None  # where the last pass began, if that was a tree
        self.info = EngineInfo(
            name="scripted",
            device="cpu",
            threads=1,
            window=window,
            vocabulary=vocabulary,
            exact=True,
            note="plays a script",
            trees=trees,
            hidden=hidden,
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
        self._audit, self._sampled = audit, sampling.temperature > 0
        held = prompt[:-1]
        reused = common(held, self._ids)
        answer = self._answer(prompt) if callable(self._answer) else self._answer
        answer = self._with_second_choice(answer, len(prompt), sampling.second_at)
        script = [*prompt, *answer, self._end]
        self._tree = None
        self.crop(reused)
        self._script = script
        nodes, self._nodes = self._nodes, []
        for node in nodes:  # what was on the old script need not be on the new one
            self._nodes.append(self._after(self._nodes[-1] if self._nodes else NOTHING, node.token))
        self._read(held[reused:])
        yield Prefill(len(held), len(held), reused, time.perf_counter() - started)

    def forward(self, ids: Sequence[int], parents: Sequence[int] | None = None) -> Choices:
        if len(self._ids) + len(ids) > self.info.window:
            raise ModelError(
                f"{len(self._ids) + len(ids)} positions do not fit the window of {self.info.window}"
            )
        if parents is not None and not self.info.trees:
            raise ValueError("this engine takes chains only")
        if self._tree is not None:
            raise ValueError("a tree is in the cache: keep a path of it, or crop it")
        if self._delay_s:
            time.sleep(self._delay_s)
        self._passes += 1
        while self._hold is not None and self._passes > 1 and self._hold.exists():
            time.sleep(0.01)
        first = len(self._ids)
        before = self._nodes[-1] if self._nodes else NOTHING
        for index, token in enumerate(ids):
            parent = index - 1 if parents is None else parents[index]
            if not -1 <= parent < index:
                raise ValueError(f"id {index} of a tree cannot stand behind {parent}")
            self._feed(token, self._nodes[first + parent] if parent >= 0 else before)
        self._tree = None if parents is None else first
        self._parents = parents
        fed = self._nodes[first:]
        chosen = [self._choice(node) for node in fed]
        rows = states = None
        if self._audit:
            rows = [self._row(node) for node in fed]
        if self._watching:
            states = self._states(fed)
        silent = self._margin is None or self._sampled
        margins = None if silent else [self._margin_at(node) for node in fed]
        return Choices(chosen, rows, states, margins)

    def crop(self, length: int) -> None:
        if self._tree is not None and length > self._tree:
            raise ValueError("a tree is in the cache: keep a path of it")
        self._tree = None
        del self._ids[length:]
        del self._nodes[length:]

    def keep(self, start: int, rows: Sequence[int]) -> None:
        if self._tree is None:
            parents: Sequence[int] = range(-1, len(self._ids) - start - 1)
        else:
            parents = self._parents or ()
            if start != self._tree:
                raise ValueError(f"the last tree began at {self._tree}, not at {start}")
        above = -1
        for row in rows:
            if parents[row] != above:
                raise ValueError(f"{list(rows)} is not a path")
            above = row
        self._tree = None
        self._ids[start:] = [self._ids[start + row] for row in rows]
        self._nodes[start:] = [self._nodes[start + row] for row in rows]

    def watch(self, on: bool) -> None:
        self._watching = on and self.info.hidden > 0

    def _with_second_choice(
        self, answer: Sequence[int], first: int, second_at: int | None
    ) -> Sequence[int]:
        """The answer, or the one that takes the second choice where the first is least sure."""
        text = self._tokenizer.text(answer) if self._second else b""
        pairs = [(text.index(old), old, new) for old, new in self._second if old in text]
        if not pairs:
            return answer
        at, old, new = min(pairs)
        ends = itertools.accumulate(len(self._tokenizer.piece(token)) for token in answer)
        self._unsure_at = first + sum(end <= at for end in ends)
        if second_at != self._unsure_at:
            return answer
        return self._tokenizer.encode((text[:at] + new + text[at + len(old) :]).decode())

    def _margin_at(self, node: _ScriptNode) -> float:
        assert self._margin is not None
        return 0.1 if node.length == self._unsure_at else self._margin

    def _read(self, tokens: Sequence[int]) -> None:
        """Feed the rest of the prompt, which the script begins with."""
        _, length, mark, right = self._nodes[-1] if self._nodes else NOTHING
        for token in tokens:
            length, mark = length + 1, (mark * 1_000_003 + token + 1) & _MASK
            self._nodes.append(tuple.__new__(_ScriptNode, (token, length, mark, right)))
        self._ids += tokens

    def _feed(self, token: int, before: _ScriptNode) -> None:
        self._ids.append(token)
        self._nodes.append(self._after(before, token))

    def _after(self, before: _ScriptNode, token: int) -> _ScriptNode:
        at = before.length
        right = before.right and at < len(self._script) and self._script[at] == token
        return _ScriptNode(token, at + 1, (before.mark * 1_000_003 + token + 1) & _MASK, right)

    def _choice(self, node: _ScriptNode) -> int:
        if node.right and node.length < len(self._script):
            return self._script[node.length]
        return node.mark % self.info.vocabulary

    def _row(self, node: _ScriptNode) -> bytes:
        if not self._sure and not self._sampled:
            return struct.pack("<2f", node.mark % 65521, self._choice(node))
        size, choice = self.info.vocabulary, self._choice(node)
        sure = self._sure or 1.0
        rest = math.log((1 - sure) / max(size - 1, 1)) if sure < 1 else -math.inf
        row = [rest] * size
        row[choice] = math.log(sure)
        return struct.pack(f"<{size}f", *row)

    def _states(self, fed: Sequence[_ScriptNode]) -> list[Row]:
        size = self.info.hidden
        return [
            struct.pack(f"={size}f", *(node.mark % 65521 + n for n in range(size))) for node in fed
        ]


def read_script(path: Path) -> dict[str, Any]:
    try:
        script: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise ModelError(f"{path}: not a script: {problem}") from problem
    if not isinstance(script, dict):
        raise ModelError(f"{path}: a script is a JSON object")
    return script


def from_file(path: Path, tokenizer: ScriptedTokenizer) -> ScriptedEngine:
    """The engine a script file describes.

    `{"answer": TEXT}` says TEXT; `{"replace": [[OLD, NEW], ...]}` says the prompt's last fenced
    block with the replacements made, then the closing fence. `then`: a list of such objects, for
    the second prompt and those after it; the last of all answers every further one. `delay_s` slows
    each pass down, `calls` names a file that gets a line for each prompt, `sure` is the chance that
    its rows of logits give its choices, `margin` by how much each exceeds the second best (null: it
    does not say). `second`: pairs of texts; where the first of one begins, the model is least sure,
    and the other is its second choice. `places` answers each question about the places to edit.
    `prompts` names a file that gets each prompt as a line of JSON. While the file `hold` exists,
    it makes one pass. `rated`: its edits have a confidence. `window`: how many ids it
    holds. `words`: its ids are words, which is faster; a test that counts ids wants bytes.
    """
    script = read_script(path)
    answers = [_answer_of(path, part) for part in (script, *script.get("then", ()))]

    def answer(prompt: Sequence[int]) -> Sequence[int]:
        read = tokenizer.text(prompt)
        text = read.decode("utf-8", "replace")
        if "prompts" in script:
            with Path(script["prompts"]).open("a", encoding="utf-8") as prompts:
                prompts.write(json.dumps(text) + "\n")
        if "places" in script and PLACES_QUESTION in text:
            return tokenizer.encode(f"{script['places']}\n```")
        now = answers.pop(0) if len(answers) > 1 else answers[0]
        return tokenizer.encode(now(read).decode("utf-8", "surrogateescape"))

    options = {
        "vocabulary": tokenizer.size,
        "delay_s": float(script.get("delay_s", 0.0)),
        "calls": Path(script["calls"]) if "calls" in script else None,
        "sure": float(script.get("sure", 0.0)),
        "margin": script.get("margin", 9.0),
        "window": int(script.get("window", WINDOW)),
        "hold": Path(script["hold"]) if "hold" in script else None,
        "second": [(old.encode(), new.encode()) for old, new in script.get("second", ())],
        "tokenizer": tokenizer,
    }
    if "ranked" in script:
        return RankingEngine(script["ranked"], answer, **options)
    return ScriptedEngine(answer, **options)


class RankingEngine(ScriptedEngine):
    """Tells how likely ids are by the chances of whole lines; what else there is has hardly any."""

    def __init__(self, chances: Mapping[str, float], *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._chances = {f"{line}\n".encode(): chance for line, chance in chances.items()}

    def weigh(self, ids: Sequence[int], wanted: Sequence[Sequence[int]]) -> list[list[float]]:
        piece, first = self._tokenizer.piece, len(ids) - len(wanted)

        def mass(beginning: bytes) -> float:
            lines = self._chances.items()
            return sum(c for line, c in lines if line.startswith(beginning)) + 0.01 ** len(
                beginning
            )

        def shares(path: bytes, among: Sequence[int]) -> list[float]:
            return [math.log(mass(path + piece(id)) / mass(path)) for id in among]

        text = self._tokenizer.text
        return [shares(text(ids[1 : 1 + first + n]), among) for n, among in enumerate(wanted)]


def _answer_of(path: Path, script: Any) -> Callable[[bytes], bytes]:
    """The answer to a prompt, both as text."""
    if "answer" in script:
        return lambda prompt: str(script["answer"]).encode("utf-8")
    if "replace" in script:
        pairs = [(str(old).encode(), str(new).encode()) for old, new in script["replace"]]

        def answer(prompt: bytes) -> bytes:
            block, closing = fenced(prompt)
            for old, new in pairs:
                block = block.replace(old, new)
            return block + closing

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


def scripted_model(script: Path, settings: Settings) -> LoadedModel:
    """The model of a script file. A draft model that the settings name is another such file.

    Ids are bytes, or `words` where the script says so.
    """
    from specedit.decode.drafters import AUTO, MODEL_NAMES, SmallModel
    from specedit.decode.width import Widths
    from specedit.edit.backend import ModelInfo
    from specedit.inference.model import LoadedModel

    tokenizer = WordTokenizer() if read_script(script).get("words") else BYTES

    def render(turns: Sequence[tuple[str, Sequence[str]]], opening: str) -> list[int]:
        return tokenizer.encode("".join("".join(parts) + "\n" for _, parts in turns) + opening)

    small = None
    if settings.draft_model and {AUTO, *MODEL_NAMES} & {*settings.draft.split(",")}:
        small = SmallModel(from_file(Path(settings.draft_model), tokenizer), "scripted")
    line = ModelInfo("scripted", engine="scripted", device="cpu", threads=1, exact=True)
    return LoadedModel(line, from_file(script, tokenizer), tokenizer, render, Widths(), small=small)
