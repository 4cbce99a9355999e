"""Names as words."""

import pytest

from specedit.syntax.identifiers import derived, mentions, plural, sought, variants, words_of


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("username", ["username"]),
        ("userName", ["user", "Name"]),
        ("UserName", ["User", "Name"]),
        ("USER_NAME", ["USER", "NAME"]),
        ("user-name", ["user", "name"]),
        ("HTTPServer", ["HTTP", "Server"]),
        ("_x2_y", ["x2", "y"]),
        ("größe", ["gr", "öß", "e"]),
    ],
)
def test_words(name, words):
    assert words_of(name) == words


@pytest.mark.parametrize(
    ("word", "many"),
    [("user", "users"), ("box", "boxes"), ("city", "cities"), ("day", "days"), ("ID", "IDS")],
)
def test_plurals(word, many):
    assert plural(word) == many


@pytest.mark.parametrize(
    ("there", "written"),
    [
        ("userName", "emailAddress"),
        ("UserName", "EmailAddress"),
        ("user_name", "email_address"),
        ("USER_NAME", "EMAIL_ADDRESS"),
        ("user-name", "email-address"),
        ("user name", "email address"),
        ("User name", "Email address"),
        ("User Names", "Email Addresses"),
        ("userNames", "emailAddresses"),
    ],
)
def test_each_spelling_has_its_counterpart(there, written):
    assert variants("userName", "emailAddress")[there] == written


def test_one_plain_word_is_prose():
    result = variants("Username", "EmailAddress")
    assert result["Username"] == "EmailAddress"
    assert result["username"] == "email address"


def test_short_and_everyday_names_have_no_other_spelling():
    assert variants("v", "value") == {"v": "value"}
    assert variants("to", "target") == {"to": "target"}


def test_a_spelling_that_stays_is_no_change():
    assert "server" not in variants("Server", "server")


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


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("_username", "_email_address"),
        ("GetUsername", "GetEmailAddress"),
        ("MAX_USERNAME", "MAX_EMAIL_ADDRESS"),
    ],
)
def test_derived_names_of_several_words(name, written):
    assert derived(name, "username", "email_address") == written


def test_mentions_are_whole_words():
    results = list(mentions("a username, usernameless $username", {"username": "email"}))
    assert results == [(2, "username", "email")]
