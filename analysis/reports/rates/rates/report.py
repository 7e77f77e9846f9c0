"""The report on rates of models: how common each label is in each model's answers."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET, UnsetType

from analysis.figures.items import Filter
from analysis.figures.page import Page, Part, Rule, Section, Text, first_that_applies, page_of_each
from analysis.figures.pictures import Axis, IntervalRow, Intervals, picture_name
from analysis.figures.results import AgainstReference, Figure, NamedLabel, Record, ReferenceCounts
from analysis.figures.tables import Column, Table
from analysis.reports.common import REFERENCE
from analysis.reports.report import Report
from analysis.reports.words.numbers import either, n_of
from analysis.reports.words.sentences import also_left_out, clusters_of, intervals_in, listed, sentences
from annotation.models import UnitKind
from annotation.task_types import TaskType

# ---- rows ----


class Rates(Record):
    """Mean shares of labels in answers, and the share of answers in which there is nothing to judge (None: not asked).

    `n_units` are the units of all answers, `n_of` those with each decided label, `n_without` answers without any.
    """

    shares: dict[str, Figure]
    abstained: Figure | None
    n_units: int
    n_without: int
    n_of: dict[str, int]


class Model(Rates):
    """A model's rates; `name` is the model with its method, where answers name one."""

    model: str
    method: str
    name: str
    n_responses: int
    n_answered: int
    n_abstained: int | None
    n_pending: int
    n_labels: int
    n_excluded: int


class RatesInSetting(Record):
    """Rates of one dimension's labels in one setting: of each model, and their unweighted mean."""

    n_responses: int
    n_pending: int
    n_without_units: int | None
    labels: list[NamedLabel]
    excluded: list[str]
    mean: Rates
    models: list[Model]


class DerivedPart(RatesInSetting):
    dimension: str
    title: str


class Setting(RatesInSetting):
    setting: str
    derived: list[DerivedPart]


class RatesOfModels(AgainstReference):
    response_words: str
    unit_words: str
    has_abstained: bool
    abstained_unknown: str
    dimension: str
    title: str
    votes: ReferenceCounts
    settings: list[Setting]
    notes: list[str] | UnsetType = UNSET


# ---- the page ----

MEAN = "mean over models"
DRAWN_MODELS = 30  # more would fit no page; the table has them


def refuses(kind: TaskType) -> str:
    if kind.anchor_kind == UnitKind.RESPONSE:
        return ""
    return f"Rates need items that are model answers; {kind.title!r} judges something else"


def page(result: RatesOfModels) -> Page:
    votes = result.votes
    return page_of_each(
        result.settings,
        rules=RULES,
        if_none=f"There are no {result.response_words} in this project yet.",
        draw=lambda setting: _picture(result, setting),
        sections=lambda setting, picture: [
            Section(setting.setting or "No setting named", _parts(result, setting, picture))
        ],
        n=(
            f"{result.reference_title}: {n_of(votes.decided, result.unit_words)} decided, {votes.tied:,} tied, "
            f"{votes.unlabelled:,} without a label."
        ),
        next_step=first_that_applies(NEXT, result),
    )


def _parts(result: RatesOfModels, setting: Setting, picture: Intervals | None) -> list[Part | None]:
    parts: list[Part | None] = [Text(_counted(result, setting)), picture]
    parts.append(_table(result, setting, setting, result.dimension, result.title, result.has_abstained))
    for part in setting.derived:
        derived = "These labels are derived, one by one, from the labels that were given."
        if part.n_pending != setting.n_pending:
            has = either(part.n_pending, "has", "have")
            derived += f" {n_of(part.n_pending, result.response_words)} {has} no decided label here."
        parts += [Text(derived), _table(result, setting, part, part.dimension, part.title, False)]
    return parts


