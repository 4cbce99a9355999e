"""A member that an enumeration of the file does not have, and what may be one all the same."""

import pytest

from specedit.check.answer import check_answer
from specedit.syntax.languages import BY_NAME

TEXTS = {
    "typescript": "enum Level { Warn, Error }\nexport function least() { return Level.Warn; }\n",
    "java": "enum Level { Warn, Error }\nclass Log { Level least() { return Level.Warn; } }\n",
    "csharp": "enum Level { Warn, Error }\nclass Log { Level Least() { return Level.Warn; } }\n",
    "rust": "pub enum Level { Warn, Error }\npub fn least() -> Level { Level::Warn }\n",
    "cpp": "enum class Level { Warn, Error };\nLevel least() { return Level::Warn; }\n",
}


def refused(before: str, after: str, language: str) -> list[str]:
    found = check_answer(before, after, BY_NAME[language])
    return [finding.text for finding in found if finding.refuses]


@pytest.mark.parametrize("language", TEXTS)
def test_a_member_that_is_nowhere_in_the_enumeration_is_refused(language):
    before = TEXTS[language]
    after = before.replace("Level.Warn", "Level.Fatal").replace("Level::Warn", "Level::Fatal")
    assert refused(before, after, language) == ["line 2: `Fatal` is not in the enumeration `Level`"]
    assert not refused(before, after.replace("Warn, Error", "Warn, Error, Fatal"), language)
    assert not refused(after, after.replace("Error", "Panic"), language), "it was there before"


@pytest.mark.parametrize(
    ("language", "also"),
    [
        ("typescript", "namespace Level { export const Fatal = 3; }\n"),
        ("typescript", "function made(Level: { Fatal: number }) { return Level.Fatal; }\n"),
        ("java", "class Level { static int Fatal = 1; }\n"),
        ("java", "interface Fatal {}\nclass Other { enum Level { Fatal } }\n"),
        ("csharp", "class Other { Other Level { get; } }\n"),
        ("rust", "impl Level { pub const FATAL: Level = Level::Error; }\n"),
        ("rust", "mod other { use crate::log::Level; }\n"),
        ("cpp", "namespace other { class Level; }\n"),
    ],
)
def test_a_name_that_may_be_another_thing_is_left_alone(language, also):
    before = TEXTS[language] + also
    member = "FATAL" if "FATAL" in also else "Fatal"
    after = before.replace("return Level.Warn", f"return Level.{member}")
    after = after.replace("return Level::Warn", f"return Level::{member}")
    after = after.replace("{ Level::Warn }", f"{{ Level::{member} }}")
    assert after != before
    assert not refused(before, after, language)


def test_a_method_of_every_enumeration_is_left_alone():
    before = TEXTS["csharp"]
    after = before.replace("return Level.Warn", 'return Level.Parse(typeof(Level), "Warn")')
    assert not refused(before, after, "csharp")
