"""Assay's content format: every kind of object, lines that belong together, labels, and bad lines."""

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.formats import FormatError, SourceFile, detect
from annotation.formats.content import assay, format
from annotation.formats.records import (
    AnnotationRecord,
    AspectRecord,
    AtomicClaimRecord,
    ClaimRecord,
    DecisionRecord,
    EvidenceRecord,
    JudgementRecord,
    PairRecord,
    QuestionRecord,
    ResponseRecord,
    SubSentenceRecord,
    TripletRecord,
)

from .helpers import druid_line, druid_tsv, errors, of, put, read

LONG = "When did the harbour freeze? ❄️"


def lines(*rows: dict) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def records(tmp_path, *rows: dict, **options) -> list:
    return read("content", put(tmp_path, "content.jsonl", lines(*rows)), **options)


def problems(tmp_path, *rows: dict, **options) -> list[tuple]:
    return [
        (error.line, error.column, error.value, error.reason) for error in errors(records(tmp_path, *rows, **options))
    ]


QUESTION = {
    "question": {
        "id": "q1",
        "text": LONG,
        "date": "2024-05-31",
        "answers": ["1963", "in 1963"],
        "source": "made up",
        "labels": {"sufficiency": "sufficient"},
    },
    "passages": [
        {
            "id": "p-a",
            "text": "It froze\r\nin 1963.",
            "title": "Chronicle",
            "url": "https://e.org",
            "gold": True,
            "rank": 2,
        },
        {"text": "المِيناءُ", "date": "1999-01-02", "metadata": {"b": [1, {"c": None}]}, "extra": 3},
    ],
    "aspects": ["the year", {"id": "x", "text": "the cold", "labels": {"relevance": "relevant"}}],
    "responses": [
        {
            "id": "r1",
            "text": "In 1963.",
            "model": "m",
            "method": "plain",
            "repetition": 2,
            "setting": "noisy",
            "labels": {"grade": "perfect"},
            "derived": {"outcome": "anything"},
            "triplets": [{"head": "harbour", "relation": "froze", "tail": ""}],
            "sub_sentences": [{"text": "It froze."}, {"id": "s", "text": "In 1963.", "index": 7}],
            "atomic_claims": [{"text": "The harbour froze in 1963.", "by": "claimify"}],
            "aspects": [{"id": "x", "labels": {"coverage": "covered"}}, {"id": "q1/a0"}],
        },
        {"text": ""},
    ],
    "pairs": [{"premise": "It froze.", "hypothesis": "Cold.", "passage": "p-a", "response": "r1"}],
}


def test_every_object_becomes_its_record_and_parents_come_first(tmp_path):
    assert records(tmp_path, QUESTION) == [
        QuestionRecord("q1", LONG, date(2024, 5, 31), ("1963", "in 1963"), {"source": "made up"}),
        DecisionRecord("q1", "sufficiency", "sufficient"),
        EvidenceRecord("p-a", "It froze\nin 1963.", None, "q1", "https://e.org", "Chronicle", None, True, 2),
        EvidenceRecord(
            "q1/p1", "المِيناءُ", question="q1", date=date(1999, 1, 2), metadata={"b": [1, {"c": None}], "extra": 3}
        ),
        AspectRecord("q1/a0", "q1", 0, "the year"),
        AspectRecord("x", "q1", 1, "the cold"),
        DecisionRecord("x", "relevance", "relevant"),
        ResponseRecord("r1", "In 1963.", "q1", None, "m", "plain", 2, "noisy"),
        DecisionRecord("r1", "grade", "perfect"),
        TripletRecord("r1/t0", "r1", 0, "harbour", "froze", ""),
        SubSentenceRecord("r1/s0", "r1", 0, "It froze."),
        SubSentenceRecord("s", "r1", 7, "In 1963."),
        AtomicClaimRecord("r1/c0", "r1", 0, "The harbour froze in 1963.", {"by": "claimify"}),
        DecisionRecord("r1 # x", "coverage", "covered"),
        ResponseRecord("q1/r1", "", "q1"),
        PairRecord("q1/pair-0", "It froze.", "Cold.", "p-a", "r1"),
    ]


