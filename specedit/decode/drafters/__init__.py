"""Who proposes drafts. `build` turns the names of `--draft` into drafters, in order."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from specedit.decode.constants import Constants
from specedit.decode.drafters.base import Codec, Draft, Drafter
from specedit.decode.drafters.lookup import LookupDrafter
from specedit.decode.drafters.prediction import PredictionDrafter
from specedit.decode.drafters.predictions import PredictionsDrafter
from specedit.decode.fitted import FITTED
from specedit.errors import UsageError

NAMES = ("prediction", "lookup")
NONE = "none"

__all__ = ["NAMES", "NONE", "Codec", "Draft", "Drafter", "build"]


def build(
    names: Sequence[str],
    *,
    prediction: Sequence[int] | None,
    predictions: Sequence[Sequence[int]] = (),
    codec: Codec | None,
    instruction: Sequence[int] = (),
    constants: Constants = FITTED,
) -> list[Drafter]:
    """The drafters called `names`; without a prediction there is no prediction drafter.
    `predictions`: further ones, likelier than `prediction`."""
    for name in names:
        if name not in (*NAMES, NONE):
            near = difflib.get_close_matches(name, (*NAMES, NONE), n=1, cutoff=0.0)[0]
            raise UsageError(
                f"unknown drafter: {name!r}",
                hint=f"did you mean {near!r}? --draft takes {', '.join(NAMES)} or {NONE}.",
            )
    if NONE in names:
        if len(names) > 1:
            raise UsageError(
                f"--draft {','.join(names)} asks for drafts and for none",
                hint="say --draft none alone, or name the drafters only.",
            )
        return []
    if len(set(names)) < len(names):
        raise UsageError(
            f"--draft {','.join(names)} names a drafter twice", hint="name each drafter once."
        )
    drafters: list[Drafter] = []
    for name in names:
        if name == "prediction" and predictions:
            several = [*predictions, *([prediction] if prediction else [])]
            drafters.append(PredictionsDrafter(several, codec, instruction, constants))
        elif name == "prediction" and prediction:
            drafters.append(PredictionDrafter(prediction, codec, instruction, constants))
        elif name == "lookup":
            drafters.append(LookupDrafter(instruction, constants))
    return drafters
