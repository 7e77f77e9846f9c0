"""Tables of premises and hypotheses: guessed columns, labels of both scales, derived ids, what is refused."""

import json

import pytest

from annotation.formats import FormatError, Options, SourceFile
from annotation.formats.records import DecisionRecord, PairRecord
from annotation.formats.tables.format import guess_mapping, preview, task_type_of, write
from annotation.formats.tables.mapping import guess_values

from .helpers import errors, of, put, read

PAIRS = """id,premise,hypothesis,label,genre
1,Ice is frozen water.,Ice is water.,entailment,science
2,Ice is frozen water.,Ice is warm.,Contradiction,science
3,Ice is frozen water.,Bears like ice.,N,
4,Ice is frozen water.,Ice is old.,-,
"""
MAPPING = {"pair_id": "id", "premise": "premise", "hypothesis": "hypothesis", "label": "label"}
TWO_WAY = {"entailment": ("entailment", "non-entailment")}
THREE_WAY = {"entailment": ("entailment", "neutral", "contradiction")}


def labels(records):
    return [record.label for record in of(records, DecisionRecord)]


def test_pairs_are_guessed_and_read(tmp_path):
    source = put(tmp_path, "t.csv", PAIRS)
    shown = preview(source)
    guess = guess_mapping(shown.columns, shown.rows)
    assert (guess.layout, guess.missing, guess.mapping) == ("pairs", (), MAPPING)
    assert guess_values(guess.layout, guess.mapping, shown.rows) == {
        "label": {"entailment": "entailment", "Contradiction": "contradiction", "N": "neutral", "-": ""}
    }
    records = read("table", source, mapping=guess.mapping)
    assert not errors(records)
    first, *_, last = of(records, PairRecord)
    assert first == PairRecord(
        "1", "Ice is frozen water.", "Ice is water.", metadata={"genre": "science"}
    ) and last == PairRecord("4", "Ice is frozen water.", "Ice is old.")
    assert [(record.unit, record.label) for record in of(records, DecisionRecord)] == [
        ("1", "entailment"),
        ("2", "contradiction"),
        ("3", "neutral"),
    ]


@pytest.mark.parametrize(
    ("columns", "layout", "mapping"),
    [
        (["gold_label", "sentence1", "sentence2", "pairID"], "pairs",
         {"pair_id": "pairID", "premise": "sentence1", "hypothesis": "sentence2", "label": "gold_label"}),
        (["premise", "hypothesis", "url", "publisher", "is_gold", "id"], "pairs",
         {"pair_id": "id", "premise": "premise", "hypothesis": "hypothesis"}),
        (["claim", "premise", "stance"], "claim-evidence",
         {"claim": "claim", "evidence": "premise", "stance": "stance"}),
        (["hypothesis", "evidence"], "claim-evidence", {"claim": "hypothesis", "evidence": "evidence"}),
        (["claim", "evidence", "sentence1"], "claim-evidence", {"claim": "claim", "evidence": "evidence"}),
        (["claim_id", "claim", "evidence", "evidence_id", "premise", "hypothesis"], "claim-evidence",
         {"claim_id": "claim_id", "claim": "claim", "evidence_id": "evidence_id", "evidence": "evidence"}),
    ],
)  # fmt: skip
def test_weak_names_give_way_to_a_layouts_own(columns, layout, mapping):
    guess = guess_mapping(columns, [])
    assert (guess.layout, guess.mapping) == (layout, mapping)


def test_numbers_are_not_guessed_but_mapped(tmp_path):
    rows = [{"premise": "a", "hypothesis": str(number), "label": number} for number in (0, 1, 2)]
    source = put(tmp_path, "t.jsonl", "\n".join(map(json.dumps, rows)))
    shown = preview(source)
    guess = guess_mapping(shown.columns, shown.rows)
    assert guess_values(guess.layout, guess.mapping, shown.rows) == {"label": {"0": None, "1": None, "2": None}}
    found = errors(read("table", source, mapping=guess.mapping))
    assert [(error.line, error.column, error.value) for error in found] == [
        (1, "label", "0"),
        (2, "label", "1"),
        (3, "label", "2"),
    ]
    said = {"label": {"0": "entailment", "1": "neutral", "2": "contradiction"}}
    assert labels(read("table", source, mapping=guess.mapping, values=said)) == list(said["label"].values())


