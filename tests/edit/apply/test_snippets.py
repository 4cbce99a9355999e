"""Snippets: what they replace, add and remove; what they do not show stays, or they are refused."""

from case_files import cases, changed

from specedit import Editor, Source


def merged(name: str, text: str, snippet: str) -> tuple[str | None, str]:
    """The new text, or None and why."""
    with Editor() as editor:
        edit = editor.apply(snippet, Source.from_bytes(name, text.encode()))
    reasons = "; ".join(edit.problems)
    return (None if edit.status == "refused" else edit.after.decode()), reasons


def lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


@cases("edit/apply/snippets.toml", "merged")
def test_a_snippet_says_what_it_replaces_and_removes_and_the_rest_stays(
    name, text, snippet, changes
):
    result, reasons = merged(name, text, snippet)
    assert result is not None, reasons
    assert lines(result) == lines(changed(text, *changes))


@cases("edit/apply/snippets.toml", "refused")
def test_a_snippet_that_may_mean_two_things_is_refused(name, text, snippet, words):
    result, reasons = merged(name, text, snippet)
    assert result is None and words in reasons


@cases("edit/apply/snippets.toml", "lost")
def test_guarantee_11_what_would_be_lost_refuses_a_snippet(name, text, snippet, words):
    result, reasons = merged(name, text, snippet)
    assert result is None and words in reasons


def test_a_snippet_of_thousands_of_definitions_is_refused_at_once():
    text = "".join(f"value_{number} = {number}\n" for number in range(5_001))
    after, why = merged("a.py", text, text.replace(" = ", " = -"))
    assert after is None and "too long to compare" in why
