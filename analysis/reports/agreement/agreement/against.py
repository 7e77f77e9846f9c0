"""People's labels against a set of decisions: how often each person gave the label that was decided."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.figures.results import NamedFigure
from analysis.reports.agreement.agreement.result import COMPARED, OTHER, SAME, AgainstDecisions, LabelsAgainst
from analysis.reports.estimates import cluster_codes, named_figure
from analysis.sources.outline import SLOT
from analysis.stats import Labels, cohen_kappa, krippendorff_alpha
from annotation.task_types import Dimension

DECIDED = "decided"  # the column of labels that holds what was decided of their unit
MAX_PEOPLE = 200


def with_decided(labels: pd.DataFrame, decisions: pd.DataFrame) -> pd.DataFrame:
    """Labels, with what was decided of their unit and whether they say that; None where nothing was decided."""
    found = labels.merge(
        decisions.rename(columns={"label": DECIDED}), on=["unit", "dimension"], how="left", validate="many_to_one"
    )
    is_same = found["label"].eq(found[DECIDED]).map({True: SAME, False: OTHER})
    return found.set_axis(labels.index).assign(**{COMPARED: is_same.where(found[DECIDED].notna(), None).to_numpy()})


def against_decisions(
    dimension: Dimension, labels: pd.DataFrame, units: pd.DataFrame, names: dict[str, str], *, quick: bool
) -> AgainstDecisions | None:
    """`labels` are those of the question (`with_decided`); None where nothing was decided of any of them."""
    labels = labels[labels[DECIDED].notna()]
    if not len(labels):
        return None
    more = sorted({*labels[DECIDED]} - {*dimension.values})  # what nobody answered
    values = sorted({*dimension.values, *more}, key=float) if dimension.takes_number else [*dimension.values, *more]
    place = pd.Index(units["unit"].to_numpy()).get_indexer(labels["unit"])
    coded = pd.DataFrame(
        {
            "said": pd.Index(values).get_indexer(labels["label"]),
            "decided": pd.Index(values).get_indexer(labels[DECIDED]),
            "unit": place,
            "cluster": _clusters(units)[place],
        },
        index=labels.index,
    )

    def row(of: pd.DataFrame, who: str, name: str) -> LabelsAgainst:
        return LabelsAgainst(
            id=who,
            name=name,
            n=len(of),
            n_same=int((of["said"] == of["decided"]).sum()),
            figures=_figures(of, dimension, tuple(values), quick=quick),
        )

    named = labels["rater"][labels["rater_kind"] != SLOT]
    people = [(who, coded.loc[rows]) for who, rows in named.groupby(named, sort=True).groups.items()]
    people.sort(key=lambda one: (-len(one[1]), one[0]))
    listed = sorted(people[:MAX_PEOPLE], key=lambda one: one[0])
    return AgainstDecisions(
        n_units=int(coded["unit"].nunique()),
        everybody=row(coded, "", "Everybody"),
        people=[row(of, who, names[who]) for who, of in listed],
        n_people_not_listed=len(people) - len(listed),
    )


def _clusters(units: pd.DataFrame) -> np.ndarray:
    """What units come in; a unit that comes in nothing is alone, since several people may have labelled it."""
    codes = cluster_codes(units).astype(np.int64)
    return np.where(codes < 0, len(units) + np.arange(len(units)), codes)


def _figures(of: pd.DataFrame, dimension: Dimension, values: tuple[str, ...], *, quick: bool) -> list[NamedFigure]:
    """Of pairs of a label and the decision about its unit, each counted as a unit of its own; intervals draw
    claims, or units, with all their labels."""
    labels, decided = (of[column].to_numpy() for column in ("said", "decided"))
    both = Labels.of_two(labels, decided, values, pd.factorize(of["cluster"])[0])
    kappa = cohen_kappa(both, 0, 1)
    found = {"percent_agreement": ("Share of the same label", kappa.percent_agreement())}
    if dimension.takes_number:
        alpha = krippendorff_alpha(both, dimension.level)
        found["alpha"] = (f"Krippendorff's alpha, {dimension.level}", alpha)
    else:
        found["kappa"] = ("Cohen's kappa", kappa)
        if dimension.level != "nominal":
            found["quadratic"] = ("Kappa, quadratic weights", cohen_kappa(both, 0, 1, "quadratic"))
    return [named_figure(name, title, estimate, quick=quick) for name, (title, estimate) in found.items()]