def _counted(result: RatesOfModels, setting: Setting) -> str:
    """What counts in a setting, and what does not."""
    units, answers, n = result.unit_words, result.response_words, setting.n_pending
    but = f"{units} but " if units != answers else ""
    return "; ".join(
        filter(
            None,
            (
                n_of(setting.n_responses, answers),
                f"{n:,} of them {either(n, 'has', 'have')} {but}no decided label and {either(n, 'does', 'do')} not "
                "count in the shares"
                if n
                else "",
                f"{setting.n_without_units:,} of them {either(setting.n_without_units, 'has', 'have')} nothing to judge"
                if setting.n_without_units and not result.has_abstained
                else "",
                f"{units} left out of the shares: {', '.join(setting.excluded)}" if setting.excluded else "",
            ),
        )
    )


def _table(
    result: RatesOfModels,
    setting: Setting,
    part: RatesInSetting | DerivedPart,
    slug: str,
    title: str,
    has_abstained: bool,
) -> Table:
    here = {"setting": setting.setting}

    def of(row: tuple[str, int, Rates], **more) -> Filter:
        rates = row[2]
        return Filter(here | ({"model": rates.name} if isinstance(rates, Model) else {}) | more)

    def share(label: str) -> Column:
        return Column(
            f"{next(one.title for one in part.labels if one.label == label)}",
            lambda row: row[2].shares[label],
            interval=True,
            items=lambda row: of(row, **{f"label.{slug}": label}) if row[2].n_of[label] else None,
            counts=None,
        )

    columns = [
        Column("Model", lambda row: row[0]),
        Column(
            result.response_words.capitalize(),
            lambda row: row[1],
            items=lambda row: of(row) if row[2].n_units else None,
            counts="answer",
        ),
        *(share(one.label) for one in part.labels),
    ]
    if has_abstained:
        columns.append(
            Column(
                "Abstained",
                lambda row: row[2].abstained,
                interval=True,
                items=lambda row: of(row, abstained="yes") if row[2].n_without else None,
                counts=None,
            )
        )
    rows = [(MEAN, part.n_responses, part.mean)]
    rows += [(model.name or "no name", model.n_responses, model) for model in part.models]
    return Table(f"{title}, {setting.setting or 'no setting'}", columns, rows)


def _picture(result: RatesOfModels, setting: Setting) -> Intervals | None:
    models = setting.models[:DRAWN_MODELS]
    if not any(figure.is_defined for model in models for figure in model.shares.values()):
        return None
    return Intervals(
        name=picture_name("rates", setting.setting or "all"),
        title=f"{result.title} by model" + (f", {setting.setting}" if setting.setting else ""),
        caption=(
            f"{result.project}: {n_of(setting.n_responses, result.response_words)} by "
            f"{n_of(len(setting.models), 'models')}, {result.reference_title.lower()}. Mean shares of labels within "
            f"each of a model's {result.response_words}; lines are 95 % bootstrap intervals over claims or questions."
        ),
        alt="; ".join(f"{model.name or 'no name'}: {_shares(setting, model)}" for model in models) + ".",
        items=tuple(
            IntervalRow.of_figure(
                model.name or "no name",
                model.shares[label.label],
                _of_label(result, setting, model, label.label),
                series=label.title,
            )
            for model in models
            for label in setting.labels
        ),
        values=Axis("Mean share", 0, 1),
        rows_title="Model",
        series_title="Label",
    )


def _of_label(result: RatesOfModels, setting: Setting, model: Model, label: str) -> Filter | None:
    where = {"setting": setting.setting, "model": model.name, f"label.{result.dimension}": label}
    return Filter(where) if model.n_of[label] else None


def _shares(part: RatesInSetting, rates: Rates) -> str:
    return listed([f"{label.title} {rates.shares[label.label].written()}" for label in part.labels])


# ---- what the page begins with ----


def _extremes(setting: Setting) -> tuple[str, Model, Model] | None:
    """The first label, and the models in whose answers it is most and least common; None for fewer than two models."""
    label = setting.labels[0].label
    known = [model for model in setting.models if model.shares[label].is_defined]
    if len(known) < 2:
        return None
    by_share = sorted(known, key=lambda model: model.shares[label].estimate)
    return label, by_share[-1], by_share[0]


