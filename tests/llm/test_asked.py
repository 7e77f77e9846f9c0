"""Scores that are a model's answers: which letter gives which number, what is sent, and what is no answer."""

from __future__ import annotations

import json
import threading
import time

import pytest

from models_runtime import STANCE, CheckerInput, load, registry
from models_runtime.contracts import SpaceError, UnavailableError
from models_runtime.llm import client, prompts
from models_runtime.llm.endpoints import VARIABLE
from models_runtime.scorers import model_knowledge, source_reference, verdict
from tests.models_runtime.samples import UNREADABLE, pair, triplet

from .server import FakeServer, Reply, completion, picked

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


def test_what_a_model_knows_is_asked_by_a_question_that_another_one_writes(serve, monkeypatch):
    """The writer sees the statement, the model asked about the question alone."""
    writer = FakeServer(lambda request, n: completion("Did Lake Constance freeze in 1963?", usage=(40, 8)))
    writer.start()
    server = serve(lambda request, n: picked("C"))
    main = {"url": server.url, "model": "m"}
    monkeypatch.setenv(VARIABLE, json.dumps({"main": main, "writer": {"url": writer.url, "model": "m"}}))
    scorer = load("model-knowledge", (), {"wait_seconds": 0, "form": "question", "question_endpoint": "writer"})
    described = scorer.describe()
    (found,) = scorer.predict([triplet("Lake Constance froze in 1963", EVIDENCE)])
    assert found.scores["knows"] == 0.0 and found.usage.prompt_tokens == 140
    ((written,), (asked,)) = writer.requests, server.requests
    assert "Lake Constance froze in 1963" in str(written) and "Lake Constance froze in 1963" not in str(asked)
    assert "Did Lake Constance freeze" in asked["messages"][1]["content"] and EVIDENCE not in str(asked)
    names = [one["name"] for one in described["prompts"]["model-knowledge"]]
    assert names == ["knowledge-question", "model-knowledge-question"]
    assert described["questions_by"]["endpoint"] == "writer" and "Did Lake" in found.trace["output"]
    writer.answer = lambda request, n: completion("One?\nTwo?")
    (found,) = scorer.predict([triplet("Lake Constance froze in 1963", EVIDENCE)])
    assert found.error.reason == "malformed"
    writer.stop()


def test_a_model_finds_what_names_the_part_that_is_masked(serve):
    """In other words than the part's own; what it finds that is not there is passed over, and so are other passages."""

    def answer(request, n):
        if "structured_outputs" in request:
            return picked("B")
        passage = request["messages"][1]["content"].split("[begin passage ")[1]
        there = ["the Bodensee", "It", "a pond"] if "Bodensee" in passage else []
        return completion(json.dumps({"stretches": there}), usage=(30, 4))

    server = serve(answer)
    item = CheckerInput("1", {
        "claim": "Lake Constance froze in 1963", "subject": "Lake Constance", "object": "1963",
        "passages": ("Lake Constance is the Bodensee. It froze.", "Herring is caught in May."),
    })  # fmt: skip
    scorer = load("masked-reference-server", (), {"wait_seconds": 0, "mask": "subject", "masking": "model"})
    (found,) = scorer.predict([item])
    judged = server.requests[-1]["messages"][1]["content"]
    assert "#### is ####. #### froze." in judged and "Herring is caught in May." in judged
    assert found.scores["masked_places"] == 3.0 and found.scores["masked_label"] == 0.0 and not found.labels
    assert found.usage.prompt_tokens == 30 + 30 + 100 and len(server.requests) == 3
    assert scorer.describe()["prompts"]["masking"][0]["name"] == "mask-references"
    (literally,) = load("masked-reference-server", (), {"wait_seconds": 0, "mask": "subject"}).predict([item])
    assert literally.scores["masked_places"] == 1.0 and len(server.requests) == 4


def test_what_was_judged_of_masked_references_before_a_server_goes_is_kept_as_scores(serve):
    server = serve(lambda request, n: picked("B") if n < 2 else Reply({}, 429, {"Retry-After": "900"}), max_in_flight=1)
    items = [
        CheckerInput(str(n), {"claim": "Ice melts", "subject": "Ice", "object": "x", "passages": ("Ice melts.",)})
        for n in range(4)
    ]
    scorer = load("masked-reference-server", (), {"wait_seconds": 0, "retries": 0, "mask": "subject"})
    with pytest.raises(UnavailableError) as stopped:
        scorer.predict(items)
    kept = stopped.value.predictions
    assert [one.id for one in kept] == ["0", "1"] and len(server.requests) > 2
    assert all(one.scores["masked_places"] == 1.0 and not one.labels for one in kept)
