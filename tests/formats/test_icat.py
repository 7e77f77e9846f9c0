"""ICAT: what its files say together, whatever their order, and the shapes in which labels come."""

import itertools
import json

import pytest

from annotation.formats import FORMATS, detect
from annotation.formats.records import (
    AnnotationRecord,
    AspectRecord,
    AtomicClaimRecord,
    DecisionRecord,
    EvidenceRecord,
    QuestionRecord,
    ResponseRecord,
)
from annotation.formats.studies.icat.files import guess_model
from annotation.formats.studies.icat.format import write

from .helpers import errors, of, put, read
from .icat_samples import (
    COFFEE,
    CORPUS,
    HORSES,
    QRELS,
    QUERIES,
    annotation,
    everything,
    lines,
    result,
    source,
)


def covered(records: list) -> dict[str, str]:
    """Unit -> label of the decisions."""
    return {record.unit: record.label for record in of(records, DecisionRecord)}


def says(records: list, response: str = "gpt-4/1") -> list[list[int]]:
    """The places of the covered aspects, by annotator."""
    return [
        [int(judgement.unit.rsplit("a", 1)[1]) for judgement in record.judgements if judgement.label == "covered"]
        for record in of(records, AnnotationRecord)
        if record.item == response
    ]


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_files_in_any_order_say_the_same(tmp_path, order):
    sources = list(everything(tmp_path).values())
    records = read("icat", *list(itertools.permutations(sources))[order * 179])
    assert errors(records) == []
    assert of(records, QuestionRecord) == [QuestionRecord("1", "coffee"), QuestionRecord("2", "horse hooves")]
    assert of(records, AspectRecord)[:3] == [AspectRecord(f"1/a{n}", "1", n, text) for n, text in enumerate(COFFEE)]
    assert {record.key: (record.text, record.model, record.question) for record in of(records, ResponseRecord)} == {
        "gpt-4/1": ("Coffee wakes.", "gpt-4", "1"),
        "gpt-4/2": ("Hooves.", "gpt-4", "2"),
        "mixtral/1": ("Tea.", "mixtral", "1"),
    }
    assert covered(records) == {
        "gpt-4/1 # 1/a0": "covered",
        "gpt-4/1 # 1/a1": "not_covered",
        "gpt-4/1 # 1/a2": "covered",
        "gpt-4/2 # 2/a0": "not_covered",
        "gpt-4/2 # 2/a1": "not_covered",
        "mixtral/1 # 1/a0": "not_covered",
        "mixtral/1 # 1/a1": "covered",
        "mixtral/1 # 1/a2": "not_covered",
    }
    assert {record.dimension for record in of(records, DecisionRecord)} == {"coverage"}
    assert not of(records, AnnotationRecord)


def test_every_record_comes_after_what_it_belongs_to(tmp_path):
    known = set()
    for record in read("icat", *everything(tmp_path).values()):
        for name in ("question", "response"):
            assert getattr(record, name, None) is None or getattr(record, name) in known
        if isinstance(record, DecisionRecord):
            assert set(record.unit.split(" # ")) <= known
        known.add(getattr(record, "key", None))


def test_documents_that_qrels_name_become_passages(tmp_path):
    records = read("icat", *everything(tmp_path).values())
    assert {record.key: record for record in of(records, EvidenceRecord)} == {
        "1/d1": EvidenceRecord(
            "1/d1",
            "Coffee wakes.\nHooves grow.",
            question="1",
            url="https://e.org/1",
            is_gold=True,
            rank=1,
            metadata={"doc_id": "d1", "relevance": {"1": 1, "3": 0}, "aspects": ["1/a0"], "spam": 70},
        ),
        "1/d2": EvidenceRecord(
            "1/d2",
            "Tea is another matter.",
            question="1",
            is_gold=False,
            rank=2,
            metadata={"doc_id": "d2", "relevance": {"0": 0}, "aspects": []},
        ),
        "2/d1": EvidenceRecord(
            "2/d1",
            "Coffee wakes.\nHooves grow.",
            question="2",
            url="https://e.org/1",
            is_gold=True,
            rank=1,
            metadata={"doc_id": "d1", "relevance": {"2": 2}, "aspects": ["2/a1"], "spam": 70},
        ),
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("qrels.txt", "1 1 d1 1\n1 3 d1 0\n1 0 d2 0\n2 2 d1 2\n"),
        ("qrels.diversity", "1\t1\td1\t1\r\n1\t3\td1\t0\r\n\r\n1\t0\td2\t0\r\n2\t2\td1\t2\r\n"),
        ("qrels.tsv", "query_id\tdoc_id\trelevance\tsubtopic_id\n1\td1\t1\t1\n1\td1\t0\t3\n1\td2\t0\t0\n2\td1\t2\t2\n"),
    ],
)
def test_qrels_of_trec_say_the_same(tmp_path, name, text):
    files = everything(tmp_path)
    expected = of(read("icat", *files.values()), EvidenceRecord)
    files["qrels"] = put(tmp_path, name, text)
    assert detect(files["qrels"].path, name) == "icat"
    records = read("icat", *files.values())
    assert errors(records) == [] and of(records, EvidenceRecord) == expected


