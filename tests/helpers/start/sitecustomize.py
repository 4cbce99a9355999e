"""Give this process the scripted engine. Python imports this when it starts; so does conftest.py.

`TESTS_SCRIPT` names the script (`scripted_engine.from_file`). While it is set, the function that
opens a model, `inference.loading.load`, opens one that plays the script; a name of the catalogue,
`scripted` and the script's path are models on this machine; and where the script says `rated`, an
edit is sure if the model's choices are clear.
"""

import gc
import json
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

HELPERS = str(Path(__file__).parents[1])
VARIABLE = "TESTS_SCRIPT"


def patch_loading(loading: Any) -> None:
    """Open a model that plays the script."""
    real = loading.load

    def load(settings: Any, progress: Any) -> Any:
        script = os.environ.get(VARIABLE)
        if not script:
            return real(settings, progress)
        if HELPERS not in sys.path:
            sys.path.append(HELPERS)
        from scripted_engine import scripted_model

        return scripted_model(Path(script), settings)

    loading.load = load


def patch_resolve(resolve: Any) -> None:
    """Find a model that plays the script on this machine."""
    real = resolve._present

    def present(model: str, root: Path, report: Any) -> Any:
        script = os.environ.get(VARIABLE)
        if script and (model in ("scripted", script) or resolve.catalogue.find(model)):
            return resolve.store.ModelFiles("scripted", Path(script), "gguf")
        return real(model, root, report)

    resolve._present = present


def patch_confidence(confidence: Any) -> None:
    """Know the weights of a model that plays a script with `rated`."""
    real = confidence._known

    def known() -> Any:
        script = os.environ.get(VARIABLE)
        if not script or not Path(script).is_file():
            return real()
        if not json.loads(Path(script).read_text("utf-8")).get("rated"):
            return real()
        weights = [-4.0 if name == "total" else 0.0 for name in confidence.SIGNALS]
        return {"-": {"bias": 2.0, "weights": weights, "sure": 0.5}}

    confidence._known = known


PATCHES = {
    "specedit.edit.confidence": patch_confidence,
    "specedit.inference.loading": patch_loading,
    "specedit.models.resolve": patch_resolve,
}


class PatchFinder:
    """Patch the modules of PATCHES after they are imported.

    It has no base class: `importlib.abc` adds 15 ms to the start of each process.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path) if name in PATCHES else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_patch(module: ModuleType) -> None:
            execute(module)
            PATCHES[name](module)

        spec.loader.exec_module = execute_and_patch  # type: ignore[method-assign]
        return spec


def install() -> None:
    """Patch what is imported from now on, here and in the processes that start from here."""
    if not any(type(finder).__name__ == "PatchFinder" for finder in sys.meta_path):
        sys.meta_path.insert(0, PatchFinder())  # type: ignore[arg-type]
    here = str(Path(__file__).parent)
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if here not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [here, *paths]))


install()
gc.set_threshold(50_000, 20, 100)  # looking for garbage less often takes a tenth off the tests
