"""Whether quick answers agree less with other people's: each annotator's time and the agreement of their labels."""

from __future__ import annotations

import pandas as pd

from analysis.figures.results import PENDING, Figure, number
from analysis.reports.estimates import to_figure
from analysis.reports.people.annotators.work_over_time import RaterSpeed, Speed, SpeedQuarter, WithinFigure
from analysis.stats import Labels, mean_share, shares_of_others, spearman
from annotation.task_types import Dimension

MIN_TIMED = 10
QUARTERS = ("quickest", "second", "third", "slowest")
NO_TIME = "no answer has both a time and another person's label of the same unit"
# Of a first pass: most answers' times would have to be read for it.
NOT_YET = Speed(undefined=PENDING)


def speed(
    labels: pd.DataFrame, units: pd.DataFrame, dimension: Dimension, seconds: dict[int, float], names: dict[str, str]
) -> Speed:
    """Time of an answer (a person's work on one item) against the mean agreement of its labels with other people's.

    `labels` are people's labels of one dimension. Quarters are of each annotator's own answers, so
    that a slow person is not taken for a slow answer.
    """
    coded = Labels.from_columns(
        labels["unit"].tolist(), labels["rater"].tolist(), labels["label"].tolist(), dimension.values
    )
    cluster = dict(zip(units["unit"].tolist(), units["cluster"].tolist(), strict=True))
    rows = pd.DataFrame(
        {
            "annotation": labels["annotation"].to_numpy(),
            "who": labels["rater"].to_numpy(),
            "share": shares_of_others(coded),
            "cluster": labels["unit"].map(cluster).to_numpy(),
        }
    )
    rows["seconds"] = rows["annotation"].map(seconds).astype(float)
    n_untimed = int(rows.loc[rows["seconds"].isna(), "annotation"].nunique())
    answers = (
        rows.dropna(subset=["share", "seconds"])
        .groupby("annotation", sort=True)
        .agg(who=("who", "first"), share=("share", "mean"), seconds=("seconds", "first"), cluster=("cluster", "first"))
    )
    if not len(answers):
        return Speed(n_untimed=n_untimed, undefined=NO_TIME)
    answers["group"] = answers["cluster"].astype("category").cat.codes
    of_person = answers.groupby("who")["seconds"]
    answers["place"] = of_person.rank(pct=True)
    enough = answers[of_person.transform("size") >= MIN_TIMED]
    quarter = (enough["place"].to_numpy() * 4 - 1e-9).astype(int).clip(0, 3)
    within = spearman(enough["place"].to_numpy(), enough["share"].to_numpy(), enough["group"].to_numpy())
    raters = []
    for who, part in answers.groupby("who"):
        correlation = spearman(part["seconds"].to_numpy(), part["share"].to_numpy(), part["group"].to_numpy())
        raters.append(
            RaterSpeed(
                id=who,
                name=names[who],
                n=len(part),
                median=number(part["seconds"].median()),
                agreement=_agreement(part),
                spearman=to_figure(correlation, quick=False),
            )
        )
    return Speed(
        n=len(answers),
        n_untimed=n_untimed,
        undefined="",
        quarters=[
            SpeedQuarter(
                title=title,
                median=number(part["seconds"].median()) if len(part) else None,
                agreement=_agreement(part),
            )
            for place, title in enumerate(QUARTERS)
            for part in [enough[quarter == place]]
        ],
        within=WithinFigure.extending(
            to_figure(within, quick=False), title="Spearman, time within each annotator with agreement"
        ),
        raters=raters,
    )


def _agreement(part: pd.DataFrame) -> Figure:
    return to_figure(mean_share(part["share"].to_numpy(), part["group"].to_numpy()), quick=False)