def test_subtopics_of_qrels_count_from_0_where_they_only_fit_so(tmp_path):
    files = everything(tmp_path)
    files["qrels"] = source(
        tmp_path,
        "q0.jsonl",
        [
            {"query_id": 1, "doc_id": "d1", "relevance": 1, "subtopic_id": 0},
            {"query_id": 1, "doc_id": "d1", "relevance": 1, "subtopic_id": 2},
        ],
    )
    [passage] = of(read("icat", *files.values()), EvidenceRecord)
    assert passage.metadata["aspects"] == ["1/a0", "1/a2"]


def test_subtopics_with_ids_are_found_by_them(tmp_path):
    subtopics = [{"id": "s7", "text": COFFEE[0], "type": "inf"}, {"id": "s9", "description": COFFEE[1]}]
    queries = source(tmp_path, "q.jsonl", [{"query_id": "1", "query": "coffee", "subtopics": subtopics, "type": "f"}])
    labels = source(tmp_path, "gpt-4.jsonl", [annotation(covered=["s9"], subtopics=None)])
    qrels = put(tmp_path, "qrels.txt", "1 s7 d1 1\n1 s9 d1 0\n")
    records = read("icat", labels, qrels, source(tmp_path, "c.jsonl", CORPUS), queries)
    assert errors(records) == []
    assert of(records, QuestionRecord) == [QuestionRecord("1", "coffee", metadata={"type": "f"})]
    assert of(records, AspectRecord) == [
        AspectRecord("1/a0", "1", 0, COFFEE[0], {"id": "s7", "type": "inf"}),
        AspectRecord("1/a1", "1", 1, COFFEE[1], {"id": "s9"}),
    ]
    assert covered(records) == {"gpt-4/1 # 1/a0": "not_covered", "gpt-4/1 # 1/a1": "covered"}
    assert of(records, EvidenceRecord)[0].metadata["aspects"] == ["1/a0"]


# --- labels ---


@pytest.mark.parametrize(
    "shape",
    [
        [COFFEE[2], COFFEE[0]],
        [" How much  is SAFE", COFFEE[0]],
        [1, 3],
        ["1", "3"],
        [True, False, True],
        [{"topic_id": 1, "evidence": [4]}, {"text": COFFEE[2]}],
        [1, 3, 3],
    ],
)
def test_one_list_is_a_decision_about_every_aspect(tmp_path, shape):
    records = read("icat", source(tmp_path, "gpt-4.jsonl", [annotation(covered=shape)]))
    assert errors(records) == []
    assert list(covered(records).values()) == ["covered", "not_covered", "covered"]


def test_numbers_count_from_0_where_one_row_of_the_file_has_a_0(tmp_path):
    rows = [annotation(1, [0, 2]), annotation(2, [1], "Hooves.")]
    found = covered(read("icat", source(tmp_path, "gpt-4.jsonl", rows)))
    assert [unit for unit, label in found.items() if label == "covered"] == [
        "gpt-4/1 # 1/a0",
        "gpt-4/1 # 1/a2",
        "gpt-4/2 # 2/a1",
    ]


def test_numbers_follow_the_order_of_the_rows_own_subtopics(tmp_path):
    files = [
        source(tmp_path, "queries.jsonl", QUERIES),
        source(tmp_path, "gpt-4.jsonl", [annotation(covered=[1], subtopics=COFFEE[::-1])]),
    ]
    assert covered(read("icat", *files))["gpt-4/1 # 1/a2"] == "covered"


