"""The embedding checker with the real packaged MiniLM, without a network."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from models_runtime import ENTAILMENT, STANCE, CheckerInput, load, registry
from models_runtime.checkers import embedding

from .samples import pair, triplet

CLIMATE_FEVER = Path(__file__).resolve().parents[3] / "shared" / "data" / "climate_fever" / "climate-fever.jsonl"


@pytest.fixture(scope="module")
def checker():
    return load("embedding", STANCE)


@pytest.fixture(scope="module")
def reference():
    """The same weights, loaded and compared by sentence-transformers itself."""
    from sentence_transformers import SentenceTransformer, util

    model = SentenceTransformer(str(embedding.packaged_model_folder()), device="cpu", local_files_only=True)
    return lambda one, other: float(util.cos_sim(model.encode(one), model.encode(other)))


EVIDENCE = "Bread is baked in ovens. 🌊 Ocean levels have gone up for decades! The museum opens at nine."


def test_the_nearest_sentence_is_found_without_shared_words(checker):
    (found,) = checker.predict([pair("The sea is rising", EVIDENCE)])
    (span,) = found.spans
    assert span.quote == "🌊 Ocean levels have gone up for decades!" == EVIDENCE[span.start : span.end]
    assert span.score == found.scores["sentence_cosine"] > found.scores["cosine"]


def test_cosines_equal_those_of_the_library(checker, reference):
    (found,) = checker.predict([pair("The sea is rising", EVIDENCE)])
    assert found.scores["cosine"] == pytest.approx(reference("The sea is rising", EVIDENCE), abs=1e-5)
    expected = reference("The sea is rising", found.spans[0].quote)
    assert found.scores["sentence_cosine"] == pytest.approx(expected, abs=1e-5)


def test_negation_turns_support_round(checker):
    found = checker.predict(
        [pair("The sea is rising", "The sea is rising."), pair("The sea is rising", "The sea is not rising.")]
    )
    assert [p.labels["stance"].label for p in found] == ["supports", "refutes"]


def test_neither_order_nor_batch_size_changes_the_numbers(checker):
    if not CLIMATE_FEVER.exists():
        pytest.skip("CLIMATE-FEVER is not at ../shared/data")
    with CLIMATE_FEVER.open(encoding="utf-8") as lines:
        claims = [json.loads(line) for line, _ in zip(lines, range(12), strict=False)]
    items = [
        CheckerInput(f"{claim['claim_id']}/{i}", {"claim": claim["claim"], "evidence": evidence["evidence"]})
        for claim in claims
        for i, evidence in enumerate(claim["evidences"])
    ]
    forward = checker.predict(items)
    backward = load("embedding", STANCE, {"token_budget": 256}).predict(items[::-1])[::-1]
    assert [p.id for p in forward] == [p.id for p in backward] == [item.id for item in items]
    for one, other in zip(forward, backward, strict=True):
        assert one.scores == pytest.approx(other.scores, abs=1e-5)
        assert one.spans[0].quote == other.spans[0].quote


def test_equal_texts_are_encoded_once(checker, monkeypatch):
    checker.encoder._known.clear()  # other checkers share the encoder
    seen = []
    encode = checker.encoder._encode
    monkeypatch.setattr(checker.encoder, "_encode", lambda texts: seen.extend(texts) or encode(texts))
    checker.predict([pair("Ice melts", " Ice melts. "), pair("Ice melts", "Ice melts.\nIce melts.")])
    assert sorted(seen) == ["Ice melts", "Ice melts.", "Ice melts.\nIce melts."]


def test_an_input_whose_text_cannot_be_encoded_fails_alone(checker, monkeypatch):
    encode = checker.encoder._encode

    def failing(texts):
        if "poison." in texts:
            raise ValueError("bad tensor")
        return encode(texts)

    monkeypatch.setattr(checker.encoder, "_encode", failing)
    found = checker.predict([pair("Ice", "fine.", "1"), pair("Ice", "poison.", "2"), pair("Ice", "good.", "3")])
    assert [p.error and p.error.reason for p in found] == [None, "encoding-failed", None]
    assert not found[1].error.permanent


def test_truncation_is_reported(checker):
    found = checker.predict([pair("Ice melts", "word " * 300), pair("Ice melts", "word " * 200)])
    assert [p.scores["truncated"] for p in found] == [1.0, 0.0]


def test_the_deciding_passage_is_named():
    checker = load("embedding", ENTAILMENT)
    passages = ("Bread is baked in ovens.", "Ovens are hot. The Eiffel Tower stands in Paris.")
    (found,) = checker.predict([triplet("Eiffel Tower located in Paris", *passages)])
    assert found.labels["entailment"].label == "entailment"
    assert found.spans[0].field == "passages[1]"
    assert found.spans[0].quote == "The Eiffel Tower stands in Paris."


def test_checkers_share_one_model_loaded_without_a_network(monkeypatch):
    def refuse(*args):
        raise AssertionError("a connection was attempted")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    embedding.load_model.cache_clear()
    one, other = load("embedding", STANCE, {"softness": 0.2}), load("embedding", STANCE, {"softness": 0.3})
    assert one.encoder.model is other.encoder.model
    assert one.describe()["revision"] == other.describe()["revision"]
    assert len(one.describe()["revision"]) == len("sha256:") + 64


def test_a_text_that_several_inputs_share_is_encoded_once_even_over_calls(monkeypatch):
    checker = embedding.EmbeddingChecker(
        registry.get_info("embedding"), (ENTAILMENT,), registry.complete_parameters(registry.get_info("embedding"), {})
    )
    encoded = []
    encode = checker.encoder._encode
    monkeypatch.setattr(checker.encoder, "_encode", lambda texts: encoded.extend(texts) or encode(texts))
    monkeypatch.setattr(embedding, "KEPT_TEXTS", 4)
    passage = "Ice melts. Bread is baked."
    first = checker.predict([pair("Ice is melting", passage)])
    assert len(encoded) == 4  # the claim, the passage and its two sentences
    assert checker.predict([pair("Ice is melting", passage)]) == first and len(encoded) == 4
    checker.predict([pair("Ovens are hot", "Ovens.")])
    assert len(encoded) == 6 and len(checker.encoder._known) == 4
