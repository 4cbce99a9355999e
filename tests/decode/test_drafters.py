"""Drafters: which exist, what lookup repeats, what a change teaches."""

import pytest
from case_files import rows
from replaying import run, texts
from scripted_engine import END, WordTokenizer

from specedit.decode import drafters
from specedit.decode.drafters import learned
from specedit.errors import ModelError, UsageError


@rows("names said")
def test_a_name_that_cannot_be_honoured_is_an_error(names, said):
    with pytest.raises(UsageError) as problem:
        drafters.build(names, prediction=[1], codec=None)
    assert said in problem.value.hint


def test_lookup_repeats_what_the_prompt_said():
    codec = WordTokenizer()
    known = codec.encode("def visit(self, node):\n    return self.generic_visit(node)\n")
    result = run(known, None, prompt=[*known, 1], codec=codec, names=("lookup",))
    assert result.tokens == [*known, END]
    assert result.seconds() < 0.7 * result.plain()
    assert {chunk.source for chunk in result.chunks} <= {"lookup", "free"}


def lines(name: str, other: str = "") -> str:
    return "".join(
        f"    public string Field{n} => Compute({n}, {name}, alpha{n}) + other[{n}];{other}\n"
        for n in range(12)
    )


def test_a_change_is_expected_again_and_so_costs_little_from_then_on():
    codec = WordTokenizer()
    result = texts(lines("username"), lines("email"), codec)
    unlearned = texts(lines("username"), lines("username"), codec)
    assert result.passes <= unlearned.passes + 12, "twelve changes, not two passes for each"
    half = len(result.chunks) // 2
    assert all(c.accepted == c.proposed for c in result.chunks[half:])


def test_a_word_that_the_vocabulary_cannot_spell_is_not_learned():
    class Lacking(WordTokenizer):
        def encode(self, text: str) -> list[int]:
            raise ModelError("the model's vocabulary cannot spell this text")

    words = WordTokenizer()
    ids, instruction = words.encode(lines("username")), words.encode("rename username to email")
    lacking = Lacking()
    lacking.__dict__ |= words.__dict__
    assert learned.Learned(ids, words, instruction).foreseen
    assert not learned.Learned(ids, lacking, instruction).foreseen


def test_a_learned_change_covers_case_variants():
    forms = ["username", "Username", "userName", "user_name", "USERNAME"]
    becomes = ["email", "Email", "email", "email", "EMAIL"]
    old = "".join(lines(form) for form in forms)
    new = "".join(lines(form) for form in becomes)
    codec = WordTokenizer()
    result = texts(old, new, codec)
    assert result.passes <= texts(old, old, codec).passes + 24, "sixty changes"


def test_a_rename_in_the_instruction_is_expected_from_the_start():
    codec = WordTokenizer()
    asked = texts(lines("username"), lines("email"), codec, "Rename `username` to `email`.")
    silent = texts(lines("username"), lines("email"), codec)
    assert asked.passes < silent.passes
    wrong = texts(lines("username"), lines("username"), codec, "Rename username to email.")
    assert wrong.seconds() < 0.5 * wrong.plain()


def test_a_draft_ends_before_a_line_that_the_instruction_names():
    codec = WordTokenizer()
    around = [f"entry{n} = load(entry{n - 1}, size)\n" for n in range(60)]
    old = "".join([*around[:30], "timeout = 30\n", *around[30:]])

    def rejected(instruction: str) -> int:
        run = texts(old, old.replace("30\n", "60\n"), codec, instruction)
        return sum(chunk.proposed - chunk.accepted for chunk in run.chunks)

    assert rejected("Double the timeout.") < 0.5 * rejected("Double it.")
    assert rejected("Double every size.") >= rejected("Double it.")  # in too many lines


@rows("instruction pairs")
def test_renames_are_read_from_an_instruction(instruction, pairs):
    assert learned.requested_renames(instruction) == [tuple(pair) for pair in pairs]


@pytest.mark.parametrize(
    ("old", "new", "pair"),
    [
        ("x = username + 1", "x = email + 1", ("username", "email")),
        ("getUsername()", "getEmail()", ("Username", "Email")),
        ("a.user_name", "a.email", ("user_name", "email")),
        ("x = 1", "x = 2", None),
        ("foo(bar)", "foo(bar, baz)", None),
        ("ab cd", "ef gh", None),
    ],
)
def test_the_renamed_identifier_is_recognised(old, new, pair):
    assert learned.renamed(old, new) == pair


@rows("text becomes")
def test_case_variants(text, becomes):
    for begin, end, word, _ in reversed(
        list(learned.occurrences(text.encode(), 0, "username", "email"))
    ):
        text = text[:begin] + word + text[end:]
    assert text == becomes


@rows("names built")
def test_build_follows_the_names_in_order(names, built):
    made = drafters.build(names, prediction=[1, 2], codec=None)
    assert [drafter.name for drafter in made] == built
