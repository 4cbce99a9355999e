"""`specedit bench --serve URL`: what is asked of a server, what is counted, and what is drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Specedit
from endpoint import Endpoint, listening, stream
from warm_server import Running, running

from specedit.bench import load, serving
from specedit.bench.cases import Case
from specedit.bench.plots import draw
from specedit.bench.serving import Served, Server
from specedit.errors import ServerError, UsageError
from specedit.settings import Settings

CASES = [
    Case(f"case {n}", "a.py", "Rename it.", f"username = {n}\n" + "size = 1\n" * 9)
    for n in range(3)
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("load"), {"replace": [["username", "email"]]}) as found:
        yield found


def url(server: Running) -> str:
    return f"http://127.0.0.1:{server.port}"


def measured(server: Running, *levels: int, requests: int = 3) -> list[load.Level]:
    asked = load.Loads((Server("own", url(server)),), levels, requests)
    return list(load.UnderLoad(asked, load.requests(CASES, Settings())).levels())


def test_one_by_one_in_both_ways(server: Running) -> None:
    plain, predicted = measured(server, 1)
    assert (plain.way, predicted.way) == ("without", "with")
    assert plain.same == predicted.same == 3 and plain.together == predicted.together == 1
    assert plain.tokens == predicted.tokens > 0
    assert [s.text for s in plain.served] == [s.text for s in predicted.served]
    assert "email = 2" in plain.served[2].text
    assert plain.steps is not None and predicted.steps is not None
    assert 0 < predicted.steps < plain.steps
    assert all(s.total_s >= s.first_s > 0 for s in plain.served)


def test_a_load_sends_all_requests_and_compares_their_texts(server: Running) -> None:
    for level in measured(server, 4, requests=5):
        assert (len(level.served), level.same, level.at_once) == (5, 5, 4)
        assert not [s for s in level.served if s.failed]
        assert level.seconds > 0 and level.rate > 0


def test_moments_are_drawn_once_and_come_as_often_as_asked() -> None:
    moments = load.arrivals(2000, 0.5, seed=3)
    assert moments == load.arrivals(2000, 0.5, seed=3) == sorted(moments)
    assert moments[0] == 0 and abs(moments[-1] / 1999 - 0.5) < 0.05


@pytest.mark.parametrize(
    ("share", "value"), [(0.0, 1.0), (0.5, 5.0), (0.9, 9.0), (0.95, 10.0), (1.0, 10.0)]
)
def test_percentiles(share: float, value: float) -> None:
    assert load.percentile([float(n) for n in range(10, 0, -1)], share) == value
    assert load.percentile([], share) == 0.0


def served(due: float, total: float, **more: object) -> Served:
    return Served("c", due, 0.1, total, "t", 10, **more)  # type: ignore[arg-type]


def test_figures_of_a_level() -> None:
    level = load.Level("s", "with", 2, (served(0, 2), served(1, 3), served(3.5, 1)), 7)
    assert (level.seconds, level.tokens, level.rate) == (4.5, 30, 30 / 4.5)
    assert level.together == 2
    failed = served(0, 9, failed="it refused")
    assert load.Level("s", "with", 2, (served(0, 2), failed), 7).tokens == 10


def test_steps_of_one_answer_are_what_no_draft_wrote() -> None:
    assert served(0, 1, drafted=9, accepted=6).steps == 4
    assert served(0, 1).steps is None


@pytest.mark.parametrize(
    ("text", "name", "where"),
    [
        ("http://127.0.0.1:8000", "127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("ngram=http://a:1/v1", "ngram", "http://a:1/v1"),
        ("http://a/?x=y", "a", "http://a/?x=y"),
    ],
)
def test_a_server_may_have_a_name(text: str, name: str, where: str) -> None:
    assert serving.server(text) == Server(name, where)


@pytest.mark.parametrize("text", ["", "a", "a=b", "ftp://x", "n=http://"])
def test_what_is_no_url_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no URL"):
        serving.server(text)


def test_a_server_without_the_plugin_is_measured_in_one_way() -> None:
    with listening() as endpoint:
        asked = load.Loads((Server("other", endpoint.url),), (1,), 2)
        endpoint.answer = stream("a", "b", usage={"completion_tokens": 2})
        measuring = load.UnderLoad(asked, load.requests(CASES, Settings()))
        assert not measuring._warmed(asked.servers[0], "m")
        body = endpoint.requests[0]
        assert body["prediction"]["content"].count("size = 1") == 9
        (level,) = measuring._one_by_one(asked.servers[0], "m", [load.PLAIN])
        assert (level.tokens, level.steps, level.same) == (4, None, 2)
        assert all("prediction" not in body for body in endpoint.requests[1:])


def test_a_server_that_refuses_is_said(server: Running) -> None:
    with listening() as endpoint:
        endpoint.status, endpoint.answer = 400, b'{"error": "no"}'
        asked = load.Loads((Server("other", endpoint.url),), (1,), 2)
        measuring = load.UnderLoad(asked, load.requests(CASES, Settings()))
        with pytest.raises(ServerError, match=r"refused \(400\)"):
            measuring._warmed(asked.servers[0], "m")


def test_a_server_that_is_not_there_is_said(endpoint_gone: str) -> None:
    with pytest.raises(ServerError, match="cannot be asked"):
        serving.model(Server("x", endpoint_gone))


@pytest.fixture
def endpoint_gone() -> str:
    with listening() as endpoint:
        found: Endpoint = endpoint
    return found.url


def test_the_command_measures_prints_and_draws(
    server: Running, inside: Specedit, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    cases = tmp_path / "cases.jsonl"
    lines = [
        json.dumps({"id": c.id, "instruction": c.instruction, "before": c.before}) for c in CASES
    ]
    cases.write_text("\n".join(lines))
    common = ("bench", cases, "--serve", f"own={url(server)}", "--at-once", "1,2")
    done = inside(*common, "--requests", "2", "--json", "--plots", tmp_path / "plots")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    ways = [(one["server"], one["predictions"], one["at_once"]) for one in found["load"]]
    assert ways == [("own", w, n) for n in (1, 2) for w in ("without", "with")]
    assert all(one["same_texts"] == one["requests"] == 2 for one in found["load"])
    drawn = sorted(path.name for path in (tmp_path / "plots").iterdir())
    assert drawn == ["load-rate.png", "load-rate.svg", "load-seconds.png", "load-seconds.svg"]
    again = draw([found], tmp_path / "again")
    assert [p.read_bytes() for p in again] == [
        (tmp_path / "plots" / p.name).read_bytes() for p in again
    ]
    shown = inside(*common, "--requests", "2").stdout.decode()
    assert "same texts" in shown and "2 of 2" in shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--at-once", "2"), "--serve URL"),
        (("--serve", "http://a", "--quality", "x"), "separate runs"),
        (("--serve", "http://a", "--at-once", "0"), "from 1 on"),
    ],
)
def test_what_means_nothing_is_refused(inside: Specedit, words: tuple[str, ...], said: str) -> None:
    done = inside("bench", *words)
    assert done.returncode == 2 and said in done.stderr.decode()