@pytest.mark.parametrize(
    ("shape", "kinds"),
    [
        ([[COFFEE[0]], [], [1, 3]], {"slot"}),
        ([[True, False, False], [False] * 3, [True, False, True]], {"slot"}),
        ({"ann": [1], "bea": [], "cyd": [COFFEE[0], COFFEE[2]]}, {"person"}),
    ],
)
def test_lists_of_several_annotators_are_annotations(tmp_path, shape, kinds):
    records = read("icat", source(tmp_path, "gpt-4.jsonl", [annotation(covered=shape)]))
    assert errors(records) == [] and not of(records, DecisionRecord)
    assert says(records) == [[0], [], [0, 2]]
    assert {record.rater_kind for record in of(records, AnnotationRecord)} == kinds
    assert all(len(record.judgements) == 3 for record in of(records, AnnotationRecord))


def test_an_annotator_who_did_not_answer_says_nothing(tmp_path):
    records = read("icat", source(tmp_path, "gpt-4.jsonl", [annotation(covered=[[1], None, []])]))
    assert [record.rater for record in of(records, AnnotationRecord)] == ["annotator 1", "annotator 3"]


def test_a_row_without_covered_is_an_answer_to_be_labelled(tmp_path):
    row = annotation()
    del row["covered"]
    records = read("icat", source(tmp_path, "gpt-4.jsonl", [row, annotation(2, None, "Hooves.")]))
    assert errors(records) == [] and len(of(records, ResponseRecord)) == 2
    assert not of(records, DecisionRecord) and not of(records, AnnotationRecord)


def test_a_query_without_subtopics_has_no_aspects_and_no_labels(tmp_path):
    records = read("icat", source(tmp_path, "gpt-4.jsonl", [annotation(covered=[], subtopics=[])]))
    assert errors(records) == [] and not of(records, AspectRecord) and not of(records, DecisionRecord)


# --- names, questions, results ---


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("annotations/gpt-4.jsonl", "gpt-4"),
        ("up.zip/annotations/llama3-70b_human_annotations.jsonl.gz", "llama3-70b"),
        ("openchat-results.json", "openchat"),
        ("semi_auto_output.jsonl", ""),
        ("results.jsonl", ""),
        ("mixtral_icat-s_results.jsonl", "mixtral"),
    ],
)
def test_models_are_guessed_from_names(name, model):
    assert guess_model(name) == model


def test_the_user_and_the_rows_know_better_than_the_name(tmp_path):
    files = [
        source(tmp_path, "a.jsonl", [annotation(), annotation(2, model="row")]),
        source(tmp_path, "b.jsonl", [annotation()]),
    ]
    records = read("icat", *files, model="said", per_file={"b.jsonl": {"model": "for b"}})
    assert [record.key for record in of(records, ResponseRecord)] == ["said/1", "row/2", "for b/1"]


def test_without_queries_the_annotations_bring_questions(tmp_path):
    files = [source(tmp_path, "a.jsonl", [annotation()]), source(tmp_path, "b.jsonl", [annotation(), annotation(2)])]
    records = read("icat", *files)
    assert errors(records) == []
    assert [record.text for record in of(records, QuestionRecord)] == [
        "What does coffee do to health?",
        "Find out about horse hooves.",
    ]
    assert [record.text for record in of(records, AspectRecord)] == [*COFFEE, *HORSES]


def test_a_description_beside_the_query_and_other_columns_are_kept(tmp_path):
    files = [source(tmp_path, "queries.jsonl", QUERIES), source(tmp_path, "a.jsonl", [annotation(batch=7)])]
    [response] = of(read("icat", *files), ResponseRecord)
    assert response.metadata == {"batch": 7, "query_description": "What does coffee do to health?"}
    [response] = of(read("icat", source(tmp_path, "b.jsonl", [annotation() | {"query": "coffee"}])), ResponseRecord)
    assert response.metadata == {"query": "coffee"}  # the question's text is its description


def test_results_bring_claims_and_figures_of_each_variant(tmp_path):
    semi = result(facts=["Coffee wakes.", "", "Coffee is red."], entailed=["Coffee wakes."])
    auto = {name: value for name, value in semi.items() if name != "subtopics"} | {
        "generated_topics": ["a topic"],
        "covered_topics": [],
    }
    files = [
        source(tmp_path, "a/gpt-4.jsonl", [annotation()]),
        put(tmp_path, "semi_auto_output.jsonl", json.dumps([semi])),
        put(tmp_path, "auto_output.jsonl", json.dumps([auto])),
    ]
    records = read("icat", *files)
    assert errors(records) == []
    assert of(records, AtomicClaimRecord) == [
        AtomicClaimRecord("gpt-4/1/c0", "gpt-4/1", 0, "Coffee wakes.", {"entailed": True, "aspects": ["1/a0"]}),
        AtomicClaimRecord("gpt-4/1/c2", "gpt-4/1", 2, "Coffee is red.", {"entailed": False}),
    ]
    [response] = of(records, ResponseRecord)
    assert response.metadata["icat"] == {
        "S": {"metrics": semi["metrics"], "covered_topics": [{"topic_id": 1, "evidence": [0]}]},
        "A": {"metrics": semi["metrics"], "covered_topics": [], "generated_topics": ["a topic"]},
    }
    assert len(of(records, AspectRecord)) == 3  # a topic that a model made up is none


