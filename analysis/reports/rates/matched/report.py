"""The report on matched documents and claims."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, UnsetType

from analysis.figures.items import Filter
from analysis.figures.page import Answer, Page, Rule, Section, Text, first_that_applies
from analysis.figures.pictures import Axis, IntervalRow, Intervals
from analysis.figures.results import Figure, Record, RunAgainstReference
from analysis.figures.tables import Column, Table, columns_of
from analysis.reports.common import A_RUN_OR_NONE, REFERENCE, TOUCHED
from analysis.reports.labels.dimensions import inference_dimension
from analysis.reports.report import Report
from analysis.reports.words.numbers import either, n_of
from analysis.reports.words.sentences import also_left_out, checker_name, intervals_in, listed, sentences
from annotation.task_types import TaskType

# What tells where a document comes from, and what it is called.
SOURCE = {"method": "Method", "model": "Model", "setting": "Setting"}
ALL = "all"  # sources
DRAWN = 10  # sources in the picture


# ---- rows ----


def _with_verdict(title: str, verdict: str) -> Column:
    return Column(title, items=lambda row: row.having(verdict), counts=None)


class MatchedRow(Record):
    """Documents or claims of one source, whose parts are `of`, as one side finds them: how many are matched, the share
    of the decided ones, and the lowest and highest that the undecided ones allow."""

    source: Annotated[str, Column("Source")]
    side: Annotated[str, Column("Judged by")]
    group: Annotated[str, Column("Of")]
    share: Annotated[Figure, Column("Share")]
    matched: Annotated[int, _with_verdict("Matched", "matched")]
    unmatched: Annotated[int, _with_verdict("Not", "unmatched")]
    undecided: Annotated[int, _with_verdict("Undecided", "undecided")]
    lowest: Annotated[float | None, Column("At least")]
    highest: Annotated[float | None, Column("At most")]
    of: dict[str, str] = {}

    def having(self, verdict: str) -> Filter:
        """The pairs of its documents or claims of a verdict."""
        here = ".here" if self.of and self.group == "claims" else ""
        return Filter(self.of | {f"{self.group.removesuffix('s')}.{self.side}{here}": verdict})


class Verdict(Record):
    """The verdict on one document or claim by each side."""

    name: str
    n_pairs: int
    people: str
    checker: str | UnsetType = UNSET


class PairCounts(Record):
    """How many pairs are entailed, and how many are not; the others are left out."""

    entailed: int
    other: int
    left_out: dict[str, int]


class Matched(RunAgainstReference):
    dimension: str
    title: str
    entailing: list[str]
    n_documents: int
    n_claims: int
    n_pairs: int
    n_pairs_of_no_document: int
    pairs: dict[str, PairCounts]
    shares: list[MatchedRow]
    documents: list[Verdict]
    claims: list[Verdict]

    def of_documents(self, side: str) -> MatchedRow:
        """Of all documents, by one side."""
        return next(row for row in self.shares if (row.source, row.side, row.group) == (ALL, side, "documents"))

    def named(self, side: str) -> str:
        return f"people ({self.reference_title.lower()})" if side == "people" else checker_name(self)

    @property
    def sizes(self) -> str:
        return (
            f"{n_of(self.n_documents, 'documents')} of {n_of(self.n_claims, 'claims')}, {n_of(self.n_pairs, 'pairs')}"
        )


# ---- the page ----


def page(result: Matched) -> Page:
    return Page(
        answer=Answer(
            sentences=tuple(first_that_applies(RULES, (result, side)) for side in result.pairs),
            n=f"{result.sizes}; {result.reference_title.lower()}.",
            picture=_picture(result),
            next=first_that_applies(NEXT, result.of_documents("people")),
        ),
        sections=[
            Section(
                "Matched documents and claims",
                [
                    Text(_pairs(result)),
                    Table("Matched documents and claims", columns_of(MatchedRow), result.shares),
                ],
            ),
            Section("Documents", [_verdicts(result, "document", result.documents)]),
            Section("Claims", [_verdicts(result, "claim", result.claims)]),
        ],
        notes=[result.decisions_left_out.words] if result.decisions_left_out else [],
    )


def _pairs(result: Matched) -> str:
    """How many pairs each side finds entailed, and what is left out."""
    clauses = [
        f"by {result.named(side)}, {n_of(counts.entailed, 'pairs')} {either(counts.entailed, 'is', 'are')} entailed "
        f"and {counts.other:,} {either(counts.other, 'is', 'are')} not"
        + "".join(f"; {n:,} {either(n, 'is', 'are')} {reason}" for reason, n in counts.left_out.items() if n)
        for side, counts in result.pairs.items()
    ]
    none = result.n_pairs_of_no_document
    clauses += [f"{n_of(none, 'pairs')} more come from no document"] if none else []
    text = "; ".join(clauses)
    return f"{text[:1].upper()}{text[1:]}."


def _picture(result: Matched) -> Intervals | None:
    """Whole and by source, one series for each side."""
    rows = [row for row in result.shares if row.group == "documents"][: (DRAWN + 1) * len(result.pairs)]
    if not any(row.share.is_defined for row in rows):
        return None
    return Intervals(
        name="matched",
        title="Share of generated documents that are matched",
        caption=(
            f"{result.project}: {result.sizes}, {result.reference_title.lower()}. Lines are 95 % bootstrap intervals "
            "over claims."
        ),
        alt="; ".join(f"{row.source}, by {row.side}: {row.share.written()}" for row in rows) + ".",
        items=tuple(IntervalRow.of_figure(row.source, row.share, series=result.named(row.side)) for row in rows),
        values=Axis("Share of documents", 0, 1),
        rows_title="/".join(SOURCE.values()),
    )


def _verdicts(result: Matched, group: str, rows: list[Verdict]) -> Table:
    return Table(
        f"{group.capitalize()}s one by one",
        [
            Column(group.capitalize(), "name"),
            Column("Pairs", "n_pairs", items=lambda row: Filter({group: row.name})),
            *(Column(f"By {result.named(side)}", side) for side in result.pairs),
        ],
        rows,
    )


RULES = (
    Rule(
        "nothing decided",
        lambda about: not about[0].of_documents(about[1]).share.is_defined,
        lambda about: (
            f"By {about[0].named(about[1])} it is not known how many documents are matched: "
            f"{about[0].of_documents(about[1]).share.undefined}."
        ),
    ),
    Rule("share", lambda about: True, lambda about: _share(about[0].named(about[1]), about[0].of_documents(about[1]))),
)
NEXT = (
    Rule(
        "undecided",
        lambda people: people.undecided > 0,
        lambda people: f"label the pairs of the {n_of(people.undecided, 'documents')} that are undecided by people",
    ),
)


def _share(name: str, row: MatchedRow) -> str:
    return (
        f"By {name} a share of {row.share.written()} of the generated documents is matched: gold evidence entails at "
        f"least one of their sentences{row.share.level_noted}{also_left_out(row.undecided, 'undecided documents')}."
    )


# ---- methods, and the report ----


def methods(result: Matched) -> str:
    checker = f" and by {checker_name(result)}" if result.checker else ""
    touched = ""
    if result.checker and result.reference == "majority":
        touched = (
            "All labels of people count."
            if result.touched
            else "Only labels of people count that the checker's suggestions had not touched."
        )
    shares = {side: result.of_documents(side).share for side in result.pairs}
    return sentences(
        "A generated document, and a claim, is matched where at least one of its pairs is judged "
        f"{listed(result.entailing, 'or').lower()}: {n_of(result.n_pairs, 'pairs')} of gold evidence and a "
        f"document's sentence were judged by people ({result.reference_title.lower()}){checker}.",
        touched,
        "It is unmatched where all of its pairs are judged otherwise, and undecided in between; shares are of the "
        "decided ones, with the lowest and highest that the undecided ones allow.",
        *(
            f"By {result.named(side)}, {share.written()} of the documents were matched."
            for side, share in shares.items()
            if share.is_defined
        ),
        intervals_in(result, ("claim", "claims")),
    )


def refuses(kind: TaskType) -> str:
    if inference_dimension(kind) is not None:
        return ""
    return f"Matched claims need judgements of pairs; {kind.title!r} judges something else"


REPORT = Report(
    "matched",
    "Matched documents and claims",
    "analysis.reports.rates.matched.compute",
    (REFERENCE, A_RUN_OR_NONE, TOUCHED),
    "Which generated documents and claims are matched: any pair of theirs is entailed by gold evidence.",
    kind=Matched,
    declares=page,
    paragraph=methods,
    refuses=refuses,
)
