"""The door to all checkers: what there is (`table`, and `outside` for those from elsewhere), and loading one.

Reading the table imports no checker; `load` imports the one it is asked for.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from . import allowed_models, model_files, outside
from .contracts import (
    Checker,
    CheckerError,
    CheckerInfo,
    CheckerInput,
    LabelSpace,
    MissingPackageError,
    ParameterError,
    ParameterInfo,
    SpaceError,
    UnknownCheckerError,
    Usage,
)
from .extraction import Extractor
from .llm import endpoints, estimating, prompts
from .retrieval.contracts import Retriever
from .table import TABLE

# A worker meets few checkers at a time, and each may hold a model.
CACHE_SIZE = 4
_cache: OrderedDict[tuple, Any] = OrderedDict()
_cache_lock = threading.Lock()


def list_infos() -> tuple[CheckerInfo, ...]:
    return tuple(info for info, _ in _entries().values())


def added() -> tuple[CheckerInfo, ...]:
    """Those of the list that came from outside the package."""
    own = {info.slug for info, _ in TABLE}
    return tuple(info for info in list_infos() if info.slug not in own)


def get_info(slug: str) -> CheckerInfo:
    return _entry(slug)[0]


def _entries() -> dict[str, tuple[CheckerInfo, str]]:
    """By slug: what is known, and `module:builder`. CheckerError where one from outside cannot be read."""
    try:
        return {info.slug: (info, path) for info, path in (*TABLE, *outside.configured())}
    except ValueError as error:
        raise CheckerError(f"{outside.VARIABLE} {error}") from None


def _entry(slug: str) -> tuple[CheckerInfo, str]:
    entries = _entries()
    try:
        return entries[slug]
    except KeyError:
        raise UnknownCheckerError(f"there is no checker {slug!r}; there are {', '.join(entries)}") from None


def missing_packages(slug: str) -> tuple[str, ...]:
    """What pip would have to install before `slug` can be loaded here. Imports nothing."""
    packages = get_info(slug).packages
    return tuple(package.requirement for package in packages if importlib.util.find_spec(package.module) is None)


def not_configured(slug: str) -> str:
    """What the settings of this process lack for `slug` to run, as a sentence; empty where they suffice."""
    if get_info(slug).needs != "server":
        return ""
    try:
        return "" if endpoints.configured() else endpoints.HOW_TO
    except ValueError as error:
        return f"{endpoints.VARIABLE} {error}"


def endpoint_names() -> tuple[str, ...]:
    """The servers that a parameter `endpoint` may name; the first is meant where it names none."""
    try:
        return tuple(endpoints.configured())
    except ValueError:
        return ()


def allowed_in_words() -> str:
    """The models that a parameter of the kind `model` may name; empty where that is anything."""
    return allowed_models.described()


def estimated_usage(slug: str, spaces: Sequence[LabelSpace], inputs: Sequence[CheckerInput]) -> Usage | None:
    """About how many tokens `slug` would take to answer; None where that cannot be told without asking."""
    info = get_info(slug)
    return estimating.estimated_usage(spaces, inputs) if info.kind == "llm" and info.gives == "labels" else None


def fetch_command(slug: str) -> str:
    """What to type so that the checker's default model is on this machine; empty where it is, or where there is no
    model to fetch. Looks at folders only. Workers may have other machines with other models."""
    info = get_info(slug)
    if info.needs == "server" or not model_files.is_hub_name(info.model) or model_files.is_here(info.model):
        return ""
    return model_files.fetch_command(info.model)


def load(
    slug: str, spaces: LabelSpace | Sequence[LabelSpace] = (), parameters: Mapping[str, Any] | None = None
) -> Checker:
    """The checker `slug`, ready to answer `spaces`; equal arguments give the same object for as long as it is cached.
    What gives scores only answers no questions and takes no spaces.

    Raises UnknownCheckerError, SpaceError (a question that it cannot answer), ParameterError (by name),
    MissingPackageError (with the command) or ModelError.
    """
    info = get_info(slug)
    if info.gives not in ("labels", "scores"):
        raise UnknownCheckerError(f"{slug} gives {info.gives}, and judges nothing")
    spaces = (spaces,) if isinstance(spaces, LabelSpace) else tuple(spaces)
    if info.gives == "scores":
        if spaces:
            raise SpaceError(f"{slug} gives scores and no labels, so it takes no label spaces")
    elif not spaces or len({space.dimension for space in spaces}) != len(spaces):
        raise SpaceError(f"{slug}: give one or more label spaces of distinct dimensions")
    for space in spaces:
        if space.role not in info.roles:
            raise SpaceError(f"{slug} does not answer {space.dimension}, whose role is {space.role}")
    return _loaded(slug, (spaces,), parameters)


def load_extractor(slug: str, kind: str, parameters: Mapping[str, Any] | None = None) -> Extractor:
    """The extractor `slug`, ready to propose pieces of this kind (`extraction.PARTS`).

    Raises UnknownCheckerError (no extractor, or none of this kind), ParameterError (by name), MissingPackageError (with
    the command) or ModelError.
    """
    info = get_info(slug)
    if info.gives != "pieces":
        raise UnknownCheckerError(f"{slug} is no extractor: it gives {info.gives}")
    if kind not in info.roles:
        raise UnknownCheckerError(f"{slug} does not extract {kind!r}; it extracts {', '.join(info.roles)}")
    return _loaded(slug, (kind,), parameters)


def load_retriever(slug: str, parameters: Mapping[str, Any] | None = None) -> Retriever:
    """A new retriever `slug` with nothing indexed; it is not shared, because it comes to hold its index.

    Raises UnknownCheckerError (no retriever), ParameterError (by name), MissingPackageError (with the command) or
    ModelError.
    """
    info, path = _entry(slug)
    if info.gives != "rankings":
        raise UnknownCheckerError(f"{slug} is no retriever: it gives {info.gives}")
    complete = complete_parameters(info, parameters or {})
    if missing := missing_packages(slug):
        raise MissingPackageError(slug, missing)
    module, builder = path.split(":")
    return getattr(importlib.import_module(module), builder)(info, complete)


def _loaded(slug: str, asked: tuple, parameters: Mapping[str, Any] | None) -> Any:
    """What the entry's builder makes of (info, *asked, parameters), or has made of equal ones."""
    info, path = _entry(slug)
    complete = complete_parameters(info, parameters or {})
    if missing := missing_packages(slug):
        raise MissingPackageError(slug, missing)
    key = (slug, *asked, json.dumps(complete, sort_keys=True))
    # Held while loading, so that threads of one process do not load the same model side by side.
    with _cache_lock:
        if key not in _cache:
            module, builder = path.split(":")
            _cache[key] = getattr(importlib.import_module(module), builder)(info, *asked, complete)
            while len(_cache) > CACHE_SIZE:
                _cache.popitem(last=False)
        _cache.move_to_end(key)
        return _cache[key]


