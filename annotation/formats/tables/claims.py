"""Rows of a claim with one piece of evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from annotation.formats.cells import SeenParents, to_bool, to_date
from annotation.formats.records import ClaimRecord, DecisionRecord, EvidenceRecord, Record
from annotation.formats.sources import Options
from annotation.formats.tables.rows import Rows, hashed


class ClaimEvidenceRows(Rows):
    def __init__(self, options: Options):
        super().__init__(options)
        names = ("claim", "claimant", "claim_date", "claim_source", "verdict")
        self.claims = SeenParents("claim", tuple(self.column(name) for name in names))

    def start(self, file: str) -> None:
        self.seen.start(file)
        self.claims.start(file)

    def records_of(self, line: int, cells: dict) -> list[Record]:
        claim_text, evidence_text = self.required(cells, "claim"), self.required(cells, "evidence")
        claimant = self.text(cells, "claimant")
        claim_key = self.key(cells, "claim_id") or hashed("c", claim_text, claimant)
        url = self.text(cells, "evidence_url")
        publisher = self.text(cells, "publisher")
        if url and not url.startswith(("http://", "https://")):
            # A column of sources holds URLs and names together.
            url, publisher = "", publisher or url
        key = f"{claim_key}/{self.key(cells, 'evidence_id') or hashed('e', evidence_text, url)}"
        claim = ClaimRecord(
            claim_key,
            claim_text,
            claimant,
            to_date(self.get(cells, "claim_date"), self.column("claim_date")),
            self.text(cells, "claim_source"),
            self.text(cells, "verdict"),
        )
        evidence = EvidenceRecord(
            key,
            evidence_text,
            claim=claim_key,
            url=url,
            publisher=publisher,
            date=to_date(self.get(cells, "evidence_date"), self.column("evidence_date")),
            is_gold=to_bool(self.get(cells, "is_gold"), self.column("is_gold")),
            metadata=self.metadata(cells),
        )
        labels = [(dimension, self.label(cells, dimension, dimension)) for dimension in ("relevance", "stance")]
        self.seen.add(key, self.column("evidence_id" if "evidence_id" in self.mapping else "evidence"), line)
        values = (claim.text, claim.claimant, claim.date, claim.source, claim.verdict)
        parents: list[Record] = [claim] if self.claims.is_new(claim_key, values, line) else []
        return [*parents, evidence, *(DecisionRecord(key, dimension, label) for dimension, label in labels if label)]


def claim_evidence_dicts(records: Iterable[Record]) -> Iterator[dict]:
    claims: dict[str, ClaimRecord] = {}
    row: dict | None = None
    for record in records:
        match record:
            case ClaimRecord():
                claims[record.key] = record
            case EvidenceRecord():
                if row is not None:
                    yield row
                claim = claims[record.claim]
                row = {
                    "claim_id": claim.key,
                    "claim": claim.text,
                    "claimant": claim.claimant,
                    "claim_date": claim.date and claim.date.isoformat(),
                    "claim_source": claim.source,
                    "verdict": claim.verdict,
                    "evidence_id": record.key.removeprefix(claim.key + "/"),
                    "evidence": record.text,
                    "evidence_url": record.url,
                    "publisher": record.publisher,
                    "evidence_date": record.date and record.date.isoformat(),
                    "is_gold": record.is_gold,
                }
            case DecisionRecord():
                row[record.dimension] = record.label
    if row is not None:
        yield row
