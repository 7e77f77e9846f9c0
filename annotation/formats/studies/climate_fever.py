"""CLIMATE-FEVER: JSON Lines, one claim per line with its pieces of evidence and up to five votes on each.

Keys: the claim's is `claim_id`; the evidence's (the unit's) is `claim_id/evidence_id`, because an `evidence_id` repeats
across claims. A vote's position is no annotator, so raters are slots. `evidence_label` calls every tie
NOT_ENOUGH_INFO, so it is kept as metadata and is no decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from annotation.formats.cells import (
    BadCell,
    SeenKeys,
    accepted_labels,
    guess_label,
    required_text,
    to_key,
    to_list,
    to_object,
    to_text,
    unknown_label,
)
from annotation.formats.files.spreadsheets import write_json_lines
from annotation.formats.files.tables import open_tables
from annotation.formats.info import Format, has_columns
from annotation.formats.records import AnnotationRecord, ClaimRecord, EvidenceRecord, JudgementRecord, Record, RowError
from annotation.formats.sources import Options, SourceFile

LABELS = {"refutes": "REFUTES", "not_enough_info": "NOT_ENOUGH_INFO", "supports": "SUPPORTS"}
PUBLISHER = "Wikipedia"
CLAIM_KEYS = frozenset({"claim_id", "claim", "claim_label", "evidences"})
EVIDENCE_KEYS = frozenset({"evidence_id", "evidence_label", "article", "evidence", "entropy", "votes"})
SLOTS_MOST = 50
EVIDENCE_METADATA = ("article", "entropy", "evidence_label")


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    """Claims, evidence and votes. Reads `options.labels["stance"]` (default: the three of the file).

    A claim with any bad piece of evidence is one bad row, and is skipped as a whole.
    """
    labels = accepted_labels(options.labels, "stance") if "stance" in options.labels else tuple(LABELS)
    seen = SeenKeys()

    def records_of(line: int, claim: dict) -> list[Record]:
        records = _records_of(claim, labels, options.limits.key_chars)
        seen.add(records[0].key, "claim_id", line)
        return records

    for table in open_tables(sources, options):
        seen.start(table.name)
        yield from table.parsed(records_of)


def _records_of(claim: dict, labels: tuple[str, ...], limit: int) -> list[Record]:
    key = to_key(claim.get("claim_id"), "claim_id", limit)
    verdict = to_text(claim.get("claim_label"), "claim_label")
    metadata = {name: value for name, value in claim.items() if name not in CLAIM_KEYS}
    if "claim_label" in claim:
        metadata["claim_label"] = claim["claim_label"]
    records: list[Record] = [
        ClaimRecord(key, required_text(claim.get("claim"), "claim"), verdict=verdict, metadata=metadata)
    ]
    keys: set[str] = set()
    for index, evidence in enumerate(to_list(claim.get("evidences"), "evidences")):
        path = f"evidences[{index}]"
        evidence = to_object(evidence, path)
        evidence_key = f"{key}/{to_key(evidence.get('evidence_id'), f'{path}.evidence_id', limit)}"
        if evidence_key in keys:
            raise BadCell(f"{path}.evidence_id", evidence["evidence_id"], "occurs twice under the claim")
        keys.add(evidence_key)
        records.append(
            EvidenceRecord(
                evidence_key,
                required_text(evidence.get("evidence"), f"{path}.evidence"),
                claim=key,
                publisher=PUBLISHER,
                metadata={name: value for name, value in evidence.items() if name in EVIDENCE_METADATA}
                | {name: value for name, value in evidence.items() if name not in EVIDENCE_KEYS},
            )
        )
        records.extend(_votes_of(evidence.get("votes"), evidence_key, f"{path}.votes", labels))
    return records


def _votes_of(votes: object, unit: str, path: str, labels: tuple[str, ...]) -> Iterator[AnnotationRecord]:
    if votes is None:
        return
    if not isinstance(votes, list) or len(votes) > SLOTS_MOST:
        raise BadCell(path, votes, f"is not a list of at most {SLOTS_MOST} votes")
    for index, vote in enumerate(votes):
        if vote is None:
            continue
        label = guess_label(vote, "stance", labels) if isinstance(vote, str) else None
        if label is None:
            raise unknown_label(vote, f"{path}[{index}]", LABELS.values())
        yield AnnotationRecord(unit, f"vote {index + 1}", (JudgementRecord(unit, "stance", label),), rater_kind="slot")


def write(records: Iterable[Record], path: str | Path, slots: int = 5) -> int:
    """Write records that come as `read` yields them (claim, then evidence with its votes). Returns their number.

    Votes stand in the position that their rater's name ends with; at least `slots` positions are written.
    """
    return write_json_lines(path, _claims(records, slots))


def _claims(records: Iterable[Record], slots: int) -> Iterator[dict]:
    claim: dict | None = None
    for record in records:
        match record:
            case ClaimRecord():
                if claim is not None:
                    yield claim
                extra = dict(record.metadata)
                label = extra.pop("claim_label", record.verdict)
                claim = {"claim_id": record.key, "claim": record.text, "claim_label": label, "evidences": [], **extra}
            case EvidenceRecord():
                extra = dict(record.metadata)
                claim["evidences"].append(
                    {
                        "evidence_id": record.key.removeprefix(record.claim + "/"),
                        "evidence_label": extra.pop("evidence_label", None),
                        "article": extra.pop("article", ""),
                        "evidence": record.text,
                        "entropy": extra.pop("entropy", None),
                        "votes": [None] * slots,
                        **extra,
                    }
                )
            case AnnotationRecord():
                votes = claim["evidences"][-1]["votes"]
                position = int(record.rater.rsplit(" ", 1)[-1]) - 1
                votes.extend([None] * (position + 1 - len(votes)))
                votes[position] = LABELS[record.judgements[0].label]
            case RowError():
                raise ValueError(f"{record.file}, line {record.line}: {record.column} {record.reason}")
    if claim is not None:
        yield claim


INFO = Format(
    slug="climate-fever",
    title="CLIMATE-FEVER",
    extensions=(".jsonl", ".json"),
    reader=read,
    detect=has_columns("claim_id claim evidences"),
    task_type="claim-evidence/three-way/1",
)
