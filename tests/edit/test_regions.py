"""Large files: which places an instruction is about, and that editing only them is an edit."""

import random
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from events import Recorded
from fruits import python
from scripted_backend import Scripted, perform
from scripted_engine import fenced

from specedit.edit.ask import ask
from specedit.edit.job import Job, plan_edit
from specedit.edit.regions.assemble import region_job
from specedit.edit.regions.blocks import MAX_BLOCK_LINES, Block, blocks_of, listing_of
from specedit.edit.regions.choice import about_all, choose, grouped, likely, readable
from specedit.edit.regions.evidence import evidence_of, query, stem
from specedit.edit.regions.locate import shared_beginnings
from specedit.edit.regions.together import divided, groups_of, merged, shown
from specedit.edit.report import Edit, Trying
from specedit.edit.splice import dedented, joined, taken
from specedit.edit.tries.loop import Earlier, job_of
from specedit.engines.base import GREEDY
from specedit.files.source import Source
from specedit.settings import Settings
from specedit.syntax.languages import BY_NAME, language_of
from specedit.syntax.lines import GAP
from specedit.view.contract import edit_json

LET = "Let weigh_lemon_4 start at 99"


def source(text: str, name: str = "a.py") -> Source:
    return Source.from_bytes(name, text.encode())


def picked(text: str, instruction: str, name: str = "a.py") -> list[str]:
    """The names of the blocks that words alone choose; [] is the whole file."""
    given = source(text, name)
    found = blocks_of(given.text, given.language)
    chosen = choose(evidence_of(given.text, found, instruction), instruction)
    return [block.name for block in chosen.blocks]


# blocks


@pytest.mark.parametrize("language", [n for n, one in BY_NAME.items() if one.grammar] + [""])
@pytest.mark.parametrize("seed", range(3))
def test_blocks_are_all_lines_and_never_overlap(language, seed):
    """Of any text, in any language: source, nonsense, nothing."""
    draw = random.Random(f"{language}{seed}")
    lines = [
        "def f():",
        "    x",
        "",
        "}",
        "class A {",
        "  int b() {",
        "/* c",
        "*/",
        "import x",
        "# y",
        '"""',
    ]
    for length in (0, 1, 2, 7, 300):
        text = "".join(draw.choice(lines) + "\n" for _ in range(length)) + draw.choice(["", "end"])
        found = blocks_of(text, BY_NAME.get(language))
        covered = [n for one in found for n in range(one.first, one.last + 1)]
        assert (
            covered
            == list(range(1, len(text.split("\n")) + (not text.endswith("\n")) * bool(text)))[
                : len(covered)
            ]
        )
        assert len(covered) == text.count("\n") + (bool(text) and not text.endswith("\n"))


def test_a_definition_keeps_the_comment_above_it_and_a_class_its_own_lines():
    text = (
        "import a\n\nx = 1\n\n\n# about f\n@d\ndef f():\n    pass\n\n\n"
        "class C:\n    y = 2\n\n    def g(self):\n        pass\n"
    )
    found = [(b.first, b.last, b.name, b.kind) for b in blocks_of(text, language_of("a.py"))]
    assert found == [
        (1, 5, "", "imports"),
        (6, 11, "f", "function"),
        (12, 14, "C", "class"),
        (15, 16, "C.g", "function"),
    ]


def test_what_is_long_is_cut_and_what_has_no_outline_is_blocks_of_lines():
    text = "".join(f"line {n}\n" + ("\n" if n % 10 == 9 else "") for n in range(400))
    found = blocks_of(text, None)
    assert len(found) > 4
    assert max(one.lines for one in found) <= MAX_BLOCK_LINES
    lines = text.split("\n")
    assert all(not lines[one.last - 1] for one in found[:-1]), "cut behind a blank line"


# words


def test_words_of_a_name_and_of_a_sentence_are_the_same():
    assert stem("caching") == stem("cached") == stem("caches") == stem("cache")
    asked = query("fix(parser): retry `http_errors` in Session.send() (#123)")
    assert {"http_errors", "Session", "send", "Session.send"} <= asked.code
    assert "retry" in {stem("retry")} & asked.stems
    assert not {"123", "fix", "in", "parser"} & (asked.stems | asked.names)


