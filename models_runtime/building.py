"""Making what an entry of the registry describes: its packages, its parameters, its builder."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from .contracts import CheckerInfo, MissingPackageError, Package, ParameterError, ParameterInfo
from .extractors import examples
from .llm import endpoints, prompts
from .loading import allowed_models


class Entry(Protocol):
    """A module of the registry's table, or one from outside."""

    INFO: CheckerInfo
    build: Callable[..., Any]


def build_entry(entry: Entry, parameters: Mapping[str, Any], *asked: Any) -> Any:
    """What the entry's builder makes of (INFO, *asked, parameters). Raises ParameterError (by name),
    MissingPackageError (with the command) or ModelError."""
    complete = complete_parameters(entry.INFO, parameters)
    check_packages(entry.INFO.slug, entry.INFO.packages)
    return entry.build(entry.INFO, *asked, complete)


def missing_packages(packages: Sequence[Package]) -> tuple[str, ...]:
    """What pip would have to install. Imports nothing."""
    return tuple(package.requirement for package in packages if importlib.util.find_spec(package.module) is None)


def check_packages(slug: str, packages: Sequence[Package]) -> None:
    if missing := missing_packages(packages):
        raise MissingPackageError(slug, missing)


def complete_parameters(info: CheckerInfo, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter of the checker, in the table's order: `parameters` where checked and right, else the default."""
    known = {parameter.name: parameter for parameter in info.parameters}
    for name in parameters:
        if name not in known:
            raise ParameterError(str(name), f"{info.slug} has no such parameter; it has {', '.join(known)}")
    return {name: _checked(parameter, parameters.get(name, parameter.default)) for name, parameter in known.items()}


_KINDS: dict[str, tuple[type, ...]] = {
    "float": (int, float),
    "int": (int,),
    "str": (str,),
    "model": (str,),
    "prompt": (str,),
    examples.KIND: (str,),
    "endpoint": (str,),
    "bool": (bool,),
}


def _checked(parameter: ParameterInfo, value: Any) -> float | int | str | bool:
    if not isinstance(value, _KINDS[parameter.kind]) or (isinstance(value, bool) and parameter.kind != "bool"):
        raise ParameterError(parameter.name, f"{value!r} is not of type {parameter.kind}")
    if parameter.kind == "endpoint" and value and value not in endpoints.names():
        raise ParameterError(parameter.name, f"{value!r} is not one of {', '.join(endpoints.names()) or 'none'}")
    if parameter.kind == allowed_models.KIND and (problem := allowed_models.problem_of(value)):
        raise ParameterError(parameter.name, problem)
    if parameter.kind == examples.KIND:
        examples.read_examples(value)
    if parameter.kind == "prompt" and parameter.must_hold and value.strip():
        prompts.own(value, parameter.must_hold)
    if parameter.choices and value not in parameter.choices:
        raise ParameterError(parameter.name, f"{value!r} is not one of {', '.join(parameter.choices)}")
    if parameter.must_hold and parameter.kind != "prompt" and parameter.must_hold not in value:
        raise ParameterError(parameter.name, f"it must hold {parameter.must_hold}")
    if parameter.kind in ("float", "int"):
        low = -math.inf if parameter.low is None else parameter.low
        high = math.inf if parameter.high is None else parameter.high
        if not (math.isfinite(value) and low <= value <= high):
            raise ParameterError(parameter.name, f"{value!r} is outside {low} to {high}")
    return float(value) if parameter.kind == "float" else value
