"""The useful end of what a command said, tool by tool: real outputs, shortened."""

from pathlib import Path

from case_files import cases, read_texts

from specedit.edit.tries.command import MOST_CHARS, MOST_LINES, read

PYTEST = read_texts("edit/outputs.toml")["PYTEST"]


@cases("edit/outputs.toml", "outputs")
def test_what_a_tool_says(said, line, shown, failed):
    found = read(said, Path("/tmp/t"))
    assert line in found.line
    assert " ".join(shown.split()) in " ".join(found.text.split())
    assert found.failed == failed
    assert "/tmp/t/" not in found.text and "frozen" not in found.text


def test_what_is_shown_is_bounded():
    long = PYTEST.replace("E       assert 5 == 6\n", "E       " + "x" * 5000 + "\n" * 1) * 50
    found = read(long)
    assert len(found.text) <= MOST_CHARS and len(found.text.splitlines()) <= MOST_LINES
    assert len(found.line) <= 200


def test_passed_tests_are_not_shown():
    noise = "".join(f"test_{n}.py ...... [ {n}%]\n" for n in range(100))
    assert "test_50.py" not in read(noise + PYTEST).text
