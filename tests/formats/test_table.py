"""The generic table: guessed mappings, derived ids, mapped labels, both layouts, and what is refused."""

import json

import pytest

from annotation.formats import FormatError, SourceFile
from annotation.formats.records import (
    ClaimRecord,
    DecisionRecord,
    EvidenceRecord,
    QuestionRecord,
    ResponseRecord,
    TripletRecord,
)
from annotation.formats.tables.format import guess_mapping, preview, write
from annotation.formats.tables.mapping import guess_values

from .helpers import errors, of, put, read

CLAIMS = """Claim,Evidence,URL,Label,topic
It is hot,The sun,https://e.org,SUPPORTED,sun
It is hot,The moon,NASA,NOT ENOUGH INFO,
"""


def test_a_table_of_claims_is_guessed_and_read(tmp_path):
    source = put(tmp_path, "t.csv", CLAIMS)
    shown = preview(source)
    guess = guess_mapping(shown.columns, shown.rows)
    assert (guess.layout, guess.missing) == ("claim-evidence", ())
    assert guess.mapping == {"claim": "Claim", "evidence": "Evidence", "evidence_url": "URL", "stance": "Label"}
    assert guess_values(guess.layout, guess.mapping, shown.rows) == {
        "stance": {"SUPPORTED": "supports", "NOT ENOUGH INFO": "not_enough_info"}
    }
    assert guess.fields["claim"].confidence == 1 > guess.fields["stance"].confidence
    records = read("table", source, mapping=guess.mapping)
    (claim,) = of(records, ClaimRecord)
    first, second = of(records, EvidenceRecord)
    assert claim.key.startswith("c-") and first.key.startswith(claim.key + "/e-")
    assert (first.url, first.publisher, second.url, second.publisher) == ("https://e.org", "", "", "NASA")
    assert (first.metadata, second.metadata) == ({"topic": "sun"}, {})
    assert [(record.dimension, record.label) for record in of(records, DecisionRecord)] == [
        ("stance", "supports"),
        ("stance", "not_enough_info"),
    ]


def test_derived_ids_do_not_depend_on_the_file_or_the_order(tmp_path):
    head, one, two = CLAIMS.splitlines()
    mapping = {"claim": "Claim", "evidence": "Evidence"}
    there = read("table", put(tmp_path, "a.csv", CLAIMS), mapping=mapping)
    back = read("table", put(tmp_path, "b.csv", "\n".join([head, two, one])), mapping=mapping)
    assert {record.key for record in there} == {record.key for record in back}
    (error,) = errors(read("table", put(tmp_path, "c.csv", "\n".join([head, one, two, one])), mapping=mapping))
    assert (error.line, error.column) == (4, "Evidence")


def test_columns_are_guessed_by_the_look_of_their_values():
    guess = guess_mapping(["statement", "passage", "gold"], [{"gold": "Refutes"}, {"gold": "supports"}, {"gold": ""}])
    assert guess.fields["stance"].column == "gold" and "is_gold" not in guess.fields
    assert guess_mapping(["claim", "evidence", "gold"], [{"gold": "1"}]).fields["is_gold"].column == "gold"
    guess = guess_mapping(["statement", "passage", "judgement"], [{"judgement": "Refutes"}, {"judgement": "supports"}])
    assert (guess.fields["stance"].column, guess.fields["stance"].confidence) == ("judgement", 0.5)
    assert guess_mapping(["a", "b"], []).missing in {("claim", "evidence"), ("response",)}


def test_values_are_mapped_as_the_user_says_and_unknown_ones_are_row_errors(tmp_path):
    source = put(tmp_path, "t.tsv", "c\te\ts\n1\tx\tJa\n2\ty\tnot_applicable\n3\tz\tweiß nicht\n4\tw\t?\n")
    mapping = {"claim": "c", "evidence": "e", "stance": "s"}
    records = read("table", source, mapping=mapping, values={"stance": {"ja": "supports", "?": ""}})
    assert [record.label for record in of(records, DecisionRecord)] == ["supports"]
    (error,) = errors(records)
    assert (error.line, error.column, error.value) == (4, "s", "weiß nicht")


