"""How far people agree: per dimension and label, pair of annotators, source, arm and version, and beyond chance."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from analysis.reports.agreement_behind import of_all, of_dimension, opened
from analysis.reports.agreement_figures import against_chance, difference, figures_of, pairs, per_label, rows_of
from analysis.reports.agreement_pictures import pictures
from analysis.reports.coding import coded_labels
from analysis.reports.derived import derived_from, measured_by, with_derived, with_derived_labels
from analysis.reports.figures import figure, is_quick
from analysis.reports.methods_people import agreement as methods
from analysis.reports.opened import Behind, part_of
from analysis.reports.selected import chances_of_units, selected
from analysis.sources import Source
from analysis.sources.base import MEMBER, SLOT, dimensions_to_show, unanswered
from annotation.models import Project
from annotation.task_types import Dimension, Metric

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from analysis.stats import Labels

__all__ = ["GROUPS", "compute", "methods", "of_group", "opened", "pictures"]

# Whose labels are looked at.
GROUPS = {
    "all": "Everybody",
    "members": "Members of the project",
    "imported": "Raters of imported files",
}
MAX_SOURCES = 50
HAS_QUICK_PASS = True


def compute(source: Source, raters: str = "all") -> dict:
    """The agreement report. `raters` is a key of GROUPS; anything else raises ValueError."""
    if raters not in GROUPS:
        raise ValueError(f"raters is one of {', '.join(GROUPS)}, not {raters!r}")
    kind = with_derived(source.type)
    units = source.unit_frame(kind.unit_kind)
    everybody = source.rater_frame()
    chosen = of_group(everybody, raters)
    labels = source.label_frame(units)
    labels = with_derived_labels(kind, labels[labels["rater"].isin(chosen["rater"])])
    labels["arm"] = labels["annotation"].map(source.arms()).astype(object)
    dimensions = dimensions_to_show(kind, labels)
    origins = derived_from(kind)
    chances = chances_of_units(source, units)
    # Versions need every revision's moment, which takes long to read: first figures come without them.
    labels = labels if is_quick() and chances is None else source.with_moments(labels)
    of_selection = {dimension.slug: selected(dimension, units, labels, chances) for dimension in dimensions}
    found, behind = [], {}
    for dimension in dimensions:
        result, ids = _dimension(dimension, kind.metrics, units, labels, everybody)
        chosen, of_chosen = of_selection[dimension.slug]
        found.append({"derived_from": origins.get(dimension.slug)} | result | {"selected": chosen})
        behind |= ids | of_chosen
    sources = dict.fromkeys(row["source"] for one in found for row in one["by_source"])
    return {
        "report": "agreement",
        "project": source.slug,
        "task_type": source.task_type,
        "raters": raters,
        "groups": _groups_present(everybody),
        "n_items": int(units["item"].nunique()),
        "n_items_without_units": source.items_without_units(),
        "n_units": len(units),
        "n_raters": int(labels["rater"].nunique()),
        "exchangeable": bool((labels["rater_kind"] == SLOT).any()),
        "unanswered": unanswered(source.type, labels),
        "dimensions": found,
        "behind": of_all(units, list(sources)) | behind,
    }


def of_group(raters: pd.DataFrame, group: str) -> pd.DataFrame:
    """The raters of a group, a key of GROUPS."""
    is_member = raters["kind"] == MEMBER
    return {"all": raters, "members": raters[is_member], "imported": raters[~is_member]}[group]


def _groups_present(raters: pd.DataFrame) -> list[str]:
    is_member = raters["kind"] == MEMBER
    return ["all", "members", "imported"] if is_member.any() and not is_member.all() else ["all"]


def _dimension(
    dimension: Dimension, metrics: tuple[Metric, ...], units: pd.DataFrame, labels: pd.DataFrame, raters: pd.DataFrame
) -> tuple[dict, Behind]:
    """Figures of one dimension, and the units behind them."""
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
        "figures": figures_of(coded, dimension.level),
        "chance": against_chance(coded, dimension.level),
        "per_label": per_label(coded, dimension),
        **pairs(_of_people(mine, units, dimension.values), dimension.level, names_of(raters)),
        **_by_source(coded, units, dimension.level),
        **_by_arm(coded, mine, dimension.level),
        **_by_version(coded, mine, dimension.level),
        "members_against_imported": _members_against_imported(coded, mine, dimension.level),
        "with_unasked": None,
    }
    behind = of_dimension(result, coded, mine, units["unit"].to_numpy())
    result["n_paired"] = sum(len(behind[f"{dimension.slug}/{name}"]) for name in ("agree", "disagree"))
    if members := result["members_against_imported"]:
        for group in ("members", "imported"):
            members[f"n_paired_{group}"] = len(behind[f"{dimension.slug}/group/{group}/pair"])
    for metric in metrics:
        if measured_by(metric) == dimension.slug and metric.missing_as:
            result["with_unasked"], of_unasked = _with_unasked(dimension, metric, units, labels)
            behind |= of_unasked
    return result, behind


def _coded(labels: pd.DataFrame, units: pd.DataFrame, values: tuple[str, ...]) -> Labels:
    return coded_labels(labels, units, values, exchangeable=bool((labels["rater_kind"] == SLOT).any()))


def _of_people(labels: pd.DataFrame, units: pd.DataFrame, values: tuple[str, ...]) -> Labels:
    """Labels by people. Exchangeable slots are nobody, so they form no pairs."""
    return _coded(labels[labels["rater_kind"] != SLOT], units, values)


def names_of(raters: pd.DataFrame) -> dict[str, str]:
    """What each person is called; where two are called alike, their pseudonyms tell them apart."""
    alike = raters["name"].duplicated(keep=False)
    names = raters["name"].where(~alike, raters["name"] + " (" + raters["rater"] + ")")
    return dict(zip(raters["rater"].tolist(), names.tolist(), strict=True))


def _by_source(coded: Labels, units: pd.DataFrame, level: str) -> dict:
    """Figures of each source's units, the sources with most units first; nothing where all come from one, or where
    nobody has labelled any."""
    if not coded.n_labels:
        return {"by_source": [], "n_sources_not_listed": 0}
    sources = units["source"].to_numpy()
    sizes = units["source"].value_counts()
    sizes = sizes.loc[sorted(sizes.index, key=lambda name: (-sizes[name], name))]
    listed = sizes.index[:MAX_SOURCES] if len(sizes) > 1 else []
    rows = []
    for name in listed:
        here = sources == name
        inside = here[coded.unit]
        rows.append(
            {
                "source": name,
                "key": part_of(name),
                "n_units": int(sizes[name]),
                **_part(coded.select_units(here), level),
                "against_the_rest": difference(rows_of(coded, inside), rows_of(coded, ~inside), level),
            }
        )
    return {"by_source": rows, "n_sources_not_listed": len(sizes) - len(listed) if len(sizes) > 1 else 0}


def _part(part: Labels, level: str) -> dict:
    from analysis.stats import krippendorff_alpha, percent_agreement

    return {
        "percent_agreement": figure(percent_agreement(part)),
        "alpha_nominal": figure(krippendorff_alpha(part)),
        "alpha_ordinal": figure(krippendorff_alpha(part, "ordinal")) if level != "nominal" else None,
    }


def _by_arm(coded: Labels, labels: pd.DataFrame, level: str) -> dict:
    """Figures of the labels given in each arm, over pairs of labels of one arm; nothing where there is only one."""
    of_label = labels["arm"].to_numpy()
    arms = [arm for arm in Project.Prefill if (of_label == arm.value).any()]
    if len(arms) < 2:
        return {"by_arm": [], "arm_differences": []}
    parts = {arm: rows_of(coded, of_label == arm.value) for arm in arms}
    return {
        "by_arm": [{"arm": arm.value, "title": arm.label, **_sized(part, level)} for arm, part in parts.items()],
        "arm_differences": [
            {"a": a.value, "b": b.value, **difference(parts[a], parts[b], level)}
            for place, a in enumerate(arms)
            for b in arms[place + 1 :]
        ],
    }


def _sized(part: Labels, level: str) -> dict:
    return {"n_units": len(set(part.unit.tolist())), "n_labels": part.n_labels, **_part(part, level)}


def _by_version(coded: Labels, labels: pd.DataFrame, level: str) -> dict:
    """Figures of the labels given under each version of the guidelines, over pairs of labels of one version, and what
    each version changed; nothing where there is only one, nor in a first pass."""
    import pandas as pd

    nothing = {"by_version": [], "version_differences": [], "n_labels_without_version": 0}
    if is_quick():
        return nothing
    of_label = pd.to_numeric(labels["guideline_version"]).to_numpy(dtype=float, na_value=float("nan"))
    known = of_label[of_label == of_label]
    versions = sorted({int(version) for version in known})
    if len(versions) < 2:
        return nothing
    parts = {version: rows_of(coded, of_label == version) for version in versions}
    return {
        "by_version": [{"version": version, **_sized(part, level)} for version, part in parts.items()],
        "version_differences": [
            {"version": version, "before": before, **difference(parts[version], parts[before], level)}
            for before, version in pairwise(versions)
        ],
        "n_labels_without_version": len(labels) - len(known),
    }


def _members_against_imported(coded: Labels, labels: pd.DataFrame, level: str) -> dict | None:
    """The agreement among members minus that among raters of files, on the same units where they share some."""
    is_member: np.ndarray = (labels["rater_kind"] == MEMBER).to_numpy()
    if not is_member.any() or is_member.all():
        return None
    return difference(rows_of(coded, is_member), rows_of(coded, ~is_member), level)


def _with_unasked(
    dimension: Dimension, metric: Metric, units: pd.DataFrame, labels: pd.DataFrame
) -> tuple[dict | None, Behind]:
    """The dimension with 'not asked' as one more label, given by everybody whose earlier answer left it unasked."""
    import numpy as np
    import pandas as pd

    condition = dimension.asked_when
    asked = labels[labels["dimension"] == dimension.slug]
    unasked = labels[(labels["dimension"] == condition.dimension) & ~labels["label"].isin(condition.labels)]
    if unasked.empty:
        return None, {}
    both = pd.concat([asked, unasked.assign(label=metric.missing_as)])
    coded = _coded(both, units, (*dimension.values, metric.missing_as))
    several = np.bincount(coded.unit, minlength=coded.n_units) > 1
    found = {"label": metric.missing_as, "n_labels": len(both), "n_paired": int(several.sum())}
    found["figures"] = figures_of(coded, "nominal")
    return found, {f"{dimension.slug}/with-unasked": units["unit"].to_numpy()[several].tolist()}
