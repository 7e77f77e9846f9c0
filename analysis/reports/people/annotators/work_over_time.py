"""The sections on time: whether quick answers agree less with others', and whether people drift as work goes on."""

from __future__ import annotations

from typing import Annotated

from analysis.figures.page import Part, Text
from analysis.figures.results import EffectFigure, Figure, Record
from analysis.figures.tables import Column, Table, columns_of
from analysis.reports.labels.raters import RaterRow
from analysis.reports.words.numbers import either, left_out, n_of
from analysis.reports.words.sentences import sentences

# A person with fewer answers to units that others answered too gets no trend.
MIN_ANSWERS = 20
# With answers about fewer claims the interval of one person's trend covers less than it says (docs/statistics.md).
FEW_CLAIMS = 20
BLOCK_TITLES = ("first quarter", "second quarter", "third quarter", "last quarter")
EVERYBODY = "all, within each annotator"


class WithinFigure(Figure):
    title: str


class SpeedQuarter(Record):
    title: Annotated[str, Column("Quarter of each person's answers"), Column("Answers", "agreement.n_pairable")]
    median: Annotated[float | None, Column("Median seconds")]
    agreement: Annotated[Figure, Column("Agreement with others")]


class RaterSpeed(RaterRow):
    """Of one annotator, or within all of them."""

    n: Annotated[int, Column("Answers")]
    median: Annotated[float | None, Column("Median seconds")]
    agreement: Annotated[Figure | None, Column("Agreement with others")]
    spearman: Annotated[Figure, Column("Spearman with time")]


class Speed(Record):
    n: int = 0
    n_untimed: int = 0
    undefined: str
    quarters: list[SpeedQuarter] = []
    within: WithinFigure | None = None
    raters: list[RaterSpeed] = []


def _block(place: int) -> Column:
    def agreement(row: RaterDrift) -> Figure | None:
        return row.blocks[place] if place < len(row.blocks) else None  # a short sequence lacks some

    return Column(BLOCK_TITLES[place].capitalize(), agreement, interval=True)


class RaterDrift(RaterRow):
    """Of one annotator, or within all of them."""

    n: Annotated[int, Column("Answers")]
    blocks: Annotated[list[Figure], *map(_block, range(len(BLOCK_TITLES)))]
    trend: Annotated[EffectFigure, Column("Change"), Column("p", "trend.p_value")]


class Block(Record):
    title: str
    agreement: Figure


class VersionAgreement(Record):
    version: Annotated[int, Column("Version", lambda row: str(row.version))]
    n: Annotated[int, Column("Answers")]
    agreement: Annotated[Figure, Column("Agreement with others")]
    change: Annotated[
        EffectFigure | None,
        Column("Change from the previous version"),
        Column("p", lambda row: row.change.p_value if row.change else None),
    ]


class WorkDrift(Record):
    n: int = 0
    n_undated: int = 0
    min_answers: int
    people: list[RaterDrift] = []
    n_few: int = 0
    undefined: str
    blocks: list[Block] = []
    within: EffectFigure | None = None
    versions: list[VersionAgreement] = []


def speed_parts(title: str, speed: Speed) -> list[Part]:
    if speed.undefined:
        return [Text(f"{speed.undefined[0].upper()}{speed.undefined[1:]}.")]
    n = speed.within.n_pairable
    within = RaterSpeed(id="", name=EVERYBODY, n=n, median=None, agreement=None, spearman=speed.within)
    untimed = left_out(speed.n_untimed, "answers without a time")
    return [
        Text(f"{speed.within.title}: {speed.within.written()} (n = {n:,}). Below 0, slower answers agree less."),
        Table(
            f"{title}: agreement by speed",
            columns_of(SpeedQuarter),
            speed.quarters,
        ),
        Table(
            f"{title}: correlation of time with agreement",
            columns_of(RaterSpeed),
            [within, *speed.raters],
            sentences(
                "Time is active time, idle time excluded.",
                untimed,
                "Hard items take longer and cause more disagreement, so a correlation is not evidence of haste.",
            ),
        ),
    ]


def drift_parts(title: str, drift: WorkDrift) -> list[Part]:
    if drift.undefined:
        return [Text(f"{drift.undefined[0].upper()}{drift.undefined[1:]}.")]
    blocks = [one.agreement for one in drift.blocks]
    n = sum(one.n_pairable for one in blocks)
    within = RaterDrift(id="", name=EVERYBODY, n=n, blocks=blocks, trend=drift.within)
    return [
        Table(
            f"{title}: agreement with others over time",
            columns_of(RaterDrift),
            [within, *drift.people],
            _note(drift),
        ),
        Table(
            f"{title}: agreement by version of the guidelines",
            columns_of(VersionAgreement),
            drift.versions,
            "The change compares people with themselves: only those count who answered under both versions.",
        ),
    ]


def _clusters(drift: WorkDrift) -> list[int]:
    """Of each person, how many claims or questions the trend rests on."""
    return [min(one.trend.interval.n_clusters, default=0) for one in drift.people]


def _note(drift: WorkDrift) -> str:
    note = (
        "Quarters of each person's own sequence of answers; the change is from the first to the last answer along a "
        "straight line. The other annotators, and the items, may have changed as well."
    )
    if drift.n_few:
        note += (
            f" {n_of(drift.n_few, 'people')} with fewer than {drift.min_answers} such answers "
            f"{either(drift.n_few, 'is', 'are')} not listed."
        )
    if few := sum(n < FEW_CLAIMS for n in _clusters(drift)):
        note += (
            f" {few} answered about fewer than {FEW_CLAIMS} claims or questions: with ten of them 95 % intervals of a "
            "person's change covered the true value in 91 % of simulated studies, with thirty in 95 %."
        )
    return sentences(note, left_out(drift.n_undated, "answers with an unknown time"))


def methods(drifts: list[WorkDrift], clusters_are: tuple[str, str]) -> str:
    """What was done about change over time, for a paper; empty where no moments are known. `clusters_are` one, and
    several."""
    drifts = [one for one in drifts if not one.undefined]
    if not drifts:
        return ""
    versions = (
        " The change with each version of the guidelines compares people with themselves."
        if any(one.versions for one in drifts)
        else ""
    )
    is_few = any(n < FEW_CLAIMS for one in drifts for n in _clusters(one))
    few = f" Intervals of people with fewer than {FEW_CLAIMS} {clusters_are[1]} cover less than they say."
    return (
        "Change over time is the slope of agreement with others on the place in each person's own sequence of answers "
        f"(at least {MIN_ANSWERS}), by least squares with errors clustered by {clusters_are[0]}, and over all people "
        f"within each, clustered by person as well (Cameron, Gelbach and Miller 2011).{versions}{few if is_few else ''}"
    )
