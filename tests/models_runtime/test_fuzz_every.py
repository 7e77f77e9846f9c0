"""Every entry of the registry, fed what nobody writes: it keeps order and length, and one bad input fails alone.

A new entry without a recipe here fails the first test. Those that need a model get a tiny one, those that ask a server
get one that answers whatever is asked.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import pytest

from models_runtime import (
    STANCE,
    CheckerInput,
    LabelSpace,
    load,
    load_extractor,
    load_generator,
    load_retriever,
    registry,
)
from models_runtime.extractors.contracts import PARTS, ExtractionInput
from models_runtime.generators.contracts import GenerationInput
from models_runtime.llm.endpoints import VARIABLE
from models_runtime.retrieval.contracts import Document, Query
from tests.llm.scripted_vllm import ScriptedVllm
from tests.llm.server import FakeServer, completion, picked

from .samples import CLAIM, GOOD

HOSTILE = {
    "empty": "",
    "blank": " \n\t\u2028",
    "100,000 characters": ("The ice melts in spring " * 5000)[:100_000],
    "NUL": "ice\0melts",
    "a lone surrogate": "ice \ud83d melts",
    "only emoji": "😀🌊👩‍🔬🇩🇪❤️👨‍👩‍👧" * 3,
    "only marks": "\u0301\u200d\ufe0f" * 20,
    "control characters": "ice \x1b[31m\x07 <|im_end|> melts",
}
COVERAGE = LabelSpace(
    "coverage", "coverage", (("covered", 1.0), ("not_covered", 0.0)), span_field="evidence", span_labels=("covered",)
)
# Reasons that stand for what nobody foresaw.
UNFORESEEN = {"unexpected", "encoding-failed", "model-failed", "server-error", "timeout"}


def filled(schema: dict) -> object:
    """The shortest JSON that a schema allows."""
    if schema.get("type") == "object":
        return {name: filled(inner) for name, inner in schema["properties"].items()}
    return [] if schema.get("type") == "array" else schema.get("enum", ["text"])[0]


VLLM = ScriptedVllm(lambda before, word: 0.01, window=300)


def any_answer(request: dict, n: int) -> dict:
    if "prompt" in request or "tokens" in request:
        return VLLM(request, n)
    if "structured_outputs" in request:
        letters = request["structured_outputs"]["choice"]
        return picked(letters[n % len(letters)], {letter: 1 / len(letters) for letter in letters})
    if "response_format" not in request:
        return completion("In 1963.")
    return completion(json.dumps(filled(request["response_format"]["json_schema"]["schema"])))


@pytest.fixture(scope="module", autouse=True)
def server():
    found = FakeServer(any_answer)
    found.card["max_model_len"] = 300
    found.start()
    patch = pytest.MonkeyPatch()
    patch.setenv(VARIABLE, json.dumps({"main": {"url": found.url, "model": "m"}}))
    registry._cache.clear()
    yield
    patch.undo()
    registry._cache.clear()
    found.stop()


# Each entry's parameters, from the models at hand, and what it is asked.
Recipe = tuple[Callable[[dict], dict], tuple[LabelSpace, ...]]


def plain(models: dict) -> dict:
    return {}


def patient(models: dict) -> dict:
    return {"wait_seconds": 0, "retries": 0}


def with_model(name: str, **others) -> Callable[[dict], dict]:
    return lambda models: {"model": models[name], "device": "cpu"} | others


RECIPES: dict[str, Recipe] = {
    "lexical": (plain, (STANCE,)),
    "embedding": (lambda models: {"device": "cpu"}, (STANCE,)),
    "trained": (with_model("trained"), (STANCE,)),
    "fake": (plain, (STANCE,)),
    "nli": (with_model("nli"), (STANCE,)),
    "llm": (patient, (STANCE,)),
    "aspect-alignment": (patient, (COVERAGE,)),
    "characteristics": (plain, ()),
    "answer-probabilities": (with_model("causal", shots=0), ()),
    "perplexity": (with_model("causal", window=256, stride=200), ()),
    "answer-probabilities-server": (patient, ()),
    "perplexity-server": (lambda models: patient(models) | {"window": 256, "stride": 250}, ()),
    "source-reference": (patient, ()),
    "model-knowledge": (patient, ()),
    "verdict": (patient, ()),
    "grounding": (lambda models: {"model": models["nli"], "device": "cpu"}, ()),
    "icat": (lambda models: {"model": models["nli"], "device": "cpu", "alignment": "lexical"}, ()),
    "icat-server": (lambda models: patient(models) | {"checker": "lexical", "device": "cpu"}, ()),
    "text-baselines": (with_model("nli"), ()),
    "masked-reference": (with_model("nli", mask="both"), ()),
    "masked-reference-server": (patient, ()),
    "sentences": (plain, ()),
    "turns": (plain, ()),
    "fake-extractor": (plain, ()),
    "llm-extractor": (patient, ()),
    "llm-answers": (patient, ()),
    "bm25": (plain, ()),
    "dense": (plain, ()),
    "hybrid": (plain, ()),
    "evidence": (plain, ()),
}

# What some are given beside.
BESIDE = {slug: {"atomic_claims": (CLAIM, GOOD), "sources": (GOOD,)} for slug in ("icat", "icat-server")}
BESIDE |= {slug: {"subject": "the ice", "object": "spring"} for slug in ("masked-reference", "masked-reference-server")}


def slugs(*gives: str) -> list[str]:
    return [info.slug for info in registry.list_infos() if info.gives in gives]


def test_every_entry_has_a_recipe():
    assert set(RECIPES) == {info.slug for info in registry.list_infos()}, "say above how it is fed"


def parameters_of(slug: str, models: dict) -> dict:
    known = {parameter.name for parameter in registry.get_info(slug).parameters}
    return {name: value for name, value in RECIPES[slug][0](models).items() if name in known}


def known(scores: dict) -> dict:
    return {name: value for name, value in scores.items() if value is not None}


def is_foreseen(error) -> None:
    assert error.reason and error.message and error.reason not in UNFORESEEN, error


@pytest.mark.parametrize("slug", slugs("labels", "scores"))
def test_checkers_and_scorers(slug, models):
    spaces = RECIPES[slug][1]
    checker = load(slug, spaces, parameters_of(slug, models))
    good = {"claim": CLAIM, "evidence": GOOD} | BESIDE.get(slug, {})
    fields = [good]
    for text in HOSTILE.values():
        fields += [good | {"evidence": text}, good | {"claim": text}, good]
        if len(text) < 1000:
            fields += [{"claim": CLAIM, "passages": (GOOD, text)}, {"claims": (text, CLAIM), "evidence": GOOD}]
    fields += [{"claim": CLAIM, "passages": ()}, {"claims": (), "evidence": GOOD}, {}, good]
    for beside in BESIDE.get(slug, {}):
        fields += [good | {beside: (text, GOOD)} for text in HOSTILE.values() if len(text) < 1000]
        fields += [good | {beside: ()}, good | {beside: GOOD}]
    inputs = [CheckerInput(f"unit-{place}", one) for place, one in enumerate(fields)]
    found = checker.predict(inputs)
    assert [one.id for one in found] == [one.id for one in inputs]
    alone = checker.predict([CheckerInput("alone", good)])[0]
    assert alone.error is None
    for item, one in zip(inputs, found, strict=True):
        if item.fields is good:
            assert one.error is None, one.error
            assert set(one.labels) == set(alone.labels) and set(one.scores) == set(alone.scores)
            if registry.get_info(slug).needs != "server":  # the scripted one answers by turns
                assert known(one.scores) == pytest.approx(known(alone.scores), rel=1e-3, abs=1e-5)
        if one.error:
            is_foreseen(one.error)
            assert not one.labels and not one.spans
        else:
            assert one.labels or not spaces
            assert all(value is None or math.isfinite(value) for value in one.scores.values())
            assert one.scores or one.labels
    assert sum(one.error is not None for one in found) >= 4  # NUL and half a character are nobody's text


KINDS = [(slug, kind) for slug in slugs("pieces") for kind in registry.get_info(slug).roles]


@pytest.mark.parametrize(("slug", "kind"), KINDS)
def test_extractors(slug, kind, models):
    extractor = load_extractor(slug, kind, parameters_of(slug, models))
    texts = [("When?", GOOD)]
    for text in HOSTILE.values():
        texts += [("When?", text), (text, GOOD), ("When?", GOOD)]
    sources = [ExtractionInput(f"source-{place}", question, text) for place, (question, text) in enumerate(texts)]
    found = extractor.extract(sources)
    assert [one.id for one in found] == [one.id for one in sources]
    for source, one in zip(sources, found, strict=True):
        assert one.error is None or not one.pieces
        if (source.question, source.text) == ("When?", GOOD):
            assert one.error is None
        if one.error:
            is_foreseen(one.error)
        for piece in one.pieces:
            assert tuple(piece.parts) == PARTS[kind] and all(piece.parts.values())
            assert piece.start is None or 0 <= piece.start < piece.end <= len(source.text)
    assert sum(one.error is not None for one in found) >= 2


@pytest.mark.parametrize("slug", slugs("texts"))
def test_generators(slug, models):
    generator = load_generator(slug, parameters_of(slug, models))
    asked = [("When?", (GOOD,))]
    for text in HOSTILE.values():
        asked += [(text, ()), ("When?", (text,)), ("When?", (GOOD,))]
    inputs = [GenerationInput(f"input-{place}", text, passages=shown) for place, (text, shown) in enumerate(asked)]
    found = generator.generate(inputs)
    assert [one.id for one in found] == [one.id for one in inputs]
    for item, one in zip(inputs, found, strict=True):
        assert (one.error is None) == bool(one.text)
        if (item.text, item.passages) == ("When?", (GOOD,)):
            assert one.error is None
        if one.error:
            is_foreseen(one.error)
    assert sum(one.error is not None for one in found) >= 6  # empty and blank questions; NUL, half a character


@pytest.mark.parametrize("slug", slugs("rankings"))
def test_retrievers(slug, models):
    unreadable = ("NUL", "a lone surrogate")  # no document: an index of them is refused by name
    documents = [Document("good", GOOD), Document("other", "Bread is baked at night.")]
    documents += [Document(name, text) for name, text in HOSTILE.items() if name not in unreadable]
    retriever = load_retriever(slug, parameters_of(slug, models))
    retriever.index(documents)
    texts = [text for hostile in HOSTILE.values() for text in (CLAIM, hostile)]
    queries = [Query(f"query-{place}", text) for place, text in enumerate(texts)]
    found = retriever.search(queries, 5)
    assert [one.id for one in found] == [one.id for one in queries]
    for query, one in zip(queries, found, strict=True):
        assert one.error is None or not one.hits
        if query.text == CLAIM:
            assert one.error is None and one.hits[0].passage.document in ("good", "100,000 characters")
            assert [hit.rank for hit in one.hits] == list(range(1, len(one.hits) + 1))
        if one.error:
            is_foreseen(one.error)
        by_name = {document.id: document.text for document in documents}
        for hit in one.hits:
            passage = hit.passage
            text = by_name[passage.document][passage.start : passage.end]
            # Evidence is made of the best chunks of a page.
            assert (
                all(part in text for part in passage.text.split(" [...] "))
                if slug == "evidence"
                else passage.text == text
            )
            assert math.isfinite(hit.score)
    assert sum(one.error is not None for one in found) >= 2