def test_a_quoted_text_and_an_issue_number_are_not_names():
    asked = query('The message "not a number" is wrong, see #77')
    assert asked.quoted == ("not a number",)
    assert not asked.code


# choosing


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("Return early in `weigh_lemon_4` when the basket is empty", ["weigh_lemon_4"]),
        ("weigh_cherry_29() must never return a negative weight", ["weigh_cherry_29"]),
    ],
)
def test_a_place_that_is_named_is_the_place(instruction, expected):
    assert picked(python(), instruction) == expected


@pytest.mark.parametrize(
    "instruction",
    ["Mend the crash", "Make the zeppelin faster", "", "   ", "🍋", "x" * 5000],
)
def test_nothing_that_is_named_is_the_whole_file(instruction):
    assert picked(python(), instruction) == []


@pytest.mark.parametrize(
    ("instruction", "about"),
    [
        ("Translate all comments to English", True),
        ("Add type hints to every function", True),
        ("Use single quotes everywhere", True),
        ("Reformat", True),
        ("Reformat the whole file", True),
        ("Return all bad names from testzip", False),
        ("Add a comment to weigh_lemon", False),
        ("Convert the weight in weigh_lemon to grams", False),
        ("Format the total with two digits when it is printed", False),
        ("Raise when the list is empty", False),
    ],
)
def test_an_instruction_about_all_of_it_is_told_apart(instruction, about):
    assert about_all(instruction) is about


def test_all_of_something_in_a_named_place_is_that_place():
    instruction = "In weigh_lemon_4, log all calls"
    edit, _, _ = performed(instruction, model(("total = 4\n", "total = 99\n")))
    assert [one.symbol for one in edit.figures.regions] == ["weigh_lemon_4"]


def test_all_of_one_named_definition_is_that_definition():
    text = (
        python()
        + "\n\nclass Scale:\n    def tare(self):\n        # nul\n        pass\n\n"
        + "    def read(self):\n        pass\n"
    )
    edit, job, _ = performed("Translate all comments in `Scale`", model(("nul", "zero")), text)
    assert [one.symbol for one in job.regions] == ["Scale"]
    assert edit.after == text.replace("nul", "zero").encode()


def test_equal_functions_are_no_choice_and_a_named_one_of_them_is():
    text = "".join(f"def f{n}(a):\n    return a + 1\n\n\n" for n in range(5000))
    assert picked(text, "Subtract instead of adding") == []
    assert picked(text, "Let f4321 subtract instead") == ["f4321"]


def test_chances_are_a_probability():
    text = python()
    found = blocks_of(text, language_of("a.py"))
    for instruction in ("weigh_lemon_4", "", "lemon"):
        chances = likely(evidence_of(text, found, instruction)).values()
        assert sum(chances) == pytest.approx(1)
        assert min(chances) >= 0


def test_one_line_of_ten_megabytes_is_not_lines():
    assert not readable("x = 1\ny = '" + "a" * 10_000_000 + "'\n")
    assert readable(python())


def test_neighbours_are_one_region_until_they_are_long():
    parts = [Block(1, 10), Block(11, 20), Block(31, 40), Block(41, 140)]
    assert [[b.first for b in held] for held in grouped(parts, MAX_BLOCK_LINES)] == [
        [1, 11],
        [31],
        [41],
    ]


# the listing


def test_an_answer_counts_as_far_as_it_names_what_exists():
    text = python(5)
    listed = listing_of(text, blocks_of(text, language_of("a.py")))
    answer = "1. `weigh_lemon_4`\n- weigh_banana_1: def weigh\nweigh_nothing\nThe first one.\n"
    assert [one.name for one in listed.named(answer)] == ["weigh_lemon_4", "weigh_banana_1"]
    assert listed.named("") == []
    assert "weigh_apple_0: def weigh_apple_0(basket):\n" in listed.text


# what stands around


# the edit


def model(*pairs: tuple[str, str], places: str = "") -> Callable[[str], str]:
    """Answers a question about places with `places`, and an edit with replacements."""

    def said(prompt: str) -> str:
        if "Which parts will be changed?" in prompt:
            return f"{places}\n```"
        block, closing = fenced(prompt.encode())
        text = block.decode()
        for old, new in pairs:
            text = text.replace(old, new)
        return text + closing.decode()

    return said


