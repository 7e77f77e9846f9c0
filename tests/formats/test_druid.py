"""DRUID: what its rows become, what is wrong with a row, and that nothing is lost on the way out and in again."""

import csv
import dataclasses
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.formats import FormatError, SourceFile
from annotation.formats.files.spreadsheets import needs_escape, unescape
from annotation.formats.records import ClaimRecord, DecisionRecord, EvidenceRecord
from annotation.formats.studies import druid

from .helpers import DRUID_HEADER, druid_line, druid_tsv, errors, of, put, read


def test_a_row_becomes_a_claim_an_evidence_and_its_decisions(tmp_path):
    assert read("druid", put(tmp_path, "d.tsv", druid_tsv(druid_line()))) == [
        ClaimRecord("c1", "The sky is green", "Ann", date(2020, 1, 2), "-", "False"),
        EvidenceRecord(
            "c1", "It is blue", claim="c1", url="https://e.org/1", date=date(2020, 1, 3), is_gold=True, rank=None
        ),
        DecisionRecord("c1", "relevance", "relevant"),
        DecisionRecord("c1", "stance", "refutes"),
    ]


def test_claims_come_once_and_ranks_come_from_the_id(tmp_path):
    text = druid_tsv(
        druid_line(), druid_line(id="c1_ret_b7_g2"), druid_line(id="c1_ret_b4_gn"), druid_line(id="c1_ret_bn_gn")
    )
    records = read("druid", put(tmp_path, "d.tsv", text))
    assert len(of(records, ClaimRecord)) == 1
    assert [record.rank for record in of(records, EvidenceRecord)] == [None, 2, 4, None]
    assert [record.metadata for record in of(records, EvidenceRecord)] == [
        {},
        {"rank_b": 7, "rank_g": 2},
        {"rank_b": 4},
        {},
    ]


def test_rows_without_label_columns_or_with_the_misspelt_date_are_read(tmp_path):
    header = DRUID_HEADER.replace("evidence_date", "evidence_data").removesuffix("\trelevant\tevidence_stance")
    row = "\t".join(druid_line(evidence_source="Reuters").split("\t")[:11])
    records = read("druid", put(tmp_path, "d.tsv", f"{header}\n{row}\n"))
    assert not of(records, DecisionRecord)
    assert of(records, EvidenceRecord)[0].date == date(2020, 1, 3)
    assert of(records, EvidenceRecord)[0].publisher == "Reuters"


def test_other_columns_go_to_the_metadata_of_the_evidence(tmp_path):
    text = f"{DRUID_HEADER}\tlanguage\n{druid_line()}\ten\n"
    assert of(read("druid", put(tmp_path, "d.tsv", text)), EvidenceRecord)[0].metadata == {"language": "en"}


def test_three_way_labels_can_be_demanded(tmp_path):
    text = druid_tsv(
        druid_line(evidence_stance="not_enough_info"), druid_line(id="x", evidence_stance="insufficient-neutral")
    )
    source = put(tmp_path, "d.tsv", text)
    assert not errors(read("druid", source))
    found = errors(read("druid", source, labels={"stance": ("refutes", "not_enough_info", "supports")}))
    assert [(error.line, error.column, error.value) for error in found] == [
        (3, "evidence_stance", "insufficient-neutral")
    ]


@pytest.mark.parametrize(
    ("changes", "column", "reason"),
    [
        ({"claim": " "}, "claim", "is empty"),
        ({"evidence": ""}, "evidence", "is empty"),
        ({"id": ""}, "id", "is empty"),
        ({"id": "x" * 501}, "id", "is an id of 501 characters"),
        ({"claim_date": "2020-13-01"}, "claim_date", "is not a date"),
        ({"evidence_date": "03.01.2020"}, "evidence_date", "is not a date"),
        ({"is_gold": "maybe"}, "is_gold", "is neither true nor false"),
        ({"evidence_stance": "agrees"}, "evidence_stance", "is not one of the labels refutes"),
        ({"relevant": "False"}, "evidence_stance", "is a stance where relevant is false"),
        ({"evidence": "a\0b"}, "evidence", "holds a NUL"),
    ],
)
def test_a_bad_row_names_line_column_and_reason_and_the_others_are_read(tmp_path, changes, column, reason):
    text = druid_tsv(druid_line(id="before"), druid_line(**{"id": "bad", **changes}), druid_line(id="after"))
    records = read("druid", put(tmp_path, "d.tsv", text))
    (error,) = errors(records)
    assert (error.file, error.line, error.column) == ("d.tsv", 3, column)
    assert error.reason.startswith(reason)
    assert [record.key for record in of(records, EvidenceRecord)] == ["before", "after"]