def test_claims_and_lines_of_pairs_alone(tmp_path):
    claim = {"id": 7, "text": "It froze.", "claimant": "A", "date": "2020-01-01", "source": "-", "verdict": "False"}
    rows = (
        {"claim": claim, "passages": [{"text": "No.", "gold": False, "rank": 0}], "responses": [{"text": "Doc."}]},
        {"pairs": [{"id": "n1", "premise": "a", "hypothesis": "b", "labels": {"entailment": "neutral"}}]},
    )
    assert records(tmp_path, *rows) == [
        ClaimRecord("7", "It froze.", "A", date(2020, 1, 1), "-", "False"),
        EvidenceRecord("7/p0", "No.", "7", None, is_gold=False, rank=0),
        ResponseRecord("7/r0", "Doc.", None, "7"),
        PairRecord("n1", "a", "b"),
        DecisionRecord("n1", "entailment", "neutral"),
    ]


def test_lines_about_one_question_are_put_together_in_any_file(tmp_path):
    whole = put(tmp_path, "a.jsonl", lines(QUESTION))
    more = {"question": {"id": "q1"}, "aspects": ["the year"], "responses": [{"id": "r9", "text": "1962?"}]}
    again = put(tmp_path, "b.jsonl", lines(QUESTION, more))
    first = read("content", whole)
    found = read("content", whole, again)
    assert found[: len(first)] == first
    assert found[len(first) :] == [ResponseRecord("r9", "1962?", "q1")]


def test_an_id_alone_stands_for_what_the_data_set_has(tmp_path):
    rows = (
        {"question": {"id": "stored"}, "responses": [{"id": "old", "sub_sentences": [{"text": "It froze."}]}]},
        {"pairs": [{"id": "n", "premise": "a", "hypothesis": "b", "passage": "there", "response": "there too"}]},
    )
    assert records(tmp_path, *rows) == [
        SubSentenceRecord("old/s0", "old", 0, "It froze."),
        PairRecord("n", "a", "b", "there", "there too"),
    ]


