"""Under load and attack: no crash, no stuck queue, flat memory, every answer as in this process."""

import contextlib
import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from events import Stop, stopping
from refused_fields import predicted
from warm_server import Running, listening, plan, process, prompt, until

from specedit.connect import LocalBackend
from specedit.edit.backend import unreported
from specedit.server import runtime
from specedit.server.client import ServerBackend
from specedit.settings import Settings

TEXTS = [f"Username {n} = 'é😀{'x' * (n * 37 % 400)}'\r\n" * (1 + n % 5) for n in range(16)]
STRANGE = "".join(f"{n:05x} " for n in range(17_000))  # 102,000 tokens
HUGE = b"x" * (50 << 20)


@dataclass
class Load:
    """Requests of every kind against one server, from several clients at once."""

    server: Running
    answers: dict[str, str]  # of each text, in this process
    huge: bytes = HUGE
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def run(self, requests: int, clients: int, seed: int) -> None:
        share = requests // clients
        threads = [
            threading.Thread(target=self._client, args=(random.Random(seed * 100 + n), share))
            for n in range(clients)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not self.problems, self.problems[:5]

    def _client(self, rng: random.Random, share: int) -> None:
        kinds: list[tuple[Callable[[random.Random], None], int]] = [
            *((self.whole, 25), (self.stream, 25), (self.own, 15), (self.cancel, 10)),
            *((self.leave, 10), (self.malformed, 10), (self.strange, 4), (self.too_large, 1)),
        ]
        for _ in range(share):
            (do,) = rng.choices([k for k, _ in kinds], [w for _, w in kinds])
            try:
                do(rng)
            except Exception as error:
                self.problems.append(f"{do.__name__}: {type(error).__name__}: {error}")
            self.counts[do.__name__] += 1

    def _body(self, rng: random.Random, **fields: Any) -> tuple[str, dict[str, Any]]:
        text = rng.choice(TEXTS)
        if rng.random() < 0.5:
            fields = predicted(text) | fields
        messages = [{"role": "user", "content": prompt(text)}]
        return text, {"model": "scripted", "messages": messages, **fields}

    def _chat(self, body: dict[str, Any] | bytes) -> Any:
        token = {"Authorization": f"Bearer {self.server.record.token}"}
        return self.server.ask("POST", "/v1/chat/completions", body, token)

    def whole(self, rng: random.Random) -> None:
        text, body = self._body(rng)
        found = self._chat(body).json["choices"][0]["message"]["content"]
        assert found == self.answers[text]

    def stream(self, rng: random.Random) -> None:
        text, body = self._body(rng, stream=True)
        chunks = self._chat(body).chunks
        found = "".join(c["choices"][0]["delta"].get("content", "") for c in chunks)
        assert found == self.answers[text]

    def own(self, rng: random.Random) -> None:
        text = rng.choice(TEXTS)
        answer = ServerBackend(self.server.record).run(plan(text, closing=""), unreported)
        assert answer.text == self.answers[text]

    def cancel(self, rng: random.Random) -> None:
        with pytest.raises(Stop):
            backend = ServerBackend(self.server.record)
            backend.run(plan(rng.choice(TEXTS), draft=()), stopping)

    def leave(self, rng: random.Random) -> None:
        _, body = self._body(rng, stream=rng.random() < 0.5)
        connection = self.server.connect()
        connection.request("POST", "/v1/chat/completions", json.dumps(body))
        connection.close()

    def malformed(self, rng: random.Random) -> None:
        data = json.dumps(self._body(rng)[1]).encode()
        assert self._chat(data[: rng.randrange(len(data))]).status == 400

    def strange(self, rng: random.Random) -> None:
        text, body = self._body(rng)
        found = self._chat(body | predicted(STRANGE))
        assert found.json["choices"][0]["message"]["content"] == self.answers[text]

    def too_large(self, rng: random.Random) -> None:
        assert self._chat(self.huge).status == 413

    def settled(self) -> dict[str, Any]:
        """The status once nothing runs and nothing waits."""
        until(lambda: not any(self.server.status()["requests"][k] for k in ("running", "queued")))
        return self.server.status()


@pytest.fixture
def load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: Callable[..., Path]
) -> Iterator[Load]:
    script(replace=[["Username", "Email"]])
    (tmp_path / "calls").unlink(missing_ok=True)
    local = LocalBackend(Settings())
    answers = {text: local.run(plan(text, closing=""), unreported).text for text in TEXTS}
    monkeypatch.setenv("SPECEDIT_RUNTIME", str(tmp_path / "runtime"))
    place = runtime.runtime_folder()
    with process("--port", "0", env={}) as server:
        yield Load(Running(place, listening(place)), answers)
        assert server.poll() is None, "the server died"
        server.terminate()
        _, said = server.communicate(timeout=20)
        assert b"Traceback" not in said, said.decode()


def test_a_short_storm_leaves_a_server_that_answers(load):
    load.huge = b"x" * (17 << 20)
    load.run(64, 8, seed=1)
    status = load.settled()
    assert status["requests"]["refused"] == 0
    with contextlib.closing(load.server.connect()):
        load.whole(random.Random(0))


@pytest.mark.long
def test_a_thousand_requests_from_eight_clients(load):
    load.run(104, 8, seed=1)
    load.strange(random.Random(0))
    load.too_large(random.Random(0))
    first = load.settled()["memory_bytes"]
    load.run(1_000, 8, seed=2)
    last = load.settled()["memory_bytes"]
    print(dict(load.counts), f"{first / 2**20:.1f} -> {last / 2**20:.1f} MiB")
    assert last <= 1.05 * first
    load.whole(random.Random(0))
