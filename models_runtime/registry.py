"""The door to all checkers: what there is (`table`, and `outside` for those of the environment), and loading one."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from . import building, outside
from .building import Entry, build_entry, check_packages
from .building import complete_parameters as complete_parameters
from .contracts import (
    Checker,
    CheckerError,
    CheckerInfo,
    LabelSpace,
    SpaceError,
    UnknownCheckerError,
    Usage,
)
from .extractors.contracts import Extractor
from .generators.contracts import TextGenerator
from .llm import endpoints, estimating
from .llm.hypothetical import ANY, prompt_of
from .loading import allowed_models, model_files
from .retrieval.contracts import DOCUMENTS, Retriever
from .table import CHECKERS

# A worker meets few checkers at a time, and each may hold a model.
CACHE_SIZE = 4
_cache: OrderedDict[tuple, Any] = OrderedDict()
_cache_lock = threading.Lock()


def list_infos() -> tuple[CheckerInfo, ...]:
    """What there is of checkers, scorers, extractors, generators and retrievers, with what each needs."""
    return tuple(entry.INFO for entry in _entries().values())


def added() -> tuple[CheckerInfo, ...]:
    """Those of the list that came from outside the package."""
    return tuple(info for info in list_infos() if info.slug not in CHECKERS.own_entries)


def get_info(slug: str) -> CheckerInfo:
    return _entry(slug).INFO


def _entries() -> dict[str, Entry]:
    """By slug. CheckerError where one from outside cannot be read."""
    try:
        return {**CHECKERS, **outside.configured()}
    except ValueError as error:
        raise CheckerError(f"{outside.VARIABLE} {error}") from None


def _entry(slug: str) -> Entry:
    entries = _entries()
    try:
        return entries[slug]
    except KeyError:
        raise UnknownCheckerError(f"there is no checker {slug!r}; available: {', '.join(entries)}") from None


def package_of(slug: str) -> str:
    """The installed package that adds the entry, with its version; empty for Assay's own."""
    return str(CHECKERS.package_of(slug) or "")


def missing_packages(slug: str) -> tuple[str, ...]:
    """What pip would have to install before `slug` can be loaded here. Imports nothing."""
    return building.missing_packages(get_info(slug).packages)


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
    return endpoints.names()


def restrict_models(allowed: allowed_models.Allowed | None, most_gigabytes: float | None = None) -> None:
    """From now on only these models may be named, and those that entries have as their defaults; None: whatever there
    is. Larger ones are not loaded."""
    if allowed:
        defaults = (one.default for info in list_infos() for one in info.parameters if one.kind == allowed_models.KIND)
        allowed = replace(allowed, names=dict.fromkeys(filter(None, defaults), "") | allowed.names)
    allowed_models.restrict_to(allowed, most_gigabytes)


def allowed_in_words() -> str:
    """The models that a parameter of the kind `model` may name; empty where that is anything."""
    return allowed_models.described()


def estimated_usage(
    slug: str, inputs: Sequence[Any], *asked: Any, parameters: Mapping[str, Any] | None = None
) -> Usage | None:
    """About how many tokens `slug` would take to answer, without asking it: a checker of label spaces, an extractor
    of a kind of pieces (`asked`), or a generator. None where no server is asked, and where none is set up. Raises
    ParameterError."""
    entry = _entry(slug)
    complete = complete_parameters(entry.INFO, parameters or {})
    if entry.INFO.needs != "server" or not_configured(slug):
        return None
    tell = getattr(entry, "estimated_usage", None)
    return tell(inputs, *asked, complete) if tell else estimating.rough_usage(inputs, complete)


def estimated_expansions(parameters: Mapping[str, Any], queries: Sequence[str]) -> Usage | None:
    """About how many tokens it would take to make up what these queries are searched with; None where a retriever with
    these parameters asks no model for it."""
    method, asked = parameters.get("expansion", "none"), []
    if parameters.get("query") == "generated":
        asked.append(estimating.searches_usage(queries))
    if method != "none" and parameters.get("expansion_from") != DOCUMENTS:
        prompt = prompt_of(method, parameters.get("expansion_style", ANY), parameters.get("expansion_prompt", ""))
        number = parameters.get("expansion_passages", 1)
        asked.append(estimating.passages_usage(prompt.instructions, queries, number))
    return sum(asked, Usage()) if asked else None


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
    if info.gives_scores:
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
    entry = _entry(slug)
    if entry.INFO.gives != "rankings":
        raise UnknownCheckerError(f"{slug} is no retriever: it gives {entry.INFO.gives}")
    return build_entry(entry, parameters or {})


def load_generator(slug: str, parameters: Mapping[str, Any] | None = None) -> TextGenerator:
    """The generator `slug`, ready to write.

    Raises UnknownCheckerError (no generator), ParameterError (by name), MissingPackageError (with the command) or
    ModelError.
    """
    info = get_info(slug)
    if info.gives != "texts":
        raise UnknownCheckerError(f"{slug} is no generator: it gives {info.gives}")
    return _loaded(slug, (), parameters)


def _loaded(slug: str, asked: tuple, parameters: Mapping[str, Any] | None) -> Any:
    """What the entry's builder makes of (info, *asked, parameters), or has made of equal ones."""
    entry = _entry(slug)
    complete = complete_parameters(entry.INFO, parameters or {})
    check_packages(slug, entry.INFO.packages)
    key = (slug, *asked, json.dumps(complete, sort_keys=True))
    # Held while loading, so that threads of one process do not load the same model side by side.
    with _cache_lock:
        if key not in _cache:
            _cache[key] = entry.build(entry.INFO, *asked, complete)
            while len(_cache) > CACHE_SIZE:
                _cache.popitem(last=False)
        _cache.move_to_end(key)
        return _cache[key]