@pytest.mark.parametrize(
    ("row", "column", "reason"),
    [
        ({"aspects": ["the year"]}, "aspects[0]", "has no question: the line lacks it"),
        (
            {"claim": {"id": "c", "text": "C"}, "aspects": ["x"]},
            "aspects[0]",
            "has no question: it belongs to a claim",
        ),
        ({"responses": [{"text": "It did."}]}, "responses[0]", "has no question or claim: the line lacks it"),
        ({"passages": [{"text": "It did."}]}, "passages[0]", "has no question or claim: the line lacks it"),
        ({"question": {"text": "Why?"}}, "question.id", "is missing"),
        ({"question": {"id": "q2"}}, "question.text", "is missing"),
        ({"question": {"id": "q2", "text": " "}}, "question.text", "is empty"),
        ({"question": {"id": "q2", "text": 5}}, "question.text", "is not a text"),
        ({"question": {"id": "q2", "date": "May"}}, "question.date", "is not a date like 2024-05-31"),
        ({"question": {"id": "q2", "date": 20240531}}, "question.date", "is not a text"),
        ({"question": {"id": "q2", "answers": "1963"}}, "question.answers", "is not a list of texts"),
        ({"question": {"id": "q2", "answers": [1]}}, "question.answers[0]", "is not a text"),
        ({"question": {"id": True, "text": "Q"}}, "question.id", "is not an id"),
        ({"question": {"id": " q2", "text": "Q"}}, "question.id", "is an id with spaces"),
        ({"question": {"id": "q2", "text": "Q", "metadata": []}}, "question.metadata", "is not a JSON object"),
        ({"question": "q2"}, "question", "is not a JSON object"),
        ({"question": {"id": "q2", "text": "Q"}, "claim": {"id": "c"}}, "claim", "is on a line with a question"),
        (
            {"question": {"id": "q2", "text": "Q"}, "answer": "1963"},
            "answer",
            "is not one of claim, question, passages",
        ),
        ({"question": {"id": "q2", "text": "Q"}, "passages": {}}, "passages", "is not a list"),
        ({"question": {"id": "q2", "text": "Q"}, "passages": ["p"]}, "passages[0]", "is not a JSON object"),
        ({"question": {"id": "q2", "text": "Q"}, "passages": [{}]}, "passages[0].text", "is missing"),
        ({"question": {"id": "q2", "text": "Q"}, "passages": [{"text": "\t"}]}, "passages[0].text", "is empty"),
        ({"question": {"id": "q1"}, "passages": [{"id": "p-a", "gold": "yes"}]}, "passages[0].gold", "is neither true"),
        (
            {"question": {"id": "q1"}, "passages": [{"id": "p-a", "rank": 1.5}]},
            "passages[0].rank",
            "is not a whole number",
        ),
        ({"question": {"id": "q1"}, "aspects": [{"id": "y", "text": ""}]}, "aspects[0].text", "is empty"),
        ({"question": {"id": "q1"}, "aspects": [{"id": "y"}]}, "aspects[0].text", "is missing"),
        (
            {"question": {"id": "q1"}, "aspects": [{"id": "z", "text": "a"}] * 2},
            "aspects[1].id",
            "already occurs at aspects[0]",
        ),
        ({"question": {"id": "q1"}, "responses": [{"model": "m"}]}, "responses[0].text", "is missing"),
        ({"question": {"id": "q1"}, "responses": [{"id": "r7", "model": "m"}]}, "responses[0].text", "is missing"),
        ({"question": {"id": "q1"}, "responses": [{"id": "r7"}]}, "responses[0].text", "is missing"),
        (
            {"question": {"id": "q1"}, "responses": [{"text": "a", "triplets": [["h", "r", "t"]]}]},
            "responses[0].triplets[0]",
            "is not a JSON object",
        ),
        (
            {
                "question": {"id": "q1"},
                "responses": [{"id": "r8", "text": "a", "triplets": [{"head": "h", "relation": "r"}]}],
            },
            "responses[0].triplets[0].tail",
            "is missing",
        ),
        (
            {"question": {"id": "q1"}, "responses": [{"id": "r8", "text": "", "sub_sentences": [{"text": "a"}]}]},
            "responses[0].text",
            "is empty, but has sub-sentences",
        ),
        (
            {"question": {"id": "q1"}, "responses": [{"id": "r1", "aspects": [{"id": "x"}, {"id": "none"}]}]},
            "responses[0].aspects[1].id",
            "is not an aspect of question q1",
        ),
        (
            {"question": {"id": "q1"}, "responses": [{"id": "r1", "aspects": ["x"]}]},
            "responses[0].aspects[0]",
            "is not a JSON object",
        ),
        (
            {"question": {"id": "q1"}, "responses": [{"id": "r1", "aspects": [{"id": "x", "text": "a"}]}]},
            "responses[0].aspects[0].text",
            "is not one of id, labels, methods, derived",
        ),
        (
            {"claim": {"id": "c", "text": "C"}, "responses": [{"text": "D", "aspects": [{"id": "x"}]}]},
            "responses[0].aspects[0]",
            "has no question",
        ),
        (
            {"question": {"id": "q1"}, "pairs": [{"premise": "a", "hypothesis": "b", "passage": "p-z"}]},
            "pairs[0].passage",
            "names no passage of this line",
        ),
        (
            {"question": {"id": "q1"}, "pairs": [{"premise": "a", "hypothesis": "b", "response": "r-z"}]},
            "pairs[0].response",
            "names no response of this line",
        ),
        ({"pairs": [{"premise": "a", "hypothesis": "b"}]}, "pairs[0].id", "is missing"),
        ({"pairs": [{"id": "n", "premise": "a"}]}, "pairs[0].hypothesis", "is missing"),
        ({"pairs": []}, "", "has no question, no claim and no pairs"),
        ({"question": {"id": "q1", "labels": ["a"]}, "pairs": []}, "question.labels", "is not a JSON object"),
        ({"question": {"id": "q1", "labels": {"sufficiency": 1}}}, "question.labels.sufficiency", "is not a label"),
        (
            {"question": {"id": "q1", "text": "Why?"}},
            "question.text",
            "differs from line 1, which is about the same question q1",
        ),
        ({"question": {"id": "q1", "note": "new"}}, "question.metadata", "differs from line 1"),
        ({"question": {"id": "q1"}, "passages": [{"id": "p-a", "text": "Else"}]}, "passages[0].text", "differs from"),
        (
            {"question": {"id": "q3", "text": "Q"}, "passages": [{"id": "p-a", "text": "It froze\nin 1963."}]},
            "passages[0].id",
            "belongs to another question on line 1",
        ),
        (
            {"question": {"id": "q1", "labels": {"sufficiency": "insufficient"}}},
            "question.labels.sufficiency",
            "differs from sufficient on line 1",
        ),
        ({"question": {"id": "q1", "text": "a\0b"}}, "question.text", "holds a NUL or half of a surrogate pair"),
    ],
)
def test_a_bad_line_is_one_row_error_that_names_the_place(tmp_path, row, column, reason):
    found = problems(tmp_path, QUESTION, {}, row, {"question": {"id": "q9", "text": "Q"}})
    assert len(found) == 2 and found[0][:2] == (2, "")
    line, where, _, why = found[1]
    assert (line, where) == (3, column)
    assert why.startswith(reason)