def performed(
    instruction: str,
    said: Callable[[str], str],
    text: str = "",
    name: str = "a.py",
    **chosen: object,
) -> tuple[Edit, Job, Scripted]:
    settings = Settings(**chosen)  # type: ignore[arg-type]
    backend = Scripted(said)
    recorded = Recorded()
    planned = plan_edit(source(text or python(), name), instruction, settings)
    edit = perform(planned, backend, settings, recorded)
    return edit, recorded.jobs[-1], backend


def test_a_named_place_is_all_that_is_read_and_written():
    edit, job, backend = performed(LET, model(("total = 4\n", "total = 99\n")))
    assert edit.status == "would-edit"
    assert edit.after == python().replace("total = 4\n", "total = 99\n").encode()
    assert [one.symbol for one in job.regions] == ["weigh_lemon_4"]
    assert len(backend.plans) == 1
    assert edit.figures.completion < len(python()) / 10
    assert [(f.kind, "weigh_lemon_4" in f.text) for f in edit.findings] == [("focused", True)]


def test_the_regions_are_in_the_json():
    edit, _, _ = performed(LET, model(("total = 4\n", "total = 99\n")))
    (region,) = edit_json(edit)["regions"]
    assert set(region) == {"lines", "symbol", "why", "chance", "changed", "passes"}
    assert (region["symbol"], region["changed"]) == ("weigh_lemon_4", True)
    first, last = region["lines"]
    assert python().splitlines()[first - 1].startswith("def weigh_lemon_4")
    assert first < last
    small, _, _ = performed("Let x be 2", model(("1", "2")), text="x = 1\n")
    assert edit_json(small)["regions"] == []


def test_words_that_doubt_ask_the_model_and_it_is_evidence():
    instruction = "Mend the weight of the olive, the melon and the lemon"
    edit, job, backend = performed(
        instruction, model(("total = 7\n", "total = 70\n"), places="weigh_olive_7\nweigh_melon_6")
    )
    chances = {name: one.chance for one in job.regions for name in one.symbol.split(", ")}
    assert len(job.regions) > 1
    assert len(backend.plans) == 2, "a question about places, and one about all of them"
    assert chances["weigh_olive_7"] == max(chances.values())
    assert len(chances) < 25
    assert b"total = 70\n" in edit.after
    assert edit.figures.passes > sum(one.passes for one in edit.figures.regions)


def test_a_model_that_names_nothing_leaves_the_whole_file():
    edit, job, backend = performed(
        "Mend the crash", model(("total = 7\n", "total = 70\n"), places="I do not know")
    )
    assert job.regions == ()
    assert [f.kind for f in edit.findings] == ["whole"]
    assert b"total = 70\n" in edit.after
    assert len(backend.plans) == 2


@pytest.mark.parametrize(
    "chosen",
    [{"focus": "off"}, {"whole": True}, {"focus": "5000"}],
    ids=["--focus off", "--whole", "--focus of more lines"],
)
def test_focus_can_be_left_out(chosen):
    edit, job, backend = performed(LET, model(("total = 4\n", "total = 99\n")), **chosen)
    assert job.regions == ()
    assert edit.findings == ()
    assert len(backend.plans) == 1
    assert edit.figures.completion > len(python())


def test_a_number_of_lines_says_from_when_on():
    text = python(8)
    said = model(("total = 4\n", "total = 99\n"))
    assert performed(LET, said, text, focus="5000")[1].regions == ()
    assert performed(LET, said, text, focus="20")[1].regions


def test_lines_and_symbol_stay_the_persons_word():
    settings = Settings()
    for flags in ({"symbol": "weigh_grape_3"}, {"lines": (1, 4)}):
        job = plan_edit(source(python()), LET, settings, **flags)  # type: ignore[arg-type]
        recorded = Recorded()
        perform(job, Scripted(model()), settings, recorded)
        assert [asked.regions for asked in recorded.jobs] == [()]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("tail", ["", "\n", "\n\n\n", "# end"])
