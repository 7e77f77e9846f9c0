"""How far people agree: per dimension and label, pair of annotators, source, arm and version, and beyond chance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from msgspec import UNSET

from analysis.figures.items import Items
from analysis.reports.agreement.agreement.against import DECIDED, against_decisions, with_decided
from analysis.reports.agreement.agreement.checked import recomputed
from analysis.reports.agreement.agreement.coefficients import coefficients, figures_of
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
from analysis.reports.labels.derived import (
    derived_from,
    fields_of_question,
    measured_by,
    read_labels,
    with_derived_labels,
)
from analysis.reports.labels.judgements import add_judgements, add_source, new_items, without_further
from analysis.reports.labels.raters import people_of
from analysis.sources.base import Source, dimensions_to_show, unanswered
from analysis.sources.outline import MEMBER, SLOT
from analysis.sources.several import of_answers, of_numbers, parts_of, slug_of, with_answers
from analysis.sources.splits import split_heading, split_in
from analysis.stats import (
    Labels,
)
from annotation.models import Project
from annotation.task_types import Dimension, Metric, TaskType

# Columns of labels that hold few different texts: as codes they are compared quickly and take little memory.
CODED = ("dimension", "label", "rater", "rater_kind", "arm")


def compute(
    source: Source,
    raters: str = "all",
    reference: str = "",
    all: bool = False,
    further: bool = False,
    *,
    quick: bool = False,
    overall: bool = False,
) -> tuple[Agreement, Items]:
    """The agreement report. `raters` is a key of GROUPS, or names a group of a file (`raters_of_group`).
    `reference` names a set of decisions that people's labels are compared with besides. `all`: with more statistics,
    which take longest. `further`: answers that were asked for because answers differed count, too. `overall`: all
    coefficients of each question, without figures of its parts."""
    kind, units, labels = read_labels(source)
    everybody = source.rater_frame()
    chosen = raters_of_group(everybody, raters)
    labels, n_further = without_further(source, labels[labels["rater"].isin(chosen["rater"])], further)
    labels = with_answers(source.asked, labels.reset_index(drop=True))
    if reference:
        labels = with_decided(labels, with_derived_labels(kind, source.decision_frame(reference)))
    kind, sets = _with_sets(kind, source.asked, labels)
    labels["arm"] = labels["annotation"].map(source.arms()).astype(object)
    labels = labels.astype(dict.fromkeys(CODED, "category"))
    origins = derived_from(kind) | {
        part: one.slug for one in source.asked.dimensions if one.takes_several for part in parts_of(source.asked, one)
    }
    chances = chances_of_units(source, units) if all else None
    # Versions need every revision's moment, which takes long to read: first figures come without them.
    labels = source.with_moments(labels) if all and (chances is not None or not quick) else labels
    items = new_items(units, parts=("arm", "group", "version"))
    if not overall:
        _add_judgements(items, kind, labels, reference)
    names = {pseudonym: person.name for pseudonym, person in people_of(source).items()}
    questions = []
    for dimension in dimensions_to_show(kind, labels):
        if overall:
            questions.append(_overall(dimension, units, labels, items, origins, sets.get(dimension.slug)))
            continue
        unasked = [
            metric for metric in kind.metrics if all and measured_by(metric) == dimension.slug and metric.missing_as
        ]
        questions.append(
            _question(
                dimension,
                units,
                labels,
                items,
                quick=quick,
                all=all,
                by_split=all or bool(split_in(source.described())),
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
        all=all,
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
        further=further,
        n_further=n_further,
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
        "arm": ("Suggestions were", dict(Project.ARMS)),
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
    all: bool,
    by_split: bool,
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
    figures = figures_of(coded, dimension, sets, quick=quick, all=all)
    if dimension.takes_number:
        again = [] if quick else recomputed(coded, figures)
        return _alone(dimension, {}, mine, side, figures, against=against, recomputed=again)
    # Exchangeable slots are nobody, so they form no pairs.
    people = _coded(mine[mine["rater_kind"] != SLOT], units, dimension.values)
    of_pairs, n_pairs_not_listed = ([], 0) if sets else pairs(people, level, names, quick=quick, all=all)
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
        per_label=[] if sets else per_label(coded, dimension, quick=quick, all=all),
        pairs=of_pairs,
        n_pairs_not_listed=n_pairs_not_listed,
        **by_source(coded, units, level, quick) if by_split else {},
        **by_arm(coded, mine, level, quick) | by_version(coded, mine, level, quick) if all else {},
        against=against,
        recomputed=[] if quick else recomputed(coded, figures, of_pairs),
        members_against_imported=members_against_imported(coded, mine, level, quick) if all else None,
        **more,
    )


def _overall(
    dimension: Dimension, units: pd.DataFrame, labels: pd.DataFrame, items: Items, origins: dict[str, str], sets
) -> QuestionAgreement:
    mine = labels[labels["dimension"] == dimension.slug]
    coded = _coded(mine, units, dimension.values)
    side = _sides(coded)
    items.add(dimension.slug, dimension.title, side, SIDES)
    figures = figures_of(coded, dimension, sets, quick=False, all=True)
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
        **more,
    )


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
        figures=coefficients(coded, "nominal", quick=quick, all=True),
    )