def test_half_a_surrogate_pair_is_refused_wherever_it_stands(tmp_path):
    text = lines(QUESTION).replace("claimify", "\\ud83d")
    (error,) = errors(read("content", put(tmp_path, "content.jsonl", text)))
    assert (error.line, error.column) == (1, "responses[0].atomic_claims[0].by")


def test_a_made_id_that_comes_twice_says_what_to_do(tmp_path):
    one, two = ({"question": {"id": "q", "text": "Q"}, "responses": [{"text": text}]} for text in "ab")
    ((line, column, value, reason),) = problems(tmp_path, one, two)
    assert (line, column, value) == (2, "responses[0].text", "b")
    assert reason == "differs from line 1, which is about the same response q/r0; give each an id of its own"


def test_a_text_may_not_come_after_what_hangs_below_it(tmp_path):
    late = ({"question": {"id": "q"}, "responses": [{"text": "a"}]}, {"question": {"id": "q", "text": "Q"}})
    ((line, column, value, reason),) = problems(tmp_path, *late)
    assert (line, column, value) == (2, "question.id", "q")
    assert "named by its id alone on line 1; put the line with its text before that" in reason


# --- labels ---------------------------------------------------------------------------------------------------------


def test_only_labels_of_the_wanted_kind_of_unit_are_taken(tmp_path):
    wanted = {"labels": {"coverage": ("covered", "not_covered")}, "unit_kind": "response_aspect"}
    assert of(records(tmp_path, QUESTION, **wanted), DecisionRecord) == [
        DecisionRecord("r1 # x", "coverage", "covered")
    ]
    wanted = {"labels": {"entailment": ("entailment", "neutral")}, "unit_kind": "pair"}
    assert of(records(tmp_path, QUESTION, **wanted), DecisionRecord) == []


@pytest.mark.parametrize(
    ("wanted", "value", "reason"),
    [
        ({"grade": ("correct", "wrong")}, "perfect", "is not one of the labels correct, wrong"),
        ({"inclusion": ("included",)}, "perfect", "is a label of none of the dimensions inclusion"),
    ],
)
def test_a_label_of_another_version_or_dimension_is_refused(tmp_path, wanted, value, reason):
    found = problems(tmp_path, QUESTION, labels=wanted, unit_kind="response")
    assert found == [(1, "responses[0].labels.grade", value, reason)]


