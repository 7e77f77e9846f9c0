"""How far people agree: per dimension, per pair of annotators, per source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis import frames
from analysis.reports.figures import figure, named_figure
from annotation.models import Project, Rater
from annotation.task_types import Dimension, Metric, task_type

if TYPE_CHECKING:
    import pandas as pd

    from analysis.stats import Labels

# Whose labels are looked at.
GROUPS = {
    "all": "Everybody",
    "members": "Members of the project",
    "imported": "Raters of imported files",
}
MAX_SOURCES = 50
# Pairs of annotators are quadratic in their number; beyond this only those who share most units are listed.
MAX_PAIRS = 200


@dataclass(frozen=True)
class Parameters:
    raters: str = "all"

    def __post_init__(self) -> None:
        if self.raters not in GROUPS:
            raise ValueError(f"raters is one of {', '.join(GROUPS)}, not {self.raters!r}")


def compute(project: Project, raters: str = "all") -> dict:
    """The agreement report. `raters` is a key of GROUPS; anything else raises ValueError."""
    parameters = Parameters(raters)
    kind = task_type(project.task_type)
    units = frames.unit_frame(project, kind.unit_kind)
    everybody = frames.rater_frame(project)
    chosen = _chosen(everybody, parameters.raters)
    labels = frames.latest(frames.label_frame(project))
    labels = labels[labels["rater"].isin(chosen["rater"]) & labels["unit"].isin(units["unit"])]
    return {
        "report": "agreement",
        "project": project.slug,
        "task_type": project.task_type,
        "raters": parameters.raters,
        "groups": _groups_present(everybody),
        "n_items": int(units["item"].nunique()),
        "n_units": len(units),
        "n_raters": int(labels["rater"].nunique()),
        "exchangeable": bool((chosen["kind"] == Rater.Kind.SLOT).any()),
        "dimensions": [_dimension(dimension, kind.metrics, units, labels, chosen) for dimension in kind.dimensions],
        "behind": _behind([dimension.slug for dimension in kind.dimensions], units, labels),
    }


def _behind(dimensions: list[str], units: pd.DataFrame, labels: pd.DataFrame) -> dict[str, list[int]]:
    """Units by what their labels say about agreement, in the order of work."""
    behind = {}
    order = units["unit"]
    for dimension in dimensions:
        of_unit = labels[labels["dimension"] == dimension].groupby("unit")["label"]
        n, distinct = of_unit.size(), of_unit.nunique()
        found = {
            "agree": n.index[(n > 1) & (distinct == 1)],
            "disagree": n.index[(n > 1) & (distinct > 1)],
            "single": n.index[n == 1],
        }
        for name, ids in found.items():
            behind[f"{dimension}/{name}"] = order[order.isin(ids)].tolist()
        behind[f"{dimension}/unlabelled"] = order[~order.isin(n.index)].tolist()
    return behind


def _chosen(raters: pd.DataFrame, group: str) -> pd.DataFrame:
    is_member = raters["kind"] == Rater.Kind.MEMBER
    return {"all": raters, "members": raters[is_member], "imported": raters[~is_member]}[group]


def _groups_present(raters: pd.DataFrame) -> list[str]:
    is_member = raters["kind"] == Rater.Kind.MEMBER
    return ["all", "members", "imported"] if is_member.any() and not is_member.all() else ["all"]


def _dimension(
    dimension: Dimension, metrics: tuple[Metric, ...], units: pd.DataFrame, labels: pd.DataFrame, raters: pd.DataFrame
) -> dict:
    mine = labels[labels["dimension"] == dimension.slug]
    coded = _coded(mine, units, dimension.values, raters)
    result = {
        "dimension": dimension.slug,
        "title": dimension.title,
        "level": dimension.level,
        "labels": [
            {"label": label.value, "title": label.title, "n": int((mine["label"] == label.value).sum())}
            for label in dimension.labels
        ],
        "n_labels": len(mine),
        "figures": _figures(coded, dimension.level),
        "pairs": _pairs(mine, units, dimension.values, raters),
        "n_annotators": int((raters["kind"] != Rater.Kind.SLOT).sum()),
        "by_source": _by_source(coded, mine, units, dimension.level),
        "with_unasked": None,
    }
    for metric in metrics:
        if metric.dimension == dimension.slug and metric.missing_as:
            result["with_unasked"] = _with_unasked(dimension, metric, units, labels, raters)
    return result


def _coded(labels: pd.DataFrame, units: pd.DataFrame, values: tuple[str, ...], raters: pd.DataFrame) -> Labels:
    from analysis.stats import Labels

    joined = labels.merge(units[["unit", "cluster"]], on="unit", how="left")
    return Labels.from_columns(
        joined["unit"].tolist(),
        joined["rater"].tolist(),
        joined["label"].tolist(),
        values,
        cluster=joined["cluster"].tolist(),
        exchangeable=bool(raters.loc[raters["rater"].isin(joined["rater"]), "kind"].eq(Rater.Kind.SLOT).any()),
        units=units["unit"].tolist(),
    )


def _figures(coded: Labels, level: str) -> list[dict]:
    from analysis.stats import fleiss_kappa, krippendorff_alpha, percent_agreement, pooled_percent_agreement

    found = [
        named_figure("percent_agreement", "Percent agreement (mean over items)", percent_agreement(coded)),
        named_figure("pooled_percent_agreement", "Percent agreement (pooled over pairs)", pooled_percent_agreement(coded)),
        named_figure("krippendorff_alpha_nominal", "Krippendorff's alpha, nominal", krippendorff_alpha(coded)),
    ]
    if level == "ordinal":
        ordinal = krippendorff_alpha(coded, "ordinal")
        found.append(named_figure("krippendorff_alpha_ordinal", "Krippendorff's alpha, ordinal", ordinal))
    fleiss = fleiss_kappa(coded)
    found.append(named_figure("fleiss_kappa", "Fleiss' kappa", fleiss))
    return found


def _pairs(labels: pd.DataFrame, units: pd.DataFrame, values: tuple[str, ...], raters: pd.DataFrame) -> list[dict]:
    """Cohen's kappa of every pair who share units. Exchangeable slots are nobody, so they form no pairs."""
    from analysis.stats import cohen_kappa_table

    persons = raters[raters["kind"] != Rater.Kind.SLOT]
    names = dict(zip(persons["rater"].astype(str), persons["name"], strict=True))
    labels = labels[labels["rater"].isin(persons["rater"])]
    if labels["rater"].nunique() < 2:
        return []
    table = [kappa for kappa in cohen_kappa_table(_coded(labels, units, values, persons)) if kappa.n_pairable]
    table.sort(key=lambda kappa: -kappa.n_pairable)
    return [
        {
            "a": names[str(kappa.rater_a)],
            "b": names[str(kappa.rater_b)],
            "agreement": None if kappa.undefined and kappa.n_pairable == 0 else float(kappa.agreement),
            **figure(kappa),
        }
        for kappa in table[:MAX_PAIRS]
    ]


