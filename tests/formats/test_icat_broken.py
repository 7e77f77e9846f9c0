"""ICAT files that are not what they should be: each error says where, what, and why."""

import pytest

from annotation.formats import FormatError
from annotation.formats.records import DecisionRecord, EvidenceRecord, ResponseRecord

from .helpers import errors, of, put, read
from .icat_samples import COFFEE, CORPUS, QRELS, QUERIES, annotation, everything, lines, result, source


def only_error(tmp_path, **files) -> tuple:
    """File, line, column and reason of the one error that reading these rows gives."""
    sources = [
        put(tmp_path, f"{name}.jsonl", rows) if isinstance(rows, str) else source(tmp_path, f"{name}.jsonl", rows)
        for name, rows in files.items()
    ]
    [error] = errors(read("icat", *sources))
    return error.file, error.line, error.column, error.reason


@pytest.mark.parametrize(
    ("row", "column", "reason"),
    [
        ({"query_id": "", "query": "x", "subtopics": []}, "query_id", "is empty"),
        ({"query_id": 3, "query": " ", "subtopics": []}, "query", "is empty"),
        ({"query_id": 3, "query": "x"}, "subtopics", "is not a list of subtopics"),
        ({"query_id": 3, "query": "x", "subtopics": "a, b"}, "subtopics", "is not a list of subtopics"),
        ({"query_id": 3, "query": "x", "subtopics": ["a", ""]}, "subtopics[1]", "is empty"),
        ({"query_id": 3, "query": "x", "subtopics": ["a", " A "]}, "subtopics[1]", "already occurs at subtopics[0]"),
        ({"query_id": 3, "query": "x", "subtopics": [{"id": 1}]}, "subtopics[0]", "has no text"),
        (
            {"query_id": 3, "query": "x", "subtopics": [{"id": 1, "text": "a"}, {"id": 1, "text": "b"}]},
            "subtopics[1]",
            "is the id of subtopics[0] already",
        ),
        (
            {"query_id": 3, "query": "x", "subtopics": [{"id": 1, "text": "a"}, "b"]},
            "subtopics",
            "some subtopics an id",
        ),
        ({"query_id": 1, "query": "coffee", "subtopics": COFFEE}, "query_id", "already occurs on line 1"),
    ],
)
def test_bad_queries(tmp_path, row, column, reason):
    file, line, where, why = only_error(tmp_path, queries=[*QUERIES, row])
    assert (file, line, where) == ("queries.jsonl", 3, column) and reason in why


@pytest.mark.parametrize(
    ("row", "column", "reason"),
    [
        (annotation(9), "query_id", "is not a query of the queries file"),
        (annotation(covered=["sleep"]), "covered[0]", "is not a subtopic of the query"),
        (annotation(covered=[1, 4]), "covered[1]", "is not a subtopic of the query; numbers run from 1 to 3"),
        (annotation(covered=[True, False]), "covered", "has 2 truth values for 3 subtopics"),
        (annotation(covered=[["sleep"], []]), "covered[0][0]", "is not a subtopic"),
        (annotation(covered={"ann": [], "bea": ["sleep"]}), "covered.bea[0]", "is not a subtopic"),
        (annotation(covered=[[], "all"]), "covered[1]", "is neither a list of covered subtopics"),
        (annotation(covered="all"), "covered", "is neither a list of covered subtopics"),
        (annotation(covered=[2.5]), "covered[0]", "is not a subtopic"),
        (annotation(covered=[[]] * 51), "covered", "labels of 51 annotators"),
        (annotation(model_response=None), "model_response", "is missing"),
        (annotation(response=" ", covered=[1]), "model_response", "is empty, but covers subtopics"),
        (annotation(subtopics=[*COFFEE, "sleep"]), "subtopics[3]", "is not a subtopic on line 1 of queries.jsonl"),
        (annotation(subtopics=COFFEE[:2]), "subtopics", "lacks 'how much is safe', which is on line 1 of queries"),
        (annotation(query_description="Tea?"), "query_description", "differs from another row about the same query 1"),
        (annotation(query_id=[1]), "query_id", "is not a text"),
    ],
)
def test_bad_annotations(tmp_path, row, column, reason):
    file, line, where, why = only_error(tmp_path, queries=QUERIES, other=[annotation()], gpt=[annotation(2), row])
    assert (file, line, where) == ("gpt.jsonl", 2, column) and reason in why


