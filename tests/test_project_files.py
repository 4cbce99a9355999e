"""CONTRIBUTING, SECURITY, CHANGELOG and CITATION agree with the tree."""

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from specedit.version import VERSION

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
NAMES = ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")


@pytest.mark.parametrize("name", NAMES)
def test_every_path_and_link_exists(name):
    text = (ROOT / name).read_text("utf-8")
    named = [word for word in re.findall(r"`([\w./-]+/[\w./-]*)`", text) if "NAME" not in word]
    linked = re.findall(r"\]\((?!https:)([^)#]+)\)", text)
    modules = [word.replace(".", "/") + ".py" for word in re.findall(r"-m (release\.\w+)", text)]
    assert not [path for path in (*named, *linked, *modules) if not (ROOT / path).exists()]


def test_the_test_groups_are_the_markers():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    markers = {one.partition(":")[0] for one in PROJECT["tool"]["pytest"]["ini_options"]["markers"]}
    assert set(re.findall(r"-m (tools|real|long|faults|vllm|vscode)\b", text)) == markers


def test_one_version_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    extension = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text("utf-8"))
    versions = {citation["version"], PROJECT["project"]["version"], extension["version"]}
    assert versions == {VERSION}
    assert citation["license"] == PROJECT["project"]["license"]
    assert VERSION in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_shipped_weights_of_the_confidence_are_those_of_its_signals():
    from specedit.edit import confidence

    data = json.loads(Path(confidence.__file__).with_name("confidence.json").read_text("utf-8"))
    assert data["signals"] == list(confidence.SIGNALS) and data["models"]
    for fit in data["models"].values():
        assert len(fit["weights"]) == len(confidence.SIGNALS) and 0 < fit["sure"] < 1
