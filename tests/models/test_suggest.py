"""`specedit model suggest`: the model that suits this machine's memory and cores."""

import json
import math
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from case_files import rows
from command_line import at_a_terminal
from typer.testing import CliRunner

from benchmarks.synthetic import SHAPES, TIED, type_of
from specedit.cli.model import app
from specedit.decode.cost import CURVES_FILE, Curve, key, save
from specedit.engines.base import EngineInfo
from specedit.engines.exact.checkpoint import Checkpoint
from specedit.engines.exact.conversion import four_bits
from specedit.engines.exact.weights import Geometry, bytes_of, needed_memory
from specedit.inference.estimate import predicted_curve, typical_seconds
from specedit.models import catalogue
from specedit.models.catalogue import Listed, Machine, entries

GB = 10**9
QWEN = SHAPES["qwen2.5-coder-7b"]


@pytest.mark.parametrize(
    ("memory", "cores", "card", "expected", "weights"),
    [
        (GB // 2, 2, 0, "qwen2.5-coder-0.5b", ""),  # none fits: the smallest
        (1 * GB, 2, 0, "qwen2.5-coder-0.5b", "int4"),
        (2 * GB, 2, 0, "qwen2.5-coder-1.5b", "int4"),
        (64 * GB, 2, 0, "qwen2.5-coder-1.5b", "int8"),  # a larger one takes too long
        (8 * GB, 4, 0, "qwen3.5-4b", "int8"),
        (8 * GB, 8, 0, "qwen3.5-4b", "int8"),
        (16 * GB, 8, 0, "qwen3.5-9b", "int8"),
        (32 * GB, 8, 0, "qwen3.6-35b-a3b", "int4"),  # an id needs 3 of its 35 billions
        (0, 16, 0, "qwen3.6-35b-a3b", "int8"),  # the system does not tell its memory
        (32 * GB, 8, 4, "qwen3.6-35b-a3b", "int4"),  # the card is too small to count
        (32 * GB, 8, 12, "qwen3.5-9b", "int4"),
        (64 * GB, 16, 24, "qwen3.6-27b", "int4"),  # experts have 16 bits on a card
        (128 * GB, 16, 80, "qwen3.6-27b", "bf16"),
    ],
)
def test_the_answer_that_one_would_give_a_friend(memory, cores, card, expected, weights):
    row = catalogue.best(catalogue.rows(Machine(memory, cores, card * GB)))
    assert (row.entry.name, row.weights) == (expected, weights)
    assert row.entry.general


SMALL = {
    0.49: replace(QWEN, layers=24, hidden=896, inner=4864, heads=14, kv_heads=2, head_size=64),
    1.54: replace(QWEN, hidden=1536, inner=8960, heads=12, kv_heads=2),
}
LIKE = {"qwen3-coder-30b-a3b": "qwen3-30b-a3b"}


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_the_memory_of_a_row_is_what_its_weights_and_cache_take(entry):
    name = LIKE.get(entry.name, entry.name)
    shape, tied = SMALL.get(entry.parameters) or SHAPES[name], name in TIED
    tied = tied or entry.parameters in SMALL
    names = [*shape.names(), *([] if tied else ["output.weight"])]
    types = {tensor: type_of(tensor, shape, tied).name for tensor in names}
    if not entry.file:
        types = dict.fromkeys(types, "BF16")
    four = four_bits(Checkpoint(shape, types, list, tied), Path("any.int4"))
    needed = [
        needed_memory(shape, bytes_of(Geometry.of(shape).tensors(shape, matrices)))
        for matrices in ((), four)
    ]
    assert [entry.memory, entry.memory_int4] == pytest.approx(needed, rel=0.02)
    sizes = {tensor: math.prod(shape.shape(tensor) or ()) for tensor in names}
    experts = sum(size for tensor, size in sizes.items() if "_exps" in tensor)
    assert entry.experts == pytest.approx(experts / 1e9, rel=0.01)
    assert entry.chosen == (shape.chosen / shape.experts if experts else 1)
    assert entry.parameters == pytest.approx(sum(sizes.values()) / 1e9, rel=0.01)


def test_a_limit_of_addresses_is_a_limit_of_memory(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (GB, resource.RLIM_INFINITY))
    assert GB / 3 < catalogue.this_machine(2).memory < GB


def test_an_allocation_that_fails_is_an_error_and_not_a_bug(inside, monkeypatch):
    def fail(cores: int) -> None:
        raise MemoryError

    monkeypatch.setattr(catalogue, "this_machine", fail)
    done = inside("model", "suggest")
    assert done.returncode == 2 and b"bug" not in done.stderr
    assert b"not enough memory" in done.stderr and b"ulimit -v" in done.stderr


@pytest.fixture
def with_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of 64 GB whose driver names a card of 24 GB."""
    program = tmp_path / "nvidia-smi"
    program.write_text('#!/bin/sh\n[ "$1" = --query-gpu=memory.total ] && echo 24564\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(catalogue, "this_machine", lambda cores: Machine(64 * GB, 8))


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands for the driver")
def test_a_card_is_found_and_what_is_untested_is_said(with_card):
    result = CliRunner().invoke(app, ["suggest"])
    message = " ".join(result.stderr.split())
    assert "model=qwen3.6-27b weights=int4" in message and "specedit[cuda]" in message
    assert "qwen3.6-27b is untested" in message
    assert "model try qwen2.5-coder-1.5b`, which is tested" in message
    assert "SWE-bench Verified (maker) of qwen3.6-27b: https://" in message


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands for the driver")
def test_json_is_one_object_with_every_result_and_its_source(with_card):
    result = json.loads(CliRunner().invoke(app, ["suggest", "--json"]).stdout)
    assert result["suggested"] == "qwen3.6-27b" and result["card"] == 24564 << 20
    rows = {row["name"]: row for row in result["rows"]}
    chosen = rows["qwen3.6-27b"]
    assert (chosen["engine"], chosen["weights"], chosen["untested"]) == (
        "huggingface",
        "int4",
        True,
    )
    keys = {"parameters", "size", "memory", "memory_int4", "fits", "licence", "suits"}
    assert all(keys <= row.keys() for row in rows.values())
    results = [result for row in rows.values() for result in row["published"]]
    assert results and all(result["source"] and 0 < result["value"] < 100 for result in results)


def test_a_machine_that_no_model_fits_is_not_told_that_one_suits(monkeypatch):
    monkeypatch.setattr(catalogue, "this_machine", lambda cores: Machine(GB // 10, 2))
    result = CliRunner().invoke(app, ["suggest"])
    assert "none suits this machine" in result.stderr and "* suits" not in result.stderr


MEASURED = ((1, 0.0473), (8, 0.0511), (16, 0.0673), (32, 0.1233), (64, 0.2439), (256, 0.9938))


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Listed:
    """The 1.5B, as its passes were measured on a machine with AVX-512 VNNI."""
    monkeypatch.setenv("SPECEDIT_HOME", str(tmp_path))
    entry = catalogue.find("qwen2.5-coder-1.5b")
    assert entry is not None
    info = EngineInfo("exact", "cpu", 2, 4096, 1, exact=True, note="int8, balanced, avx512vnni")
    save(tmp_path / CURVES_FILE, key(entry.sha256, info), Curve.of(MEASURED))
    return entry


def test_the_seconds_of_a_typical_edit_are_those_that_were_measured(measured):
    assert predicted_curve(measured, "int8") == (Curve.of(MEASURED), measured.name)
    assert typical_seconds(measured, "int8") == pytest.approx(1.70, rel=0.1)  # as measured there


@rows("name weights seconds")
def test_the_seconds_of_other_models_are_within_a_quarter_of_what_they_took_there(
    name, weights, seconds, measured
):
    entry = catalogue.find(name)
    assert entry is not None
    assert typical_seconds(entry, weights) == pytest.approx(seconds, rel=0.25)


def test_of_experts_a_narrow_pass_reads_the_chosen_ones(measured):
    experts, dense = (catalogue.find(name) for name in ("qwen3.6-35b-a3b", "qwen3.5-9b"))
    curves = [predicted_curve(entry, "int4")[0] for entry in (experts, dense)]
    assert curves[0].seconds(1) < curves[1].seconds(1) / 2
    wider = [curve.seconds(8) / curve.seconds(1) for curve in curves]
    assert wider[0] > 1.3 * wider[1]


@pytest.mark.parametrize("words", [("model", "suggest"), ("model", "list"), ("doctor",)])
def test_on_80_columns_nothing_is_cut_off_and_lines_break_between_words(monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "80")
    code, shown = at_a_terminal(b"", *words)
    lines = re.sub(r"\x1b\[[0-9;]*m|\r", "", shown).splitlines()
    assert code == 0 and "…" not in shown
    assert all(len(line) <= 80 or len(max(line.split(), key=len)) > 60 for line in lines)
