"""Which answers a trial of suggestions compares, and whether what was suggested was right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.figures.items import COUNTS
from analysis.reports.estimates import cluster_codes
from analysis.reports.labels.judgements import UNKNOWN
from analysis.reports.labels.reference import codes_of
from analysis.reports.people.prefill_trial.report import STRATA
from analysis.sources.base import Source
from analysis.sources.outline import Run
from analysis.sources.touched import latest
from analysis.stats import encode
from annotation.task_types import Dimension

KEYS = ["annotation", "unit", "dimension"]
OTHER_RUN = "given with another run's suggestion in view"


def shown_of(source: Source, run: Run) -> set[int]:
    """Annotations whose person saw a suggestion of this run."""
    exposures = source.exposure_frame()
    return set(exposures.loc[exposures["shown_at"].notna() & (exposures["run"] == run.uuid), "annotation"])


def first_answers(source: Source, labels: pd.DataFrame, run: Run) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, int]]:
    """Labels of each annotation's first revision that was given with a suggestion of the run in view (`seen`) or with
    none; those of the others, with the reason why they do not count; and how many annotations there are of each kind.
    `own` is the label where it was given with none."""
    first = labels[labels["number"] == labels.groupby("annotation")["number"].transform("min")]
    unknown = first["suggestion_shown"].isna()
    shown = first["suggestion_shown"].eq(True).fillna(False).astype(bool)
    of_run = first["annotation"].isin(shown_of(source, run))
    groups = {
        "n_seen": shown & of_run,
        "n_unseen": ~shown & ~unknown,
        "n_unknown": unknown,
        "n_other_run": shown & ~of_run,
    }
    kept = first[groups["n_seen"] | groups["n_unseen"]]
    seen = shown[kept.index].to_numpy()
    counts = {name: int(first.loc[rows, "annotation"].nunique()) for name, rows in groups.items()}
    left = first[groups["n_unknown"] | groups["n_other_run"]]
    left = left.assign(**{COUNTS: np.where(unknown[left.index], UNKNOWN, OTHER_RUN)})
    return kept.assign(seen=seen, own=kept["label"].where(~seen)), left, counts


def revised_answers(source: Source, labels: pd.DataFrame, run: Run) -> pd.DataFrame:
    """Labels of annotations whose first answer came before the run's suggestion was shown, each twice: as first given
    (`own`), and as it stands now (`seen`). Labels that only one of the two answers has are left out."""
    start = labels[labels["number"] == labels.groupby("annotation")["number"].transform("min")]
    start = start[start["suggestion_shown"].eq(False).fillna(False).astype(bool)]
    start = start[start["annotation"].isin(shown_of(source, run))]
    both = latest(labels).merge(start[[*KEYS, "label"]].rename(columns={"label": "own"}), on=KEYS)
    return pd.concat([both.assign(label=both["own"], seen=False), both.assign(seen=True)], ignore_index=True)


def unseen_votes(dimension: Dimension, units: pd.DataFrame, first: pd.DataFrame) -> np.ndarray:
    """How often each label was given to each unit in first answers without a suggestion, (n_units, n_labels)."""
    mine = first[(first["dimension"] == dimension.slug) & ~first["seen"]]
    votes = np.zeros((len(units), len(dimension.values)), dtype=np.int64)
    np.add.at(votes, (_places(units, mine), encode(mine["label"].tolist(), dimension.values)), 1)
    return votes


@dataclass(frozen=True, eq=False)
class Trial:
    """One dimension's labels of units that have a suggestion; arrays have an entry per label.

    `unit` is the place in the units, `cluster` a code of the claim or question, `rater` the place in `raters`; `right`
    is 1, 0, or -1 where nothing says. `is_outside`: what is right was decided, not read off the labels that are
    compared.
    """

    dimension: Dimension
    annotation: np.ndarray
    unit: np.ndarray
    rater: np.ndarray
    cluster: np.ndarray
    code: np.ndarray
    suggested: np.ndarray
    seen: np.ndarray
    right: np.ndarray
    is_outside: bool
    n_without_suggestion: int
    raters: tuple[str, ...]

    @property
    def agrees(self) -> np.ndarray:
        return self.code == self.suggested

    def strata(self) -> dict[str, np.ndarray]:
        return strata_of(self.right)


def strata_of(right: np.ndarray) -> dict[str, np.ndarray]:
    """Where suggestions are of any kind, right, or wrong."""
    return dict(zip(STRATA, (right >= -1, right == 1, right == 0), strict=True))


def trial_of(
    dimension: Dimension,
    units: pd.DataFrame,
    labels: pd.DataFrame,
    suggested: pd.DataFrame,
    votes: np.ndarray | None = None,
    decided: pd.DataFrame | None = None,
) -> Trial:
    """`labels` as from `first_answers` or `revised_answers`. What is right is what was decided, or else the majority of
    the votes without one's own first answer."""
    mine = labels[labels["dimension"] == dimension.slug]
    place = _places(units, mine)
    by_checker = codes_of(dimension, units, suggested)[place]
    has = by_checker >= 0
    if decided is not None:
        truth = codes_of(dimension, units, decided)[place]
    else:
        own = encode([None if value != value else value for value in mine["own"].tolist()], dimension.values)
        truth = _majority_of_others(votes[place], own)
    right = np.where(truth < 0, -1, (truth == by_checker).astype(np.int64))
    rater = mine["rater"].astype("category").cat
    columns = (
        mine["annotation"].to_numpy(),
        place,
        rater.codes.to_numpy().astype(np.int64),
        cluster_codes(units)[place].astype(np.int64),
        encode(mine["label"].tolist(), dimension.values),
        by_checker,
        mine["seen"].to_numpy(dtype=bool),
        right,
    )
    raters = tuple(map(str, rater.categories))
    return Trial(dimension, *(column[has] for column in columns), decided is not None, int((~has).sum()), raters)


def _majority_of_others(votes: np.ndarray, own: np.ndarray) -> np.ndarray:
    """The label with most votes without one's own (-1: none of one's own), -1 where there is none or a tie."""
    votes = votes.copy()
    rows = np.flatnonzero(own >= 0)
    votes[rows, own[rows]] -= 1
    most = votes.max(axis=1, initial=0)
    single = (votes == most[:, None]).sum(axis=1) == 1
    return np.where((most > 0) & single, votes.argmax(axis=1), -1)


def _places(units: pd.DataFrame, labels: pd.DataFrame) -> np.ndarray:
    place = pd.Series(np.arange(len(units)), index=units["unit"].to_numpy())
    return place.reindex(labels["unit"]).to_numpy().astype(np.int64)
