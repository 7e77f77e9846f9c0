"""CLIMATE-FEVER: votes are exchangeable raters, ties are no decisions, and one bad piece of evidence is one bad row."""

import json

import pytest

from annotation.formats.records import AnnotationRecord, ClaimRecord, EvidenceRecord, JudgementRecord

from .helpers import errors, of, put, read


def evidence(**changes) -> dict:
    return {
        "evidence_id": "Sun:1",
        "evidence_label": "NOT_ENOUGH_INFO",
        "article": "Sun",
        "evidence": "The sun is warm.",
        "entropy": 0.5,
        "votes": ["SUPPORTS", None, "NOT_ENOUGH_INFO"],
    } | changes


def claim(*evidences: dict, **changes) -> dict:
    return {"claim_id": "1", "claim": "It is hot", "claim_label": "DISPUTED", "evidences": list(evidences)} | changes


def test_a_claim_brings_its_evidence_and_the_votes_in_their_positions(tmp_path):
    metadata = {"article": "Sun", "entropy": 0.5, "evidence_label": "NOT_ENOUGH_INFO"}

    def vote(number, label):
        return AnnotationRecord(
            "1/Sun:1", f"vote {number}", (JudgementRecord("1/Sun:1", "stance", label),), rater_kind="slot"
        )

    assert read("climate-fever", put(tmp_path, "c.jsonl", json.dumps(claim(evidence())))) == [
        ClaimRecord("1", "It is hot", verdict="DISPUTED", metadata={"claim_label": "DISPUTED"}),
        EvidenceRecord("1/Sun:1", "The sun is warm.", claim="1", publisher="Wikipedia", metadata=metadata),
        vote(1, "supports"),
        vote(3, "not_enough_info"),
    ]


def test_an_evidence_id_may_repeat_under_another_claim(tmp_path):
    lines = [json.dumps(claim(evidence())), json.dumps(claim(evidence(), claim_id="2"))]
    records = read("climate-fever", put(tmp_path, "c.jsonl", "\n".join(lines)))
    assert [record.key for record in of(records, EvidenceRecord)] == ["1/Sun:1", "2/Sun:1"]


@pytest.mark.parametrize(
    ("bad", "column", "reason"),
    [
        (
            claim(evidence(), evidence(votes=["MAYBE"], evidence_id="2")),
            "evidences[1].votes[0]",
            "is not one of the labels",
        ),
        (claim(evidence(), evidence()), "evidences[1].evidence_id", "occurs twice under the claim"),
        (claim(evidence(evidence="")), "evidences[0].evidence", "is empty"),
        (claim(evidence(votes="x")), "evidences[0].votes", "is not a list"),
        (claim(claim=""), "claim", "is empty"),
        (claim(evidences=None), "evidences", "is not a list"),
        (claim(claim_id=None), "claim_id", "is empty"),
        (claim(claim_id="0"), "claim_id", "already occurs on line 1"),
    ],
)
def test_a_bad_claim_is_skipped_whole_and_named(tmp_path, bad, column, reason):
    text = "\n".join(json.dumps(each) for each in (claim(claim_id="0"), bad, claim(claim_id="9")))
    records = read("climate-fever", put(tmp_path, "c.jsonl", text))
    (error,) = errors(records)
    assert (error.line, error.column) == (2, column)
    assert error.reason.startswith(reason)
    assert [record.key for record in of(records, ClaimRecord)] == ["0", "9"]
