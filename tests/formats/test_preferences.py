"""Tables of preferences as they are found: which columns mean what, in whose terms a choice is, and what is refused."""

import json
from pathlib import Path

import pytest

from annotation.formats import Options, SourceFile, detect, get_format
from annotation.formats.records import (
    SHOWN_ORDER,
    AnnotationRecord,
    ComparisonRecord,
    DecisionRecord,
    QuestionRecord,
    RowError,
    SuggestionRecord,
)

CASES = Path(__file__).resolve().parents[3] / "shared" / "cases" / "pairwise.csv"
ROW = {"prompt": "Why?", "response_a": "Because.", "response_b": "So.", "model_a": "x", "model_b": "y"}


def read(tmp_path, *rows: dict) -> list:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert detect(path) == "preferences"
    return list(get_format("preferences").read([SourceFile(path)], Options()))


def of(kind: type, records: list) -> list:
    return [one for one in records if isinstance(one, kind)]


def label_of(records: list) -> str:
    [answer] = of(AnnotationRecord, records)
    [judgement] = answer.judgements
    return judgement.label


@pytest.mark.parametrize(
    ("winner", "label"),
    [
        *[(one, "a") for one in ("A", "a", "model_a", "response_a", "Assistant A", "1", 1, "left", "x")],
        *[(one, "b") for one in ("B", "model_b", "2", "right", "second", "y")],
        *[(one, "tie") for one in ("tie", "Tie", "tie (inconsistent)", "both good")],
        *[(one, "none") for one in ("both_bad", "tie (bothbad)", "none of them")],
    ],
)
def test_a_winner_is_found_as_it_is_written(tmp_path, winner, label):
    assert label_of(read(tmp_path, ROW | {"winner": winner, "judge": "ada"})) == label


@pytest.mark.parametrize("winner", ["C", "0", "3", "maybe", "model_c", "x y", "ab"])
def test_a_winner_that_is_neither_is_refused(tmp_path, winner):
    records = read(tmp_path, ROW | {"winner": winner, "judge": "ada"})
    [error] = of(RowError, records)
    assert (error.line, error.column, error.value) == (1, "winner", winner)
    assert error.reason == "is none of A, B, x, y, and neither tie nor both_bad"
    assert len(records) == 1


@pytest.mark.parametrize("winner", ["neither", "None"])
def test_a_winner_that_may_mean_a_tie_or_all_bad_is_refused(tmp_path, winner):
    [error] = read(tmp_path, ROW | {"winner": winner, "judge": "ada"})
    assert isinstance(error, RowError) and error.column == "winner" and error.reason.endswith("write tie or both_bad")


@pytest.mark.parametrize(
    ("change", "column", "reason"),
    [
        ({"response_b": ""}, "response_b", "is empty: a comparison needs the text of each of its outputs"),
        ({"response_b": "  "}, "response_b", "is empty"),
        ({"response_a": None}, "response_a", "is empty"),
        ({"response_b": "Because."}, "response_b", "is the same text as output_a"),
        ({"prompt": " "}, "prompt", "is empty: a comparison needs its prompt"),
        ({"response_a": {"x": 1}}, "response_a", "is not a text"),
    ],
)
def test_a_comparison_without_two_different_outputs_is_refused_whole(tmp_path, change, column, reason):
    good = ROW | {"prompt": "Good?", "winner": "A", "judge": "ada"}
    records = read(tmp_path, ROW | {"winner": "A", "judge": "ada"} | change, good)
    [error] = of(RowError, records)
    assert (error.line, error.column) == (1, column) and reason in error.reason
    assert [one.text for one in of(QuestionRecord, records)] == ["Good?"]  # the bad row leaves nothing


def test_a_bad_first_row_does_not_hide_the_question_of_the_next(tmp_path):
    rows = [ROW | {"winner": "A", "response_b": "Because."}, ROW | {"winner": "A"}]
    records = read(tmp_path, *rows)
    assert [type(one) for one in records] == [RowError, QuestionRecord, ComparisonRecord, DecisionRecord]


def test_the_same_outputs_in_another_order_are_one_comparison_and_the_choice_is_in_its_terms(tmp_path):
    swapped = ROW | {"response_a": "So.", "response_b": "Because.", "model_a": "y", "model_b": "x"}
    rows = [ROW | {"winner": "model_a", "judge": "ada"}, swapped | {"winner": "model_a", "judge": "bea"}]
    records = read(tmp_path, *rows)
    [comparison] = of(ComparisonRecord, records)
    assert (comparison.output_a, comparison.system_a) == ("Because.", "x")
    assert [
        (one.rater, one.judgements[0].label, one.metadata[SHOWN_ORDER]) for one in of(AnnotationRecord, records)
    ] == [
        ("ada", "a", ["output_a", "output_b"]),
        ("bea", "b", ["output_b", "output_a"]),
    ]


def test_a_judge_in_both_orders_is_two_checkers(tmp_path):
    swapped = ROW | {"response_a": "So.", "response_b": "Because.", "model_a": "y", "model_b": "x"}
    for judge in (["gpt-4", "pair-v2"], "model:gpt-4"):
        rows = [ROW | {"winner": "model_a", "judge": judge}, swapped | {"winner": "model_a", "judge": judge}]
        found = of(SuggestionRecord, read(tmp_path, *rows))
        assert [(one.checker, one.label) for one in found] == [("gpt-4", "a"), ("gpt-4 (swapped)", "b")]


