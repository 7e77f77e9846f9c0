"""Names of people, places, organisations, days and quantities in a text, by a spaCy model, where one is installed.

spaCy's models are not on the package index: `python -m spacy download en_core_web_sm` installs one (small; DRUID used
en_core_web_trf), and where there is no network, pip installs the wheel of its release.
"""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from typing import Any

from ..contracts import ModelError
from ..loading.allowed_models import check_size
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
    """What finds entities; None for the default model where it is not installed, and for no model ("").

    ModelError, with the command, if another model is asked for that is not here or finds no entities.
    """
    if not model or (model == DEFAULT_MODEL and importlib.util.find_spec(model) is None):
        return None
    return Entities(model)


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
