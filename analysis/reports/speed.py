"""Whether quick answers agree less with other people's: each annotator's time beside the agreement of their labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.figures import PENDING, figure, number
from annotation.task_types import Dimension

if TYPE_CHECKING:
    import pandas as pd

MIN_TIMED = 10
QUARTERS = ("quickest", "second", "third", "slowest")
NO_TIME = "no answer has both a time and another person's label beside it"
NOTHING: dict = {"n": 0, "n_untimed": 0, "undefined": NO_TIME, "quarters": [], "within": None, "raters": []}
# Of a first pass: most answers' times would have to be read for it.
NOT_YET = NOTHING | {"undefined": PENDING}


def speed(
    labels: pd.DataFrame, units: pd.DataFrame, dimension: Dimension, seconds: dict[int, float], names: dict[str, str]
) -> dict:
    """Time of an answer (a person's work on one item) against the mean agreement of its labels with other people's.

    `labels` are people's labels of one dimension, with a column `who`. Quarters are of each annotator's own answers, so
    that a slow person is not taken for a slow answer.
    """
    import pandas as pd

    from analysis.stats import Labels, mean_share, shares_of_others, spearman

    coded = Labels.from_columns(
        labels["unit"].tolist(), labels["who"].tolist(), labels["label"].tolist(), dimension.values
    )
    cluster = dict(zip(units["unit"].tolist(), units["cluster"].tolist(), strict=True))
    rows = pd.DataFrame(
        {
            "annotation": labels["annotation"].to_numpy(),
            "who": labels["who"].to_numpy(),
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
        return NOTHING | {"n_untimed": n_untimed}
    result: dict = {"n": len(answers), "n_untimed": n_untimed, "undefined": "", "raters": []}
    answers["group"] = answers["cluster"].astype("category").cat.codes
    of_person = answers.groupby("who")["seconds"]
    answers["place"] = of_person.rank(pct=True)
    enough = answers[of_person.transform("size") >= MIN_TIMED]
    quarter = (enough["place"].to_numpy() * 4 - 1e-9).astype(int).clip(0, 3)
    result["quarters"] = [
        {
            "title": title,
            "median": number(part["seconds"].median()) if len(part) else None,
            "agreement": figure(mean_share(part["share"].to_numpy(), part["group"].to_numpy())),
        }
        for place, title in enumerate(QUARTERS)
        for part in [enough[quarter == place]]
    ]
    within = spearman(enough["place"].to_numpy(), enough["share"].to_numpy(), enough["group"].to_numpy())
    result["within"] = figure(within) | {"title": "Spearman, time within each annotator with agreement"}
    for who, part in answers.groupby("who"):
        found = spearman(part["seconds"].to_numpy(), part["share"].to_numpy(), part["group"].to_numpy())
        result["raters"].append(
            {
                "id": who,
                "name": names[who],
                "n": len(part),
                "median": number(part["seconds"].median()),
                "agreement": figure(mean_share(part["share"].to_numpy(), part["group"].to_numpy())),
                "spearman": figure(found),
            }
        )
    return result
