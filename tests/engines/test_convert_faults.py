"""What goes wrong around a converted file ends in an error or in another conversion, never in
another number; real processes, a real limit of room, real kills."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from effort import ends
from exact_models import save, save_gguf

from specedit.engines.exact.conversion import convert, converted_path, draft_of, source_of, verify
from specedit.engines.exact.engine import open_exact
from specedit.engines.exact.weights import Checksum, open_weights
from specedit.errors import ModelError
from specedit.models.store import FetchProgress, ModelFiles

IDS = list(range(40, 80))
OPENS = """
import hashlib, sys
from pathlib import Path
from specedit.engines.exact.engine import open_exact
from specedit.models.store import ModelFiles
{before}
files = ModelFiles("small", Path(sys.argv[1]), "folder")
engine = open_exact(files, store=Path(sys.argv[2]), weights=sys.argv[3])
list(engine.begin({ids}[:2], audit=True))
print(hashlib.sha256(b"".join(engine.forward({ids}[1:]).rows)).hexdigest())
"""
KILLED = """
import os, signal
from specedit.engines.exact.weights import Writer
real = Writer.add
def add(self, name, block):
    if name == "layer.1.gate_up.panels":
        os.kill(os.getpid(), signal.SIGKILL)
    return real(self, name, block)
Writer.add = add
"""
NO_ROOM = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1_100_000, 1_100_000))
"""
posix = pytest.mark.skipif(sys.platform == "win32", reason="a limit and a signal of POSIX")


class Place(NamedTuple):
    files: ModelFiles
    store: Path
    weights: str

    @property
    def path(self) -> Path:
        return converted_path(self.files, self.store, self.weights)

    def start(self, before: str = "") -> subprocess.Popen[str]:
        code = OPENS.format(ids=IDS, before=before)
        return subprocess.Popen(
            [sys.executable, "-c", code, str(self.files.path), str(self.store), self.weights],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def digest(self) -> str:
        engine = open_exact(self.files, store=self.store, weights=self.weights)
        list(engine.begin(IDS[:2], audit=True))
        rows = engine.forward(IDS[1:]).rows
        assert rows is not None
        return hashlib.sha256(b"".join(rows)).hexdigest()

    def lying(self) -> set[str]:
        """What lies where converted files lie, verdicts aside."""
        return {path.name for path in self.path.parent.iterdir()} - {"exact.json"}


def converted(place: Place) -> list[FetchProgress]:
    """The steps of a conversion."""
    steps: list[FetchProgress] = []
    convert(place.files, place.store, place.weights, steps.append)
    return steps


@pytest.fixture(params=["int8", "int4"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    files = save("qwen2, grouped, tied", tmp_path / "model")[1]
    return Place(files, tmp_path / "store", request.param)


def test_processes_that_convert_at_once_make_one_file(place):
    started = [place.start() for _ in range(3)]
    said = [process.communicate(timeout=300) for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], said
    assert {out.strip() for out, _ in said} == {place.digest()}
    assert place.lying() == {place.path.name}


@posix
@pytest.mark.parametrize("harm", ends(["none", "a bit", "emptied", "cut"]))
def test_a_conversion_that_was_killed_is_continued_and_leaves_nothing_behind(place, tmp_path, harm):
    process = place.start(KILLED)
    process.communicate(timeout=300)
    assert process.returncode == -9
    part = place.path.with_name(f"{place.path.name}.part")
    assert place.lying() == {part.name}
    raw = bytearray(part.read_bytes())
    match harm:
        case "a bit":
            raw[-77] ^= 4
        case "cut":
            del raw[1 << 20 :]
        case "emptied":
            raw.clear()
    part.write_bytes(raw)
    first = converted(place)[0]
    assert (first.done > first.total / 2) == (harm in ("none", "a bit"))
    convert(place.files, tmp_path / "other", place.weights)
    other = converted_path(place.files, tmp_path / "other", place.weights)
    assert place.path.read_bytes() == other.read_bytes()
    assert place.lying() == {place.path.name}


@pytest.mark.parametrize("when", ["at the end", "at the start of the next"])
def test_ctrl_c_while_a_file_is_read_back_is_not_an_error(place, when, monkeypatch):
    if when != "at the end":
        convert(place.files, place.store, place.weights)
        place.path.rename(draft_of(place.path))
    real = Checksum.add

    def add(self: Checksum, block: Any) -> None:
        if not block.flags.writeable:  # of the mapped file
            raise KeyboardInterrupt
        real(self, block)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Checksum, "add", add)
        convert(place.files, place.store, place.weights)
    assert place.lying() == {draft_of(place.path).name}
    first = converted(place)[0]
    assert first.done == first.total
    place.digest()


@pytest.mark.parametrize("kind", ["gguf", "folder"])
@pytest.mark.parametrize("harm", ["cut off", "modified"])
def test_a_model_that_another_program_modifies_is_named_and_nothing_is_left(kind, harm, tmp_path):
    """Of a mapping, a page that is cut off ends the process with SIGBUS."""
    model, files = save("qwen2, grouped, tied", tmp_path / "model")
    weights = tmp_path / "model" / "model.safetensors"
    if kind == "gguf":
        weights = tmp_path / "model.gguf"
        files = save_gguf(model, weights)
    store, size = tmp_path / "store", weights.stat().st_size
    seen: list[FetchProgress] = []

    def modify(step: FetchProgress) -> None:
        seen.append(step)
        if len(seen) != 4:
            return
        with weights.open("r+b") as file:
            if harm == "cut off":
                file.truncate(size // 9)
            else:
                file.seek(size - 4)
                file.write(bytes(4))

    with pytest.raises(ModelError, match=rf"{weights.name} cannot be read: another program"):
        convert(files, store, report=modify)
    assert not list((store / "converted").iterdir())


@posix
def test_no_room_in_the_middle_is_said_and_leaves_nothing(place):
    process = place.start(NO_ROOM)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 1
    assert f"small cannot be written to {place.path.parent}" in said and "SPECEDIT_HOME" in said
    assert not place.lying()
    place.digest()


def test_too_little_room_is_said_before_anything_is_written(place, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(100, 90, 10))
    with pytest.raises(ModelError, match="not enough disk space for the converted weights"):
        convert(place.files, place.store, place.weights)
    assert not place.lying()


@pytest.mark.parametrize("which", ["file", "draft", "lock"])
def test_a_folder_in_the_place_of_a_file_is_named_before_anything_is_converted(place, which):
    lock = place.store / "locks" / f"{place.path.name}.lock"
    folder = {"file": place.path, "draft": draft_of(place.path), "lock": lock}[which]
    folder.mkdir(parents=True)
    with pytest.raises(ModelError, match=f"small cannot be written to .*{folder.name}") as refused:
        convert(place.files, place.store, place.weights)
    assert "Delete it" in refused.value.hint
    folder.rmdir()
    place.digest()


def test_an_altered_file_is_found_by_verifying_and_made_again(place):
    expected, source = place.digest(), source_of(place.files)
    assert list(verify(place.store, source)) == [(place.path, "")]
    entry = open_weights(place.path, source).entries["layer.1.gate_up.panels"]
    with place.path.open("r+b") as file:
        file.seek(entry["offset"] + 1000)
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ 64]))
    ((path, wrong),) = verify(place.store, source)
    assert path == place.path and "layer.1.gate_up.panels" in wrong
    assert not place.path.exists() and place.digest() == expected
