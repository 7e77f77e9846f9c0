"""How far people agree: per dimension and label, pair of annotators, source, arm and version, and beyond chance."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.reports.agreement.agreement.coefficients import (
    against_chance,
    coefficients,
    difference,
    figures_of_part,
    pairs,
    per_label,
    rows_of,
)
from analysis.reports.agreement.agreement.inverse_probability import chances_of_units, selected
from analysis.reports.agreement.agreement.result import (
    GROUPS,
    SIDES,
    Agreement,
    BetweenArms,
    BetweenVersions,
    GivenLabel,
    Members,
    OfArm,
    OfSource,
    OfVersion,
    QuestionAgreement,
    WithUnasked,
)
from analysis.reports.agreement.raters import of_group
from analysis.reports.labels.coding import coded_labels
from analysis.reports.labels.derived import derived_from, measured_by, with_derived, with_derived_labels
from analysis.reports.labels.judgements import add_judgements, add_source, new_items
from analysis.reports.labels.raters import people_of
from analysis.sources import Source
from analysis.sources.base import MEMBER, SLOT, dimensions_to_show, unanswered
from analysis.sources.splits import as_heading, split_in
from analysis.stats import Labels
from annotation.models import Project
from annotation.task_types import Dimension, Metric

MAX_SOURCES = 50


def compute(source: Source, raters: str = "all", *, quick: bool = False) -> tuple[Agreement, Items]:
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
    origins = derived_from(kind)
    chances = chances_of_units(source, units)
    # Versions need every revision's moment, which takes long to read: first figures come without them.
    labels = labels if quick and chances is None else source.with_moments(labels)
    items = new_items(units, parts=("arm", "group", "version"))
    _add_judgements(items, kind, labels)
    found = []
    for dimension in dimensions_to_show(kind, labels):
        unasked = [metric for metric in kind.metrics if measured_by(metric) == dimension.slug and metric.missing_as]
        found.append(
            _question(
                dimension,
                units,
                labels,
                items,
                quick=quick,
                names={pseudonym: person.name for pseudonym, person in people_of(source).items()},
                derived_from=origins.get(dimension.slug),
                selected=selected(dimension, units, labels, chances, items, quick=quick),
                with_unasked=_with_unasked(dimension, unasked[-1], units, labels, items, quick) if unasked else None,
            )
        )
    listed = dict.fromkeys(row.source for question in found for row in question.by_source)
    add_source(items, units, as_heading(split_in(source.described())), list(listed))
    return Agreement(
        raters=raters,
        groups=_groups_present(everybody),
        n_items=int(units["item"].nunique()),
        n_items_without_units=source.items_without_units(),
        n_units=len(units),
        n_raters=int(labels["rater"].nunique()),
        exchangeable=bool((labels["rater_kind"] == SLOT).any()),
        unanswered=unanswered(source.type, labels),
        dimensions=found,
    ), items


def _add_judgements(items: Items, kind, labels: pd.DataFrame) -> None:
    columns = {
        "arm": ("Suggestions were", dict(Project.Prefill.choices)),
        "group": ("By", {"imported": "raters of imported files"}),
    }
    labels = labels.assign(group=np.where(labels["rater_kind"] == MEMBER, "members", "imported"))
    if "guideline_version" in labels:
        labels["version"] = pd.to_numeric(labels["guideline_version"]).astype("Int64")
        columns["version"] = ("Version of the guidelines", {})
    add_judgements(items, kind, labels, columns=columns)


def _groups_present(raters: pd.DataFrame) -> list[str]:
    is_member = raters["kind"] == MEMBER
    return ["all", "members", "imported"] if is_member.any() and not is_member.all() else ["all"]


def _question(
    dimension: Dimension,
    units: pd.DataFrame,
    labels: pd.DataFrame,
    items: Items,
    *,
    quick: bool,
    names: dict[str, str],
    **more,
) -> QuestionAgreement:
    mine = labels[labels["dimension"] == dimension.slug]
    coded = _coded(mine, units, dimension.values)
    level = dimension.level
    side = _sides(coded)
    items.add(dimension.slug, dimension.title, side, list(SIDES), list(SIDES.values()))
    # Exchangeable slots are nobody, so they form no pairs.
    people = _coded(mine[mine["rater_kind"] != SLOT], units, dimension.values)
    of_pairs, n_pairs_not_listed = pairs(people, level, names, quick=quick)
    return QuestionAgreement(
        dimension=dimension.slug,
        title=dimension.title,
        level=level,
        labels=[
            GivenLabel(label=label.value, title=label.title, n=int((mine["label"] == label.value).sum()))
            for label in dimension.labels
        ],
        n_labels=len(mine),
        n_paired=int((side < 2).sum()),
        figures=coefficients(coded, level, quick=quick),
        chance=against_chance(coded, level, quick=quick),
        per_label=per_label(coded, dimension, quick=quick),
        pairs=of_pairs,
        n_pairs_not_listed=n_pairs_not_listed,
        **_by_source(coded, units, level, quick),
        **_by_arm(coded, mine, level, quick),
        **_by_version(coded, mine, level, quick),
        members_against_imported=_members_against_imported(coded, mine, level, quick),
        **more,
    )


def _sides(coded: Labels) -> np.ndarray:
    """Where in SIDES each unit stands: with labels that agree or differ, with one, with none."""
    n = _n_labels(coded)
    first = np.zeros(coded.n_units, dtype=coded.value.dtype)
    first[coded.unit] = coded.value
    differ = np.zeros(coded.n_units, dtype=bool)
    differ[coded.unit[coded.value != first[coded.unit]]] = True
    return np.select([differ, n > 1, n == 1], [1, 0, 2], default=3)


def _n_labels(coded: Labels) -> np.ndarray:
    """How many labels each unit has."""
    return np.bincount(coded.unit, minlength=coded.n_units)


def _coded(labels: pd.DataFrame, units: pd.DataFrame, values: tuple[str, ...]) -> Labels:
    return coded_labels(labels, units, values, exchangeable=bool((labels["rater_kind"] == SLOT).any()))


def _by_source(coded: Labels, units: pd.DataFrame, level: str, quick: bool) -> dict:
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
        against = difference(rows_of(coded, inside), rows_of(coded, ~inside), level, quick=quick)
        more = {"source": name, "n_units": int(sizes[name]), "against_the_rest": against}
        rows.append(figures_of_part(coded.select_units(here), level, quick=quick, kind=OfSource, **more))
    return {"by_source": rows, "n_sources_not_listed": len(sizes) - len(listed) if len(sizes) > 1 else 0}


def _by_arm(coded: Labels, labels: pd.DataFrame, level: str, quick: bool) -> dict:
    """Figures of the labels given in each arm, over pairs of labels of one arm; nothing where there is only one."""
    of_label = labels["arm"].to_numpy()
    arms = [arm for arm in Project.Prefill if (of_label == arm.value).any()]
    if len(arms) < 2:
        return {"by_arm": [], "arm_differences": []}
    parts = {arm: rows_of(coded, of_label == arm.value) for arm in arms}
    return {
        "by_arm": [
            figures_of_part(part, level, quick=quick, kind=OfArm, arm=arm.value, title=arm.label, **_sizes(part))
            for arm, part in parts.items()
        ],
        "arm_differences": [
            difference(parts[a], parts[b], level, quick=quick, kind=BetweenArms, a=a.value, b=b.value)
            for place, a in enumerate(arms)
            for b in arms[place + 1 :]
        ],
    }


def _sizes(part: Labels) -> dict[str, int]:
    return {"n_units": len(set(part.unit.tolist())), "n_labels": part.n_labels}


def _by_version(coded: Labels, labels: pd.DataFrame, level: str, quick: bool) -> dict:
    """Figures of the labels given under each version of the guidelines, over pairs of labels of one version, and what
    each version changed; nothing where there is only one, nor in a first pass."""
    nothing = {"by_version": [], "version_differences": [], "n_labels_without_version": 0}
    if quick:
        return nothing
    of_label = pd.to_numeric(labels["guideline_version"]).to_numpy(dtype=float, na_value=float("nan"))
    known = of_label[of_label == of_label]
    versions = sorted({int(version) for version in known})
    if len(versions) < 2:
        return nothing
    parts = {version: rows_of(coded, of_label == version) for version in versions}
    return {
        "by_version": [
            figures_of_part(part, level, quick=quick, kind=OfVersion, version=version, **_sizes(part))
            for version, part in parts.items()
        ],
        "version_differences": [
            difference(
                parts[version], parts[before], level, quick=quick, kind=BetweenVersions, version=version, before=before
            )
            for before, version in pairwise(versions)
        ],
        "n_labels_without_version": len(labels) - len(known),
    }


def _members_against_imported(coded: Labels, labels: pd.DataFrame, level: str, quick: bool) -> Members | None:
    """The agreement among members minus that among raters of files, on the same units where they share some."""
    is_member = (labels["rater_kind"] == MEMBER).to_numpy()
    if not is_member.any() or is_member.all():
        return None
    members, imported = rows_of(coded, is_member), rows_of(coded, ~is_member)
    n = {
        f"n_paired_{name}": int((_n_labels(part) > 1).sum())
        for name, part in (("members", members), ("imported", imported))
    }
    return difference(members, imported, level, quick=quick, kind=Members, **n)


def _with_unasked(
    dimension: Dimension, metric: Metric, units: pd.DataFrame, labels: pd.DataFrame, items: Items, quick: bool
) -> WithUnasked | None:
    """The dimension with 'not asked' as one more label, given by everybody whose earlier answer left it unasked."""
    condition = dimension.asked_when
    asked = labels[labels["dimension"] == dimension.slug]
    unasked = labels[(labels["dimension"] == condition.dimension) & ~labels["label"].isin(condition.labels)]
    if unasked.empty:
        return None
    both = pd.concat([asked, unasked.assign(label=metric.missing_as)])
    coded = _coded(both, units, (*dimension.values, metric.missing_as))
    several = _n_labels(coded) > 1
    words = "with a pair of answers, that it is not asked counting as one"
    items.add_sets(dimension.slug, dimension.title, {"with-unasked": (words, several)})
    return WithUnasked(
        label=metric.missing_as,
        n_labels=len(both),
        n_paired=int(several.sum()),
        figures=coefficients(coded, "nominal", quick=quick),
    )
