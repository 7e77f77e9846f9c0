"""Scores that are a model's answers: which letter gives which number, what is sent, and what is no answer."""

from __future__ import annotations

import json
import threading
import time

import pytest

from models_runtime import STANCE, CheckerInput, load, registry
from models_runtime.contracts import SpaceError
from models_runtime.llm import client, prompts
from models_runtime.scorers import model_knowledge, source_reference, verdict
from tests.models_runtime.samples import UNREADABLE, pair, triplet

from .server import completion, picked

EVIDENCE = "A study of 2019 says so."
QUESTIONS = {one.INFO.slug: one.QUESTION for one in (source_reference, model_knowledge, verdict)}
# letter -> the score that it stands for, in the order of the prompt
VALUES = {"source-reference": (1.0, 0.0), "model-knowledge": (1.0, -1.0, 0.0), "verdict": (1.0, -1.0, 0.0)}
SLUGS = list(VALUES)


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.02)
    monkeypatch.setattr(client, "POLL_SECONDS", 0.05)


def scored(slug, *inputs, **parameters):
    return load(slug, (), {"wait_seconds": 0, **parameters}).predict(inputs)


def test_every_question_is_an_entry_with_a_prompt_and_announces_its_scores():
    entries = {info.slug for info in registry.list_infos() if info.gives == "scores" and info.kind == "llm"}
    # Masked references ask what judges ask, of several texts, and so have tests of their own.
    assert entries - {"masked-reference-server"} == set(QUESTIONS) == set(SLUGS)
    for slug, question in QUESTIONS.items():
        prompt = prompts.own(prompts.shipped(slug).instructions)
        assert question.space.question in prompt.filled(question.space)
        announced = [score.name for score in registry.get_info(slug).scores]
        assert announced == [question.score, *(name for _, name in question.probabilities), "label_mass"]


@pytest.mark.parametrize("slug", SLUGS)
def test_each_letter_gives_its_own_number_and_probability(serve, slug):
    for place, value in enumerate(VALUES[slug]):
        letters = "ABC"[: len(VALUES[slug])]
        shares = {letter: 0.1 for letter in letters} | {letters[place]: 0.6}
        serve(lambda request, n, letter=letters[place], shares=shares: picked(letter, shares))
        registry._cache.clear()
        (found,) = scored(slug, pair("Ice melts", EVIDENCE))
        question, total = QUESTIONS[slug], sum(shares.values())
        assert not found.labels and found.scores[question.score] == value
        for label, name in question.probabilities:
            at = question.space.values.index(label)
            assert found.scores[name] == pytest.approx(shares[letters[at]] / total), name
        assert found.scores["label_mass"] == pytest.approx(total)


def test_the_letters_stand_for_what_the_prompt_says(serve):
    """Swapping two answers in the table would give the letters another meaning than the number."""
    server = serve(lambda request, n: picked("B"))
    expected = {
        "source-reference": ("B: No, it refers to none.", {"refers_to_external_source": 0.0}),
        "model-knowledge": ("B: No, what I know says otherwise.", {"knows": -1.0}),
        "verdict": ("B: False: the evidence shows that it is not.", {"verdict": -1.0}),
    }
    for slug, (line, scores) in expected.items():
        (found,) = scored(slug, pair("Ice melts", EVIDENCE))
        assert line in server.requests[-1]["messages"][0]["content"]
        assert found.scores.items() >= scores.items()
        # Without log probabilities the answer is known and how sure it was is not.
        assert {value for name, value in found.scores.items() if name not in scores} == {None}


def test_only_what_the_question_is_about_is_sent(serve):
    server = serve(lambda request, n: picked("A"))
    sent = {}
    for slug in SLUGS:
        scored(slug, pair("Ice melts", EVIDENCE))
        sent[slug] = server.requests[-1]["messages"][1]["content"]
    assert [("Ice melts" in text, EVIDENCE in text) for text in sent.values()] == [
        (False, True),
        (True, False),
        (True, True),
    ]


def test_what_a_model_knows_needs_no_passage_and_a_verdict_takes_several(serve):
    server = serve(lambda request, n: picked("A"))
    (knows,) = scored("model-knowledge", CheckerInput("1", {"claim": "Ice melts", "passages": ()}))
    (verdict,) = scored("verdict", triplet("Ice melts", "One.", "Two."))
    assert knows.scores["knows"] == verdict.scores["verdict"] == 1.0
    assert "[begin evidence 2 " in server.requests[-1]["messages"][1]["content"]
    (several,) = scored("source-reference", triplet("Ice melts", "One.", "Two."))
    assert several.error.reason == "several-passages"


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (completion("Yes"), "malformed"),
        (completion("A", finish="length"), "truncated"),
        (completion(None, refusal="no"), "refused"),
    ],
)
def test_what_is_no_answer_is_a_failure_and_no_score(serve, slug, body, reason):
    serve(lambda request, n: picked("A") if "good" in request["messages"][1]["content"] else body)
    bad, good = scored(slug, pair("bad", "bad", "1"), pair("good", "good", "2"))
    assert (bad.id, bad.error.reason, bad.scores) == ("1", reason, {}) and bad.usage and bad.trace
    assert good.scores[QUESTIONS[slug].score] == 1.0


@pytest.mark.parametrize("slug", ["source-reference", "verdict"])
def test_what_is_no_text_fails_alone_and_is_never_sent(serve, slug):
    server = serve(lambda request, n: picked("A"))
    inputs = [pair("claim", text, name) for name, (text, _) in UNREADABLE.items()] + [pair("a", "😀" * 50_000, "good")]
    found = scored(slug, *inputs)
    assert [one.error and one.error.reason for one in found] == [reason for _, reason in UNREADABLE.values()] + [None]
    assert len(server.requests) == 1


def test_they_take_no_label_spaces_and_say_what_they_are(serve):
    serve(lambda request, n: picked("A"))
    with pytest.raises(SpaceError, match="scores and no labels"):
        load("verdict", STANCE)
    description = load("verdict", (), {"prompt": "Mine: $options"}).describe()
    assert description["prompts"]["verdict"][0]["name"] == "own" and description["model"] == "m"
    assert json.loads(json.dumps(description)) == description


def test_a_server_that_dies_is_waited_for(serve):
    def answer(request, n):
        if n == 3:
            threading.Thread(target=fall_over).start()
            time.sleep(0.3)
        return picked("A")

    def fall_over():
        server.stop()
        time.sleep(0.5)
        server.start()

    server = serve(answer, max_in_flight=1)
    found = scored("verdict", *(pair("claim", f"text {n}", str(n)) for n in range(6)), wait_seconds=30, retries=0)
    assert [(one.id, one.scores.get("verdict")) for one in found] == [(str(n), 1.0) for n in range(6)]
