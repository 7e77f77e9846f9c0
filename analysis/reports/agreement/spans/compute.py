"""Do people mark the same passages? Per question: overall, per label, per field and per pair of people."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.reports.agreement.raters import raters_of_group
from analysis.reports.agreement.spans.report import (
    OUTCOMES,
    HighlightAgreement,
    HighlightedLabel,
    HighlightedQuestion,
    HighlightPair,
    MarkedField,
    SpanFigure,
)
from analysis.reports.agreement.spans.texts import MarkedTexts, marked_texts, units_where
from analysis.reports.estimates import RESAMPLES, to_figure, with_interval
from analysis.reports.labels.judgements import add_judgements, new_items, without_further
from analysis.reports.labels.raters import people_of
from analysis.sources.base import Source, dimensions_to_show
from analysis.sources.several import of_answers, with_answers
from analysis.stats import Continua, Estimate, SpanAgreement, character_alpha, gamma, span_agreement, unitizing_alpha
from analysis.stats.spans.overlaps import entry_pairs, labels_overlap, shared_spans
from annotation.task_types import Dimension

MAX_FIELDS = 20
MAX_PAIRS = 50
# Texts whose units are aligned for gamma, drawn at random where there are more, and random continua.
GAMMA_TEXTS = 2000
GAMMA_DRAWS = 1000
CU_ALPHA = "cu-alpha: labels where both highlighted"
SPAN_MEASURES = {
    "exact_f1": "Exact F1",
    "overlap_f1": "Overlap F1",
    "character_f1": "Character F1",
    "character_iou": "Character IoU",
}


def compute(
    source: Source, raters: str = "all", who: str = "answered", further: bool = False, *, quick: bool = False
) -> tuple[HighlightAgreement, Items]:
    """The report on spans. `raters` is a key of GROUPS, `who` one of WHO. `further`: answers that were
    asked for because answers differed count, too."""
    kind = source.asked
    units = source.unit_frame(kind.unit_kind)
    people = raters_of_group(source.rater_frame(), raters)
    labels = with_answers(kind, source.label_frame(units))
    labels, n_further = without_further(source, labels[labels["rater"].isin(people["rater"])], further)
    spans = source.span_frame(units)
    items = new_items(units, quotes=True)
    compared, questions = [], []
    for dimension in dimensions_to_show(kind, labels):
        if dimension.spans is None:
            continue
        if dimension.takes_several:
            dimension = of_answers(dimension, labels)
        answers = labels[labels["dimension"] == dimension.slug]
        marked = marked_texts(source, kind, dimension, units, answers, spans[spans["dimension"] == dimension.slug], who)
        if marked.continua.n_texts:
            compared.append(_compared(dimension, marked.continua))
        questions.append(_question(dimension, marked, source, items, quick))
    if compared:
        labels = labels.merge(pd.concat(compared), on=["unit", "rater", "dimension"], how="left")
    add_judgements(items, kind, labels, columns={"compared": ("compared here", {})})
    return HighlightAgreement(
        raters=raters,
        who=who,
        further=further,
        n_further=n_further,
        n_units=len(units),
        dimensions=questions,
    ), items


def _compared(dimension: Dimension, continua: Continua) -> pd.DataFrame:
    """The answers and units that take part, as rows of the table of judgements."""
    rows = {
        "unit": [continua.texts[text][0] for text in continua.text.tolist()],
        "rater": [continua.raters[rater] for rater in continua.rater.tolist()],
    }
    return pd.DataFrame(rows).drop_duplicates().assign(dimension=dimension.slug, compared="yes")


def _question(
    dimension: Dimension, marked: MarkedTexts, source: Source, items: Items, quick: bool
) -> HighlightedQuestion:
    continua, has_own = marked.continua, bool(dimension.spans.own_labels)
    places_of = _compared_by(has_own)
    overlap = has_own and labels_overlap(continua)
    # Where they overlap, no character has one label: the texts of the labels are cut one after the other.
    unitizing = unitizing_alpha(continua.labels_apart() if overlap else continua)
    figures = _span_figures(span_agreement(places_of(continua)), quick) + [
        _named("character_alpha", "Character alpha", character_alpha(places_of(continua)), quick),
        _named("u_alpha", "u-alpha: units and labels", unitizing.units_and_labels, quick),
        _named(
            "binary_u_alpha",
            "|u-alpha: highlighted or not",
            unitizing_alpha(continua.without_labels()).marked_or_not if overlap else unitizing.marked_or_not,
            quick,
        ),
        *([] if overlap else [_named("cu_alpha", CU_ALPHA, unitizing.labels_where_both, quick)]),
        *([] if quick else [_gamma(continua)]),
    ]
    outcomes = {name: units_where(continua, chosen) for name, chosen in _outcomes(places_of(continua)).items()}
    labels = dimension.spans.own_labels or dimension.labels
    several = [units for name, units in outcomes.items() if name != "single"]
    with_label = {
        label.value: units_where(continua, _texts_with(continua.only_label(label.value)))
        for label in labels
        if label.value in continua.labels
    }
    order = pd.Series(items.units)

    def places(units: set) -> np.ndarray:
        return order.isin(units).to_numpy()

    items.add_sets(
        dimension.slug,
        dimension.title,
        {name: (OUTCOMES[name].lower(), places(units)) for name, units in outcomes.items()}
        | {"several": ("two people or more looked at it", places(set().union(*several)))},
    )
    titles = {label.value: label.title for label in labels}
    sets = {value: (f"a highlight under {titles[value]}", places(units)) for value, units in with_label.items()}
    items.add_sets(f"{dimension.slug}.label", dimension.title, sets)
    return HighlightedQuestion(
        dimension=dimension.slug,
        title=dimension.title,
        required=dimension.spans.required,
        has_own_labels=has_own,
        labels_overlap=overlap,
        n_texts=continua.n_texts,
        n_spans=continua.n_spans,
        n_answers=marked.n_answers,
        n_marking=marked.n_marking,
        n_unknown=marked.n_unknown,
        n_several=sum(map(len, several)),
        outcomes={name: len(units) for name, units in outcomes.items()},
        figures=figures,
        labels=[
            HighlightedLabel(
                label=value,
                title=titles[value],
                n_units=len(units),
                n_spans=continua.only_label(value).n_spans,
                figures=_of_label(continua.only_label(value), unitizing.each_label.get(value), has_own, quick),
            )
            for value, units in with_label.items()
        ],
        severities=_of_severities(dimension, marked.by_severity, quick),
        fields=[
            MarkedField(
                field=field,
                n_spans=of_field.n_spans,
                figures=_of_part(of_field, has_own, overlap, quick),
            )
            for field, of_field in list(marked.by_field.items())[:MAX_FIELDS]
        ],
        n_fields_not_listed=max(0, len(marked.by_field) - MAX_FIELDS),
        **_pairs(continua, source, has_own, overlap, quick),
    )


def _of_severities(dimension: Dimension, continua: Continua | None, quick: bool) -> list[HighlightedLabel]:
    return [
        HighlightedLabel(
            label=one.value,
            title=one.title,
            n_units=len(units_where(continua, _texts_with(continua.only_label(one.value)))),
            n_spans=continua.only_label(one.value).n_spans,
            figures=_of_label(continua.only_label(one.value), None, True, quick),
        )
        for one in dimension.spans.severities
        if continua is not None and one.value in continua.labels
    ]


def _compared_by(has_own: bool) -> Callable[[Continua], Continua]:
    """What makes two spans the same: their place, or their place and their own label."""
    return Continua.labels_apart if has_own else lambda continua: continua


def _named(name: str, title: str, estimate: Estimate, quick: bool) -> SpanFigure:
    return SpanFigure.extending(to_figure(estimate, quick=quick), name=name, title=title)


def _span_figures(agreement: SpanAgreement, quick: bool) -> list[SpanFigure]:
    """Of all measures from one set of resamples, which costs no more than that of one."""
    intervals = {} if quick else agreement.confidence_intervals(n_resamples=RESAMPLES)
    return [
        SpanFigure.extending(with_interval(getattr(agreement, name), intervals.get(name)), name=name, title=title)
        for name, title in SPAN_MEASURES.items()
    ]


def _of_label(continua: Continua, of_label: Estimate | None, has_own: bool, quick: bool) -> list[SpanFigure]:
    """Figures of the spans of one label. Where it is their own, the label alone is looked for: u-alpha."""
    named = ("ku_alpha", "(k)u-alpha", of_label)
    if has_own:
        named = ("u_alpha", "u-alpha", unitizing_alpha(continua).units_and_labels)
    return [*_span_figures(span_agreement(continua), quick), _named(*named, quick)]


def _of_part(continua: Continua, has_own: bool, overlap: bool, quick: bool) -> list[SpanFigure]:
    """Figures of one text or pair."""
    alpha = unitizing_alpha(continua.labels_apart() if overlap else continua).units_and_labels
    agreement = span_agreement(_compared_by(has_own)(continua))
    return [*_span_figures(agreement, quick), _named("u_alpha", "u-alpha", alpha, quick)]


def _gamma(continua: Continua) -> SpanFigure:
    """Gamma, of a random part where there are many texts."""
    several = np.flatnonzero(continua.n_looked > 1)
    n_all = len(several)
    if n_all > GAMMA_TEXTS:
        several = np.random.default_rng(0).choice(several, GAMMA_TEXTS, replace=False)
        continua = continua.only_entries(np.isin(continua.text, several))
    estimate = gamma(continua, n_draws=GAMMA_DRAWS)
    about = {"name": "gamma", "title": "Gamma", "n_drawn_from": n_all, "n_draws": estimate.n_draws}
    return SpanFigure.extending(to_figure(estimate, quick=False), **about)


def _texts_with(continua: Continua) -> np.ndarray:
    """Whether a text has a span, (n_texts,)."""
    return np.bincount(continua.text[continua.entry], minlength=continua.n_texts) > 0


def _outcomes(continua: Continua) -> dict[str, np.ndarray]:
    """Which texts were marked how, each a bool per text; `single` were looked at by one person only."""
    pairs = shared_spans(continua)

    def per_text(chosen: np.ndarray) -> np.ndarray:
        return np.bincount(pairs.text, weights=chosen, minlength=continua.n_texts) > 0

    entries = np.unique(continua.entry)
    marking = np.bincount(continua.text[entries], minlength=continua.n_texts)
    several = continua.n_looked > 1
    unequal, shared = per_text(pairs.either > pairs.shared), per_text(pairs.shared > 0)
    return {
        "same": several & (marking > 1) & ~unequal,
        "overlap": several & (marking > 1) & unequal & shared,
        "apart": several & (marking > 1) & ~shared,
        "one": several & (marking == 1),
        "none": several & (marking == 0),
        "single": continua.n_looked == 1,
    }


def _pairs(continua: Continua, source: Source, has_own: bool, overlap: bool, quick: bool) -> dict:
    """Every two people who looked at the same texts. Exchangeable slots are nobody, so they form no pairs."""
    names = {who: person.name for who, person in people_of(source).items()}
    both = np.sort(continua.rater[entry_pairs(continua)], axis=1)
    pairs, n_shared = np.unique(both, axis=0, return_counts=True)
    named = []
    for (one, other), n in zip(pairs.tolist(), n_shared.tolist(), strict=True):
        pair = [continua.raters[one], continua.raters[other]]
        if all(rater in names for rater in pair):
            pair.sort(key=lambda rater: (names[rater], rater))
            named.append((-n, [names[rater] for rater in pair], pair))
    # Which pairs are listed must not depend on names, which a release's files do not have.
    listed = sorted(sorted(named, key=lambda row: (row[0], sorted(row[2])))[:MAX_PAIRS])
    rows = []
    for _, (a, b), pair in listed:
        mine = continua.only_raters(pair)
        figures = _of_part(mine, has_own, overlap, quick)
        rows.append(HighlightPair(a=a, b=b, a_id=pair[0], b_id=pair[1], figures=figures))
    return {"pairs": rows, "n_pairs_not_listed": len(named) - len(listed)}
