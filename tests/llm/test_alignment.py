"""Claims and aspects in one request: which number is whose, what is covered by what, and what is no answer."""

from __future__ import annotations

import json
import re
import threading
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models_runtime import CheckerInput, LabelSpace, load, registry
from models_runtime.contracts import ParameterError, SpaceError
from models_runtime.llm import alignment, client
from models_runtime.llm.alignment import Alignable, align
from models_runtime.llm.asking import Server
from models_runtime.llm.endpoints import VARIABLE
from tests.models_runtime.samples import UNREADABLE
from tests.models_runtime.test_fuzz import LONG, TEXT

from .server import FakeServer, completion

QUESTION = "When did the harbour freeze?"
TEXT_OF_THREE = "It rains often. The harbour froze in 1963. Children skated, and fish slept."
COVERAGE = LabelSpace(
    "coverage",
    "coverage",
    (("covered", 1.0), ("not_covered", 0.0)),
    span_field="evidence",
    span_labels=("covered",),
    called=("aspect", "response"),
)
# What a careful reader would say: a statement's words -> the aspects that it deals with.
KNOWN = {"froze in 1963": {"the year"}, "Children skated": {"what people did", "what animals did"}}


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.02)
    monkeypatch.setattr(client, "POLL_SECONDS", 0.05)


def blocks(request, name: str) -> dict[int, str]:
    found = re.findall(rf"\[begin {name} (\d+) \w+\]\n(.*?)\n\[end", request["messages"][1]["content"], re.DOTALL)
    return {int(number): text for number, text in found}


def careful(request, n):
    aspects = {text: number for number, text in blocks(request, "aspect").items()}
    answer = {
        number: [
            aspects[one] for words, dealt in KNOWN.items() if words in text for one in sorted(dealt & set(aspects))
        ]
        for number, text in blocks(request, "statement").items()
    }
    return completion(json.dumps(answer), usage=(100, 11))


def asked(aspect, text=TEXT_OF_THREE, key="", question=QUESTION):
    return CheckerInput(key or aspect, {"claim": aspect, "evidence": text, "question": question})


def judge(*inputs, space=COVERAGE, **parameters):
    return load("aspect-alignment", space, {"wait_seconds": 0, **parameters}).predict(inputs)


def test_every_aspect_of_an_answer_is_asked_about_in_one_request_and_the_first_sentence_is_the_rationale(serve):
    server = serve(careful)
    found = judge(asked("the year"), asked("the cost"), asked("what animals did"))
    assert [one.labels["coverage"].label for one in found] == ["covered", "not_covered", "covered"]
    assert [[span.quote for span in one.spans] for one in found] == [
        ["The harbour froze in 1963."],
        [],
        ["Children skated, and fish slept."],
    ]
    (span,) = found[0].spans
    assert (span.field, TEXT_OF_THREE[span.start : span.end]) == ("evidence", span.quote)
    assert all(one.labels["coverage"].probability is None for one in found)
    (request,) = server.requests
    assert blocks(request, "aspect") == {1: "the year", 2: "the cost", 3: "what animals did"}
    assert sum(one.usage.completion_tokens for one in found) == 11
    schema = request["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["1", "2", "3"] and schema["properties"]["1"]["items"]["enum"] == [1, 2, 3]


def test_numbers_are_those_of_the_aspects_and_labels_those_of_the_scale(serve):
    """Exchanging two aspects, or the two labels, must change the outcome."""
    serve(lambda request, n: completion('{"1": [], "2": [1], "3": []}'))
    one, two = judge(asked("the year"), asked("the cost"))
    assert (one.labels["coverage"].label, two.labels["coverage"].label) == ("covered", "not_covered")
    two, one = judge(asked("the cost"), asked("the year"))
    assert (one.labels["coverage"].label, two.labels["coverage"].label) == ("not_covered", "covered")
    turned = LabelSpace("coverage", "coverage", (("not_covered", 1.0), ("covered", 0.0)))
    assert judge(asked("the year"), space=turned)[0].labels["coverage"].label == "not_covered"


def test_another_answer_or_question_is_another_request_and_equal_answers_share_one(serve):
    server = serve(careful)
    inputs = [asked("the year", key="1"), asked("the year", "It froze in 1963.", key="2"), asked("the year", key="3")]
    found = judge(*inputs, asked("the year", question="Why?", key="4"))
    assert [one.labels["coverage"].label for one in found] == ["covered"] * 4
    assert [list(blocks(request, "aspect").values()) for request in server.requests] == [["the year"]] * 3


def test_any_of_several_alternatives_counts_and_no_answer_is_told_without_asking(serve):
    server = serve(careful)
    either = CheckerInput("1", {"claims": ("the cost", "the year"), "evidence": TEXT_OF_THREE})
    space = LabelSpace("coverage", "coverage", (*COVERAGE.labels, ("missing", None)), no_answer="missing")
    found = judge(either, asked("the year", "I don't know."), space=space)
    assert [one.labels["coverage"].label for one in found] == ["covered", "missing"] and len(server.requests) == 1


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (completion('{"1": [], "2": []}'), "malformed"),
        (completion('{"1": [], "2": [1], "3": [], "4": []}'), "malformed"),
        (completion('{"1": [], "2": [3], "3": []}'), "malformed"),
        (completion('{"1": [], "2": [0], "3": []}'), "malformed"),
        (completion('{"1": [], "2": [true], "3": []}'), "malformed"),
        (completion('{"1": [], "2": 1, "3": []}'), "malformed"),
        (completion('{"1": [], "2": [1], "3": [], "3": []}'), "malformed"),
        (completion("[[], [1], []]"), "malformed"),
        (completion('{"1": [], "2"', finish="length"), "truncated"),
        (completion(None, refusal="no"), "refused"),
    ],
)
def test_what_is_malformed_fails_the_aspects_of_that_answer_and_is_never_not_covered(serve, body, reason):
    serve(lambda request, n: careful(request, n) if "good" in request["messages"][1]["content"] else body)
    *bad, good = judge(asked("the year"), asked("the cost"), asked("the year", "A good year: it froze in 1963.", "g"))
    assert [(one.error.reason, one.labels) for one in bad] == [(reason, {})] * 2
    assert good.labels["coverage"].label == "covered"