@pytest.mark.parametrize(
    ("value", "two_way", "three_way"),
    [
        ("entailment", "entailment", "entailment"),
        ("E", "entailment", "entailment"),
        ("not_entailment", "non-entailment", None),
        ("Non-Entailment", "non-entailment", None),
        ("neutral", "non-entailment", "neutral"),
        ("contradiction", "non-entailment", "contradiction"),
        ("1", None, None),
        ("maybe", None, None),
    ],
)
@pytest.mark.parametrize("is_said", [False, True])
def test_labels_follow_the_task_type(tmp_path, value, two_way, three_way, is_said):
    source = put(tmp_path, "t.tsv", f"premise\thypothesis\tlabel\np\th\t{value}\n")
    known = {"two": two_way, "three": three_way}
    for wanted, expected in ((TWO_WAY, known["two"]), (THREE_WAY, known["three"])):
        values = {"label": {value: two_way if three_way is None else three_way}} if is_said and two_way else {}
        mapping = {"premise": "premise", "hypothesis": "hypothesis", "label": "label"}
        records = read("table", source, mapping=mapping, values=values, labels=wanted)
        assert labels(records) == ([expected] if expected else [])
        assert len(errors(records)) == (expected is None)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (("entailment", "neutral"), "nli/three-way/1"),
        (("entailment", "not_entailment"), "nli/two-way/1"),
        (("entailment", "?", "", "non-entailment"), "nli/two-way/1"),
        (("entailment", "entailment"), "nli/three-way/1"),
    ],
)
def test_the_files_labels_tell_the_task_type(tmp_path, found, expected):
    rows = [f"{n},p,h{n},{label}" for n, label in enumerate(found)]
    source = put(tmp_path, "t.csv", "\n".join(["id,premise,hypothesis,label", *rows]))
    assert task_type_of([source], Options(mapping=MAPPING)) == expected
    unlabelled = {name: column for name, column in MAPPING.items() if name != "label"}
    assert task_type_of([source], Options(mapping=unlabelled)) == "nli/three-way/1"


def test_ids_come_from_the_content_where_there_are_none(tmp_path):
    mapping = {"premise": "p", "hypothesis": "h"}
    there = read("table", put(tmp_path, "a.csv", "p,h\nx,y\nx,z\nxy,\U0001f9ca\n"), mapping=mapping)
    back = read("table", put(tmp_path, "b.csv", "p,h\nxy,\U0001f9ca\nx,z\nx,y\n"), mapping=mapping)
    assert {record.key for record in there} == {record.key for record in back} and len(there) == 3
    twice = errors(read("table", put(tmp_path, "c.csv", "p,h\nx,y\nx,y\n"), mapping=mapping))
    assert [(error.line, error.column, error.reason) for error in twice] == [(3, "h", "already occurs on line 2")]


def test_rows_without_a_text_are_errors(tmp_path):
    source = put(tmp_path, "t.csv", "id,premise,hypothesis,label\n1, ,h,\n2,p,,\n,p,h,\n4,p,h,entailment\n")
    records = read("table", source, mapping=MAPPING)
    assert [(e.line, e.column, e.reason) for e in errors(records)] == [
        (2, "premise", "is empty"),
        (3, "hypothesis", "is empty"),
        (4, "id", "is empty"),
    ]
    assert [record.key for record in of(records, PairRecord)] == ["4"]


def test_a_mapping_without_a_hypothesis_is_refused(tmp_path):
    with pytest.raises(FormatError, match="No column is chosen for hypothesis"):
        read("table", put(tmp_path, "t.csv", PAIRS), mapping={"premise": "premise"})


@pytest.mark.parametrize("kind", ["tsv", "csv", "jsonl", "parquet"])
def test_what_is_written_reads_as_the_same_records(tmp_path, kind):
    records = [
        PairRecord("1", '=1+1\t"p"', "h\nh"),
        DecisionRecord("1", "entailment", "non-entailment"),
        PairRecord("2", "p", "\U0001f469\u200d\U0001f680 h"),
        PairRecord("3", "p", "h3"),
        DecisionRecord("3", "entailment", "entailment"),
    ]
    path = tmp_path / f"t.{kind}"
    assert write(records, path, "pairs") == 3
    shown = preview(SourceFile(path))
    mapping = {column: column for column in shown.columns}
    assert guess_mapping(shown.columns, shown.rows).mapping == mapping
    assert read("table", SourceFile(path), mapping=mapping) == records
