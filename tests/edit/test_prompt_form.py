"""`--prompt-form`: prompts as published; no text of a file becomes a token."""

import subprocess
from pathlib import Path

import pytest
from model_sources import tiny_gguf
from scripted_backend import Scripted, perform

from specedit.edit.job import plan_edit
from specedit.edit.prompt import Beside
from specedit.errors import UsageError
from specedit.files.source import Source, read
from specedit.models import vocabulary
from specedit.models.store import ModelFiles
from specedit.models.tokenizer import raw_ids
from specedit.settings import Settings

BEFORE = "def size(items):\n    return len(items)\n\n\ndef first(items):\n    return items[0]\n"
AFTER = BEFORE.replace("def size(items):", "def size(items, least=0):")

# As https://huggingface.co/sweepai/sweep-next-edit-1.5B shows it, and Zed's zeta data set.
NEXT_EDIT = """\
<|file_sep|>other.py
from app import size
<|file_sep|>app.py.diff
original:
def size(items):
updated:
def size(items, least=0):
<|file_sep|>original/app.py
def size(items):
    return len(items)
<|file_sep|>current/app.py
def size(items, least=0):
    return len(items)
<|file_sep|>updated/app.py
"""
ZETA = """\
### Instruction:
You are a code completion assistant and your task is to analyze user edits and then rewrite an \
excerpt that the user provides, suggesting the appropriate edits within the excerpt, taking into \
account the cursor location.

### User Edits:

User edited app.py:
```diff
-def size(items):
+def size(items, least=0):
     return len(items)
{blank}
{blank}
```

### User Excerpt:

```app.py
<|editable_region_start|>
def size(items, least=0):
    return len(items)
<|editable_region_end|>
```

### Response:

```app.py
<|editable_region_start|>
""".replace("{blank}", " ")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Source:
    """A file that was committed, and changed since."""
    monkeypatch.chdir(tmp_path)
    path = Path("app.py")
    path.write_text(BEFORE)
    run = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "Start"]):
        subprocess.run([*run, *words], check=True)
    path.write_text(AFTER)
    return read("app.py")


@pytest.mark.parametrize(("form", "expected"), [("next-edit", NEXT_EDIT), ("zeta", ZETA)])
def test_a_prompt_is_the_published_one(form, expected, source):
    beside = (Beside("other.py", "from app import size\n"),) if form == "next-edit" else ()
    settings = Settings(prompt_form=form)
    job = plan_edit(source, "Go on", settings, lines=(1, 2), beside=beside)
    assert job.plan.raw is not None and not job.plan.messages
    assert "".join(job.plan.raw.parts) == expected
    assert job.plan.prediction == AFTER[: AFTER.index("\n\n") + 1] + job.plan.stop[0]


@pytest.mark.parametrize("form", ["next-edit", "zeta"])
def test_the_answer_ends_before_the_forms_mark_and_replaces_the_region(form, source):
    settings = Settings(prompt_form=form)
    job = plan_edit(source, "Go on", settings, lines=(1, 2))
    new = "def size(items, least=0):\n    return max(least, len(items))\n"
    edit = perform(job, Scripted(f"{new}{job.plan.stop[0]}\nmore"), settings)
    assert edit.status == "would-edit"
    assert edit.after.decode() == new + AFTER[AFTER.index("\n\n") + 1 :]


def test_no_text_of_a_file_becomes_a_special_token(tmp_path):
    path = tiny_gguf(tmp_path / "tiny.gguf")
    tokenizer = vocabulary.of_gguf(ModelFiles("tiny", path, "gguf"))
    mark = "<|im_start|>"
    ids = raw_ids(tokenizer, "", (), None, (f"{mark}a", f"int{mark}", f"in{mark}\n", "", ""))
    special = tokenizer.specials[mark]
    assert [at for at, id in enumerate(ids) if id == special] == [0, len(ids) - 2]
    assert ids[1:-2] == tokenizer.encode(f"aint{mark}in")


def test_a_form_or_a_file_that_does_not_fit_is_refused(source):
    with pytest.raises(UsageError, match="there is no such form") as caught:
        plan_edit(source, "Go on", Settings(prompt_form="nextedit"))
    assert "next-edit, zeta" in caught.value.hint
    odd = Source.from_bytes("app.py", b"mark = '<|file_sep|>'\n")
    with pytest.raises(UsageError, match="which ends an answer"):
        plan_edit(odd, "Go on", Settings(prompt_form="next-edit"))
