"""Finding the place again: passes on edits whose answer differs from the prediction once."""

import pytest
from replaying import texts
from scripted_engine import WordTokenizer

from specedit.decode.resync import Index, candidates

NAMES = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"),
    *("tenth", "eleventh", "apple", "banana", "cherry", "date", "elder", "fig", "grape"),
)
LINES = [f"    {name} = compute_{name}(alpha, beta + {n}, gamma)\n" for n, name in enumerate(NAMES)]
BEFORE = "".join(LINES)


def changed(at: int, *new: str, drop: int = 1) -> str:
    return "".join([*LINES[:at], *new, *LINES[at + drop :]])


EDITS = {  # name -> (after, ids of new text that nobody could know)
    "nothing changed": (BEFORE, 0),
    "one id replaced": (BEFORE.replace("beta + 9,", "beta + 77,"), 1),
    "ids inserted in a line": (BEFORE.replace("beta + 9,", "beta + 9 - delta,"), 3),
    "ids deleted in a line": (BEFORE.replace("beta + 9, gamma", "gamma"), 0),
    "a line inserted": (changed(9, "    log(message)\n", drop=0), 6),
    "a line deleted": (changed(9), 0),
    "five lines deleted": (changed(9, drop=5), 0),
    "a line replaced": (changed(9, "    raise Problem(text)\n"), 7),
    "a line moved behind the cursor": ("".join([*LINES[:9], *LINES[12:], *LINES[9:12]]), 0),
    "a line repeated": (changed(9, LINES[3], LINES[9]), 0),
}


@pytest.mark.parametrize(("after", "new"), EDITS.values(), ids=EDITS.keys())
def test_the_place_is_found_within_a_few_passes(after, new):
    codec = WordTokenizer()
    nothing = texts(BEFORE, BEFORE, codec).passes
    changes = texts(BEFORE, after, codec)
    # each new id may cost a pass; besides, a change costs a handful: leaving, finding, growing
    assert changes.passes <= nothing + new + 9


def test_no_divergence_scans_the_file():
    """A file that repeats one line: places are taken from an index, a few on each side."""
    line = list(b"same line\n")
    index = Index(line * 2000)
    found = list(candidates(index, [*line, *b"same"], 10_000, 3, False))
    assert 0 < len(found) < 40
