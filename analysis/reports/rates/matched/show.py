"""The page on matched documents and claims."""

from __future__ import annotations

from typing import NamedTuple

from analysis.figures.items import Filter
from analysis.figures.page import Answer, Page, Rule, Section, Text, first_that_applies
from analysis.figures.pictures import Axis, IntervalRow, Intervals
from analysis.figures.results import Figure
from analysis.figures.tables import Column, Table
from analysis.reports.common import A_RUN_OR_NONE, REFERENCE, TOUCHED
from analysis.reports.labels.dimensions import inference_dimension
from analysis.reports.rates.matched.result import Found, FoundOfSource, Matched, Verdicts
from analysis.reports.report import Report
from analysis.reports.words.numbers import either, n_of
from analysis.reports.words.sentences import also_left_out, checker_name, intervals_in, listed, sentences
from annotation.task_types import TaskType

# What tells where a document comes from, and what it is called.
SOURCE = {"method": "Method", "model": "Model", "setting": "Setting"}

DRAWN = 10  # sources in the picture


def refuses(kind: TaskType) -> str:
    if inference_dimension(kind) is not None:
        return ""
    return f"Matched claims need judgements of pairs; {kind.title!r} judges something else"


class Row(NamedTuple):
    """Documents or claims of one source as one side finds them."""

    found: Found
    side: str
    group: str

    @property
    def verdicts(self) -> Verdicts:
        return getattr(getattr(self.found, self.side), self.group)

    @property
    def source(self) -> str:
        if not isinstance(self.found, FoundOfSource):
            return "all"
        return "/".join(getattr(self.found, part) or "-" for part in SOURCE)

    def having(self, verdict: str) -> Filter:
        """The pairs of its documents or claims of a verdict."""
        of = self.group.removesuffix("s")
        if not isinstance(self.found, FoundOfSource):
            return Filter({f"{of}.{self.side}": verdict})
        here = ".here" if of == "claim" else ""
        return Filter({part: getattr(self.found, part) for part in SOURCE} | {f"{of}.{self.side}{here}": verdict})


def page(result: Matched) -> Page:
    return Page(
        answer=Answer(
            sentences=tuple(first_that_applies(RULES, (result, side)) for side in result.pairs),
            n=(
                f"{n_of(result.all.n_documents, 'documents')} of {n_of(result.all.n_claims, 'claims')}, "
                f"{n_of(result.n_pairs, 'pairs')}; {result.reference_title.lower()}."
            ),
            picture=_picture(result),
            next=first_that_applies(NEXT, result),
        ),
        sections=[
            Section("Matched documents and claims", [Text(_pairs(result)), _shares(result)]),
            Section("Documents", [_verdicts(result, "document")]),
            Section("Claims", [_verdicts(result, "claim")]),
        ],
        notes=[result.decisions_left_out.words] if result.decisions_left_out else [],
    )


def _by(result: Matched, side: str) -> str:
    return f"people ({result.reference_title.lower()})" if side == "people" else checker_name(result)


def _pairs(result: Matched) -> str:
    """How many pairs each side finds entailed, and what is left out."""
    clauses = [
        f"by {_by(result, side)}, {n_of(counts.entailed, 'pairs')} {either(counts.entailed, 'is', 'are')} entailed and "
        f"{counts.other:,} {either(counts.other, 'is', 'are')} not"
        + "".join(f"; {n:,} {either(n, 'is', 'are')} {reason}" for reason, n in counts.left_out.items() if n)
        for side, counts in result.pairs.items()
    ]
    none = result.n_pairs_of_no_document
    clauses += [f"{n_of(none, 'pairs')} more come from no document"] if none else []
    text = "; ".join(clauses)
    return f"{text[:1].upper()}{text[1:]}."


