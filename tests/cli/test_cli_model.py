"""`specedit model`: what goes to stdout, what to stderr, which exit code."""

import json
from pathlib import Path

import pytest
from model_sources import entry_of, tiny_gguf
from typer.testing import CliRunner, Result

from specedit import machine_check
from specedit.cli.model import app
from specedit.errors import ModelError, SpeceditError
from specedit.models import catalogue, resolve
from specedit.models.store import Slot, store_path

pytestmark = pytest.mark.tools


@pytest.fixture
def slot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Slot:
    """The store of a catalogue with one tiny model; its file lies beside it, not in it."""
    data = tiny_gguf(tmp_path / "tiny.gguf").read_bytes()
    entries = entry_of(data, 1 << 20), *catalogue.entries()
    monkeypatch.setattr(catalogue, "entries", lambda: entries)
    monkeypatch.setenv("SPECEDIT_MODEL", "tiny")
    return Slot(store_path(), "tiny.gguf")


@pytest.fixture
def here(slot: Slot, tmp_path: Path) -> Slot:
    slot.path.parent.mkdir(parents=True)
    (tmp_path / "tiny.gguf").replace(slot.path)
    model("path")
    return slot


def model(*arguments: str) -> Result:
    result = CliRunner().invoke(app, arguments)
    if isinstance(result.exception, SpeceditError):
        raise result.exception
    return result


def listed() -> dict[str, object]:
    result = json.loads(model("list", "--json").stdout)
    assert isinstance(result[0], dict)
    return result[0]


def test_an_empty_store_lists_the_catalogue(slot):
    result = listed()
    assert (result["name"], result["state"], result["path"]) == ("tiny", "absent", None)
    assert (result["licence"], result["in_use"]) == ("MIT", True)


def test_an_unfinished_download_is_listed_with_what_it_has(slot):
    slot.part.parent.mkdir(parents=True)
    slot.part.write_bytes(b"x" * 100)
    assert (listed()["state"], listed()["have"]) == ("part", 100)


def test_a_model_in_place(here):
    value = listed()
    assert (value["state"], value["path"]) == ("here", str(here.path))
    result = model("list")
    assert "tiny *" in result.stdout
    assert str(here.home) in result.stderr


def test_what_was_converted_from_models_elsewhere_is_said(here):
    folder = here.home / "converted"
    folder.mkdir()
    assert "elsewhere" not in model("list").stderr
    for digest in (str(listed()["sha256"])[:16], "ab" * 8):
        (folder / f"a-model-{digest}-v3.int4").write_bytes(b"x" * 5000)
    (folder / "odd.int8").symlink_to("odd.int8")
    assert "Converted from models elsewhere: 5 kB in" in model("list").stderr.replace("\n", " ")


def test_path_is_the_artifact(here):
    assert model("path").stdout == f"{here.path}\n"
    assert model("path", "tiny").stdout == f"{here.path}\n"


def test_pull_of_a_model_in_place_says_so(here):
    result = model("pull")
    assert result.exit_code == 0 and "is already here" in result.stderr
    assert result.stdout.splitlines()[1].startswith("tiny ")  # its row of `model suggest`


def test_verify_deletes_a_damaged_conversion_and_says_so(here):
    made = here.home / "converted" / f"tiny-{str(listed()['sha256'])[:16]}-v1.int8"
    made.parent.mkdir()
    made.write_bytes(b"x" * 5000)
    message = model("verify").stderr.replace("\n", " ")
    assert "tiny is whole" in message and "was deleted, and the next edit makes it again" in message
    assert not made.exists()


def test_a_model_found_damaged_is_no_model_any_more(here):
    data = here.path.read_bytes()
    here.path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(ModelError, match="is damaged"):
        model("verify", "tiny")
    assert listed()["state"] == "unchecked"
    with pytest.raises(ModelError, match="is not tiny"):
        model("path")


def test_remove_takes_everything_of_one_model(here):
    sha256 = str(listed()["sha256"])
    made = here.home / "converted" / f"tiny-{sha256[:16]}-v1.int8"
    made.parent.mkdir()
    made.write_bytes(b"x")
    other = here.path.with_name("other.gguf")
    other.write_bytes(b"y")
    assert "removed tiny" in model("remove", "tiny").stderr
    left = {path for path in here.home.rglob("*") if path.is_file()}
    assert left - {here.home / "kernels.json"} == {other, here.lock}
    assert "not here" in model("remove", "tiny").stderr