def test_the_same_answer_twice(tmp_path):
    files = [
        source(tmp_path, "one/gpt-4.jsonl", [annotation()]),
        source(tmp_path, "two/gpt-4.jsonl", [annotation(2), annotation()]),
    ]
    records = read("icat", *files)
    [error] = errors(records)
    assert (error.file, error.line, error.column, error.value) == ("two/gpt-4.jsonl", 2, "query_id", "gpt-4/1")
    assert error.reason == "already occurs on line 1 of one/gpt-4.jsonl"
    assert len(of(records, ResponseRecord)) == 2 and len(of(records, DecisionRecord)) == 5


def test_answers_of_one_query_that_differ_in_their_subtopics(tmp_path):
    _, line, column, reason = only_error(tmp_path, a=[annotation()], b=[annotation(subtopics=["sleep", *COFFEE[1:]])])
    assert (line, column) == (1, "subtopics[0]") and "is not a subtopic on line 1 of a.jsonl" in reason


@pytest.mark.parametrize(
    ("row", "column", "reason"),
    [
        (QRELS[0] | {"query_id": 9}, "query_id", "is not a query of these files"),
        (QRELS[0] | {"doc_id": "d9"}, "doc_id", "is not a document of the corpus"),
        (QRELS[0] | {"doc_id": None}, "doc_id", "is empty"),
        (QRELS[0] | {"subtopic_id": 4}, "subtopic_id", "is not a subtopic of query 1, which has 1 to 3"),
        (QRELS[0] | {"subtopic_id": "x"}, "subtopic_id", "is not a subtopic of query 1"),
        (QRELS[0] | {"relevance": "high"}, "relevance", "is not a whole number"),
        (QRELS[0] | {"relevance": 0}, "relevance", "differs from an earlier row about the same query, document"),
    ],
)
def test_bad_qrels(tmp_path, row, column, reason):
    file, line, where, why = only_error(tmp_path, queries=QUERIES, qrels=[*QRELS, row], corpus=CORPUS)
    assert (file, line, where) == ("qrels.jsonl", 5, column) and reason in why


def test_the_same_row_of_qrels_twice_is_harmless(tmp_path):
    files = everything(tmp_path)
    files["qrels"] = source(tmp_path, "qrels.jsonl", [*QRELS, QRELS[0]])
    assert errors(read("icat", *files.values())) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 1 d1 1\n1 1 d2\n", "has 3 words where TREC's qrels have 4"),
        ("1 1 d1 1\n1 1 d2 x\n", "is not a whole number"),
        ("1 1 d1 1\n1 1 d\0 1\n", "holds a NUL"),
    ],
)
def test_bad_lines_of_trec_qrels(tmp_path, text, reason):
    sources = [source(tmp_path, "queries.jsonl", QUERIES), source(tmp_path, "corpus.jsonl", CORPUS)]
    padding = "2 1 d1 0\n" * 3
    [error] = errors(read("icat", *sources, put(tmp_path, "qrels.txt", padding + text)))
    assert (error.file, error.line) == ("qrels.txt", 5) and reason in error.reason


@pytest.mark.parametrize(
    ("row", "column", "reason"),
    [
        (CORPUS[1], "id", "already occurs on line 2"),
        (CORPUS[1] | {"id": ""}, "id", "is empty"),
    ],
)
def test_bad_documents(tmp_path, row, column, reason):
    _, line, where, why = only_error(tmp_path, queries=QUERIES, qrels=QRELS, corpus=[*CORPUS, row])
    assert (line, where) == (4, column) and reason in why