def _shares(result: Matched) -> Table:
    def count(title: str, verdict: str, name: str) -> Column:
        return Column(
            title, lambda row: getattr(row.verdicts, name), items=lambda row: row.having(verdict), counts=None
        )

    sources = [result.all, *result.sources]
    return Table(
        "Matched documents and claims",
        [
            Column("Source", "source"),
            Column("Judged by", "side"),
            Column("Of", "group"),
            Column("Share", "verdicts.share", interval=True),
            count("Matched", "matched", "matched"),
            count("Not", "unmatched", "unmatched"),
            count("Undecided", "undecided", "undecided"),
            Column("At least", "verdicts.lowest"),
            Column("At most", "verdicts.highest"),
        ],
        [Row(one, side, group) for one in sources for side in result.pairs for group in ("documents", "claims")],
    )


def _picture(result: Matched) -> Intervals | None:
    """Whole and by source, one series for each side."""
    rows = [Row(source, side, "documents") for source in (result.all, *result.sources[:DRAWN]) for side in result.pairs]
    if not any(row.verdicts.share.is_defined for row in rows):
        return None
    return Intervals(
        name="matched",
        title="Share of generated documents that are matched",
        caption=(
            f"{result.project}: {n_of(result.all.n_documents, 'documents')} of "
            f"{n_of(result.all.n_claims, 'claims')}, {n_of(result.n_pairs, 'pairs')}, "
            f"{result.reference_title.lower()}. Lines are 95 % bootstrap intervals over claims."
        ),
        alt="; ".join(f"{row.source}, by {row.side}: {row.verdicts.share.written()}" for row in rows) + ".",
        items=tuple(
            IntervalRow.of_figure(row.source, row.verdicts.share, series=_by(result, row.side)) for row in rows
        ),
        values=Axis("Share of documents", 0, 1),
        rows_title="/".join(SOURCE.values()),
    )


def _verdicts(result: Matched, group: str) -> Table:
    rows = getattr(result, f"{group}s")
    return Table(
        f"{group.capitalize()}s one by one",
        [
            Column(group.capitalize(), lambda row: getattr(row, group)),
            Column("Pairs", "n_pairs", items=lambda row: Filter({group: getattr(row, group)})),
            *(Column(f"By {_by(result, side)}", lambda row, side=side: getattr(row, side)) for side in result.pairs),
        ],
        rows,
    )


def _share_of_documents(about: tuple[Matched, str]) -> Figure:
    result, side = about
    return getattr(result.all, side).documents.share


RULES = (
    Rule(
        "nothing decided",
        lambda about: not _share_of_documents(about).is_defined,
        lambda about: (
            f"By {_by(*about)} it is not known how many documents are matched: {_share_of_documents(about).undefined}."
        ),
    ),
    Rule(
        "share",
        lambda about: True,
        lambda about: (
            f"By {_by(*about)} a share of {_share_of_documents(about).written()} of the generated documents is "
            f"matched: gold evidence entails at least one of their sentences{_share_of_documents(about).level_noted}"
            f"{also_left_out(getattr(about[0].all, about[1]).documents.undecided, 'undecided documents')}."
        ),
    ),
)
NEXT = (
    Rule(
        "undecided",
        lambda result: result.all.people.documents.undecided > 0,
        lambda result: (
            f"label the pairs of the {n_of(result.all.people.documents.undecided, 'documents')} that are undecided by "
            "people"
        ),
    ),
)


def methods(result: Matched) -> str:
    checker = f" and by {checker_name(result)}" if result.checker else ""
    touched = ""
    if result.checker and result.reference == "majority":
        touched = (
            "All labels of people count."
            if result.touched
            else "Only labels of people count that the checker's suggestions had not touched."
        )
    return sentences(
        "A generated document, and a claim, is matched where at least one of its pairs is judged "
        f"{listed(result.entailing, 'or').lower()}: {n_of(result.n_pairs, 'pairs')} of gold evidence and a "
        f"document's sentence were judged by people ({result.reference_title.lower()}){checker}.",
        touched,
        "It is unmatched where all of its pairs are judged otherwise, and undecided in between; shares are of the "
        "decided ones, with the lowest and highest that the undecided ones allow.",
        *(
            f"By {_by(result, side)}, {_share_of_documents((result, side)).written()} of the documents were matched."
            for side in result.pairs
            if _share_of_documents((result, side)).is_defined
        ),
        intervals_in(result, ("claim", "claims")),
    )


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