def test_regions_that_come_back_unchanged_are_the_file_byte_for_byte(ending, tail):
    data = (python().rstrip("\n") + "\n" + tail).replace("\n", ending).encode()
    given = Source.from_bytes("a.py", data)
    found = blocks_of(given.text, given.language)
    draw = random.Random(repr((ending, tail)))
    for _ in range(20):
        some = draw.sample(found, draw.randint(1, len(found)))
        from specedit.edit.regions.assemble import region_job

        regions = [region_job(given, held, 0.5) for held in grouped(some, MAX_BLOCK_LINES)]
        spans = sorted((t.region.start, t.region.end) for t in regions)
        assert all(a[1] <= b[0] for a, b in pairwise(spans))
        text = joined(given, [(t.region, taken(given, t.region)) for t in regions])
        assert given.encode(text) == data


def test_guarantee_1_holds_for_each_region():
    edit, _, _ = performed(
        LET,
        model(("total = 4\n", "total = 99\n")),
        compare=True,
        audit=True,
    )
    assert edit.compared is not None
    assert edit.compared.identical
    assert edit.compared.digests_equal
    assert edit.compared.passes > edit.figures.passes
    again, _, _ = performed(LET, model(("total = 4\n", "total = 99\n")), audit=True)
    assert again.figures.logits_digest == edit.figures.logits_digest


def test_a_region_that_is_cut_off_is_no_file():
    edit, _, _ = performed(LET, model(), max_tokens=5)
    assert edit.status == "refused"
    assert edit.after == edit.before


def test_the_guard_judges_the_whole_file():
    edit, _, _ = performed(LET, lambda prompt: "def weigh_lemon_4(:\n```")
    assert edit.status == "refused"
    assert "parse" in " ".join(edit.problems)


def test_all_of_a_large_file_is_said_to_be_all_of_it():
    edit, job, backend = performed(
        "Translate all comments to German", model(("Weigh the", "Wiege"))
    )
    assert job.regions == ()
    assert "all of it" in edit.notes[0]
    assert len(backend.plans) == 1
    assert len(re.findall(b"Wiege", edit.after)) == 60


def test_no_prediction_is_a_region_without_one():
    job = plan_edit(source(python()), LET, Settings(prediction="none"))
    edit = perform(
        job, Scripted(model(("total = 4\n", "total = 99\n"))), Settings(prediction="none")
    )
    assert isinstance(edit, Edit)
    assert edit.after == python().replace("total = 4\n", "total = 99\n").encode()
    assert edit.figures.prediction.proposed == 0
    assert replace(edit.figures, regions=()).passes == edit.figures.passes


def test_regions_are_told_what_the_file_is_told_and_expect_their_parts_of_earlier_answers():
    text = python()
    _, job, _ = performed("Let weigh_lemon_4 and weigh_grape_12 start at 99", model())
    assert [one.symbol for one in job.regions] == ["weigh_lemon_4", "weigh_grape_12"]
    tried = text.replace("total = 4\n", "total = 98\n")
    earlier = [Earlier(text), Earlier(tried), Earlier(tried + "\n", "98 is not 99")]
    backend = Scripted(model())
    told = job_of(job, Trying(4, 6, GREEDY, with_feedback=True), earlier)
    ask(told, backend, Settings(), Recorded())
    (plan,) = backend.plans
    assert "98 is not 99" in plan.messages[-1].content
    assert plan.prediction is not None
    assert "total = 4\n" in plan.prediction
    assert "total = 12\n" in plan.prediction
    changed = plan.prediction.replace("total = 4\n", "total = 98\n")
    assert plan.predictions == (changed, plan.prediction), "the newest first, each once"


BOTH = "Let weigh_lemon_4 and weigh_grape_12 start at 99"
CHANGES = (("total = 4\n", "total = 99\n"), ("total = 12\n", "total = 99\n"))
STAND_IN = "# (58 lines of the file are not shown here)\n"


def test_places_that_are_asked_about_together_are_all_that_changes():
    edit, job, backend = performed(BOTH, model(*CHANGES))
    expected = python()
    for old, new in CHANGES:
        expected = expected.replace(old, new)
    assert edit.after.decode() == expected
    plan = backend.plans[-1]
    assert plan.prediction is not None
    assert STAND_IN in plan.prediction, "for the lines between"
    assert "weigh_olive_7" not in plan.prediction
    assert [region["changed"] for region in edit_json(edit)["regions"]] == [True, True]
    assert job.before == plan.prediction
    lines = python().split("\n")
    shown_lines = zip(job.before.split("\n"), job.numbers, strict=False)
    assert all(line == lines[n - 1] for line, n in shown_lines if "not shown" not in line)


