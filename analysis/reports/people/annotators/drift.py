"""Whether people agree more or less as their work goes on, and with a new version of the guidelines."""

from __future__ import annotations

import pandas as pd

from analysis.figures.results import PENDING, Figure
from analysis.reports.effects import to_effect
from analysis.reports.estimates import cluster_codes, to_figure
from analysis.reports.people.annotators.work_over_time import (
    BLOCK_TITLES,
    MIN_ANSWERS,
    Block,
    RaterDrift,
    VersionAgreement,
    WorkDrift,
)
from analysis.stats import Labels, change, clustered_effect, drift, mean_share, shares_of_others
from annotation.task_types import Dimension

BLOCKS = len(BLOCK_TITLES)
NO_ORDER = "no answer has both a time and another person's label of the same unit"
MAX_PEOPLE = 200
# Of a first pass: every answer's moment would have to be read for it.
NOT_YET = WorkDrift(min_answers=MIN_ANSWERS, undefined=PENDING)


def drift_of(labels: pd.DataFrame, units: pd.DataFrame, dimension: Dimension, names: dict[str, str]) -> WorkDrift:
    """Of each person, agreement with others along their own sequence of answers, in quarters and as a trend; of all
    together, the trend within people, and the change from each version of the guidelines to the next.

    `labels` are people's labels of one dimension, with their moments (`Source.with_moments`).
    """
    answers, n_undated = _answers(labels, units, dimension)
    if not len(answers):
        return WorkDrift(min_answers=MIN_ANSWERS, n_undated=n_undated, undefined=NO_ORDER)
    answers["place"] = answers.groupby("who").cumcount()
    size = answers.groupby("who")["place"].transform("size")
    answers["position"] = answers["place"] / (size - 1).clip(lower=1)
    answers["block"] = (answers["place"] * BLOCKS // size).astype(int)
    enough = answers[size >= MIN_ANSWERS]
    people = []
    for who, part in list(enough.groupby("who"))[:MAX_PEOPLE]:
        trend = drift(part["share"].to_numpy(), part["place"].to_numpy(), part["group"].to_numpy(), BLOCKS)
        people.append(
            RaterDrift(
                id=who,
                name=names[who],
                n=len(part),
                blocks=[to_figure(block, quick=False) for block in trend.blocks],
                trend=to_effect(trend.trend),
            )
        )
    share, position, who, group = (enough[name].to_numpy() for name in ("share", "position", "who", "group"))
    return WorkDrift(
        n=len(answers),
        n_undated=n_undated,
        min_answers=MIN_ANSWERS,
        people=people,
        n_few=int(answers.loc[size < MIN_ANSWERS, "who"].nunique()),
        undefined="",
        blocks=[
            Block(title=title, agreement=_agreement(enough[enough["block"] == place]))
            for place, title in enumerate(BLOCK_TITLES)
        ],
        within=to_effect(clustered_effect(share, position, [who, group], within=who)),
        versions=_versions(answers),
    )


def _agreement(part: pd.DataFrame) -> Figure:
    return to_figure(mean_share(part["share"].to_numpy(), part["group"].to_numpy()), quick=False)


def _answers(labels: pd.DataFrame, units: pd.DataFrame, dimension: Dimension) -> tuple[pd.DataFrame, int]:
    """A row per answer to a unit with another person's label, each person's in the order in which they were given: who,
    share (mean over its labels), group (claim or question), version; and how many have no moment."""
    coded = Labels.from_columns(
        labels["unit"].tolist(), labels["rater"].tolist(), labels["label"].tolist(), dimension.values
    )
    group = cluster_codes(units)
    rows = pd.DataFrame(
        {
            "annotation": labels["annotation"].to_numpy(),
            "who": labels["rater"].to_numpy(),
            "share": shares_of_others(coded),
            "group": labels["unit"].map(dict(zip(units["unit"].tolist(), group.tolist(), strict=True))).to_numpy(),
            "moment": labels["submitted_at"].to_numpy(dtype="datetime64[ns]"),
            "version": labels["guideline_version"].to_numpy(),
        }
    ).dropna(subset=["share"])
    n_undated = int(rows.loc[rows["moment"].isna(), "annotation"].nunique())
    first = {name: (name, "first") for name in ("who", "group", "moment", "version")}
    answers = rows.dropna(subset=["moment"]).groupby("annotation", sort=False).agg(share=("share", "mean"), **first)
    return answers.sort_values(["who", "moment"], kind="stable").reset_index(drop=True), n_undated


def _versions(answers: pd.DataFrame) -> list[VersionAgreement]:
    """Agreement under each version of the guidelines, and its change from the one before within people."""
    known = answers.dropna(subset=["version"])
    versions = sorted(int(version) for version in known["version"].unique())
    if len(versions) < 2:
        return []
    rows = []
    for place, version in enumerate(versions):
        part, since = known[known["version"] == version], None
        if place:
            both = known[known["version"].isin([versions[place - 1], version])]
            after = (both["version"] == version).to_numpy()
            columns = (both["share"].to_numpy(), after, both["group"].to_numpy(), both["who"].to_numpy())
            since = to_effect(change(*columns))
        rows.append(VersionAgreement(version=version, n=len(part), agreement=_agreement(part), change=since))
    return rows
