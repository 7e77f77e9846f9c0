"""Which aspects of their questions responses cover, by the majority of people: per response, per model."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.figures.results import number
from analysis.reports.estimates import to_figure
from analysis.reports.labels.aspect_labels import coded_labels, response_frame
from analysis.reports.labels.aspects import TIES, TITLES, covering_dimension, covering_labels
from analysis.reports.labels.judgements import add_judgements, add_names, new_items
from analysis.reports.rates.coverage.report import (
    IN_ANSWERS,
    VERDICT_TITLES,
    AnswerCoverage,
    Coverage,
    MeanCoverage,
)
from analysis.sources.base import Source
from analysis.stats.generation import coverage as statistic

# Beyond so many responses the table lists those that come first; figures are always over all.
MAX_RESPONSES = 5_000
SHOWN_CHARS = 200


def compute(
    source: Source, *, reference: str = "majority", k: int = 1, ties: str = "excluded", quick: bool = False
) -> tuple[Coverage, Items]:
    """The coverage report.

    `reference` is a key of REFERENCES: the majority of people, or decisions. An aspect needs `k` labels before the
    majority counts (decisions are one label each, and need no more); `ties` is a key of TIES. A response with an
    aspect that has too few labels has no coverage. Raises ValueError for wrong values, and for a project that does
    not judge aspects of responses.
    """
    kind = source.type
    dimension = covering_dimension(kind)
    if k < 1:
        raise ValueError(f"k is at least 1, not {k}")
    units = source.unit_frame(kind.unit_kind)
    responses = response_frame(source)
    place = {key: row for row, key in enumerate(responses["response"])}
    label_frame = source.label_frame(units)
    labels = coded_labels(source, dimension, reference, units, label_frame)
    answer = units["response"].map(place).to_numpy(dtype=int)
    covered = statistic.response_coverage(
        labels,
        answer,
        len(responses),
        covering_labels(dimension),
        k if reference == "majority" else 1,
        ties,
    )
    items = new_items(units, decisions="" if reference == "majority" else reference)
    _add_columns(items, units, covered, answer)
    add_judgements(items, kind, label_frame)
    cluster = responses["query"].astype("category").cat.codes.to_numpy()
    models = responses["model"].to_numpy(dtype=object)

    def mean(model: str | None, where: np.ndarray) -> MeanCoverage:
        return MeanCoverage(
            model=model,
            coverage=to_figure(statistic.mean_coverage(covered, where, cluster), quick=quick),
            n_responses=int(where.sum()),
            n_aspects_left=int(covered.n_aspects[where & np.isnan(covered.share)].sum()),
            **_counts(covered, where),
        )

    return Coverage(
        dimension=dimension.slug,
        title=dimension.title,
        covering=[dimension.label(label).title for label in covering_labels(dimension)],
        reference=reference,
        reference_title=TITLES[reference],
        k=k,
        ties=ties,
        ties_title=TIES[ties],
        most_labels=int(covered.n_labels.max(initial=0)),
        n_queries=int(responses["query"].nunique()),
        all=mean(None, np.ones(len(responses), dtype=bool)),
        models=[mean(model, models == model) for model in sorted(set(models.tolist()))],
        **_rows(responses, covered),
    ), items


def _add_columns(items: Items, units: pd.DataFrame, coverage: statistic.ResponseCoverage, answer: np.ndarray) -> None:
    """Aspects in responses by model, answer and verdict, and whether their answer has a coverage."""
    for name, title, column in (("model", "Model", "model"), ("answer", "Answer", "response")):
        add_names(items, name, title, units[column].astype(str))
    items.add("verdict", "Aspect", coverage.verdict, {one: VERDICT_TITLES[one] for one in statistic.VERDICTS})
    items.add("counted", "", np.isnan(coverage.share[answer]).astype(int), IN_ANSWERS)


def _counts(coverage: statistic.ResponseCoverage, where: np.ndarray | int) -> dict:
    """Of some responses, or of one."""
    return {
        "n_aspects": int(coverage.n_aspects[where].sum()),
        "n_votes": int(coverage.n_votes[where].sum()),
        "covered": int(coverage.n_covered[where].sum()),
        "not_covered": int(coverage.n_not_covered[where].sum()),
        "tied": int(coverage.n_tied[where].sum()),
        "undecided": int(coverage.n_undecided[where].sum()),
    }


def _rows(responses: pd.DataFrame, coverage: statistic.ResponseCoverage) -> dict:
    """One row per response, those of one query together."""
    listed = responses.assign(place=range(len(responses)))
    first = listed.groupby("query")["place"].transform("min")
    listed = listed.assign(first=first).sort_values(["first", "model", "place"], kind="stable").head(MAX_RESPONSES)
    return {
        "responses": [
            AnswerCoverage(
                response=row.response,
                query=row.query,
                text=row.text[:SHOWN_CHARS],
                model=row.model,
                setting=row.setting,
                **_counts(coverage, row.place),
                coverage=number(coverage.share[row.place]),
                undefined=coverage.why_undefined(row.place),
            )
            for row in listed.itertuples()
        ],
        "n_responses_not_listed": len(responses) - len(listed),
    }