def test_adapters_are_listed_and_removed_by_name(here, monkeypatch):
    own = here.home / "adapters" / "mine"
    own.mkdir(parents=True)
    config = {"peft_type": "LORA", "base_model_name_or_path": "somebody/tiny"}
    (own / "adapter_config.json").write_text(json.dumps(config))
    (own / "adapter_model.safetensors").write_bytes(b"x" * 2000)
    digest = str(listed()["sha256"])[:16]
    names = f"tiny-{digest}", f"tiny+mine-{digest}-{'ab' * 8}", f"tiny+b-{digest}-{'cd' * 8}"
    plain, merged, other = (here.home / "converted" / f"{name}-v3.int8" for name in names)
    plain.parent.mkdir()
    for path in (plain, merged, other):
        path.write_bytes(b"x" * 1000)
    rows = {row["name"]: row["source"] for row in json.loads(model("list", "--json").stdout)}
    assert (rows["tiny+mine"], rows["tiny+b"]) == ("trained here", "converted with an adapter")
    assert "tiny+mine" in model("list").stdout
    monkeypatch.setenv("SPECEDIT_ADAPTER", str(own))
    assert "adapter    mine, SHA-256" in doctor()
    assert "removed tiny+mine: 3 kB freed" in model("remove", "tiny+mine").stderr
    assert [path.exists() for path in (own, merged, plain, other)] == [False, False, True, True]
    assert f"{own} is not an adapter" in doctor()
    model("remove", "tiny")
    assert not plain.exists() and not other.exists()


def doctor() -> str:
    return "".join(f"{fact.topic:10} {fact.text}\n" for fact in machine_check.lines(("model",)))


def test_trained_heads_are_listed_and_removed_by_name(here):
    folder = here.home / "heads" / str(listed()["sha256"])[:16]
    heads = {"tiny:medusa": folder / "medusa.safetensors", "tiny:unfinished": folder / "unfinished"}
    heads["tiny:unfinished"].mkdir(parents=True)
    (folder / "unfinished" / "rows.bin").write_bytes(b"x" * 2000)
    heads["tiny:medusa"].write_bytes(b"x" * 3000)
    rows = json.loads(model("list", "--json").stdout)
    trained = {row["name"]: (row["path"], row["state"]) for row in rows if row["heads"]}
    assert trained.pop("tiny:medusa") == (str(heads["tiny:medusa"]), "damaged")
    assert trained.pop("tiny:unfinished") == (str(heads["tiny:unfinished"]), "part")
    ((shipped, (_, state)),) = trained.items()
    assert (shipped, state) == ("qwen2.5-coder-1.5b:chained", "here")
    assert len({frozenset(row) for row in rows if row["heads"]} | {frozenset(rows[0])}) == 1
    shown = model("list")
    assert all(name in shown.stdout for name in (*heads, shipped))
    assert f"{shipped}: came with specedit" in shown.stderr
    assert "removed tiny:medusa: 3 kB freed" in model("remove", "tiny:medusa").stderr
    assert "removed tiny:unfinished: 2 kB freed" in model("remove", "tiny:unfinished").stderr
    assert not [*folder.iterdir()]
    with pytest.raises(ModelError, match="came with specedit"):
        model("remove", shipped)


def test_what_was_converted_from_a_file_elsewhere_is_verified_and_removed(slot, tmp_path):
    path = tiny_gguf(tmp_path / "own.gguf")
    files = resolve.local(str(path))
    assert files is not None
    made = slot.home / "converted" / f"own-{files.sha256[:16]}-v1.int8"
    made.parent.mkdir()
    made.write_bytes(b"x")
    assert "was deleted" in model("verify", str(path)).stderr.replace("\n", " ")
    assert not made.exists()
    made.write_bytes(b"x" * 3000)
    assert "removed own: 3 kB freed" in model("remove", str(path)).stderr
    assert not made.exists() and path.exists()


@pytest.mark.parametrize("command", ["verify", "remove"])
def test_an_unknown_name_shows_the_nearest(command, slot):
    with pytest.raises(ModelError, match="the nearest: tiny"):
        model(command, "tinny")
