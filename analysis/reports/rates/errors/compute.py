"""Errors in segments and the scores that follow from them: of each system, by severity and by category."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.figures.results import Figure
from analysis.reports.estimates import RESAMPLES, cluster_codes, plain_figure
from analysis.reports.labels.judgements import add_judgements, add_names, new_items
from analysis.reports.rates.errors.report import ErrorKind, Errors, Rating, SystemErrors, graded_dimension
from analysis.sources.base import Source
from analysis.stats import grouped_means
from annotation.task_types import SpanRule, TaskType
from annotation.task_types.base import CANNOT_JUDGE

NO_ANSWER = "no segment has an answer"
DOCUMENT = "doc"  # what the metadata of a segment's question call its document


def compute(source: Source, *, quick: bool = False) -> tuple[Errors, Items]:
    """The report on errors. Segments without an answer are left out; one with several has the mean of its raters."""
    kind = source.asked
    dimension = graded_dimension(kind)
    rule = dimension.spans
    units = source.unit_frame(kind.unit_kind)
    labels = source.label_frame(units)
    answers = labels[labels["dimension"] == dimension.slug]
    spans = source.span_frame(units)
    spans = spans[spans["dimension"] == dimension.slug]
    counts, names = _counts(rule, answers, spans)
    scored = units[units["unit"].isin(counts.index)].reset_index(drop=True)
    systems, figures, n_documents = _by_system(source, scored, counts.reindex(scored["unit"]).to_numpy(), quick)
    items = new_items(units)
    is_answered = units["unit"].isin(counts.index).to_numpy()
    items.add_flag("answered", "Segments with an answer", is_answered)
    add_names(items, "system", "System", units["model"].astype(str).where(is_answered))
    add_judgements(items, kind, labels)
    first = 2  # columns before those of severities and categories

    def kinds_of(known: Sequence, begin: int) -> list[ErrorKind]:
        return [
            ErrorKind(system=system, value=one.value, title=one.title, each=row[begin + place])
            for system, row in zip([None, *systems], figures, strict=True)
            for place, one in enumerate(known)
        ]

    return Errors(
        dimension=dimension.slug,
        title=dimension.title,
        formula=rule.formula,
        clusters="document" if n_documents > 1 else "source text",
        n_documents=n_documents,
        n_answers=len(answers),
        n_errors=len(spans),
        n_without=len(units) - len(scored),
        all=SystemErrors(system=None, score=figures[0][0], errors=figures[0][1]),
        systems=[
            SystemErrors(system=system, score=row[0], errors=row[1])
            for system, row in zip(systems, figures[1:], strict=True)
        ],
        severities=kinds_of(rule.severities, first),
        categories=kinds_of(rule.own_labels, first + len(rule.severities)),
        ratings=_ratings(source, kind, units, labels, quick),
    ), items


def _ratings(source: Source, kind: TaskType, units: pd.DataFrame, labels: pd.DataFrame, quick: bool) -> list[Rating]:
    """Of each question that is answered by a number."""
    rows = []
    for dimension in kind.asked_dimensions:
        if not dimension.takes_number:
            continue
        answers = labels[(labels["dimension"] == dimension.slug) & (labels["label"] != CANNOT_JUDGE)]
        means = answers["label"].astype(float).groupby(answers["unit"]).mean()
        rated = units[units["unit"].isin(means.index)].reset_index(drop=True)
        systems, figures, _ = _by_system(source, rated, means.reindex(rated["unit"]).to_numpy()[:, None], quick)
        named = zip([None, *systems] if len(systems) > 1 else [None], figures, strict=False)
        rows += [Rating(question=dimension.title, system=system, mean=mean) for system, [mean] in named]
    return rows


def _by_system(
    source: Source, units: pd.DataFrame, values: np.ndarray, quick: bool
) -> tuple[list[str], list[list[Figure]], int]:
    """The systems of the units, the means of each column over all units and over each system's, and from how many
    documents the units are."""
    models = units["model"].astype(str).to_numpy(dtype=object)
    systems = sorted(set(models.tolist()))
    groups = np.column_stack([np.ones(len(units), dtype=bool), *(models == one for one in systems)])
    cluster, n_documents = _clusters(source, units)
    return systems, _figures(values, groups, cluster, quick), n_documents


def _counts(rule: SpanRule, answers: pd.DataFrame, spans: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """By unit the mean over its raters of the score, the number of errors, and that of each severity and category."""
    names = ["score", "errors"]
    names += [f"severity {one.value}" for one in rule.severities] + [f"label {one.value}" for one in rule.own_labels]
    weight = [-rule.weight_of(*row) for row in zip(spans["own_label"], spans["severity"], strict=True)]
    table = spans[["unit", "rater"]].assign(score=np.asarray(weight, dtype=float), errors=1.0)
    for part, column, known in (("severity", "severity", rule.severities), ("label", "own_label", rule.own_labels)):
        for one in known:
            table[f"{part} {one.value}"] = (spans[column] == one.value).to_numpy(dtype=float)
    each = table.groupby(["unit", "rater"])[names].sum()
    asked = pd.MultiIndex.from_frame(answers[["unit", "rater"]].drop_duplicates())
    return each.reindex(asked, fill_value=0.0).groupby("unit").mean(), names


def _clusters(source: Source, units: pd.DataFrame) -> tuple[np.ndarray, int]:
    """What is drawn together: the segments of a document, or of a source text where no two documents are known; and the
    number of documents."""
    documents = source.content_metadata("question", DOCUMENT)
    named = units["question"].map(documents)
    n_documents = int(named.nunique())
    if n_documents < 2:
        return cluster_codes(units), n_documents
    return pd.factorize(named.fillna(units["cluster"]).astype(str))[0], n_documents


def _figures(values: np.ndarray, groups: np.ndarray, cluster: np.ndarray, quick: bool) -> list[list[Figure]]:
    """A row for all systems and for each; every mean from one set of resamples."""
    if not len(values):
        return [[plain_figure(np.nan, NO_ANSWER, 0, None)] * values.shape[1]] * groups.shape[1]
    means = grouped_means(values, groups, cluster)
    intervals = None if quick else means.confidence_intervals(n_resamples=RESAMPLES)
    return [
        [
            plain_figure(mean, "" if n else NO_ANSWER, int(n), intervals[row][column] if intervals else None)
            for column, (mean, n) in enumerate(zip(means.mean[row], means.n[row], strict=True))
        ]
        for row in range(groups.shape[1])
    ]