def test_what_is_no_text_fails_alone_and_is_never_sent(serve):
    server = serve(careful)
    found = judge(*(asked("the year", text, name) for name, (text, _) in UNREADABLE.items()), asked("the year"))
    assert [one.error and one.error.reason for one in found] == [reason for _, reason in UNREADABLE.values()] + [None]
    assert len(server.requests) == 1


def test_long_answers_go_in_parts_and_lose_no_sentence(serve, monkeypatch):
    monkeypatch.setattr(alignment, "MOST_CLAIMS", 2)
    server = serve(careful)
    (found,) = align(Server(), [Alignable(QUESTION, ("So.", "It froze in 1963.", "Children skated."), tuple(ASPECTS))])
    assert found.aspects == ((), (0,), (1,)) and found.covering(1) == (2,) and found.covering(0) == (1,)
    assert [len(blocks(request, "statement")) for request in server.requests] == [2, 1]
    assert found.usage.prompt_tokens == 200


ASPECTS = ("the year", "what people did")


def test_in_a_notebook_an_answer_that_cannot_be_aligned_says_why(serve):
    serve(careful)
    answers = [Alignable(QUESTION, ("It froze in 1963.", " "), ASPECTS), Alignable("\0", ("a",), ASPECTS)]
    answers += [Alignable(QUESTION, ("a",), ()), Alignable(QUESTION, (), ASPECTS)]
    found = align(Server(), answers)
    assert [one.error and one.error.reason for one in found] == ["empty-claim", "nul-character", None, None]
    assert [one.aspects for one in found] == [(), (), ((),), ()]


def test_it_answers_coverage_alone_and_says_what_it_is(serve):
    serve(careful)
    with pytest.raises(SpaceError, match="does not answer stance"):
        load("aspect-alignment", LabelSpace("stance", "stance", (("for", 1.0), ("against", -1.0))))
    checker = load("aspect-alignment", COVERAGE)
    description = checker.describe()
    assert json.loads(json.dumps(description)) == description and description["dimensions"] == ["coverage"]
    assert description["prompts"]["align-aspects"][0]["version"] == "1" and checker.slice_at_least == 256


def test_instructions_of_ones_own_are_sent_and_named(serve):
    server = serve(careful)
    own = "Which of the aspects, at most $most, has each statement? $format"
    (found,) = judge(asked("the year"), prompt=own)
    assert found.labels["coverage"].label == "covered"
    said = server.requests[-1]["messages"][0]["content"]
    assert said.startswith("Which of the aspects, at most 1, has each statement? {")
    described = load("aspect-alignment", COVERAGE, {"wait_seconds": 0, "prompt": own}).describe()["prompts"]
    assert described != load("aspect-alignment", COVERAGE, {"wait_seconds": 0}).describe()["prompts"]
    with pytest.raises(ParameterError, match="format"):
        judge(asked("the year"), prompt="Say something.")


def test_a_server_that_dies_is_waited_for(serve):
    def answer(request, n):
        if n == 2:
            threading.Thread(target=fall_over).start()
            time.sleep(0.3)
        return careful(request, n)

    def fall_over():
        server.stop()
        time.sleep(0.5)
        server.start()

    server = serve(answer, max_in_flight=1)
    inputs = [asked("the year", f"It froze in 1963, or {n}.", str(n)) for n in range(5)]
    found = judge(*inputs, wait_seconds=30, retries=0)
    assert [(one.id, one.labels["coverage"].label) for one in found] == [(str(n), "covered") for n in range(5)]


@pytest.fixture(scope="module")
def everything():
    """Says that every statement deals with the first aspect."""
    server = FakeServer(lambda request, n: completion(json.dumps({n: [1] for n in blocks(request, "statement")})))
    server.start()
    yield server
    server.stop()


FUZZ = {"deadline": None, "suppress_health_check": list(HealthCheck)}


@settings(max_examples=25, **FUZZ)
@given(texts=st.lists(st.tuples(TEXT, TEXT), max_size=4))
def test_whatever_the_texts(everything, monkeypatch, texts):
    check(everything, monkeypatch, texts)


@settings(max_examples=4, **FUZZ)
@given(text=LONG)
def test_a_hundred_thousand_characters(everything, monkeypatch, text):
    check(everything, monkeypatch, [("an aspect", text)])


def check(server, monkeypatch, texts):
    registry._cache.clear()
    monkeypatch.setenv(VARIABLE, json.dumps({"main": {"url": server.url, "model": "m"}}))
    inputs = [asked(aspect, text, str(n)) for n, (aspect, text) in enumerate(texts)]
    found = judge(*inputs)
    assert [one.id for one in found] == [item.id for item in inputs]
    for item, one in zip(inputs, found, strict=True):
        if one.error:
            assert one.error.reason not in ("unexpected", "rejected") and not one.labels, one.error
            continue
        for span in one.spans:
            assert span.quote and span.quote == item.fields["evidence"][span.start : span.end]
