"""Judges that give their reasons: whatever they write around it, the last decision counts, and what they quote is
looked for in the texts."""

from __future__ import annotations

import json

import pytest

from models_runtime import RELEVANCE, STANCE, load
from models_runtime.contracts import CheckerInput, InputError, LabelSpace, ParameterError
from models_runtime.llm.decisions import read_decision, split_thought
from tests.models_runtime.samples import pair

from .server import completion

LETTERS = {"A": "yes", "B": "no"}
NAMES = {"sufficient": "yes", "insufficient": "no", "1": "yes", "0": "no"}
SUFFICIENT = LabelSpace(
    "sufficiency",
    "coverage",
    (("sufficient", 1.0), ("insufficient", 0.0)),
    span_field="passages",
    question="Do the passages suffice?",
    meanings=(("sufficient", "Sufficient. A definite answer follows"), ("insufficient", "Not sufficient. It does not")),
    called=("question", "passage"),
)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("B", "no"),
        ("  **B**\n", "no"),
        ("Both years fit, so my answer is B.", "no"),
        ("Answer: A\nWait, the second passage denies it.\nFinal answer: **(B)**", "no"),
        (
            '<think>{"answer": "A"} or B?</think>\n```json\n{"explanation": "x", "answer": "B"}\n```\nHope this helps!',
            "no",
        ),
        ('surely A</think>{"answer": "b"}'.replace('"b"', '"B"'), "no"),
        ('{"answer": "A"} is what I thought at first. {"answer": "B"}', "no"),
        ('{"answer": "A"}\nNo: the final decision is B.', "no"),
        ('{"Sufficient Context": 0}', "no"),
        ('{"sufficient": true, "why": {"deep": ["er"]}}', "yes"),
        ('{"verdict": "Insufficient", "quotes": []}', "no"),
        ('### EXPLANATION\nIt follows.\n### JSON\n{"label": "sufficient",}', "yes"),
        ("Therefore \\boxed{B}", "no"),
        ("Die Stelle sagt es nicht.\nAntwort: B", "no"),
        ("<|channel|>analysis<|message|>A?<|end|><|start|>assistant<|channel|>final<|message|>B", "no"),
    ],
)
def test_the_last_decision_is_found_in_whatever_stands_around_it(text, label):
    assert read_decision(text, LETTERS, NAMES).label == label


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        ("The answer is in the second passage.", "ends without a decision (A or B): “The answer is in the second"),
        ("I'm sorry, but I cannot help with that.", "ends without a decision"),
        ("回答は可能です。", "回答は可能です"),
        ('{"answer": "A"} or rather {"answer": "C"}', "none of those offered"),
        ("<think>A, definitely A", "A, definitely A"),
        ("{" * 50_000, "ends without a decision"),
        ("A matter of taste", "ends without a decision"),
    ],
)
def test_what_decides_nothing_fails_with_its_end_told(text, told):
    with pytest.raises(InputError) as error:
        read_decision(text, LETTERS, NAMES)
    assert error.value.reason == "malformed" and told in error.value.message and len(error.value.message) < 450


def test_thinking_is_told_apart():
    assert split_thought("<think>one</think>two<think>three</think>four") == ("one\nthree", "twofour")
    assert read_decision("<think>Since it says so.</think>A", LETTERS).explanation == "Since it says so."


PASSAGES = ("Lake Constance  froze over in February 1963.", "It had not done so since 1880.")


def asked(texts=PASSAGES, **fields):
    return CheckerInput("1", {"claim": "When did it last freeze?", "passages": texts, **fields})


def said(**given) -> str:
    return json.dumps({"explanation": "The first passage says when.", "quotes": [], "answer": "A"} | given)


@pytest.mark.parametrize("reasoning", ["json", "free"])
def test_reasons_and_quotes_come_with_the_label(serve, reasoning):
    quotes = ["lake constance froze over", "“since 1880.”", "It froze in 2021"]
    content = said(quotes=quotes)
    server = serve(lambda request, n: completion(content if reasoning == "json" else f"First: when?\n{content}"))
    checker = load("llm", SUFFICIENT, {"reasoning": reasoning, "reasoning_tokens": 700})
    (found,) = checker.predict([asked(question_date="1999-05-04")])
    label = found.labels["sufficiency"]
    assert (label.label, label.probability, label.probabilities) == ("sufficient", None, {})
    assert label.explanation == "The first passage says when.\nQuoted, and not in the texts:\n“It froze in 2021”"
    assert [(one.field, one.quote) for one in found.spans] == [
        ("passages[0]", "Lake Constance  froze over"),
        ("passages[1]", "since 1880"),
    ]
    for one in found.spans:
        assert PASSAGES[int(one.field[9])][one.start : one.end] == one.quote
    (request,) = server.requests
    assert request["max_tokens"] == 700 and "structured_outputs" not in request
    assert ("response_format" in request) == (reasoning == "json")
    assert "smaller questions" in request["messages"][0]["content"]
    assert "[begin date of the question" in request["messages"][1]["content"]
    assert '"answer": "…"' in request["messages"][1]["content"]
    described = checker.describe()
    assert described["prompts"]["sufficiency"][1]["name"] == "reasoned/sufficiency"


def test_a_model_that_thinks_apart_writes_on_for_ever_or_refuses(serve):
    thinking = completion("B")
    thinking["choices"][0]["message"]["reasoning_content"] = "None of it is about the lake."
    replies = [thinking, completion("and so on, A, and", finish="length"), completion(None, refusal="No.")]
    serve(lambda request, n: replies[n], max_in_flight=1)
    checker = load("llm", RELEVANCE, {"reasoning": "free"})
    thought, endless, refused = checker.predict([pair("claim", text, text) for text in "abc"])
    assert thought.labels["relevance"].explanation == "None of it is about the lake."
    assert thought.trace["output"] == "<think>None of it is about the lake.</think>\nB"
    assert (endless.error.reason, refused.error.reason) == ("truncated", "refused")
    assert endless.trace["output"] == "and so on, A, and"


def test_of_single_passages_the_one_that_decides_gives_the_reasons(serve):
    def answer(request, n):
        letter = "C" if "1963" in str(request["messages"][1]) else "B"
        return completion(said(explanation=f"It is {letter}.", quotes=["February"], answer=letter))

    serve(answer)
    checker = load("llm", STANCE, {"reasoning": "json", "passages": "each"})
    (found,) = checker.predict([asked(("It was cold in February.", "It froze in February 1963."))])
    assert found.labels["stance"].label == "supports" and found.labels["stance"].explanation == "It is C."
    assert [(one.field, one.quote) for one in found.spans] == [("passages[1]", "February")]


def test_several_pieces_at_once_are_answered_without_reasons(serve):
    serve(lambda request, n: completion("A"))
    with pytest.raises(ParameterError, match="without reasoning"):
        load("llm", RELEVANCE, {"reasoning": "json", "pieces": "joint"})
