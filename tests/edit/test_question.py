"""A question is told from an edit, from both sides."""

from __future__ import annotations

import pytest

from specedit.edit.without_model import is_question

QUESTIONS = """
Explain what this file does
why is the total wrong?
Do these functions overlap?
What does gross_total return?
Is this thread-safe?
Do these handle None?
Have these been seen before?
When the list is empty, what happens?
What does gross_total return
Explain what total returns
Explain how errors are handled
Explain the return value of total
Does add handle None?
Are empty lists skipped?
Why isn't it cached?
Tell me what uses this
Walk me through the loop
Explain the error handler
What is `use` for?
Which functions raise?
How many tests are there
How do I use this?
How come it fails
Has this been tested?
Help me understand the parser
Do you know why it fails?
Should this be async?
What happens when x is removed?
What does adding x change?
What would break if I renamed add?
Where are errors raised?
Explain the import order
Why does the test fail
What if x is None?
Does it make sense to cache this?
Is add used anywhere?
Whose job is the validation?
What must I pass to total?
How does it parse and print a date?
Explain it to me
Can this be None?
Isn't that a leak?
Explain the focus handling
What does total take and return
What are the side effects, if any?
Explain the difference between the two loops
How would I add a test?
Does anything use this import?
Will it work on Windows?
"""
EDITS = """
Do it
Have it print the total
Explain each function in a comment
Describe the class in its docstring
Can you rename x to y?
Does this handle None? If not, fix it.
Add a check
-
Do the same for lists
Have the loop end there
When the list is empty, log that
Where it is None, stop
Outline the focused button
Outline the text in red
Describe parameters of total in the docstring
Which is unused: drop it
Which imports are unused: remove them
Why is x here? Drop it.
What is unused should go
What total returns must be an int
Summarise the sales per month in the report
Summarize totals at the end
Tell the user why it failed
Describe the flags in the help text
Describe the module in the README
What about a docstring for add?
How about a cache?
Why not use a set?
Why don't we use a set here?
Is this None, return early
Are the lists empty, skip them
Whichever is first wins
Whatever add returns, round it
Where is the total set: log it
When is it None, return 0
Do any cleanup that is needed
Have any errors go to stderr
Do not swallow errors
Can you fix the typo?
Could you please add a test?
Would you make it faster?
Explain the steps with comments
Explain the regex in a comment above it
Document what add does
Show the total in red
Show me as the author
List what was sold in the report
Tell apart empty and missing names
See that errors are logged
Which of both is shorter wins; swap them
What is printed has to go to stderr
How to use it belongs in the README
Find out why it is slow and fix it
Let what does not parse be skipped
If it is empty, why bother? Return.
Describe errors by raising ValueError with a message
Is x negative, then raise ValueError
Who is logged in: show the name
Make it clear what total does
Can we use a set?
Has to be sorted
Outline every heading
Which way to round is a parameter
How often it retries should be configurable
Where clauses go on their own line
Who and when should be columns of the table
Outline buttons on hover
Write what it does into the docstring
Explain why in a comment
What does total do? Write it into its docstring.
Describe each parameter
Which of these is unused: drop it!
Outline the selected row
Outline the card, and give it a shadow
Describe parameters of total in the doc string
Describe the flags for the users
Summarize per region
Which imports are unused? Drop them.
Explain the magic number with a comment
Have a look at total and mend it
Where total is None: return 0
Let the question be asked twice
What if it fails: retry twice
"""


@pytest.mark.parametrize("said", QUESTIONS.strip().splitlines())
def test_a_question_is_question(said: str) -> None:
    assert is_question(said)
    assert is_question(said.lower()) and is_question(f"Please {said[0].lower()}{said[1:]}")


@pytest.mark.parametrize("said", EDITS.strip().splitlines())
def test_an_edit_asks_nothing(said: str) -> None:
    assert not is_question(said)
    assert not is_question(said.lower())


def test_several_sentences_ask_where_all_of_them_do() -> None:
    assert is_question("What does it return? And why is it a list?")
    assert not is_question("Why does it fail? Mend it.")
    assert not is_question("")


@pytest.mark.parametrize(
    ("start", "word"), [("what ", "a "), ("explain in ", "the "), ("", "please "), ("", "is ")]
)
def test_a_long_instruction_ends(start: str, word: str) -> None:
    assert is_question(start + word * 5000) in (True, False)
