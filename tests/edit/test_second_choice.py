"""A second try takes the model's second choice where an answer changed nothing."""

import dataclasses

from scripted_backend import Scripted

from specedit.edit.backend import Answer, Certainty, Plan, Progress
from specedit.edit.job import plan_edit
from specedit.edit.report import Edit
from specedit.edit.request import Request
from specedit.edit.run import run_edit
from specedit.edit.sink import Sink
from specedit.files.source import Source
from specedit.settings import Settings
from specedit.view.summary import way

BODY = "".join(f"    step({number})\n" for number in range(70))
LONG = f"def load():\n{BODY}\n\ndef total(items):\n    return sum(items)\n\n\ndef ship():\n{BODY}"


class Unsure(Scripted):
    """Copies what it is shown; says which token of each answer it was least sure of."""

    def __init__(self, second: str, least: dict[str, float]) -> None:
        super().__init__(
            lambda prompt: prompt.rpartition("```\n")[0].rpartition("```\n")[2] + "```"
        )
        self._second, self._least = second, least

    def run(self, plan: Plan, progress: Progress) -> Answer:
        answer = super().run(plan, progress)
        text = plan.prediction or ""
        if plan.sampling.second_at is not None:
            return dataclasses.replace(answer, text=text.replace(*self._second.split("/")))
        least = next((chance for word, chance in self._least.items() if word in text), -0.1)
        certainty = Certainty(total=least, least=least, least_at=1000 + len(text))
        return dataclasses.replace(answer, text=text, certainty=certainty)


def edited(text: str, instruction: str, backend: Scripted, alone: bool = True) -> Edit:
    source = Source.from_bytes("a.py", text.encode())
    job = plan_edit(source, instruction, Settings())
    request = Request("edit", lambda _: job, Settings(), alone=alone)
    return run_edit(source, request, backend, Sink())


def test_an_answer_without_a_change_takes_the_second_choice():
    backend = Unsure("sum/max", {})
    before = "def total(items):\n    return sum(items)\n"
    edit = edited(before, "the largest", backend)
    assert edit.after.decode() == before.replace("sum", "max")
    assert [plan.sampling.second_at for plan in backend.plans] == [None, 1000 + len(before)]
    assert "second-choice" in {finding.kind for finding in edit.findings}
    assert [tried.second_choice for tried in edit.tries] == [False, True]
    assert [way(tried) for tried in edit.tries] == ["greedy", "second choice"]


def test_a_second_choice_that_is_refused_leaves_the_file_unchanged():
    backend = Unsure("(items)/(", {})
    edit = edited("def total(items):\n    return sum(items)\n", "the largest", backend)
    assert (edit.status, edit.changed) == ("unchanged", False)


def test_of_several_regions_the_one_where_the_model_was_least_sure_is_asked_again():
    backend = Unsure("sum/max", {"sum": -0.6})
    edit = edited(LONG, "`total` and `ship`: the largest", backend)
    assert edit.after.decode() == LONG.replace("sum", "max")
    assert sum(plan.sampling.second_at is not None for plan in backend.plans) == 1


def test_one_of_many_files_may_stay_as_it_is():
    backend = Unsure("sum/max", {})
    edited("def total(items):\n    return sum(items)\n", "the largest", backend, alone=False)
    assert len(backend.plans) == 1


def test_an_unnamed_loss_is_unsure_where_nothing_is_known_of_the_choices():
    class Silent(Scripted):
        def run(self, plan: Plan, progress: Progress) -> Answer:
            return dataclasses.replace(super().run(plan, progress), certainty=None)

    before = "def total():\n    return 1\n\n\ndef old():\n    return 2\n"
    edit = edited(before, "Remove dead code", Silent("def total():\n    return 1\n```"))
    assert (edit.changed, edit.confidence, edit.sure) == (True, None, False)