def test_one_rater_chooses_once_and_decisions_agree(tmp_path):
    twice = read(tmp_path, *[ROW | {"winner": one, "judge": "ada"} for one in ("A", "B")])
    assert [error.reason for error in of(RowError, twice)] == ["answered the same comparison on line 1 already"]
    decided = read(tmp_path, *[ROW | {"winner": one} for one in ("A", "A", "B")])
    assert [one.label for one in of(DecisionRecord, decided)] == ["a", "a"]
    assert [error.reason for error in of(RowError, decided)] == ["differs from line 1, and no column names raters"]


def test_the_same_texts_of_other_systems_are_another_comparison(tmp_path):
    other = {"model_a": "z", "model_b": "y"}
    rows = [ROW | {"winner": "x", "judge": "ada"}, ROW | other | {"winner": "y", "judge": "ada"}]
    first, second = of(ComparisonRecord, records := read(tmp_path, *rows))
    assert (first.system_a, second.system_a) == ("x", "z") and first.key != second.key
    assert [(one.item, one.judgements[0].label) for one in of(AnnotationRecord, records)] == [
        (first.key, "a"),
        (second.key, "b"),
    ]


def test_an_id_stands_for_one_comparison(tmp_path):
    rows = [ROW | {"id": 7, "winner": "A"}, ROW | {"id": 7, "response_b": "Other.", "winner": "A"}]
    records = read(tmp_path, *rows)
    assert [one.key for one in of(ComparisonRecord, records)] == ["7"]
    assert of(RowError, records)[0].reason == "is the id of other texts on line 1; give each comparison its own"


def test_best_of_five_is_numbered_from_0_or_from_1(tmp_path):
    for first in (0, 1):
        texts = {f"output_{first + place}": f"Text {place}" for place in range(5)}
        records = read(tmp_path, {"prompt": "Which?", **texts, "preferred": f"output_{first + 4}", "rater": "r"})
        assert of(ComparisonRecord, records)[0].output_e == "Text 4" and label_of(records) == "e"


def test_mt_bench(tmp_path):
    turns = [{"role": "user", "content": "First?"}, {"role": "assistant", "content": "One."}]
    more = [{"role": "user", "content": "Second?"}, {"role": "assistant", "content": "Two."}]
    other = [
        *turns[:1],
        {"role": "assistant", "content": "Eins."},
        *more[:1],
        {"role": "assistant", "content": "Zwei."},
    ]
    row = {
        "question_id": 81,
        "model_a": "gpt-4",
        "model_b": "llama-13b",
        "winner": "model_b",
        "judge": "expert_17",
        "conversation_a": [*turns, *more],
        "conversation_b": other,
    }
    records = read(tmp_path, row | {"turn": 1}, row | {"turn": 2})
    first, second = of(ComparisonRecord, records)
    assert [one.text for one in of(QuestionRecord, records)] == ["First?", "First?\n\n---\n\nSecond?"]
    assert (first.key, first.output_a, first.output_b) == ("81/1/gpt-4/llama-13b", "One.", "Eins.")
    assert second.output_b == "Eins.\n\n---\n\nZwei."
    assert [one.rater for one in of(AnnotationRecord, records)] == ["expert_17"] * 2


def test_a_turn_without_a_role_is_refused(tmp_path):
    row = {"conversation_a": [{"content": "x"}], "conversation_b": [{"role": "user", "content": "y"}], "winner": "a"}
    [error] = of(RowError, read(tmp_path, row))
    assert error.column == "conversation_a[0].role" and "is missing" in error.reason


def test_a_later_row_may_have_more_outputs_than_the_first(tmp_path):
    more = {"response_c": "Thus.", "model_c": "z", "winner": "z"}
    records = read(
        tmp_path, ROW | {"winner": "y"}, ROW | {"prompt": "How?"} | more, ROW | {"prompt": "Who?", "winner": "x"}
    )
    found = [(one.output_b, one.output_c, one.system_c) for one in of(ComparisonRecord, records)]
    assert found == [("So.", "", ""), ("So.", "Thus.", "z"), ("So.", "", "")]
    assert [one.label for one in of(DecisionRecord, records)] == ["b", "c", "a"]


def test_chosen_and_rejected(tmp_path):
    dialogue = "\n\nHuman: Hello\n\nAssistant: {}"
    split = read(tmp_path, {"chosen": dialogue.format("Hi!"), "rejected": dialogue.format("What?")})
    said = [{"role": "user", "content": "Hello"}]
    turns = {
        name: [*said, {"role": "assistant", "content": text}]
        for name, text in (("chosen", "Hi!"), ("rejected", "What?"))
    }
    for records, prompt in ((split, "Human: Hello"), (read(tmp_path, turns), "Hello")):
        [comparison], [decision] = of(ComparisonRecord, records), of(DecisionRecord, records)
        assert of(QuestionRecord, records)[0].text == prompt
        assert (comparison.output_a, comparison.output_b, decision.label) == ("Hi!", "What?", "a")


@pytest.mark.skipif(not CASES.exists(), reason="the shared cases are not here")
def test_the_shared_case_is_one_of_preferences():
    assert detect(CASES) == "preferences"
    records = list(get_format("preferences").read([SourceFile(CASES)], Options()))
    assert [len(of(kind, records)) for kind in (ComparisonRecord, AnnotationRecord, RowError)] == [12, 36, 0]
