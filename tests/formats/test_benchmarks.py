"""Benchmarks of fact verification in their own layouts: AVeriTeC's nested questions, and BEIR's three kinds of file."""

import json
import zipfile
from datetime import date

import pytest

from annotation.formats import FormatError, Options, SourceFile, detect, get_format
from annotation.formats.records import ClaimRecord, DecisionRecord, EvidenceRecord, QuestionRecord
from annotation.task_types.label_sets import problems_of
from tests.formats.helpers import errors, of, put, read

ANSWERS = [
    {"answer": "No", "answer_type": "Boolean", "boolean_explanation": "It was open.", "source_url": "https://e.org/1"},
    {"answer": "In 1963.", "answer_type": "Abstractive", "source_medium": "Web text", "cached_source_url": ""},
]
CLAIM = {
    "claim": "The harbour froze 😀.",
    "label": "Conflicting Evidence/Cherrypicking",
    "justification": "Some say so.",
    "claim_date": "25-8-2020",
    "speaker": "A guide",
    "original_claim_url": "https://e.org/c",
    "location_ISO_code": "NO",
    "claim_types": ["Event Claim"],
    "questions": [{"question": "Did it freeze?", "answers": ANSWERS}, {"question": "Who says so?", "answers": []}],
}


def test_averitec_claims_with_nested_questions(tmp_path):
    source = put(
        tmp_path, "dev.json", json.dumps([CLAIM, CLAIM | {"label": None, "claim_date": "soon", "claim_id": 7}])
    )
    assert detect(source.path) == "averitec"
    found = read("averitec", source)
    first, second = of(found, ClaimRecord)
    assert (first.key, first.claimant, first.date) == ("dev/0", "A guide", date(2020, 8, 25))
    assert (first.source, first.verdict) == ("https://e.org/c", CLAIM["label"])
    assert first.metadata == {
        "justification": "Some say so.", "location_ISO_code": "NO", "claim_types": ["Event Claim"],
    }  # fmt: skip
    assert (second.key, second.date, second.metadata["claim_date"]) == ("7", None, "soon")
    assert [(one.key, one.claim, one.text, one.url, one.is_gold) for one in of(found, EvidenceRecord)][:2] == [
        ("dev/0/q0/a0", "dev/0", "Did it freeze?\nNo\nIt was open.", "https://e.org/1", True),
        ("dev/0/q0/a1", "dev/0", "Did it freeze?\nIn 1963.", "", True),
    ]
    assert [(one.unit, one.label) for one in of(found, DecisionRecord)] == [("dev/0", "conflicting_evidence")]
    made = get_format("averitec").label_set_of([source], Options(), "dev")
    assert problems_of(made) == [] and len(made["questions"][0]["labels"]) == 4


@pytest.mark.parametrize(
    ("change", "column"),
    [
        ({"claim": ""}, "claim"),
        ({"label": "Perhaps"}, "label"),
        ({"questions": "x"}, "questions"),
        ({"questions": [{"question": "Q?", "answers": [1]}]}, "questions[0].answers"),
        ({"questions": [{"question": "Q?", "answers": [{"answer": ""}]}]}, "questions[0].answers[0].answer"),
        ({"questions": [{"answers": []}]}, "questions[0].question"),
    ],
)
def test_a_bad_claim_of_averitec_is_one_bad_row(tmp_path, change, column):
    found = read("averitec", put(tmp_path, "dev.json", json.dumps([CLAIM | change, CLAIM])))
    [error] = errors(found)
    assert error.column == column and [one.key for one in of(found, ClaimRecord)] == ["dev/1"]


QUERIES = [{"_id": "1", "text": "Snow is warm.", "metadata": {"a": 1}}, {"_id": "2", "text": "Rain is dry."}]
CORPUS = [
    {"_id": "d1", "title": "Snow", "text": "It is cold.", "metadata": {}},
    {"_id": "d2", "title": "Rain", "text": ""},
    {"_id": "d3", "title": "Sun", "text": "Not judged."},
]
QRELS = "query-id\tcorpus-id\tscore\n1\td1\t1\n2\td1\t0\n2\td2\t2\n"


def beir(tmp_path, queries=QUERIES, corpus=CORPUS, qrels=QRELS) -> SourceFile:
    path = tmp_path / "scifact.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, rows in (("corpus", corpus), ("queries", queries)):
            archive.writestr(f"scifact/{name}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        archive.writestr("scifact/qrels/test.tsv", qrels)
    return SourceFile(path, path.name)


def test_beir_makes_claims_with_judged_documents(tmp_path):
    source = beir(tmp_path)
    assert detect(source.path, source.name) == "beir"
    found = read("beir", source)
    assert [(one.key, one.metadata) for one in of(found, ClaimRecord)] == [("1", {"metadata": {"a": 1}}), ("2", {})]
    assert [(one.key, one.claim, one.publisher, one.text, one.is_gold) for one in of(found, EvidenceRecord)] == [
        ("1/d1", "1", "Snow", "It is cold.", True),
        ("2/d1", "2", "Snow", "It is cold.", False),
        ("2/d2", "2", "Rain", "Rain", True),
    ]
    assert [(one.unit, one.dimension, one.label) for one in of(found, DecisionRecord)] == [
        ("1/d1", "relevance", "relevant"), ("2/d1", "relevance", "not_relevant"), ("2/d2", "relevance", "relevant"),
    ]  # fmt: skip
    assert not errors(found)


def test_beir_with_questions_and_what_does_not_fit(tmp_path):
    questions = [row | {"text": f"{row['text'][:-1]}?"} for row in QUERIES]
    qrels = QRELS + "9\td1\t1\n1\td1\t1\n1\tgone\t1\n1\td3\tx\n"
    found = read("beir", beir(tmp_path, questions, qrels=qrels))
    assert len(of(found, QuestionRecord)) == 2 and {one.question for one in of(found, EvidenceRecord)} == {"1", "2"}
    assert [(one.column, one.value) for one in errors(found)] == [
        ("query-id", "9"), ("corpus-id", "1\nd1"), ("score", "x"), ("corpus-id", "gone"),
    ]  # fmt: skip
    with pytest.raises(FormatError, match="There are no queries"):
        read("beir", put(tmp_path, "corpus.jsonl", json.dumps(CORPUS[0])))
    with pytest.raises(FormatError, match="neither queries, corpus nor qrels"):
        read("beir", put(tmp_path, "x.csv", "a,b\n1,2\n"))


def test_a_table_whose_ids_are_called_as_those_of_beir_is_a_table(tmp_path):
    assert detect(put(tmp_path, "x.csv", "_id,text,label\n1,a,good\n").path) == "table"
    assert detect(put(tmp_path, "queries.jsonl", json.dumps(QUERIES[0])).path) == "beir"
