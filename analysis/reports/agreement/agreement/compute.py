"""How far people agree: per dimension and label, pair of annotators, source, arm and version, and beyond chance."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from msgspec import UNSET

from analysis.figures.items import Items
from analysis.reports.agreement.agreement.against import DECIDED, against_decisions, with_decided
from analysis.reports.agreement.agreement.checked import recomputed
from analysis.reports.agreement.agreement.inverse_probability import chances_of_units, selected
from analysis.reports.agreement.agreement.parts import (
    against_chance,
    by_arm,
    by_source,
    by_version,
    labels_per_unit,
    members_against_imported,
    not_tested,
    pairs,
    per_label,
    with_closed_form,
)
from analysis.reports.agreement.agreement.result import (
    COMPARED,
    OTHER,
    SAME,
    SIDES,
    Agreement,
    Coefficient,
    GivenLabel,
    QuestionAgreement,
    WithUnasked,
)
from analysis.reports.agreement.raters import groups_among, raters_of_group
from analysis.reports.common import REFERENCES
from analysis.reports.estimates import coded_labels
from analysis.reports.labels.derived import derived_from, fields_of_question, measured_by, with_derived
from analysis.reports.labels.derived_labels import with_derived_labels
from analysis.reports.labels.judgements import add_judgements, add_source, new_items
from analysis.reports.labels.raters import people_of
from analysis.sources.base import Source, dimensions_to_show, unanswered
from analysis.sources.outline import MEMBER, SLOT
from analysis.sources.several import of_answers, of_numbers, parts_of, slug_of, with_answers
from analysis.sources.splits import split_heading, split_in
from analysis.stats import (
    Estimate,
    Labels,
    brennan_prediger,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
    pooled_percent_agreement,
    set_alpha,
)
from annotation.models import Project
from annotation.task_types import Dimension, Metric, TaskType

# Alpha compares every number, or set of labels, with every other.
MOST_ANSWERS = 2000


def compute(
    source: Source, raters: str = "all", reference: str = "", *, quick: bool = False, overall: bool = False
) -> tuple[Agreement, Items]:
    """The agreement report. `raters` is a key of GROUPS, or names a group of a file (`raters_of_group`).
    `reference` names a set of decisions that people's labels are compared with besides. `overall`: the figures of each
    question, without those of its parts."""
    kind = with_derived(source.type)
    units = source.unit_frame(kind.unit_kind)
    everybody = source.rater_frame()
    chosen = raters_of_group(everybody, raters)
    labels = source.label_frame(units)
    labels = with_derived_labels(kind, labels[labels["rater"].isin(chosen["rater"])])
    labels = with_answers(source.asked, labels)
    if reference:
        labels = with_decided(labels, with_derived_labels(kind, source.decision_frame(reference)))
    kind, sets = _with_sets(kind, source.asked, labels)
    labels["arm"] = labels["annotation"].map(source.arms()).astype(object)
    origins = derived_from(kind) | {
        part: one.slug for one in source.asked.dimensions if one.takes_several for part in parts_of(source.asked, one)
    }
    chances = chances_of_units(source, units)
    # Versions need every revision's moment, which takes long to read: first figures come without them.
    labels = labels if overall or (quick and chances is None) else source.with_moments(labels)
    items = new_items(units, parts=("arm", "group", "version"))
    if not overall:
        _add_judgements(items, kind, labels, reference)
    names = {pseudonym: person.name for pseudonym, person in people_of(source).items()}
    questions = []
    for dimension in dimensions_to_show(kind, labels):
        if overall:
            questions.append(_overall(dimension, units, labels, items, origins, sets.get(dimension.slug)))
            continue
        unasked = [metric for metric in kind.metrics if measured_by(metric) == dimension.slug and metric.missing_as]
        questions.append(
            _question(
                dimension,
                units,
                labels,
                items,
                quick=quick,
                names=names,
                origins=origins,
                sets=sets.get(dimension.slug),
                selected=selected(dimension, units, labels, chances, items, quick=quick),
                with_unasked=_with_unasked(dimension, unasked[-1], units, labels, items, quick) if unasked else None,
            )
        )
    listed = dict.fromkeys(row.source for question in questions for row in question.by_source)
    add_source(items, units, split_heading(split_in(source.described())), list(listed))
    return Agreement(
        raters=raters,
        groups=_groups_present(everybody),
        pooled=groups_among(chosen) or UNSET,
        n_items=int(units["item"].nunique()),
        n_items_without_units=source.items_without_units(),
        n_units=len(units),
        n_raters=int(labels["rater"].nunique()),
        exchangeable=bool((labels["rater_kind"] == SLOT).any()),
        unanswered=unanswered(source.type, labels),
        reference=reference,
        dimensions=questions,
    ), items


def _with_sets(
    kind: TaskType, asked: TaskType, labels: pd.DataFrame
) -> tuple[TaskType, dict[str, list[tuple[str, ...]]]]:
    """Questions that take several labels before those of each label, with the answers that were given as labels; by
    question what each of these holds; and those that are answered by a number at the end."""
    dimensions, sets = list(kind.dimensions), {}
    for dimension in (one for one in asked.dimensions if one.takes_several):
        answers = of_answers(dimension, labels)
        sets[dimension.slug] = [dimension.chosen(answer) for answer in answers.values]
        first = next(i for i, one in enumerate(dimensions) if one.slug == slug_of(dimension, dimension.values[0]))
        dimensions.insert(first, answers)
    dimensions += [of_numbers(one, labels) for one in asked.dimensions if one.takes_number]
    return replace(kind, dimensions=tuple(dimensions)), sets


def _add_judgements(items: Items, kind, labels: pd.DataFrame, reference: str) -> None:
    columns = {
        "arm": ("Suggestions were", dict(Project.Prefill.choices)),
        "group": ("By", {"imported": "raters of imported files"}),
    }
    labels = labels.assign(group=np.where(labels["rater_kind"] == MEMBER, "members", "imported"))
    if reference:
        same = {SAME: "the decided label", OTHER: "another label"}
        columns[COMPARED] = (f"Against {REFERENCES[reference].lower()}", same)
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
    origins: dict[str, str],
    sets: list[tuple[str, ...]] | None,
    **more,
) -> QuestionAgreement:
    mine = labels[labels["dimension"] == dimension.slug]
    coded = _coded(mine, units, dimension.values)
    level = dimension.level
    side = _sides(coded)
    items.add(dimension.slug, dimension.title, side, SIDES)
    against = against_decisions(dimension, mine, units, names, quick=quick) if DECIDED in mine else None
    # Exchangeable slots are nobody, so they form no pairs.
    people = _coded(mine[mine["rater_kind"] != SLOT], units, dimension.values)
    if dimension.takes_number:
        figures = number_figures(coded, level, quick=quick)
        again = [] if quick else recomputed(coded, figures)
        return _alone(dimension, {}, mine, side, figures, against=against, recomputed=again)
    figures = coefficients(coded, level, quick=quick) if sets is None else set_figures(coded, sets, quick=quick)
    of_pairs, n_pairs_not_listed = ([], 0) if sets else pairs(people, level, names, quick=quick)
    return QuestionAgreement(
        **fields_of_question(dimension, origins),
        level=level,
        takes_several=sets is not None,
        takes_number=False,
        labels=[
            GivenLabel(label=label.value, title=label.title, n=int((mine["label"] == label.value).sum()))
            for label in dimension.labels
        ],
        n_labels=len(mine),
        n_paired=int((side < 2).sum()),
        n_disagree=int((side == 1).sum()),
        figures=figures,
        chance=against_chance(coded, level, quick=quick),
        per_label=[] if sets else per_label(coded, dimension, quick=quick),
        pairs=of_pairs,
        n_pairs_not_listed=n_pairs_not_listed,
        **by_source(coded, units, level, quick),
        **by_arm(coded, mine, level, quick),
        **by_version(coded, mine, level, quick),
        against=against,
        recomputed=[] if quick else recomputed(coded, figures, of_pairs),
        members_against_imported=members_against_imported(coded, mine, level, quick),
        **more,
    )


def coefficients(coded: Labels, level: str, *, quick: bool) -> list[Coefficient]:
    estimates = {
        "percent_agreement": ("Percent agreement (mean over items)", percent_agreement(coded)),
        "pooled_percent_agreement": ("Percent agreement (pooled over pairs)", pooled_percent_agreement(coded)),
        "krippendorff_alpha_nominal": ("Krippendorff's alpha, nominal", krippendorff_alpha(coded)),
    }
    if level != "nominal":
        ordinal = krippendorff_alpha(coded, "ordinal")
        estimates["krippendorff_alpha_ordinal"] = ("Krippendorff's alpha, ordinal", ordinal)
    if level in ("interval", "ratio"):
        estimates[f"krippendorff_alpha_{level}"] = (f"Krippendorff's alpha, {level}", krippendorff_alpha(coded, level))
    estimates["fleiss_kappa"] = ("Fleiss' kappa", fleiss_kappa(coded))
    estimates["gwet_ac1"] = ("Gwet's AC1", gwet_ac(coded))
    if level != "nominal":
        estimates["gwet_ac2_ordinal"] = ("Gwet's AC2, ordinal weights", gwet_ac(coded, "ordinal"))
    estimates["brennan_prediger"] = ("Brennan-Prediger", brennan_prediger(coded))
    if level != "nominal":
        weighted = brennan_prediger(coded, "ordinal")
        estimates["brennan_prediger_ordinal"] = ("Brennan-Prediger, ordinal weights", weighted)
    return _named(estimates, quick)


def _overall(
    dimension: Dimension, units: pd.DataFrame, labels: pd.DataFrame, items: Items, origins: dict[str, str], sets
) -> QuestionAgreement:
    mine = labels[labels["dimension"] == dimension.slug]
    coded, level = _coded(mine, units, dimension.values), dimension.level
    side = _sides(coded)
    items.add(dimension.slug, dimension.title, side, SIDES)
    if dimension.takes_number:
        figures = number_figures(coded, level, quick=False)
    else:
        figures = coefficients(coded, level, quick=False) if sets is None else set_figures(coded, sets, quick=False)
    return _alone(dimension, origins, mine, side, figures, takes_several=sets is not None)


def _alone(
    dimension: Dimension,
    origins: dict[str, str],
    mine: pd.DataFrame,
    side: np.ndarray,
    figures: list[Coefficient],
    takes_several: bool = False,
    **more,
) -> QuestionAgreement:
    """Over everybody, without parts. Of numbers it is all that there is: parts of the labels are compared by labels."""
    return QuestionAgreement(
        **fields_of_question(dimension, origins),
        level=dimension.level,
        takes_several=takes_several,
        takes_number=dimension.takes_number,
        labels=[],
        n_labels=len(mine),
        n_paired=int((side < 2).sum()),
        n_disagree=int((side == 1).sum()),
        figures=figures,
        chance=not_tested(dimension.level),
        per_label=[],
        pairs=[],
        n_pairs_not_listed=0,
        by_source=[],
        n_sources_not_listed=0,
        by_arm=[],
        arm_differences=[],
        by_version=[],
        version_differences=[],
        n_labels_without_version=0,
        members_against_imported=None,
        with_unasked=None,
        selected=None,
        **more,
    )


def number_figures(coded: Labels, level: str, *, quick: bool) -> list[Coefficient]:
    levels = ("interval", "ratio") if level == "ratio" else ("interval",)
    estimates = {
        f"krippendorff_alpha_{name}": (
            f"Krippendorff's alpha, {name}",
            _unless_many(coded, "numbers", partial(krippendorff_alpha, coded, name)),
        )
        for name in levels
    }
    equal = percent_agreement(coded)
    return _named(
        estimates | {"percent_agreement": ("Equal numbers (percent agreement, mean over items)", equal)}, quick
    )


def set_figures(coded: Labels, sets: list[tuple[str, ...]], *, quick: bool) -> list[Coefficient]:
    """Of answers that are sets, and of which parts may agree."""
    alphas = {
        "alpha_masi": ("MASI distance of sets", partial(set_alpha, coded, sets, "masi")),
        "alpha_jaccard": ("Jaccard distance of sets", partial(set_alpha, coded, sets, "jaccard")),
        "krippendorff_alpha_nominal": ("equal sets", partial(krippendorff_alpha, coded)),
    }
    estimates = {
        name: (f"Krippendorff's alpha, {title}", _unless_many(coded, "sets of labels", alpha))
        for name, (title, alpha) in alphas.items()
    }
    equal = percent_agreement(coded)
    return _named(estimates | {"percent_agreement": ("Equal sets (percent agreement, mean over items)", equal)}, quick)


def _unless_many(coded: Labels, what: str, alpha: Callable[[], Estimate]) -> Estimate:
    if len(coded.categories) <= MOST_ANSWERS:
        return alpha()
    why = f"there are more than {MOST_ANSWERS:,} different {what}"
    return replace(percent_agreement(coded), estimate=math.nan, undefined=why)


def _named(estimates: dict[str, tuple[str, Estimate]], quick: bool) -> list[Coefficient]:
    return [
        Coefficient.extending(with_closed_form(estimate, quick), name=name, title=title)
        for name, (title, estimate) in estimates.items()
    ]


def _sides(coded: Labels) -> np.ndarray:
    """Where in SIDES each unit stands: with labels that agree or differ, with one, with none."""
    n = labels_per_unit(coded)
    first = np.zeros(coded.n_units, dtype=coded.value.dtype)
    first[coded.unit] = coded.value
    differ = np.zeros(coded.n_units, dtype=bool)
    differ[coded.unit[coded.value != first[coded.unit]]] = True
    return np.select([differ, n > 1, n == 1], [1, 0, 2], default=3)


def _coded(labels: pd.DataFrame, units: pd.DataFrame, values: tuple[str, ...]) -> Labels:
    return coded_labels(labels, units, values, exchangeable=bool((labels["rater_kind"] == SLOT).any()))


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
    several = labels_per_unit(coded) > 1
    words = "with a pair of answers, that it is not asked counting as one"
    items.add_sets(dimension.slug, dimension.title, {"with-unasked": (words, several)})
    return WithUnasked(
        label=metric.missing_as,
        n_labels=len(both),
        n_paired=int(several.sum()),
        figures=coefficients(coded, "nominal", quick=quick),
    )
