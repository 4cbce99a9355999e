"""What an editor makes of the language server's edits is what the command line makes of the same
bytes, whatever the line ends, the characters and the changes before."""

from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st
from lsp_client import LINE_ENDS_OF_PYTHON, Position, spans, units_of

ENDS = st.sampled_from(["\n", "\r\n", "\r"])
CHARACTERS = st.sampled_from("ab =\t🙂𝒳é漢\u0301\u200d" + LINE_ENDS_OF_PYTHON)
FILLER = st.text(CHARACTERS, max_size=8)
WORDS = st.lists(st.one_of(FILLER, st.just("old"), ENDS), max_size=12).map("".join)
PLACES = st.tuples(st.integers(0, 6), st.just(0) | st.integers(0, 8))  # also past the ends
CHANGES = st.lists(st.tuples(PLACES, PLACES, ENDS | WORDS), max_size=5)


def whole(text: str, position: Position) -> Position:
    """A position that is not inside a surrogate pair."""
    units, (line, column) = units_of(text), position
    if line < len(spans(units)):
        start, end = spans(units)[line]
        at = start + column
        if at < end and 0xDC00 <= ord(units[at]) < 0xE000:
            return line, column - 1
    return position


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=WORDS, changes=CHANGES, first=st.integers(1, 6), count=st.integers(0, 4))
def test_an_edit_is_the_command_lines(
    editor, play, inside, script, tmp_path_factory, text, changes, first, count
):
    for model in (play, script):
        model(replace=[["old", "new\u2028🙂"], ["a", "a\nb"]])
    path = tmp_path_factory.mktemp("edit") / "notes.txt"
    editor.close_all()
    uri = editor.open_file(path, text)
    for start, end, new in changes:
        now = editor.texts[uri]
        editor.change(uri, *sorted((whole(now, start), whole(now, end))), new)
    before, last = editor.texts[uri], first + count
    assume("\r\r\n" not in before)  # one line end to the command, two to an editor
    note(repr(before))
    answer = editor.wait(editor.command("specedit.edit", uri, [first, last], "Replace old."))
    note(str(answer))
    assert all(fits for fits, _ in editor.edits)
    path.write_bytes(before.encode())
    done = inside("edit", "Replace old.", path, "--lines", f"{first}:{last}")
    note(done.stderr.decode())
    assert editor.texts[uri] == path.read_bytes().decode()