def _pending(setting: Setting) -> str:
    return also_left_out(setting.n_pending, "answers without a decided label (tied ones among them)")


def _of_extremes(setting: Setting) -> str:
    label, most, least = _extremes(setting)
    title = next(one.title for one in setting.labels if one.label == label)
    where = f"{setting.setting}: " if setting.setting else ""
    return (
        f"{where}{title} is most common in the answers of {most.name or 'no name'} ({most.shares[label].written()}) "
        f"and least in those of {least.name or 'no name'} ({least.shares[label].written()}; mean shares, 95 % "
        f"intervals){_pending(setting)}."
    )


RULES = (
    Rule(
        "nothing decided",
        lambda one: not any(figure.is_defined for figure in one.mean.shares.values()),
        lambda one: f"{one.setting or 'No setting'}: no rate is known, since no answer has a decided label.",
    ),
    Rule("several models", lambda one: _extremes(one) is not None, _of_extremes),
    Rule(
        "one model",
        lambda one: True,
        lambda one: (
            f"{one.setting + ': ' if one.setting else ''}the mean shares of labels are {_shares(one, one.mean)} (95 % "
            f"intervals){_pending(one)}."
        ),
    ),
)
NEXT = (
    Rule(
        "without answers",
        lambda result: not result.settings,
        lambda result: f"import {result.response_words} of models",
    ),
    Rule(
        "pending",
        lambda result: any(setting.n_pending for setting in result.settings),
        lambda result: (
            f"label the {n_of(sum(setting.n_pending for setting in result.settings), result.response_words)} that have "
            "no decided label yet"
        ),
    ),
)


# ---- the paragraph for a paper ----


def methods(result: RatesOfModels) -> str:
    responses = sum(setting.n_responses for setting in result.settings)
    pending = sum(setting.n_pending for setting in result.settings)
    excluded = sorted({label for setting in result.settings for label in setting.excluded})
    units, answers, tied = result.unit_words, result.response_words, result.votes.tied
    return sentences(
        f"Rates are of {result.title.lower()} in {n_of(responses, answers)}, by {result.reference_title.lower()}"
        f" ({n_of(tied, units)} {either(tied, 'is', 'are')} tied and {either(tied, 'counts', 'count')} as undecided).",
        f"An answer's shares are those of its {units}; a model's rate is their unweighted mean over its {answers} that "
        "have a decided label, and means over models are unweighted as well."
        if units != answers
        else f"A model's rate is the share of its {answers} that have a decided label; means over models are "
        "unweighted.",
        f"Labels that are outside the scale ({listed(excluded)}) were left out." if excluded else "",
        f"{n_of(pending, answers)} without a decided label {either(pending, 'was', 'were')} left out."
        if pending
        else "",
        f"The abstain rate is the share of {answers} in which there is nothing to judge, of all {answers}."
        if result.has_abstained and not result.abstained_unknown
        else "",
        drawn := intervals_in(result),
        f"Means over models draw the same {clusters_of(result)[1]} for all models." if drawn else "",
        *_results(result),
    )


def _results(result: RatesOfModels) -> Iterator[str]:
    for setting in result.settings:
        if any(figure.is_defined for figure in setting.mean.shares.values()):
            where = f" ({setting.setting})" if setting.setting else ""
            yield f"The mean over models{where} was {_shares(setting, setting.mean)}."


REPORT = Report(
    "rates",
    "Label and abstain rates",
    "analysis.reports.rates.rates.compute",
    (REFERENCE,),
    "Shares of labels within each answer, averaged over a model's answers that have labels, then over models with "
    "equal weight. Intervals draw whole claims or questions, the same ones for all models.",
    own_page="project_rates",
    kind=RatesOfModels,
    declares=page,
    paragraph=methods,
    refuses=refuses,
)
