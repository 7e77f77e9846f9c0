"""The published data sets, read whole, against the counts published for them or computed from them elsewhere."""

from collections import Counter

from annotation.formats import SourceFile, detect
from annotation.formats.records import (
    AnnotationRecord,
    ClaimRecord,
    DecisionRecord,
    EvidenceRecord,
    QuestionRecord,
    ResponseRecord,
    RowError,
    TripletRecord,
)
from annotation.formats.studies import climate_fever, druid, refchecker

from .helpers import of, read, real


def refchecker_sources() -> list[SourceFile]:
    folder = real("refchecker")
    return [SourceFile(path, path.relative_to(folder).as_posix()) for path in sorted(folder.glob("*/*.json"))]


def test_climate_fever_has_its_claims_pairs_and_every_vote():
    records = read("climate-fever", SourceFile(real("climate_fever/climate-fever.jsonl")))
    assert len(of(records, ClaimRecord)) == 1535
    assert len({record.key for record in of(records, EvidenceRecord)}) == 7675
    votes = Counter(record.item for record in of(records, AnnotationRecord))
    assert Counter(votes.values()) == {2: 5340, 3: 1554, 4: 761, 5: 20}
    labels = Counter(record.metadata["evidence_label"] for record in of(records, EvidenceRecord))
    assert labels == {"NOT_ENOUGH_INFO": 4930, "SUPPORTS": 1943, "REFUTES": 802}
    assert not of(records, DecisionRecord) and not of(records, RowError)
    assert {record.rater_kind for record in of(records, AnnotationRecord)} == {"slot"}


def test_climate_fever_is_written_as_it_was_read(tmp_path):
    import json

    path = real("climate_fever/climate-fever.jsonl")
    climate_fever.write(read("climate-fever", SourceFile(path)), tmp_path / "again.jsonl")
    with open(path, encoding="utf-8") as before, open(tmp_path / "again.jsonl", encoding="utf-8") as after:
        assert [json.loads(line) for line in after] == [json.loads(line) for line in before]


def test_refchecker_has_its_responses_triplets_and_labels_per_setting():
    records = read("refchecker", *refchecker_sources())
    assert not of(records, RowError)
    assert len(of(records, ResponseRecord)) == 1400
    assert len({record.key for record in of(records, TripletRecord)}) == 7313
    assert len(of(records, QuestionRecord)) == 200
    setting_of = {record.key: record.context_setting for record in of(records, ResponseRecord)}
    labels = Counter(
        (setting_of[record.item], judgement.label)
        for record in of(records, AnnotationRecord)
        for judgement in record.judgements
    )
    assert labels == {
        ("zero_context", "entailment"): 1047,
        ("zero_context", "neutral"): 1818,
        ("zero_context", "contradiction"): 454,
        ("accurate_context", "entailment"): 3350,
        ("accurate_context", "neutral"): 368,
        ("accurate_context", "contradiction"): 276,
    }
    answered = {record.response for record in of(records, TripletRecord)}
    abstained = Counter(setting for key, setting in setting_of.items() if key not in answered)
    assert abstained == {"zero_context": 87, "accurate_context": 33}


def test_refchecker_comes_back_equal_from_one_file_of_all_models(tmp_path):
    records = read("refchecker", *refchecker_sources())
    refchecker.write(refchecker.rows_of(records), tmp_path / "all.jsonl")
    assert read("refchecker", SourceFile(tmp_path / "all.jsonl")) == records


def test_refchecker_file_is_written_as_it_was_read(tmp_path):
    import json

    source = next(source for source in refchecker_sources() if "gpt4" in source.name)
    refchecker.write(refchecker.rows_of(read("refchecker", source)), tmp_path / "again.jsonl", names=False)
    with open(source.path, encoding="utf-8") as before, open(tmp_path / "again.jsonl", encoding="utf-8") as after:
        assert [json.loads(line) for line in after] == json.load(before)


def test_formats_of_the_real_files_are_recognised():
    assert detect(real("climate_fever/climate-fever.jsonl")) == "climate-fever"
    assert {detect(source.path, source.name) for source in refchecker_sources()} == {"refchecker"}


def test_climate_fever_goes_through_druids_layout_and_back(tmp_path):
    records = read("climate-fever", SourceFile(real("climate_fever/climate-fever.jsonl")))
    rows = list(druid.rows_of(record for record in records if not isinstance(record, AnnotationRecord)))
    for kind in ("tsv", "jsonl", "parquet"):
        druid.write(rows, tmp_path / f"out.{kind}")
        again = read("druid", SourceFile(tmp_path / f"out.{kind}"))
        assert list(druid.rows_of(again)) == rows
