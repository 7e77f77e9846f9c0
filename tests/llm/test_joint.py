"""Several pieces of one answer in one request: which letter is whose, what goes together, and what fails with what."""

from __future__ import annotations

import json
import re

import pytest

from models_runtime import STANCE, CheckerInput, load
from tests.models_runtime.samples import TRIPLETS, UNREADABLE, triplet

from .server import completion, token

KNOWN = {"ice melts": "A", "ice burns": "C", "ice sings": "B", "ice of": "D"}
PASSAGES = ("Ice melts and never burns.", "It is cold.")


def numbered(request: dict) -> dict[str, str]:
    """Each statement of the request by its number."""
    return dict(
        re.findall(r"\[begin claim (\d+) \w+\]\n(.*?)\n\[end claim", request["messages"][1]["content"], re.DOTALL)
    )


def known(request: dict, n: int) -> dict:
    return completion(json.dumps({number: KNOWN[text] for number, text in numbered(request).items()}), usage=(101, 7))


def judged(found) -> list[str]:
    return [one.labels["entailment"].label if one.labels else one.error.reason for one in found]


def test_each_number_gets_its_own_letter_in_one_request(serve):
    server = serve(known)
    inputs = [triplet(text, *PASSAGES, key=text) for text in KNOWN]
    found = load("llm", TRIPLETS, {"pieces": "joint"}).predict(inputs)
    assert [one.id for one in found] == list(KNOWN)
    assert judged(found) == ["entailment", "contradiction", "neutral", "bad_triplet"]
    (request,) = server.requests
    schema = request["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["1", "2", "3", "4"] and not schema["additionalProperties"]
    assert schema["properties"]["2"] == {"type": "string", "enum": ["A", "B", "C", "D"]}
    # What it cost is shared, and nothing of it is lost or counted twice.
    assert [one.usage.prompt_tokens for one in found] == [26, 25, 25, 25]
    assert sum(one.usage.completion_tokens for one in found) == 7
    assert all(one.trace["output"] == found[0].trace["output"] for one in found)


def test_labels_in_another_order_have_other_letters(serve):
    serve(known)
    swapped = type(TRIPLETS)("entailment", "entailment", (TRIPLETS.labels[2], *TRIPLETS.labels[1::-1]))
    found = load("llm", swapped, {"pieces": "joint"}).predict([triplet("ice melts", *PASSAGES)])
    assert judged(found) == ["contradiction"]


def test_only_pieces_with_the_same_passages_go_together_and_never_too_many(serve):
    server = serve(known)
    inputs = [triplet("ice melts", "one", key="1"), triplet("ice burns", "two", key="2")]
    inputs += [triplet("ice sings", "one", key=str(n)) for n in range(3, 33)]
    inputs.append(CheckerInput("33", {"claim": "ice of", "passages": ("one",), "question": "Which ice?"}))
    found = load("llm", TRIPLETS, {"pieces": "joint"}).predict(inputs)
    assert judged(found) == ["entailment", "contradiction", *["neutral"] * 30, "bad_triplet"]
    assert sorted(len(numbered(request)) for request in server.requests) == [1, 1, 6, 25]
    server.requests.clear()
    load("llm", TRIPLETS, {"pieces": "joint", "pieces_at_once": 10}).predict(inputs)
    assert sorted(len(numbered(request)) for request in server.requests) == [1, 1, 1, 10, 10, 10]


def test_probabilities_are_those_at_the_place_of_each_letter(serve):
    """The third piece's place lacks two letters, and that piece fails alone."""

    def place(number, letter, probabilities):
        return [*(token(text, {text: 1.0}) for text in (number, '": "')), token(letter, probabilities)]

    tokens = [
        token('{"', {'{"': 1.0}),
        *place("1", "A", {"A": 0.6, "B": 0.1, "C": 0.05, "D": 0.05, "well": 0.2}),
        token('", "', {'", "': 1.0}),
        *place("2", "C", {"C": 0.9, "A": 0.08, "B": 0.01, "D": 0.01}),
        token('", "', {'", "': 1.0}),
        *place("3", "B", {"B": 0.9, "A": 0.1}),
        token('"}', {'"}': 1.0}),
    ]
    serve(lambda request, n: completion('{"1": "A", "2": "C", "3": "B"}', logprobs={"content": tokens}))
    claims = ("ice melts", "ice burns", "ice flows")
    inputs = [triplet(claim, *PASSAGES, key=str(n)) for n, claim in enumerate(claims)]
    one, two, three = load("llm", TRIPLETS, {"pieces": "joint"}).predict(inputs)
    assert one.labels["entailment"].probability == pytest.approx(0.75)
    assert one.scores["label_mass"] == pytest.approx(0.8)
    assert two.labels["entailment"].probabilities == pytest.approx(
        {"entailment": 0.08, "neutral": 0.01, "contradiction": 0.9, "bad_triplet": 0.01}
    )
    assert (three.error.reason, three.error.permanent) == ("incomplete", False)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"1": "A", "2": "C"}', ["entailment", "contradiction"]),
        ('{"1": "A"}', ["entailment", "malformed"]),
        ('{"1": "A", "2": "Z"}', ["entailment", "malformed"]),
        ('{"1": ["A"], "2": "C"}', ["malformed", "contradiction"]),
        ('{"1": "A", "2": "C", "3": "B"}', ["malformed", "malformed"]),
        ('{"1": "A", "1": "B", "2": "C"}', ["malformed", "malformed"]),
        ('["A", "C"]', ["malformed", "malformed"]),
        ("A", ["malformed", "malformed"]),
    ],
)
def test_what_is_malformed_fails_the_pieces_concerned_and_no_others(serve, answer, expected):
    serve(lambda request, n: known(request, n) if "ice sings" in str(request) else completion(answer))
    inputs = [triplet("ice melts", *PASSAGES, key="1"), triplet("ice burns", *PASSAGES, key="2")]
    inputs.append(triplet("ice sings", "other", key="3"))
    found = load("llm", TRIPLETS, {"pieces": "joint"}).predict(inputs)
    assert judged(found) == [*expected, "neutral"]