def test_results_of_the_manual_variant_name_the_document(tmp_path):
    facts = [
        {"fact": "Coffee wakes.", "retrieved_docs": [{"doc_id": "d2", "is_entailed": "False"},
                                                     {"doc_id": "d1", "is_entailed": "True"}]},
        {"fact": "Coffee is red.", "retrieved_docs": [{"doc_id": "d2", "is_entailed": "False"}]},
    ]  # fmt: skip
    rows = [{"query_id": 1, "query": "coffee", "facts": facts, "metrics": {"coverage": 0.5}}]
    files = [
        source(tmp_path, "queries.jsonl", QUERIES),
        source(tmp_path, "gpt-4.jsonl", [annotation()]),
        source(tmp_path, "m.jsonl", rows),
    ]
    records = read("icat", *files)
    assert [record.metadata for record in of(records, AtomicClaimRecord)] == [
        {"entailed": True, "document": "d1"},
        {"entailed": False},
    ]
    assert of(records, ResponseRecord)[0].metadata["icat"]["M"] == {"metrics": {"coverage": 0.5}}


def test_results_that_hold_the_answer_need_no_annotations(tmp_path):
    rows = [result(model_response="Coffee wakes. It is red.", model="gpt-4")]
    records = read("icat", source(tmp_path, "results.jsonl", rows))
    assert errors(records) == []
    [response] = of(records, ResponseRecord)
    assert (response.key, response.text) == ("gpt-4/1", "Coffee wakes. It is red.")
    assert response.metadata["icat"]["S"]["metrics"]["f1"] == 0.4
    assert len(of(records, AtomicClaimRecord)) == 2 and len(of(records, AspectRecord)) == 3


# --- whole files ---


@pytest.mark.parametrize("kind", ["queries", "annotations", "results", "corpus", "qrels"])
def test_each_file_is_recognised(tmp_path, kind):
    found = everything(tmp_path)[kind]
    assert detect(found.path, found.name) == "icat"
    assert FORMATS["icat"].task_type == "aspect-coverage/-/1"


def test_what_was_read_is_written_and_read_again_the_same(tmp_path):
    files = everything(tmp_path)
    del files["results"]
    files["by annotators"] = source(tmp_path, "bea.jsonl", [annotation(2, {"ann": [1], "bea": []}, "Hoof!")])
    first = read("icat", *files.values())
    (tmp_path / "out").mkdir()
    assert write(first, tmp_path / "out") == len(QUERIES) + 4 + len(QRELS) + 2
    written = sorted((tmp_path / "out").glob("*.jsonl"))
    again = read("icat", *(put(tmp_path, f"again/{path.name}", path.read_bytes()) for path in written))
    assert errors(again) == []
    told = {"query_description"}  # of the title and the description the written rows have one

    def plain(records):
        return {repr(r) for r in records if not isinstance(r, ResponseRecord)} | {
            (r.key, r.text, r.model, repr({k: v for k, v in r.metadata.items() if k not in told}))
            for r in of(records, ResponseRecord)
        }

    assert plain(again) == plain(first)


def test_a_large_corpus_is_streamed_and_only_named_documents_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("annotation.formats.studies.icat.qrels.required_text", _counting := _Counting())
    rows = [{"id": f"x{number}", "contents": "t" * 50} for number in range(5000)]
    files = everything(tmp_path)
    files["corpus"] = put(tmp_path, "corpus.jsonl", lines(rows[:2500] + CORPUS + rows[2500:]))
    told = []
    records = read("icat", *files.values(), progress=lambda done, total: told.append((done, total)))
    assert len(of(records, EvidenceRecord)) == 3 and _counting.calls == 2
    assert told == sorted(told) and told[-1][0] == told[-1][1]


class _Counting:
    calls = 0

    def __call__(self, value, column):
        self.calls += 1
        return value.replace("\r\n", "\n")
