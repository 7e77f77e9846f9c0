"""How often each person gave the answer that is known: by attention checks, or by decisions made elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.figures import number
from analysis.reports.intervals import estimate, intervals
from analysis.reports.reference import REFERENCES
from analysis.reports.tabular import Cell, Table, linked
from analysis.sources import Source
from annotation.task_types import Dimension

if TYPE_CHECKING:
    import pandas as pd

METHODS = ("imported", "adjudicated")
NO_CHECK = "no unit that this person labelled has a known answer"


def known_answers(source: Source) -> dict[str, pd.DataFrame]:
    """Decisions by each method that says what is right, where there are any."""
    methods = source.decision_methods()
    return {method: source.decision_frame(method) for method in METHODS if method in methods}


def attention(
    dimension: Dimension, labels: pd.DataFrame, known: dict[str, pd.DataFrame], names: dict[str, str]
) -> tuple[list[dict], dict[str, list[int]]]:
    """For each method, each person's labels of units with a known answer: how many are that answer and how many not.

    `labels` are people's labels of one dimension, with a column `who`.
    """
    from analysis.stats import wilson_interval

    found, behind = [], {}
    for method, decisions in known.items():
        answers = decisions[decisions["dimension"] == dimension.slug].set_index("unit")["label"]
        checks = labels[labels["unit"].isin(answers.index)]
        if checks.empty:
            continue
        right = checks["label"].to_numpy() == checks["unit"].map(answers).to_numpy()
        checks = checks.assign(right=right)
        people = []
        for who, part in checks.groupby("who", sort=True):
            n, n_right = len(part), int(part["right"].sum())
            interval = wilson_interval(n_right, n)
            people.append(
                {
                    "id": who,
                    "name": names[who],
                    "n": n,
                    "n_right": n_right,
                    "n_failed": n - n_right,
                    "share": {
                        "estimate": n_right / n,
                        "low": number(interval.low),
                        "high": number(interval.high),
                        "undefined": "",
                        "interval": {"method": interval.method, "level": interval.level, "undefined": ""},
                    },
                }
            )
            behind[f"{dimension.slug}/failed/{method}/{who}"] = part.loc[~part["right"], "unit"].tolist()
            behind[f"{dimension.slug}/answered/{method}/{who}"] = part["unit"].tolist()
            behind[f"{dimension.slug}/correct/{method}/{who}"] = part.loc[part["right"], "unit"].tolist()
        behind[f"{dimension.slug}/known/{method}"] = checks["unit"].drop_duplicates().tolist()
        people.sort(key=lambda one: (one["share"]["estimate"], one["id"]))
        found.append({"method": method, "n_units": int(checks["unit"].nunique()), "people": people})
    return found, behind


def tables(dimension: dict) -> list[Table]:
    """The section of a dimension of the report on annotators."""
    found = []
    for group in dimension["attention"]:
        slug, method = dimension["dimension"], group["method"]
        rows: list[tuple[Cell, ...]] = [
            ("units with a known answer", linked(group["n_units"], f"{slug}/known/{method}")) + (None,) * 5
        ]
        rows += [
            (
                one["name"],
                linked(one["n"], f"{slug}/answered/{method}/{one['id']}"),
                linked(one["n_right"], f"{slug}/correct/{method}/{one['id']}"),
                linked(one["n_failed"], f"{slug}/failed/{method}/{one['id']}"),
                *estimate(one["share"]),
            )
            for one in group["people"]
        ]
        note = (
            f"Every unit of which the answer is known by: {REFERENCES[method].lower()}. Items made to check "
            "attention come with such answers; others with one are checks as well. Wilson's 95 % intervals."
        )
        if method == "adjudicated":
            note += " Whoever adjudicates sees what these people said, and looks at what divides them."
        found.append(
            Table(
                f"{dimension['title']}: known answers, {REFERENCES[method].lower()}",
                ("Annotator", "Answers", "Correct", "Failed", *intervals("Share correct")),
                rows,
                note,
            )
        )
    return found


def methods(dimensions: list[dict]) -> str:
    """What was done with known answers, for a paper; empty where there are none."""
    kinds = {group["method"] for dimension in dimensions for group in dimension["attention"]}
    if not kinds:
        return ""
    named = " and ".join(REFERENCES[method].lower() for method in METHODS if method in kinds)
    return f"Answers known by {named} were compared with people's, with Wilson's score intervals (1927)."
