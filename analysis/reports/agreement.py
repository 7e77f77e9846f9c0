"""How far people agree: per dimension, per pair of annotators, per source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis import frames, queries
from analysis.reports.derived import derived_from, measured_by, with_derived, with_derived_labels
from analysis.reports.figures import figure, named_figure
from annotation.models import Project, Rater
from annotation.task_types import Dimension, Metric

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


def compute(project: Project, raters: str = "all") -> dict:
    """The agreement report. `raters` is a key of GROUPS; anything else raises ValueError."""
    if raters not in GROUPS:
        raise ValueError(f"raters is one of {', '.join(GROUPS)}, not {raters!r}")
    kind = with_derived(project.type)
    units = frames.unit_frame(project, kind.unit_kind)
    everybody = frames.rater_frame(project)
    chosen = _chosen(everybody, raters)
    labels = frames.label_frame(project, units)
    labels = with_derived_labels(kind, labels[labels["rater"].isin(chosen["rater"])])
    dimensions = frames.dimensions_to_show(kind, labels)
    origins = derived_from(kind)
    return {
        "report": "agreement",
        "project": project.slug,
        "task_type": project.task_type,
        "raters": raters,
        "groups": _groups_present(everybody),
        "n_items": int(units["item"].nunique()),
        "n_items_without_units": queries.items_without_units(project),
        "n_units": len(units),
        "n_raters": int(labels["rater"].nunique()),
        "exchangeable": bool((labels["rater_kind"] == Rater.Kind.SLOT).any()),
        "dimensions": [
            {"derived_from": origins.get(dimension.slug)}
            | _dimension(dimension, kind.metrics, units, labels, everybody)
            for dimension in dimensions
        ],
        "behind": _behind([dimension.slug for dimension in dimensions], units, labels),
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
    coded = _coded(mine, units, dimension.values)
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
        **_pairs(mine, units, dimension.values, raters),
        **_by_source(coded, units, dimension.level),
        "with_unasked": None,
    }
    for metric in metrics:
        if measured_by(metric) == dimension.slug and metric.missing_as:
            result["with_unasked"] = _with_unasked(dimension, metric, units, labels)
    return result


def _coded(labels: pd.DataFrame, units: pd.DataFrame, values: tuple[str, ...]) -> Labels:
    from analysis.stats import Labels

    cluster = dict(zip(units["unit"].tolist(), units["cluster"].tolist(), strict=True))
    of_label = labels["unit"].tolist()
    return Labels.from_columns(
        of_label,
        labels["rater"].tolist(),
        labels["label"].tolist(),
        values,
        cluster=[cluster[unit] for unit in of_label],
        exchangeable=bool((labels["rater_kind"] == Rater.Kind.SLOT).any()),
        units=units["unit"].tolist(),
    )


def _figures(coded: Labels, level: str) -> list[dict]:
    from analysis.stats import fleiss_kappa, krippendorff_alpha, percent_agreement, pooled_percent_agreement

    found = {
        "percent_agreement": ("Percent agreement (mean over items)", percent_agreement(coded)),
        "pooled_percent_agreement": ("Percent agreement (pooled over pairs)", pooled_percent_agreement(coded)),
        "krippendorff_alpha_nominal": ("Krippendorff's alpha, nominal", krippendorff_alpha(coded)),
    }
    if level == "ordinal":
        ordinal = krippendorff_alpha(coded, "ordinal")
        found["krippendorff_alpha_ordinal"] = ("Krippendorff's alpha, ordinal", ordinal)
    found["fleiss_kappa"] = ("Fleiss' kappa", fleiss_kappa(coded))
    return [named_figure(name, title, estimate) for name, (title, estimate) in found.items()]


def _pairs(labels: pd.DataFrame, units: pd.DataFrame, values: tuple[str, ...], raters: pd.DataFrame) -> dict:
    """Cohen's kappa of every two people who share units. Exchangeable slots are nobody, so they form no pairs."""
    from analysis.stats import cohen_kappa_table

    labels = labels[labels["rater_kind"] != Rater.Kind.SLOT]
    table = cohen_kappa_table(_coded(labels.assign(rater=labels["rater"].map(_names(raters))), units, values))
    listed = sorted(table, key=lambda kappa: -kappa.n_pairable)[:MAX_PAIRS]
    return {
        "pairs": [
            {"a": kappa.rater_a, "b": kappa.rater_b, "agreement": float(kappa.agreement), **figure(kappa)}
            for kappa in listed
        ],
        "n_pairs_not_listed": len(table) - len(listed),
    }


def _names(raters: pd.DataFrame) -> dict[int, str]:
    """What each person is called; where two are called alike, their pseudonyms tell them apart."""
    alike = raters["name"].duplicated(keep=False)
    names = raters["name"].where(~alike, raters["name"] + " (" + raters["pseudonym"] + ")")
    return dict(zip(raters["rater"].tolist(), names.tolist(), strict=True))


def _by_source(coded: Labels, units: pd.DataFrame, level: str) -> dict:
    """Figures of each source's units, the sources with most units first; nothing where all come from one."""
    from analysis.stats import krippendorff_alpha, percent_agreement

    sources = units["source"].to_numpy()
    sizes = units["source"].value_counts()
    sizes = sizes.loc[sorted(sizes.index, key=lambda name: (-sizes[name], name))]
    listed = sizes.index[:MAX_SOURCES] if len(sizes) > 1 else []
    rows = []
    for name in listed:
        part = coded.select_units(sources == name)
        rows.append(
            {
                "source": name,
                "n_units": int(sizes[name]),
                "percent_agreement": figure(percent_agreement(part)),
                "alpha_nominal": figure(krippendorff_alpha(part)),
                "alpha_ordinal": figure(krippendorff_alpha(part, "ordinal")) if level == "ordinal" else None,
            }
        )
    return {"by_source": rows, "n_sources_not_listed": len(sizes) - len(listed) if len(sizes) > 1 else 0}


def _with_unasked(dimension: Dimension, metric: Metric, units: pd.DataFrame, labels: pd.DataFrame) -> dict | None:
    """The dimension with 'not asked' as one more label, given by everybody whose earlier answer left it unasked."""
    import pandas as pd

    condition = dimension.asked_when
    asked = labels[labels["dimension"] == dimension.slug]
    unasked = labels[(labels["dimension"] == condition.dimension) & ~labels["label"].isin(condition.labels)]
    if unasked.empty:
        return None
    both = pd.concat([asked, unasked.assign(label=metric.missing_as)])
    coded = _coded(both, units, (*dimension.values, metric.missing_as))
    return {"label": metric.missing_as, "n_labels": len(both), "figures": _figures(coded, "nominal")}