def test_what_is_cut_off_fails_them_all(serve):
    serve(lambda request, n: completion('{"1": "A", "2": "C"}', finish="length"))
    inputs = [triplet("ice melts", *PASSAGES, key="1"), triplet("ice burns", *PASSAGES, key="2")]
    assert judged(load("llm", TRIPLETS, {"pieces": "joint"}).predict(inputs)) == ["truncated", "truncated"]


def test_passages_one_by_one_merge_for_each_piece(serve):
    def answer(request, n):
        letters = {"ice melts": "A" if "\nmelts\n" in str(request["messages"][1]["content"]) else "C", "ice sings": "B"}
        return completion(json.dumps({number: letters[text] for number, text in numbered(request).items()}))

    server = serve(answer)
    inputs = [triplet("ice melts", "melts", "cold", key="1"), triplet("ice sings", "melts", "cold", key="2")]
    found = load("llm", TRIPLETS, {"pieces": "joint", "passages": "each"}).predict(inputs)
    assert judged(found) == ["entailment", "neutral"] and len(server.requests) == 2


def test_what_is_no_text_fails_alone_and_alternatives_are_asked_alone(serve):
    def answer(request, n):
        return known(request, n) if "1" in numbered(request) and "json_schema" in str(request) else completion("B")

    server = serve(answer)
    inputs = [CheckerInput(name, {"claim": "ice melts", "passages": (text,)}) for name, (text, _) in UNREADABLE.items()]
    inputs.append(CheckerInput("several", {"claims": ("one", "two"), "passages": PASSAGES}))
    inputs.append(triplet("ice burns", *PASSAGES, key="good"))
    found = load("llm", TRIPLETS, {"pieces": "joint"}).predict(inputs)
    assert judged(found) == [reason for _, reason in UNREADABLE.values()] + ["neutral", "contradiction"]
    assert len(server.requests) == 2


def test_other_questions_are_asked_one_by_one_whatever_is_set(serve):
    server = serve(lambda request, n: completion("A"))
    load("llm", STANCE, {"pieces": "joint"}).predict([triplet("a", "b", key="1"), triplet("c", "b", key="2")])
    assert len(server.requests) == 2 and all("structured_outputs" in request for request in server.requests)
