"""Names as words."""

import pytest
from case_files import rows

from specedit.syntax.identifiers import derived, plural, sought, variants, words_of


@rows("name words")
def test_words(name, words):
    assert words_of(name) == words


@pytest.mark.parametrize(
    ("word", "many"),
    [("user", "users"), ("box", "boxes"), ("city", "cities"), ("day", "days"), ("ID", "IDS")],
)
def test_plurals(word, many):
    assert plural(word) == many


@rows("there written")
def test_each_spelling_has_its_counterpart(there, written):
    assert variants("userName", "emailAddress")[there] == written


def test_one_plain_word_is_prose():
    result = variants("Username", "EmailAddress")
    assert result["Username"] == "EmailAddress"
    assert result["username"] == "email address"


def test_short_and_everyday_names_have_no_other_spelling():
    assert variants("v", "value") == {"v": "value"}
    assert variants("to", "target") == {"to": "target"}


def test_all_spellings_of_a_name_are_sought():
    assert {"user_name", "user-name", "user name"} <= {*sought("userName", derived=True)}


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("_username", "_email"),
        ("usernames", "emails"),
        ("userNames", "emails"),
        ("USERNAME", "EMAIL"),
        ("GetUsername", "GetEmail"),
        ("getUsernameOrNull", "getEmailOrNull"),
        ("username_count", "email_count"),
        ("MAX_USERNAME_LENGTH", "MAX_EMAIL_LENGTH"),
        ("user_name", "email"),
        ("usernameless", None),
        ("user", None),
    ],
)
def test_derived_names_keep_their_spelling(name, written):
    assert derived(name, "username", "email") == written


@rows("name written")
def test_derived_names_of_several_words(name, written):
    assert derived(name, "username", "email_address") == written
