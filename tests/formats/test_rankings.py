"""Rankings as they are found: in columns, in lists, and as Label Studio and Argilla write them, and what is refused."""

import json

import pytest

from annotation.formats import Options, SourceFile, detect, get_format
from annotation.formats.records import (
    SHOWN_ORDER,
    AnnotationRecord,
    ComparisonRecord,
    DecisionRecord,
    FormatError,
    LostRecord,
    QuestionRecord,
    RowError,
    SuggestionRecord,
)
from annotation.task_types import task_type

TEXTS = {"a": "One.", "b": "Two.", "c": "Three."}
ROW = {"prompt": "Which?"} | {f"response_{place}": text for place, text in TEXTS.items()}
SYSTEMS = {"model_a": "x-1", "model_b": "y.2", "model_c": "z"}
RANKS = {"rank_a": 2, "rank_b": 1, "rank_c": 3}


def read(tmp_path, *rows: dict, kind: str = "ranking/ties/1") -> list:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert detect(path) == "rankings"
    sources = [SourceFile(path)]
    assert get_format("rankings").task_type_of(sources, Options()) == kind
    return list(get_format("rankings").read(sources, Options()))


def of(kind: type, records: list) -> list:
    return [one for one in records if isinstance(one, kind)]


def answers(records: list) -> list[tuple[str, str]]:
    return [(one.rater, one.judgements[0].label) for one in of(AnnotationRecord, records)]


@pytest.mark.parametrize(
    ("row", "label"),
    [
        (ROW | RANKS, "b-a-c"),
        (ROW | RANKS | {"rank_c": "1.0"}, "b.c-a"),
        (ROW | {"Response A rank": 3, "Response B rank": 1, "Response C rank": 2}, "b-c-a"),
        (ROW | SYSTEMS | {"ranking": "y.2 > z = x-1"}, "b-a.c"),
        (ROW | SYSTEMS | {"ranking": ["z", ["y.2", "x-1"]]}, "c-a.b"),
        (ROW | {"order": "C, A, B"}, "c-a-b"),
        ({"prompt": "Which?", "responses": [*TEXTS.values()], "ranks": [3, 2, 1]}, "c-b-a"),
        (
            {"prompt": "Which?", "answers": [{"answer": text, "model": text, "rank": 1.0} for text in TEXTS.values()]},
            "a.b.c",
        ),
    ],
)
def test_a_ranking_is_found_in_columns_and_lists(tmp_path, row, label):
    records = read(tmp_path, row)
    [decision] = of(DecisionRecord, records)
    assert (decision.dimension, decision.label) == ("ranking", label)
    assert task_type("ranking/ties/1").dimension("ranking").takes(label)
    [comparison] = of(ComparisonRecord, records)
    assert (comparison.output_a, comparison.output_c) == ("One.", "Three.")
    assert comparison.metadata == {}


def test_the_best_and_the_worst_of_several(tmp_path):
    records = read(
        tmp_path, ROW | SYSTEMS | {"best": "z", "worst": "A", "annotator": "ada"}, kind="ranking/best-worst/1"
    )
    assert answers(records) == [("ada", "c-_-a")]
    assert task_type("ranking/best-worst/1").dimension("best_worst").takes("c-_-a")


def test_outputs_in_another_order_are_one_comparison_in_its_terms(tmp_path):
    turned = {"response_a": "Three.", "response_b": "One.", "response_c": "Two."}
    records = read(tmp_path, ROW | RANKS | {"judge": "ada"}, ROW | RANKS | turned | {"judge": "bea"})
    assert len(of(ComparisonRecord, records)) == 1
    assert answers(records) == [("ada", "b-a-c"), ("bea", "a-c-b")]
    assert of(AnnotationRecord, records)[1].metadata[SHOWN_ORDER] == ["output_c", "output_a", "output_b"]