def complete_parameters(info: CheckerInfo, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter of the checker, in the table's order: `given` where checked and right, else the default."""
    known = {parameter.name: parameter for parameter in info.parameters}
    for name in given:
        if name not in known:
            raise ParameterError(str(name), f"{info.slug} has no such parameter; it has {', '.join(known)}")
    return {name: _checked(parameter, given.get(name, parameter.default)) for name, parameter in known.items()}


_KINDS: dict[str, tuple[type, ...]] = {
    "float": (int, float),
    "int": (int,),
    "str": (str,),
    "model": (str,),
    "prompt": (str,),
    "endpoint": (str,),
    "bool": (bool,),
}


def _checked(parameter: ParameterInfo, value: Any) -> float | int | str | bool:
    if not isinstance(value, _KINDS[parameter.kind]) or (isinstance(value, bool) and parameter.kind != "bool"):
        raise ParameterError(parameter.name, f"{value!r} is not of type {parameter.kind}")
    if parameter.kind == "endpoint" and value and value not in endpoint_names():
        raise ParameterError(parameter.name, f"{value!r} is not one of {', '.join(endpoint_names()) or 'none'}")
    if parameter.kind == allowed_models.KIND and (problem := allowed_models.problem_of(value)):
        raise ParameterError(parameter.name, problem)
    if parameter.kind == "prompt" and value.strip():
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
