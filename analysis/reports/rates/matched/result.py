"""What the report on matched documents and claims holds."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from analysis.figures.results import Figure, Record, RunAgainstReference


class Verdicts(Record):
    """How many are matched, unmatched and undecided; the share of the decided ones, and the lowest and highest that the
    undecided ones allow."""

    matched: int
    unmatched: int
    undecided: int
    share: Figure
    lowest: float | None
    highest: float | None


class Side(Record):
    documents: Verdicts
    claims: Verdicts


class Found(Record):
    """What people, and a checker where one is named, find of some documents."""

    n_documents: int
    n_claims: int
    people: Side
    checker: Side | UnsetType = UNSET


class FoundOfSource(Found):
    method: str
    model: str
    setting: str


class PairCounts(Record):
    """How many pairs are entailed, and how many are not; the others are left out."""

    entailed: int
    other: int
    left_out: dict[str, int]


class Verdict(Record):
    """The verdict on one document or claim by each side."""

    n_pairs: int
    people: str
    checker: str | UnsetType = UNSET
    document: str | UnsetType = UNSET
    claim: str | UnsetType = UNSET


class Matched(RunAgainstReference):
    dimension: str
    title: str
    entailing: list[str]
    n_pairs: int
    n_pairs_of_no_document: int
    pairs: dict[str, PairCounts]
    all: Found
    sources: list[FoundOfSource]
    documents: list[Verdict]
    claims: list[Verdict]