def test_label_studio(tmp_path):
    """As https://labelstud.io/tags/ranker shows it."""
    items = [
        {"id": "blog", "title": "", "body": "One.", "model": "x"},
        {"id": "mdn", "title": "", "body": "Two.", "model": "y"},
        {"id": "wiki", "title": "Three", "body": "Four.", "model": "z"},
    ]

    def ranked(ids, **more):
        value = {"ranker": {"rank": ids}}
        return {"result": [{"from_name": "rank", "to_name": "results", "type": "ranker", "value": value}], **more}

    task = {
        "id": 7,
        "data": {"prompt": "Which?", "items": items, "topic": "web"},
        "annotations": [
            ranked(["mdn", "wiki", "blog"], completed_by=3),
            ranked(["blog", "wiki", "mdn"], completed_by={"email": "ada@x.example"}),
            ranked(["blog", "wiki", "mdn"], completed_by=4, was_cancelled=True),
        ],
        "predictions": [ranked(["wiki", "mdn", "blog"], model_version="ranker-2")],
    }
    records = read(tmp_path, task)
    assert answers(records) == [("3", "b-c-a"), ("ada@x.example", "a-c-b")]
    assert [(one.checker, one.label) for one in of(SuggestionRecord, records)] == [("ranker-2", "c-b-a")]
    [comparison] = of(ComparisonRecord, records)
    assert (comparison.key, comparison.output_c, comparison.system_b) == ("7", "Three\n\nFour.", "y")
    assert comparison.metadata == {"topic": "web"}
    unlabelled = {"id": 8, "data": task["data"] | {"prompt": "And this?"}, "annotations": []}
    records = read(tmp_path, task, unlabelled)
    assert len(of(ComparisonRecord, records)) == 2 and len(answers(records)) == 2


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (["response-2", "response-1"], "b-a"),  # as its SDK has them
        ([{"value": "response-2", "rank": 1}, {"value": "response-1", "rank": 1}], "a.b"),  # as its server does
    ],
)
def test_argilla(tmp_path, value, label):
    record = {
        "id": "r1",
        "fields": {"prompt": "Which?", "response-1": "One.", "response-2": "Two."},
        "metadata": {"model-1": "x", "model-2": "y"},
        "suggestions": {"preference": {"value": ["response-1", "response-2"], "agent": "judge"}},
        "responses": {
            "preference": [{"value": value, "user_id": "u1"}],
            "note": [{"value": "Good.", "user_id": "u1"}],
        },
    }
    records = read(tmp_path, record)
    assert answers(records) == [("u1", label)]
    [suggestion], [comparison] = of(SuggestionRecord, records), of(ComparisonRecord, records)
    assert (suggestion.checker, suggestion.label) == ("judge", "a-b")
    assert (comparison.output_b, comparison.system_b) == ("Two.", "y")
    without = record | {"id": "r2", "suggestions": {}, "responses": {}}
    [lost] = of(LostRecord, read(tmp_path, record, without))
    assert (lost.number, lost.first) == (1, "rows.jsonl, line 2")
    odd = record | {"responses": {"preference": [{"value": [{"value": "response-1", "rank": "x"}] * 2}]}}
    [error] = of(RowError, read(tmp_path, record, odd))
    assert (error.line, error.column, error.value) == (2, "rank", "x")


@pytest.mark.parametrize(
    ("row", "column", "reason"),
    [
        (ROW | RANKS | {"rank_b": ""}, "rank_b", "is no rank: each output needs a whole number"),
        (ROW | RANKS | {"rank_b": "1.5"}, "rank_b", "is no rank"),
        (ROW | RANKS | {"rank_b": "NaN"}, "rank_b", "is no rank"),
        (ROW | {"ranking": "A > B > D"}, "ranking", "is none of A, B, C"),
        (ROW | {"ranking": "A > B > A"}, "ranking", "names output A more than once"),
        (ROW | {"ranking": "A > B"}, "ranking", "does not name output C"),
        (ROW | {"ranking": {"a": 1}}, "ranking", "is not a text"),
        ({"prompt": "?", "responses": [*TEXTS.values()], "ranks": [1, 2]}, "ranks", "has 2 values for 3 outputs"),
        ({"prompt": "?", "responses": [*"abcdef"], "ranks": [*range(6)]}, "responses", "has 6 outputs"),
        ({"prompt": "?", "responses": "One.", "ranks": [1]}, "", "has no outputs, such as response_a"),
        (ROW | RANKS | {"response_c": ""}, "rank_c", "is the rank of an output that is not there"),
        (ROW | {"best": "A"}, "best", "is half an answer: there is no column worst"),
    ],
)
def test_what_is_no_ranking_is_refused_whole(tmp_path, row, column, reason):
    good = ROW | {"prompt": "Good?", "order": "A > B > C"} | RANKS
    records = read(tmp_path, good, row)
    [error] = of(RowError, records)
    assert (error.line, error.column) == (2, column) and reason in error.reason
    assert [one.text for one in of(QuestionRecord, records)] == ["Good?"]


def test_outputs_that_nobody_ranked_come_in_without_an_answer(tmp_path):
    path = tmp_path / "outputs.csv"
    path.write_text("prompt,response_a,response_b\nWhich?,One.,Two.\n", encoding="utf-8")
    [question, comparison] = get_format("rankings").read([SourceFile(path)], Options())
    assert (question.text, comparison.output_b) == ("Which?", "Two.")
    path.write_text("prompt,text\nWhich?,One.\n", encoding="utf-8")
    with pytest.raises(FormatError, match="has no outputs"):
        list(get_format("rankings").read([SourceFile(path)], Options()))


def test_the_worst_is_missing(tmp_path):
    [error] = of(RowError, read(tmp_path, ROW | {"best": "A", "worst": ""}, kind="ranking/best-worst/1"))
    assert (error.column, error.reason) == ("worst", "is empty: it is one of A, B, C")


def test_the_best_is_not_the_worst(tmp_path):
    [error] = of(RowError, read(tmp_path, ROW | {"best": "A", "worst": "a"}, kind="ranking/best-worst/1"))
    assert (error.column, error.reason) == ("worst", "is the best output as well")


def test_buckets_of_label_studio_have_no_order(tmp_path):
    items = [{"id": place, "body": text} for place, text in TEXTS.items()]
    result = {"type": "ranker", "value": {"ranker": {"good": ["a"], "bad": ["b", "c"]}}}
    good = {"type": "ranker", "value": {"ranker": {"rank": ["a", "b", "c"]}}}
    rows = [
        {"id": number, "data": {"prompt": f"{number}?", "items": items}, "annotations": [{"result": [one]}]}
        for number, one in enumerate((good, result))
    ]
    [error] = of(RowError, read(tmp_path, *rows))
    assert error.line == 2 and "buckets have no order" in error.reason