def test_a_repeated_id_names_where_it_stood(tmp_path):
    (error,) = errors(read("druid", put(tmp_path, "d.tsv", druid_tsv(druid_line(), druid_line(id="b"), druid_line()))))
    assert (error.line, error.column, error.value, error.reason) == (4, "id", "c1", "already occurs on line 2")


def test_a_repeated_id_in_another_file_names_that_file(tmp_path):
    one, two = put(tmp_path, "1.tsv", druid_tsv(druid_line())), put(tmp_path, "2.tsv", druid_tsv(druid_line()))
    (error,) = errors(read("druid", one, two))
    assert (error.file, error.line, error.reason) == ("2.tsv", 2, "already occurs on line 2 of 1.tsv")


def test_another_text_under_the_same_claim_id_is_an_error_of_that_column(tmp_path):
    text = druid_tsv(druid_line(), druid_line(id="b", claim_id="c2"), druid_line(id="c", claimant="Bob"))
    (error,) = errors(read("druid", put(tmp_path, "d.tsv", text)))
    assert (error.line, error.column, error.value) == (4, "claimant", "Bob")
    assert error.reason == "differs from line 2, which is about the same claim c1"


def test_lines_are_counted_through_quoted_line_breaks(tmp_path):
    text = druid_tsv(
        druid_line(evidence='"two\nlines"'), druid_line(id="b", evidence=""), druid_line(id="c") + "\tmore"
    )
    found = errors(read("druid", put(tmp_path, "d.tsv", text)))
    assert [(error.line, error.reason) for error in found] == [
        (4, "is empty"),
        (5, "has 14 cells where the header has 13"),
    ]


def test_quotes_that_do_not_match_are_no_silently_changed_text(tmp_path):
    text = druid_tsv(druid_line(evidence='"Yes" he said'), druid_line(id="b"))
    records = read("druid", put(tmp_path, "d.tsv", text))
    (error,) = errors(records)
    assert error.line == 2 and "quotes that do not match" in error.reason
    assert [record.key for record in of(records, EvidenceRecord)] == ["b"]


def test_missing_columns_are_named_with_what_was_found(tmp_path):
    with pytest.raises(
        FormatError, match=r"d.tsv: these columns are missing: claim, evidence_date. Found: id, claim_id"
    ):
        text = DRUID_HEADER.replace("\tclaim\t", "\tKLAIM\t").replace("evidence_date", "day") + "\n"
        read("druid", put(tmp_path, "d.tsv", text))


def test_columns_that_stand_twice_are_named(tmp_path):
    with pytest.raises(FormatError, match="duplicate columns: claim. Found"):
        read("druid", put(tmp_path, "d.tsv", DRUID_HEADER.replace("claimant", "claim") + "\n"))
    with pytest.raises(FormatError, match="both evidence_date and evidence_data"):
        read("druid", put(tmp_path, "d.tsv", DRUID_HEADER + "\tevidence_data\n"))


def test_a_json_row_without_a_column_is_an_error_of_that_row(tmp_path):
    (error,) = errors(read("druid", put(tmp_path, "d.jsonl", '{"id":"1","claim_id":"1"}\n')))
    assert (error.line, error.column) == (1, "claim_source")


# --- out and in again ---