def test_a_document_without_text(tmp_path):
    corpus = [CORPUS[1], CORPUS[2] | {"contents": " "}]
    sources = [source(tmp_path, f"{n}.jsonl", rows) for n, rows in (("q", QUERIES), ("r", QRELS), ("c", corpus))]
    records = read("icat", *sources)
    assert [(e.file, e.line, e.column, e.reason) for e in errors(records)] == [("c.jsonl", 2, "contents", "is empty")]
    assert len(of(records, EvidenceRecord)) == 2


@pytest.mark.parametrize(
    ("row", "column", "reason"),
    [
        (result(query_id=9), "query_id", "has no answer in these files, and results bring none"),
        (result(2), "query_id", "has no answer in these files"),
        (result(atomic_facts="a"), "atomic_facts", "is not a list"),
        (result(entailed=["Tea."]), "entailed_facts[0]", "is not one of the atomic facts"),
        (
            result(covered_topics=[{"topic_id": 4, "evidence": [0]}]),
            "covered_topics[0].topic_id",
            "is not a topic from 1",
        ),
        (result(covered_topics=["x"]), "covered_topics[0]", "is not a JSON object"),
        (result(subtopics=["sleep"]), "subtopics[0]", "is not a subtopic on line 1 of queries.jsonl"),
        (result(model="mixtral"), "query_id", "has no answer of this model in these files"),
        (result(facts=[{"fact": "a", "retrieved_docs": "d1"}]), "facts[0].retrieved_docs", "is not a list"),
        (result(model_response="Tea."), "model_response", "differs from line 1 of gpt.jsonl"),
    ],
)
def test_bad_results(tmp_path, row, column, reason):
    if column.startswith("facts"):
        row["facts"] = row["atomic_facts"]
    file, line, where, why = only_error(tmp_path, queries=QUERIES, gpt=[annotation()], results=[row])
    assert (file, line, where) == ("results.jsonl", 1, column) and reason in why


def test_results_of_a_query_that_several_models_answered(tmp_path):
    _, _, column, reason = only_error(tmp_path, a=[annotation()], b=[annotation()], results=[result()])
    assert column == "query_id" and "has answers of 2 models (a, b); say which one the file is about" in reason


def test_results_about_one_answer_that_differ(tmp_path):
    auto = result(facts=["Coffee wakes.", "Another."]) | {"generated_topics": []}
    file, _, column, reason = only_error(tmp_path, gpt=[annotation()], semi_auto_output=[result()], auto_output=[auto])
    assert (file, column) == ("auto_output.jsonl", "atomic_facts") and "differs from line 1 of semi_auto" in reason
    file, _, column, reason = only_error(tmp_path, gpt=[annotation()], results=[result(), result()])
    assert (file, column) == ("results.jsonl", "query_id") and "already occurs on line 1" in reason


def test_lines_that_are_no_json(tmp_path):
    broken = lines([annotation()]) + '{"query_id": 2,\n'
    file, line, _, reason = only_error(tmp_path, queries=QUERIES, gpt=broken)
    assert (file, line) == ("gpt.jsonl", 2) and "not valid JSON" in reason


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"gpt": [annotation()], "x": [{"claim": "a"}]}, "x.jsonl: is not one of ICAT's files: its columns are claim"),
        ({"x": "[]"}, "x.jsonl: is not one of ICAT's files: it has no row that can be read"),
        ({"q": QUERIES, "qrels": QRELS}, "The qrels name documents that none of the files has; add the corpus"),
        ({"q": QUERIES, "corpus": CORPUS}, "Nothing says which documents of the corpus belong to which query"),
        ({"annotations": [annotation()]}, "annotations.jsonl: the model is neither in the file's name nor in its"),
        ({"x": ""}, "the file is empty"),
    ],
)
def test_files_that_cannot_be_read_at_all(tmp_path, files, message):
    sources = [
        put(tmp_path, f"{name}.jsonl", rows if isinstance(rows, str) else lines(rows)) for name, rows in files.items()
    ]
    with pytest.raises(FormatError, match=message.replace("(", r"\(")):
        read("icat", *sources)