@pytest.mark.parametrize("in_its_place", ["", "# (8 lines)\n", "pass\n"])
def test_an_answer_that_loses_the_line_for_the_lines_between_is_refused(in_its_place):
    edit, _, _ = performed(BOTH, model(*CHANGES, (STAND_IN, in_its_place)), tries=1)
    assert edit.status == "refused"
    assert "placeholder" in [f.kind for f in edit.findings if f.refuses]
    assert "weigh_olive_7" in edit.after.decode()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("total = 99\n", f"total = 99\n    {STAND_IN}"),
        ("# (38 lines of", "# (3 lines of"),
        ("# (38 lines of the file are", "# (The first 38 lines of the file are"),
    ],
    ids=["a second one", "another number", "other words"],
)
def test_a_line_of_the_question_is_never_written(old, new):
    asked = model(*CHANGES, (old, new))
    edit, job, _ = performed(BOTH, asked, tries=1)
    assert "# (38 lines of" in job.before
    assert "placeholder" in [f.kind for f in edit.findings if f.refuses]


@pytest.mark.parametrize("seed", range(8))
def test_an_answer_is_divided_as_its_regions_were_put_together(seed):
    """Of any parts of a file: with new lines anywhere but in place of a stand-in line, all lines
    between the regions stay, and each new line is where the answer had it."""
    draw = random.Random(seed)
    given = source(python())
    blocks = [b for b in blocks_of(given.text, given.language) if draw.random() < 0.3] or [
        blocks_of(given.text, given.language)[0]
    ]
    regions = merged(given, [region_job(given, [block], 0.1) for block in blocks[:6]])
    (group,) = groups_of(given, regions)
    texts = [taken(given, region.region) for region in group]
    asked = shown(given, group, texts)
    assert divided(given, group, asked) == [
        dedented(text) if len(group) == 1 else text for text in texts
    ]
    lines = asked.split("\n")
    new = [draw.randrange(1, len(lines) - 1) for _ in range(draw.randrange(3))]
    for at in sorted(new, reverse=True):
        lines.insert(at, f"new_line_{at}()")
    pieces = divided(given, group, "\n".join(lines))
    after = joined(
        given, [(region.region, piece) for region, piece in zip(group, pieces, strict=True)]
    )
    assert GAP not in after
    kept = [line for line in after.split("\n") if line and "new_line" not in line]
    assert kept == list(filter(None, given.text.split("\n")))
    assert after.count("new_line") == len(new)


def test_all_of_a_file_beyond_the_window_is_edited_in_parts():
    settings = Settings()
    job = plan_edit(source(python()), "Translate all comments to German", settings)
    backend = Scripted(model(("Weigh the", "Wiege")), window=12_000)
    edit = perform(job, backend, settings)
    assert isinstance(edit, Edit)
    assert edit.after.decode() == python().replace("Weigh the", "Wiege")
    assert len(edit.figures.regions) > 4
    assert [one.kind for one in edit.findings] == ["focused"]


def test_a_file_beyond_the_window_of_which_nothing_is_named_says_what_it_defines():
    settings = Settings(focus="off")
    job = plan_edit(source(python()), "Mend the crash", settings)
    edit = perform(job, Scripted(model(), window=12_000), settings)
    assert isinstance(edit, Edit) and "window" in edit.problems[0]


def test_what_is_warmed_is_what_any_instruction_begins_with():
    settings = Settings()
    text = python()
    warmed = list(shared_beginnings(plan_edit(source(text), "-", settings), settings))
    assert len(warmed) == 1
    _, _, backend = performed("Mend the crash", model(places="nothing"), text)
    asked = backend.plans[0].messages
    shared = warmed[0].messages
    assert [m.segments[:2] for m in shared] == [m.segments[:2] for m in asked]


def test_a_small_file_is_warmed_whole():
    settings = Settings()
    job = plan_edit(source("x = 1\n"), "-", settings)
    assert list(shared_beginnings(job, settings)) == [job.plan]
    large = plan_edit(source(python()), "-", Settings(whole=True))
    assert list(shared_beginnings(large, Settings(whole=True))) == [large.plan]
