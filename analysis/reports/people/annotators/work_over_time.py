"""The sections on time: whether quick answers agree less with others', and whether people drift as work goes on."""

from __future__ import annotations

from analysis.figures.page import Part, Text
from analysis.figures.results import Figure
from analysis.figures.tables import Column, Table, columns_of
from analysis.reports.labels.raters import rater_cell
from analysis.reports.people.annotators.result import RatedQuestion, SpeedQuarter, VersionAgreement, WorkDrift
from analysis.reports.words.numbers import either, left_out, n_of
from analysis.reports.words.sentences import sentences

# A person with fewer answers to units that others answered too gets no trend.
MIN_ANSWERS = 20
# With answers about fewer claims the interval of one person's trend covers less than it says (docs/statistics.md).
FEW_CLAIMS = 20
BLOCK_TITLES = ("first quarter", "second quarter", "third quarter", "last quarter")
EVERYBODY = "all, within each annotator"


def speed_parts(question: RatedQuestion) -> list[Part]:
    speed, title = question.speed, question.title
    if speed.undefined:
        return [Text(f"{speed.undefined[0].upper()}{speed.undefined[1:]}.")]
    untimed = left_out(speed.n_untimed, "answers without a time")
    return [
        Text(
            f"{speed.within.title}: {speed.within.written()} (n = {speed.within.n_pairable:,}). Below 0, slower "
            "answers agree less."
        ),
        Table(
            f"{title}: agreement by speed",
            columns_of(SpeedQuarter),
            speed.quarters,
        ),
        Table(
            f"{title}: correlation of time with agreement",
            [
                Column("Annotator", lambda row: rater_cell(row) if row is not speed else EVERYBODY),
                Column("Answers", lambda row: row.n if row is not speed else speed.within.n_pairable),
                Column("Median seconds", lambda row: row.median if row is not speed else None),
                Column("Agreement with others", lambda row: row.agreement if row is not speed else None, interval=True),
                Column(
                    "Spearman with time", lambda row: row.spearman if row is not speed else speed.within, interval=True
                ),
            ],
            [speed, *speed.raters],
            sentences(
                "Time is active time, idle time excluded.",
                untimed,
                "Hard items take longer and cause more disagreement, so a correlation is not evidence of haste.",
            ),
        ),
    ]


def drift_parts(question: RatedQuestion) -> list[Part]:
    drift, title = question.drift, question.title
    if drift.undefined:
        return [Text(f"{drift.undefined[0].upper()}{drift.undefined[1:]}.")]

    def block(place: int):
        def agreement(row) -> Figure | None:
            blocks = [one.agreement for one in drift.blocks] if row is drift else row.blocks
            return blocks[place] if place < len(blocks) else None  # a short sequence lacks some

        return agreement

    def trend(row):
        return drift.within if row is drift else row.trend

    return [
        Table(
            f"{title}: agreement with others over time",
            [
                Column("Annotator", lambda row: EVERYBODY if row is drift else rater_cell(row)),
                Column(
                    "Answers",
                    lambda row: sum(one.agreement.n_pairable for one in drift.blocks) if row is drift else row.n,
                ),
                *(Column(name.capitalize(), block(place), interval=True) for place, name in enumerate(BLOCK_TITLES)),
                Column("Change", trend, interval=True),
                Column("p", lambda row: trend(row).p_value),
            ],
            [drift, *drift.people],
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


def methods(questions: list[RatedQuestion], clusters_are: tuple[str, str]) -> str:
    """What was done about change over time, for a paper; empty where no moments are known. `clusters_are` one, and
    several."""
    drifts = [question.drift for question in questions if not question.drift.undefined]
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
