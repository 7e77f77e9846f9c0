"""Pictures of the agreement report: the recommended coefficients, alpha of each label, and of each source's units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from analysis.figures.items import DIMENSION, LABEL, Filter
from analysis.figures.pictures import Axis, IntervalRow, Intervals, Level, picture_name
from analysis.figures.results import Figure
from analysis.reports.agreement.agreement.answer import TENTATIVE, recommended, whose
from analysis.reports.agreement.agreement.result import PAIRED, Agreement, QuestionAgreement
from analysis.reports.words.numbers import n_of
from analysis.sources.splits import name_split, split_heading, split_in

NONE = Level(0, "chance level")
LEAST = Level(TENTATIVE, "minimum for tentative conclusions")
DRAWN_SOURCES = 20  # more would fit no page; the table has them


def draw_summary(result: Agreement) -> Intervals | None:
    """The recommended coefficient of every question."""
    kept = [one for one in map(recommended, result.labelled) if one.figure.is_defined]
    if not kept:
        return None
    names = list(dict.fromkeys(one.title for one in kept))
    n = "; ".join(f"{one.question.title} {one.figure.n_pairable:,}" for one in kept)
    return Intervals(
        name=picture_name("agreement"),
        title="Agreement beyond chance",
        caption=_caption(result, kept[0].question, f"Units with a pair of labels: {n}", kept[0].figure),
        alt="; ".join(f"{one.question.title}: {one.title} {one.figure.estimate:.2f}" for one in kept) + ".",
        items=tuple(
            IntervalRow.of_figure(
                one.question.title,
                one.figure,
                Filter({one.question.dimension: PAIRED}),
                series=one.title if len(names) > 1 else "",
            )
            for one in kept
        ),
        values=Axis(names[0] if len(names) == 1 else "Agreement beyond chance", high=1),
        rows_title="Question",
        series_title="Coefficient",
        level=LEAST if all(one.is_alpha for one in kept) else NONE,
    )


def draw_labels(result: Agreement, question: QuestionAgreement) -> Intervals | None:
    """Each label against the rest; None where nobody gave any."""
    rows, slug = question.per_label, question.dimension
    if not any(row.n for row in rows if row.gwet_ac1):
        return None
    n = "; ".join(f"{row.title} {row.n:,}" for row in rows)
    return Intervals(
        name=picture_name("per-label", slug),
        title=f"{question.title}: agreement on each label against the rest",
        caption=_caption(result, question, f"Each label against the rest, labels: {n}", rows[0].alpha),
        alt=_alt(rows, lambda row: row.title, lambda row: row.alpha),
        items=tuple(
            IntervalRow.of_figure(
                row.title,
                figure,
                Filter(judgements=({DIMENSION: slug, LABEL: row.label},)) if row.n else None,
                series=title,
            )
            for row in rows
            for title, figure in (("Krippendorff's alpha", row.alpha), ("Gwet's AC1", row.gwet_ac1))
        ),
        values=Axis("Agreement beyond chance", high=1),
        rows_title="Label",
        series_title="Coefficient",
        level=NONE,
    )


def draw_sources(result: Agreement, question: QuestionAgreement) -> Intervals | None:
    rows, split = question.by_source[:DRAWN_SOURCES], split_in(result.made_from)
    if not rows:
        return None
    left = len(question.by_source) + question.n_sources_not_listed - len(rows)
    most = f"The {len(rows)} with most units of {len(rows) + left:,}. " if left else ""
    n = "; ".join(f"{row.source} {row.alpha_nominal.n_pairable:,}" for row in rows)
    return Intervals(
        name=picture_name("by-source", question.dimension),
        title=f"{question.title}: agreement by {name_split(split)}",
        caption=_caption(result, question, f"{most}Units with a pair of labels: {n}", rows[0].alpha_nominal),
        alt=_alt(rows, lambda row: row.source, lambda row: row.alpha_nominal),
        items=tuple(
            IntervalRow.of_figure(
                row.source,
                figure,
                Filter({"source": row.source, question.dimension: PAIRED}) if figure.n_pairable else None,
                series=level if row.alpha_of_level else "",
            )
            for row in rows
            for level, figure in (("nominal", row.alpha_nominal), (question.level, row.alpha_of_level))
            if figure
        ),
        values=Axis("Krippendorff's alpha", high=1),
        rows_title=split_heading(split),
        series_title="Level",
        level=NONE,
    )


def _caption(result: Agreement, question: QuestionAgreement, what: str, figure: Figure) -> str:
    how = figure.interval
    lines = f" Lines are {100 * how.level:g} % intervals: {how.method}." if how and how.method else ""
    return (
        f"{result.project}: {n_of(question.n_labels, 'labels')} by {whose(result)} "
        f"({n_of(result.n_raters, 'raters')}) of {n_of(result.n_units, 'units')}. {what}.{lines}"
    )


def _alt(rows: Sequence, title: Callable[[Any], str], alpha: Callable[[Any], Figure]) -> str:
    known = [f"{title(row)} {alpha(row).estimate:.2f}" for row in rows if alpha(row).is_defined]
    return f"Krippendorff's alpha: {'; '.join(known) or 'undefined throughout'}."