def test_the_examples_of_the_documentation_are_good_lines(tmp_path):
    text = (Path(__file__).resolve().parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    example, rows = text.split("```json\n", 1)[1].split("```", 1)[0], []
    while example := example.strip():
        row, end = json.JSONDecoder().raw_decode(example)
        example = example[end:]
        rows.append(row)
    found = records(tmp_path, *rows)
    assert len(rows) == 3 and not errors(found)
    assert {record.unit for record in of(found, DecisionRecord)} == {"r1", "r1 # cold", "n1"}


# --- recognising and writing ----------------------------------------------------------------------------------------


def test_the_format_is_recognised_beside_the_others(tmp_path):
    assert detect(put(tmp_path, "a.jsonl", lines(QUESTION)).path) == "content"
    assert detect(put(tmp_path, "b.json", json.dumps([{"pairs": [{}], "typo": 1}])).path) == "content"
    refchecker = {"id": "1", "question": "Q", "response": "R", "claude2_response_kg": []}
    assert detect(put(tmp_path, "c.json", json.dumps([refchecker])).path) == "refchecker"
    assert detect(put(tmp_path, "d.tsv", druid_tsv(druid_line())).path) == "druid"
    assert detect(put(tmp_path, "e.csv", "question,pairs\na,b\n").path) == "table"


def test_a_table_is_no_content(tmp_path):
    with pytest.raises(FormatError, match="e.csv: is a table, not JSON Lines. Found: question, pairs"):
        read("content", put(tmp_path, "e.csv", "question,pairs\na,b\n"))


def test_it_is_read_beside_annotations(tmp_path):
    said = AnnotationRecord("q1", "ann", (JudgementRecord("q1", "sufficiency", "sufficient"),))
    labels = put(tmp_path, "annotations.jsonl", assay.line_of(said) + "\n")
    found = read("assay", labels, put(tmp_path, "content.jsonl", lines(QUESTION)))
    assert isinstance(found[0], QuestionRecord) and found[-1] == said


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=9).filter(
    lambda text: text.strip() and "\r\n" not in text
)
data = st.dictionaries(
    texts, st.none() | st.booleans() | st.integers(-9, 9) | texts | st.lists(texts, max_size=2), max_size=2
)
days = st.none() | st.dates()


@st.composite
def trees(draw):
    """A question with everything below it, as records in the order of a file."""
    question = QuestionRecord(
        "q", draw(st.just("") | texts), draw(days), tuple(draw(st.lists(texts, max_size=2))), draw(data)
    )
    found = [question]
    for n in range(draw(st.integers(0, 2))):
        gold, rank = draw(st.none() | st.booleans()), draw(st.none() | st.integers(-2, 2))
        found.append(
            EvidenceRecord(f"p{n}", draw(texts), None, "q", draw(texts), "", draw(days), gold, rank, draw(data))
        )
    for n in range(draw(st.integers(0, 2))):
        found.append(AspectRecord(f"a{n}", "q", draw(st.integers(0, 2)), draw(texts), draw(data)))
    found.append(ResponseRecord("r", draw(texts), "q", None, draw(texts), "", draw(st.integers(0, 2)), "", draw(data)))
    for n in range(draw(st.integers(0, 2))):
        found.append(SubSentenceRecord(f"s{n}", "r", draw(st.integers(0, 2)), draw(texts), draw(data)))
    return found


@given(trees())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
def test_what_is_written_is_read_as_it_was(tmp_path, tree):
    def objects(kind):
        return [format.as_object(record, place) for place, record in enumerate(of(tree, kind))]

    response = objects(ResponseRecord)[0] | {"sub_sentences": objects(SubSentenceRecord)}
    line = format.line_object(
        objects(QuestionRecord)[0],
        passages=objects(EvidenceRecord),
        aspects=objects(AspectRecord),
        responses=[response],
    )
    path = tmp_path / "written.jsonl"
    assert format.write([line], path) == 1
    assert read("content", SourceFile(path)) == tree
