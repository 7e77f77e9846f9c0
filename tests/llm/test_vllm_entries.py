"""What asks a language model beside the judge, through a real vLLM: extractors, scores, joint checking, alignment and
made-up documents. The model is random: what it says proves only that forms hold and that probabilities are its own."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from dataclasses import replace

import pytest

from models_runtime import CheckerInput, LabelSpace, load, load_extractor, load_generator
from models_runtime.contracts import UnavailableError
from models_runtime.extractors import llm
from models_runtime.extractors.contracts import PARTS, ExtractionInput
from models_runtime.generators.contracts import GenerationInput
from models_runtime.llm.alignment import Alignable, align
from models_runtime.llm.asking import Server
from models_runtime.llm.endpoints import VARIABLE
from models_runtime.llm.hypothetical import SETTINGS, hypothetical_documents
from models_runtime.scorers import model_knowledge, source_reference, verdict
from tests.models_runtime.samples import TRIPLETS, pair, triplet

from .test_vllm import brute_force

pytestmark = [pytest.mark.slow, pytest.mark.services]

COVERAGE = LabelSpace("coverage", "coverage", (("covered", 1.0), ("not_covered", 0.0)), span_field="evidence")
TEXT = "Ice melts at {n} degrees. In 19{n:02} the harbour froze. Nobody skated."
SOURCES = [ExtractionInput(str(n), "When does ice melt?", TEXT.format(n=n)) for n in range(12)]
PAIRS = [pair(f"Ice melts at {n} degrees", TEXT.format(n=n), str(n)) for n in range(12)]
PIECES = [triplet(f"ice melts at {n}", "It is warm.", "Ice melts.", key=str(n)) for n in range(12)]
QUESTIONS = {one.INFO.slug: one.QUESTION for one in (source_reference, model_knowledge, verdict)}
SHORT = 12


@pytest.fixture(autouse=True)
def endpoint(server, monkeypatch):
    monkeypatch.setenv(VARIABLE, json.dumps({"tiny": {"url": server.url, "model": "tiny", "max_in_flight": 8}}))


@pytest.fixture
def short(monkeypatch):
    """Parts so short that a random model, which never thinks of ending one, gets to the end of its answer."""
    monkeypatch.setattr(llm, "FROM_LENGTH", SHORT)
    monkeypatch.setattr(llm, "FORMS", {kind: replace(form, length=SHORT) for kind, form in llm.FORMS.items()})


@pytest.mark.parametrize("kind", list(PARTS))
def test_pieces_come_in_the_form_that_was_asked_for(short, kind):
    found = load_extractor("llm-extractor", kind, {"most": 2, "max_tokens": 600}).extract(SOURCES)
    assert [one.id for one in found] == [source.id for source in SOURCES]
    # White space alone is a part for the grammar and none for us.
    assert {one.error.reason for one in found if one.error} <= {"malformed"}
    answered = [one for one in found if not one.error]
    assert len(answered) >= len(SOURCES) / 2
    for one in answered:
        rows = json.loads(one.trace["output"])[llm.FORMS[kind].name]
        assert len(one.pieces) <= len(rows) <= 2 and all(set(PARTS[kind]) <= set(row) for row in rows)
        for piece in one.pieces:
            assert tuple(piece.parts) == PARTS[kind] and all(0 < len(part) <= SHORT for part in piece.parts.values())
            assert piece.parts in [{name: row[name].strip() for name in PARTS[kind]} for row in rows]
        assert 0 < one.usage.completion_tokens <= 600


def test_answers_are_drawn_anew_by_their_seeds_and_say_how_sure_the_model_was(server, monkeypatch):
    """A random model never ends of itself: the server is told where to stop. Else the answer is cut off, and fails."""
    stops = {"url": server.url, "model": "tiny", "extra_body": {"stop": ["e", "a", "o"]}}
    monkeypatch.setenv(VARIABLE, json.dumps({"stops": stops, "tiny": {"url": server.url, "model": "tiny"}}))
    inputs = [
        GenerationInput(str(n), "When does ice melt?", passages=(TEXT.format(n=1),), repetition=n) for n in range(8)
    ]
    drawn = {"temperature": 1.5, "confidence": "tokens", "max_tokens": 200}
    first, again = (load_generator("llm-answers", drawn | {"endpoint": "stops"}).generate(inputs) for _ in range(2))
    assert {one.error.reason for one in first if one.error} <= {"malformed"}  # it wrote nothing before a stop
    answered = [one for one in first if not one.error]
    assert len(answered) >= 4 and len({one.text for one in answered}) > 1
    assert [one.text for one in first] == [one.text for one in again]
    for one in answered:
        assert one.facts["finish_reason"] == "stop" and 0 < one.facts["confidence"] < 1
        assert one.facts["completion_tokens"] == one.usage.completion_tokens > 0
    (endless,) = load_generator("llm-answers", {"endpoint": "tiny", "max_tokens": 20}).generate(inputs[:1])
    assert endless.error.reason == "truncated" and endless.trace["output"]


def test_an_answer_that_does_not_end_is_a_failure_and_never_a_shorter_list():
    found = load_extractor("llm-extractor", "triplet", {"most": 5, "max_tokens": 40}).extract(SOURCES)
    empty = [one for one in found if not one.error]
    assert all(one.pieces == () and json.loads(one.trace["output"]) == {"triplets": []} for one in empty)
    assert {one.error.reason for one in found if one.error} == {"truncated"}


def test_the_answer_gets_the_room_that_the_window_has(short):
    """4,096 tokens beside the prompt are more than the 2,048 of this model."""
    (found,) = load_extractor("llm-extractor", "aspect", {"most": 1}).extract(SOURCES[:1])
    assert not found.error and len(found.trace["prompt"]) == 2
    (long,) = load_extractor("llm-extractor", "triplet").extract([ExtractionInput("1", "", "Ice melts. " * 5000)])
    assert long.error.reason == "context-too-long"


@pytest.mark.parametrize("slug", list(QUESTIONS))
def test_scores_are_the_probabilities_of_the_weights(model, slug):
    question = QUESTIONS[slug]
    for found in load(slug).predict(PAIRS[:3]):
        assert not found.error, found.error
        labels = question.space.values
        expected = dict(zip(labels, brute_force(model, found.trace["prompt"], "ABC"[: len(labels)]), strict=True))
        for label, name in question.probabilities:
            assert found.scores[name] == pytest.approx(expected[label], abs=1e-4)
        best = max(expected, key=expected.__getitem__)
        assert found.scores[question.score] == dict(question.space.labels)[best]
        assert found.scores["label_mass"] == pytest.approx(1, abs=1e-4)


def test_pieces_of_one_answer_get_a_letter_each_in_one_request():
    found = load("llm", TRIPLETS, {"pieces": "joint"}).predict(PIECES)
    letters = json.loads(found[0].trace["output"])
    assert list(letters) == [str(n) for n in range(1, len(PIECES) + 1)]
    by_letter = dict(zip("ABCD", TRIPLETS.values, strict=True))
    for one, letter in zip(found, letters.values(), strict=True):
        answer = one.labels["entailment"]
        assert answer.label == by_letter[letter] and one.trace["output"] == found[0].trace["output"]
        assert answer.probability == max(answer.probabilities.values())
        assert sum(answer.probabilities.values()) == pytest.approx(1)
    assert sum(one.usage.completion_tokens for one in found) < 16 * len(PIECES)


def test_aspects_are_covered_where_the_answer_names_them():
    aspects = ("when ice melts", "when the harbour froze", "who skated")
    text = TEXT.format(n=7)
    inputs = [CheckerInput(one, {"claim": one, "evidence": text, "question": "What of ice?"}) for one in aspects]
    found = load("aspect-alignment", COVERAGE).predict(inputs)
    chosen = json.loads(found[0].trace["output"])
    assert list(chosen) == ["1", "2", "3"] and all(set(numbers) <= {1, 2, 3} for numbers in chosen.values())
    for number, one in enumerate(found, 1):
        sentences = [sentence for sentence, numbers in chosen.items() if number in numbers]
        assert one.labels["coverage"].label == ("covered" if sentences else "not_covered")
        assert bool(one.spans) == bool(sentences)
    (aligned,) = align(Server(), [Alignable("What of ice?", tuple(text.split(". ")), aspects)])
    assert len(aligned.aspects) == 3 and not aligned.error


def test_made_up_documents_are_drawn_by_their_seeds():
    drawn = [
        hypothetical_documents(
            ["Ice melts.", "It froze."], Server(), n=2, seed=seed, settings=SETTINGS | {"max_tokens": 40}
        )
        for seed in (1, 1, 5)
    ]
    first, again, other = ([one.texts for one in found] for found in drawn)
    assert all(len(texts) == 2 and all(texts) for texts in first)
    assert first == again != other and first[0][0] != first[0][1]


def test_all_of_them_go_on_after_the_server_was_killed_and_came_back(server, short):
    patience = {"wait_seconds": 10, "retries": 1}
    many = [ExtractionInput(str(n), "When does ice melt?", TEXT.format(n=n)) for n in range(40)]
    pairs = [pair(f"Ice melts at {n} degrees", TEXT.format(n=n), str(n)) for n in range(150)]
    extractor = load_extractor("llm-extractor", "atomic_claim", {"most": 2, "max_tokens": 500} | patience)
    works = {
        "pieces": lambda: extractor.extract(many),
        "scores": lambda: load("verdict", (), patience).predict(pairs),
        "joint": lambda: load("llm", TRIPLETS, patience | {"pieces": "joint"}).predict(
            [triplet(f"ice {n}", f"It is {n // 3}.", key=str(n)) for n in range(150)]
        ),
        "aspects": lambda: load("aspect-alignment", COVERAGE, patience).predict(pairs),
    }
    results: dict[str, list] = {}

    def answer(name: str) -> None:
        """As a job does, which asks again later."""
        while name not in results:
            with contextlib.suppress(UnavailableError):
                results[name] = works[name]()

    # Loaded and described one after the other, so that all of them know the server that is killed.
    extractor.describe()
    threads = [threading.Thread(target=answer, args=(name,)) for name in works]
    for thread in threads:
        thread.start()
    time.sleep(1.5)
    server.kill()
    running = sum(thread.is_alive() for thread in threads)
    time.sleep(1)
    server.start()
    for thread in threads:
        thread.join()
    assert running and set(results) == set(works)
    for name, found in results.items():
        assert [one.id for one in found] == [str(n) for n in range(len(found))], name
        failed = [one.error.reason for one in found if one.error]
        assert set(failed) <= {"server-error", "timeout", "malformed"} and len(failed) < len(found) / 2, (name, failed)