def test_a_table_of_triplets_is_guessed_and_read(tmp_path):
    columns = ["question", "model", "answer", "context", "head", "relation", "tail", "label", "page"]
    rows = [
        ["Who?", "m1", "Ann.", ["p1", "p2"], "a", "is", "b", "Entailed", 1],
        ["Who?", "m1", "Ann.", ["p1", "p2"], "c", "is", "d", "", 2],
        ["Who?", "m2", "Bob.", ["p1", "p2"], None, None, None, None, None],
    ]
    text = "\n".join(json.dumps(dict(zip(columns, row, strict=True))) for row in rows)
    source = put(tmp_path, "t.jsonl", text)
    shown = preview(source)
    guess = guess_mapping(shown.columns, shown.rows)
    assert guess.layout == "responses" and guess.mapping["response"] == "answer"
    records = read("table", source, mapping=guess.mapping)
    assert not errors(records)
    (question,) = of(records, QuestionRecord)
    assert [record.key for record in of(records, EvidenceRecord)] == [f"{question.key}/passage-{n}" for n in (0, 1)]
    first, second = of(records, ResponseRecord)
    assert first.key.startswith("m1/r-") and second.model == "m2"
    assert [(t.key, t.head, t.metadata) for t in of(records, TripletRecord)] == [
        (f"{first.key}/0", "a", {"page": 1}),
        (f"{first.key}/1", "c", {"page": 2}),
    ]
    assert of(records, DecisionRecord) == [DecisionRecord(f"{first.key}/0", "entailment", "entailment")]


def test_joined_passages_are_split_and_lists_in_text_are_read(tmp_path):
    text = 'q,r,p\n1,x,"one\n\ntwo"\n2,y,"[""three"", ""four""]"\n3,z,[sic] five\n'
    mapping = {"question": "q", "response": "r", "passages": "p"}
    records = read("table", put(tmp_path, "t.csv", text), mapping=mapping)
    assert [record.text for record in of(records, EvidenceRecord)] == ["one", "two", "three", "four", "[sic] five"]


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"claim": "Claim"}, "No column is chosen for evidence"),
        ({"claim": "Claim", "evidence": "Text"}, "missing columns: Text. Found: Claim, Evidence"),
        ({"claim": "Claim", "evidence": "Evidence", "colour": "Label"}, "unknown fields: colour"),
        ({"response": "Claim", "head": "URL"}, "A triplet needs columns for head, relation, tail; only head"),
        ({"response": "Claim", "label": "Label"}, "A label needs a triplet"),
    ],
)
def test_a_mapping_that_cannot_work_is_refused(tmp_path, mapping, message):
    with pytest.raises(FormatError, match=message):
        read("table", put(tmp_path, "t.csv", CLAIMS), mapping=mapping)


@pytest.mark.parametrize("kind", ["tsv", "csv", "jsonl", "parquet"])
@pytest.mark.parametrize("layout", ["claim-evidence", "responses"])
def test_what_is_written_reads_as_the_same_records(tmp_path, kind, layout):
    claims = [
        ClaimRecord("c1", "=1+1", "Ann", None, "s", "v"),
        EvidenceRecord("c1/e1", 'a\tb\n"c"', claim="c1", url="https://e.org", publisher="E", is_gold=True),
        DecisionRecord("c1/e1", "relevance", "relevant"),
        DecisionRecord("c1/e1", "stance", "refutes"),
        EvidenceRecord("c1/e2", "d", claim="c1"),
    ]
    responses = [
        QuestionRecord("s/q1", "Who?"),
        EvidenceRecord("s/q1/passage-0", 'p, "q"', question="s/q1", rank=1),
        ResponseRecord("s/m/r1", "@me", question="s/q1", model="m", context_setting="s"),
        TripletRecord("s/m/r1/0", "s/m/r1", 0, "a", "b", "c"),
        DecisionRecord("s/m/r1/0", "entailment", "neutral"),
        TripletRecord("s/m/r1/1", "s/m/r1", 1, "d", "e", "f"),
        ResponseRecord("s/m/r2", "none", question="s/q1", model="m", context_setting="s"),
    ]
    records = claims if layout == "claim-evidence" else responses
    path = tmp_path / f"t.{kind}"
    write(records, path, layout)
    shown = preview(SourceFile(path))
    mapping = {column: column for column in shown.columns}
    assert guess_mapping(shown.columns, shown.rows).mapping == mapping
    assert read("table", SourceFile(path), mapping=mapping) == records