texts = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"), st.sampled_from("\t\n\r\"',=+-@😀e\u0301ש")
    ),
    max_size=30,
).filter(lambda text: "\r\n" not in text)
filled = st.one_of(
    texts.filter(str.strip), st.sampled_from(["=cmd|' /C calc'!A0", "'=1", "''@x", "-1+1", "+49", "\t=a"])
)
# Ids are unique through their prefix, and an id has no spaces around it.
prefixes = st.sampled_from(["", "=", "-", "'", "'=", "@"])
days = st.one_of(st.just(""), st.just("-"), st.dates().map(date.isoformat))


@st.composite
def druid_rows(draw):
    rows = []
    for number in range(draw(st.integers(1, 4))):
        relevant = draw(st.sampled_from([True, False, None]))
        stances = {
            True: [None, "supports", "insufficient-neutral"],
            False: ["not_applicable", None],
            None: [None, "refutes"],
        }
        rows.append(
            druid.DruidRow(
                id=f"{draw(prefixes)}{number}",
                claim_id=f"{draw(prefixes)}c{number}",
                claim_source=draw(texts),
                claim=draw(filled),
                claimant=draw(texts),
                claim_date=draw(days),
                evidence_source=draw(texts),
                evidence=draw(filled),
                evidence_date=draw(days),
                factcheck_verdict=draw(texts),
                is_gold=draw(st.sampled_from([True, False, None])),
                relevant=relevant,
                evidence_stance=draw(st.sampled_from(stances[relevant])),
            )
        )
    return rows


@pytest.mark.parametrize("kind", ["tsv", "csv", "jsonl", "parquet"])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=druid_rows())
def test_every_value_survives_writing_and_reading(tmp_path, kind, rows):
    path = tmp_path / f"round.{kind}"
    assert druid.write(rows, path) == len(rows)
    again = list(druid.rows_of(read("druid", SourceFile(path))))
    assert [dataclasses.asdict(row) for row in again] == [dataclasses.asdict(row) for row in rows]
    first = path.read_bytes()
    druid.write(again, path)
    assert path.read_bytes() == first


@given(texts | filled)
def test_an_escaped_cell_is_no_formula_and_gives_its_text_back(text):
    written = "'" + text if needs_escape(text) else text
    assert unescape(written) == text
    assert written[:1] not in "=@\t\r\n＝＠" or not written


def test_no_cell_of_a_written_file_runs_in_a_spreadsheet_and_the_header_reads_the_same(tmp_path):
    row = druid.DruidRow("1", "1", "-", "=1+1", "@who", "", "+x", "-y", "-", "-3.5", None)
    for kind, delimiter in (("tsv", "\t"), ("csv", ",")):
        druid.write([row], tmp_path / f"o.{kind}")
        with open(tmp_path / f"o.{kind}", newline="", encoding="utf-8") as file:
            header, cells = csv.reader(file, delimiter=delimiter)
        assert tuple(header) == druid.COLUMNS
        assert cells == ["1", "1", "-", "'=1+1", "'@who", "", "'+x", "'-y", "-", "-3.5", "", "", ""]


def test_an_apostrophe_of_a_foreign_file_is_kept(tmp_path):
    source = put(tmp_path, "d.tsv", druid_tsv(druid_line(evidence="'-gate' and '=1", claim="'@home")))
    (row,) = druid.rows_of(read("druid", source))
    assert (row.evidence, row.claim) == ("'-gate' and '=1", "'@home")
    druid.write([row], tmp_path / "ours.tsv")
    assert list(druid.rows_of(read("druid", SourceFile(tmp_path / "ours.tsv")))) == [row]


def test_a_file_without_formulas_is_written_as_it_was_read(tmp_path):
    text = druid_tsv(
        druid_line(), druid_line(id="b", relevant="False", evidence_stance="not_applicable", claim_date="2020-01-02")
    )
    source = put(tmp_path, "d.tsv", text)
    druid.write(druid.rows_of(read("druid", source)), tmp_path / "again.tsv")
    assert (tmp_path / "again.tsv").read_text() == text
