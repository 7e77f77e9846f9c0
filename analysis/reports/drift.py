"""Whether people agree more or less as their work goes on, and with a new version of the guidelines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.effects import effect
from analysis.reports.figures import PENDING, figure
from analysis.reports.intervals import estimate, intervals
from analysis.reports.numbers import either, n_of
from analysis.reports.tabular import Cell, Table
from annotation.task_types import Dimension

if TYPE_CHECKING:
    import pandas as pd

# Whoever has fewer answers that somebody else answered too gets no trend.
MIN_ANSWERS = 20
# With answers about fewer claims the interval of one person's trend covers less than it says (docs/statistics.md).
FEW_CLAIMS = 20
BLOCKS = 4
BLOCK_TITLES = ("first quarter", "second quarter", "third quarter", "last quarter")
NO_ORDER = "no answer has both a moment and another person's label beside it"
MAX_PEOPLE = 200
NOTHING: dict = {
    **{"n": 0, "n_undated": 0, "min_answers": MIN_ANSWERS, "people": [], "n_few": 0},
    **{"undefined": NO_ORDER, "blocks": [], "within": None, "versions": []},
}
# Of a first pass: every answer's moment would have to be read for it.
NOT_YET = NOTHING | {"undefined": PENDING}


def drift_of(labels: pd.DataFrame, units: pd.DataFrame, dimension: Dimension, names: dict[str, str]) -> dict:
    """Of each person, agreement with others along their own sequence of answers, in quarters and as a trend; of all
    together, the trend within people, and the change from each version of the guidelines to the next.

    `labels` are people's labels of one dimension, with a column `who` and their moments (`Source.with_moments`).
    """
    from analysis.stats import clustered_effect, drift, mean_share

    answers, n_undated = _answers(labels, units, dimension)
    if not len(answers):
        return NOTHING | {"n_undated": n_undated}
    result: dict = {"n": len(answers), "n_undated": n_undated, "min_answers": MIN_ANSWERS, "people": [], "n_few": 0}
    answers["place"] = answers.groupby("who").cumcount()
    size = answers.groupby("who")["place"].transform("size")
    answers["position"] = answers["place"] / (size - 1).clip(lower=1)
    answers["block"] = (answers["place"] * BLOCKS // size).astype(int)
    enough = answers[size >= MIN_ANSWERS]
    result["n_few"] = int(answers.loc[size < MIN_ANSWERS, "who"].nunique())
    for who, part in list(enough.groupby("who"))[:MAX_PEOPLE]:
        found = drift(part["share"].to_numpy(), part["place"].to_numpy(), part["group"].to_numpy(), BLOCKS)
        result["people"].append(
            {
                "id": who,
                "name": names[who],
                "n": len(part),
                "blocks": [figure(block) for block in found.blocks],
                "trend": effect(found.trend),
            }
        )
    columns = (enough[name].to_numpy() for name in ("share", "position", "who", "group"))
    share, position, who, group = columns
    result["blocks"] = [
        {"title": title, "agreement": figure(mean_share(part["share"].to_numpy(), part["group"].to_numpy()))}
        for place, title in enumerate(BLOCK_TITLES)
        for part in [enough[enough["block"] == place]]
    ]
    return result | {
        "undefined": "",
        "within": effect(clustered_effect(share, position, [who, group], within=who)),
        "versions": _versions(answers),
    }


def _answers(labels: pd.DataFrame, units: pd.DataFrame, dimension: Dimension) -> tuple[pd.DataFrame, int]:
    """A row per answer with another person's label beside it, each person's in the order in which they were given: who,
    share (mean over its labels), group (claim or question), version; and how many have no moment."""
    import pandas as pd

    from analysis.stats import Labels, shares_of_others

    coded = Labels.from_columns(
        labels["unit"].tolist(), labels["who"].tolist(), labels["label"].tolist(), dimension.values
    )
    group = units["cluster"].astype("category").cat.codes.to_numpy()
    rows = pd.DataFrame(
        {
            "annotation": labels["annotation"].to_numpy(),
            "who": labels["who"].to_numpy(),
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


def _versions(answers: pd.DataFrame) -> list[dict]:
    """Agreement under each version of the guidelines, and its change from the one before within people."""
    from analysis.stats import change, mean_share

    known = answers.dropna(subset=["version"])
    versions = sorted(int(version) for version in known["version"].unique())
    if len(versions) < 2:
        return []
    rows = []
    for place, version in enumerate(versions):
        part = known[known["version"] == version]
        row = {
            "version": version,
            "n": len(part),
            "agreement": figure(mean_share(part["share"].to_numpy(), part["group"].to_numpy())),
            "change": None,
        }
        if place:
            both = known[known["version"].isin([versions[place - 1], version])]
            after = (both["version"] == version).to_numpy()
            columns = (both["share"].to_numpy(), after, both["group"].to_numpy(), both["who"].to_numpy())
            row["change"] = effect(change(*columns))
        rows.append(row)
    return rows


def tables(title: str, drift: dict) -> list[Table]:
    """The section of a dimension of the report on annotators."""
    if drift["undefined"]:
        return [Table(f"{title}: agreement over time", ("Undefined",), [(drift["undefined"],)])]
    rows: list[tuple[Cell, ...]] = [
        ("all, within each annotator", sum(one["agreement"]["n_pairable"] for one in drift["blocks"]))
        + sum((estimate(one["agreement"]) for one in drift["blocks"]), ())
        + (*estimate(drift["within"]), drift["within"]["p_value"])
    ]
    rows += [
        (one["name"], one["n"], *_filled(one["blocks"])) + (*estimate(one["trend"]), one["trend"]["p_value"])
        for one in drift["people"]
    ]
    note = (
        "Quarters of each person's own sequence of answers; the change is from the first to the last answer along a "
        "straight line. Others change as well, and so may the items."
    )
    if drift["n_few"]:
        note += (
            f" {n_of(drift['n_few'], 'people')} with fewer than {drift['min_answers']} such answers "
            f"{either(drift['n_few'], 'is', 'are')} not listed."
        )
    few = sum(1 for one in drift["people"] if min(one["trend"]["interval"]["n_clusters"], default=0) < FEW_CLAIMS)
    if few:
        note += (
            f" {few} answered about fewer than {FEW_CLAIMS} claims or questions: with ten of them 95 % intervals of a "
            "person's change held the truth in 91 % of simulated studies, with thirty in 95 %."
        )
    if drift["n_undated"]:
        note += (
            f" {n_of(drift['n_undated'], 'answers')} of which the moment is not known "
            f"{either(drift['n_undated'], 'is', 'are')} left out."
        )
    columns = ("Annotator", "Answers", *intervals(*(name.capitalize() for name in BLOCK_TITLES), "Change"), "p")
    found = [Table(f"{title}: agreement with others over time", columns, rows, note)]
    if drift["versions"]:
        found.append(
            Table(
                f"{title}: agreement by version of the guidelines",
                ("Version", "Answers", *intervals("Agreement with others", "Change from the one before"), "p"),
                [
                    (str(one["version"]), one["n"], *estimate(one["agreement"]), *estimate(one["change"]))
                    + (one["change"]["p_value"] if one["change"] else None,)
                    for one in drift["versions"]
                ],
                "The change compares people with themselves: only those count who answered under both versions.",
            )
        )
    return found


def _filled(blocks: list[dict]) -> tuple[Cell, ...]:
    """Quarters with their intervals, each three cells; those that a short sequence lacks are empty."""
    return sum(map(estimate, [*blocks, *[None] * (BLOCKS - len(blocks))]), ())


def methods(dimensions: list[dict], clusters_are: tuple[str, str]) -> str:
    """What was done about time, for a paper; empty where no moments are known. `clusters_are` one, and several."""
    found = [dimension["drift"] for dimension in dimensions if not dimension["drift"]["undefined"]]
    if not found:
        return ""
    versions = (
        " The change with each version of the guidelines compares people with themselves."
        if any(one["versions"] for one in found)
        else ""
    )
    clusters = [min(person["trend"]["interval"]["n_clusters"], default=0) for one in found for person in one["people"]]
    few = (
        f" Intervals of people with fewer than {FEW_CLAIMS} {clusters_are[1]} cover less than they say."
        if clusters and min(clusters) < FEW_CLAIMS
        else ""
    )
    return (
        "Change over time is the slope of agreement with others on the place in each person's own sequence of answers "
        f"(at least {MIN_ANSWERS}), by least squares with errors clustered by {clusters_are[0]}, and over all people "
        f"within each, clustered by person as well (Cameron, Gelbach and Miller 2011).{versions}{few}"
    )
