"""The drafters. `build` turns the names of `--draft` into drafters, in order."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from specedit.decode import Codec, Drafter
from specedit.decode.drafters.heads_drafter import HeadsDrafter
from specedit.decode.drafters.lookup_drafter import LookupDrafter
from specedit.decode.drafters.model_drafter import CandidatesDrafter, ModelDrafter
from specedit.decode.drafters.model_drafter import SmallModel as SmallModel
from specedit.decode.drafters.prediction_drafter import PredictionDrafter, PredictionsDrafter
from specedit.engines.base import GREEDY, Sampling
from specedit.errors import UsageError

if TYPE_CHECKING:
    from specedit.engines.exact.guessing import Guesser, MtpGuesser

FREE_NAMES = ("prediction", "lookup")  # drafting costs almost no time
MODEL_NAMES = ("model", "candidates")  # need --draft-model
MTP = "mtp"  # needs a model with an MTP layer
# They need the model's states; auto takes the first available
HEADS_NAMES = (MTP, "chained", "medusa", "blockwise")
NAMES = (*FREE_NAMES, *MODEL_NAMES, *HEADS_NAMES)
AUTO = "auto"
NONE = "none"


def check(names: Sequence[str]) -> None:
    """Raise for unknown names and for names that do not go together."""
    joined = ",".join(names)
    for name in names:
        if name not in (*NAMES, AUTO, NONE):
            near = difflib.get_close_matches(name, (*NAMES, AUTO, NONE), n=1, cutoff=0.0)[0]
            raise UsageError(
                f"unknown drafter: {name!r}",
                hint=f"Did you mean {near!r}? --draft takes {AUTO}, {NONE}, "
                f"or some of {', '.join(NAMES)}.",
            )
    for alone in (NONE, AUTO):
        if alone in names and len(names) > 1:
            raise UsageError(
                f"--draft {joined} combines {alone} with drafters",
                hint=f"Use --draft {alone} alone, or name the drafters only.",
            )
    if len(set(names)) < len(names):
        raise UsageError(f"--draft {joined} names a drafter twice", hint="Name each drafter once.")


def build(
    names: Sequence[str],
    *,
    prediction: Sequence[int] | None,
    predictions: Sequence[Sequence[int]] = (),
    codec: Codec | None,
    instruction: Sequence[int] = (),
    small: SmallModel | None = None,
    sampling: Sampling = GREEDY,
    trees: bool = False,
    heads: Mapping[str, Guesser | MtpGuesser] | None = None,
) -> list[Drafter]:
    """The drafters called `names`; without a prediction there is no prediction drafter.
    `predictions`: further predictions, likelier than `prediction`. `auto` is every available
    drafter: one that does not pay in an answer is asked less and less in it (`decode.width`)."""
    check(names)
    if AUTO in names:
        own = [name for name in HEADS_NAMES if name in (heads or ())][:1]
        small_one = () if small is None else ("candidates",) if trees else ("model",)
        names = (*FREE_NAMES, *own, *small_one)
    several = [*predictions, *([prediction] if prediction else [])]
    drafters: list[Drafter] = []
    for name in names:
        if name == "prediction" and predictions:
            drafters.append(PredictionsDrafter(several, codec, instruction))
        elif name == "prediction" and prediction:
            drafters.append(PredictionDrafter(prediction, codec, instruction))
        elif name == "lookup":
            drafters.append(LookupDrafter(instruction))
        elif name in HEADS_NAMES:
            guesser = (heads or {}).get(name)
            if guesser is None:
                raise UsageError(
                    f"--draft {name} needs heads of this kind for the model, and there are none",
                    hint="Load a model that has an MTP layer with --draft mtp or auto."
                    if name == MTP
                    else f"A clone trains them: python -m training.heads train --kind {name}",
                )
            drafters.append(HeadsDrafter(guesser))
        elif name in MODEL_NAMES:
            if small is None:
                raise UsageError(
                    f"--draft {name} needs a draft model",
                    hint="--draft-model NAME: a smaller model of the same vocabulary.",
                )
            kind = CandidatesDrafter if name == "candidates" else ModelDrafter
            lookup = next(
                (drafter for drafter in drafters if isinstance(drafter, LookupDrafter)), None
            )
            drafters.append(kind(small, sampling, eager=not several, lookup=lookup))
    return drafters
