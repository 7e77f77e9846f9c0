"""What a run was made with, as checkers, scorers and extractors describe themselves: JSON."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping, Sequence
from typing import Any

from .contracts import CheckerInfo, LabelSpace

NO_MODEL = {"model": "", "revision": "", "device": "cpu"}


def provenance(
    info: CheckerInfo, parameters: Mapping[str, Any], model: Mapping[str, Any] = NO_MODEL, **more: Any
) -> dict[str, Any]:
    """The entry, its version and parameters, and the `model` that it ran."""
    return {"checker": info.slug, "version": info.version, "parameters": dict(parameters), **model, **more}


def versions(*packages: str) -> dict[str, str]:
    return {name: importlib.metadata.version(name) for name in packages}


def dimensions_of(spaces: Sequence[LabelSpace]) -> list[str]:
    return [space.dimension for space in spaces]