def _by_source(coded: Labels, labels: pd.DataFrame, units: pd.DataFrame, level: str) -> list[dict]:
    from analysis.stats import krippendorff_alpha, percent_agreement

    sources = units["source"].to_numpy()
    names = units["source"].value_counts()
    if len(names) < 2:
        return []
    rows = []
    for name in names.index[:MAX_SOURCES]:
        part = coded.select_units(sources == name)
        rows.append(
            {
                "source": name,
                "n_units": int(names[name]),
                "percent_agreement": figure(percent_agreement(part)),
                "alpha_nominal": figure(krippendorff_alpha(part)),
                "alpha_ordinal": figure(krippendorff_alpha(part, "ordinal")) if level == "ordinal" else None,
            }
        )
    return rows


def _with_unasked(
    dimension: Dimension, metric: Metric, units: pd.DataFrame, labels: pd.DataFrame, raters: pd.DataFrame
) -> dict | None:
    """The dimension with 'not asked' as one more label, from every annotation that answered the question before it."""
    import pandas as pd

    condition = dimension.asked_when
    asked = labels[labels["dimension"] == dimension.slug]
    before = labels[(labels["dimension"] == condition.dimension) & ~labels["label"].isin(condition.labels)]
    both = pd.concat([asked, before.assign(label=metric.missing_as)])
    if before.empty:
        return None
    coded = _coded(both, units, (*dimension.values, metric.missing_as), raters)
    return {
        "name": metric.name,
        "label": metric.missing_as,
        "n_labels": len(both),
        "figures": _figures(coded, "nominal"),
    }
