"""The real 0.5B model, end to end: the guarantees on real text, and the example of README."""

import json
import signal
import sys
import time
from pathlib import Path

import pytest
from command_line import child_at_a_terminal

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("real_home")]

USER = Path(__file__).parent.parent / "fixtures" / "user"


def test_rename_turns_the_example_into_its_expected_file(specedit, tmp_path):
    file = tmp_path / "User.cs"
    file.write_bytes((USER / "before.cs").read_bytes())
    done = specedit("rename", "Username", "Email", file)
    assert done.returncode == 0, done.stderr.decode()
    assert file.read_bytes() == (USER / "after.cs").read_bytes()


def test_guarantee_1_plain_and_predicted_are_equal_to_the_last_bit(specedit, tmp_path):
    file = tmp_path / "cart.py"
    file.write_text(
        "class Cart:\n"
        '    """What a customer wants to buy."""\n\n'
        "    def __init__(self):\n        self.items = []\n\n"
        "    def total(self):\n        return sum(item.price for item in self.items)\n"
    )
    done = specedit("edit", "Add a method size", file, "--check", "--json", "--compare", "--audit")
    assert done.returncode in (0, 1), done.stderr.decode()
    found = json.loads(done.stdout)
    assert found["compared"]["identical"]
    if found["model"]["exact"]:
        assert found["compared"]["digests_equal"]
    (one,) = found["files"]
    assert one["passes"] < found["compared"]["passes"] == one["tokens"]["completion"]


def test_a_hostile_prediction_changes_nothing_but_the_time(specedit, tmp_path):
    file, lie = tmp_path / "a.py", tmp_path / "lie.txt"
    file.write_text("def one():\n    return 1\n")
    lie.write_text("SELECT * FROM nowhere;\n" * 20)
    digests, passes = set(), []
    for arguments in (
        ["--prediction", lie],
        ["--prediction", "original"],
        ["--prediction", "none", "--draft", "none"],
    ):
        done = specedit("edit", "Return 2", file, "--check", "--json", "--audit", *arguments)
        (one,) = json.loads(done.stdout)["files"]
        digests.add(one["logits_digest"])
        passes.append(one["passes"])
    assert len(digests) == 1
    assert max(passes) == passes[-1]


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_ctrl_c_ends_a_long_pass_at_once(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("".join(f"def f{n}(price):\n    return price * {n}\n\n\n" for n in range(40)))
    words = ("edit", "Double it", str(file), "--whole", "--yes")
    slow = {"SPECEDIT_KERNEL": "reference", "TERM": "xterm"}  # a pass takes long
    child, _ = child_at_a_terminal(*words, until=b"reading", **slow)
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    interrupted = time.monotonic()
    assert child.wait(60) == 130
    assert time.monotonic() - interrupted <= 0.5  # what a user is promised
