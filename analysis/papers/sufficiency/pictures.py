"""Pictures of sufficient context: autoraters, shares of outcomes, and accuracy against coverage."""

from __future__ import annotations

from analysis.figures.pictures import Axis, IntervalRow, Intervals, Lines, Series
from analysis.papers.sufficiency.choices import GROUPS
from analysis.papers.sufficiency.tables import MEASURES, RATED_BY, Sufficiency, answers_filter
from analysis.reports.words.captions import counted, values_of

MOST_LINES = 8
OUTCOME_WORDS = {"correct": "correct answers", "abstain": "abstentions", "hallucinate": "hallucinated answers"}


def autoraters_picture(result: Sufficiency) -> Intervals | None:
    items = tuple(
        IntervalRow.of_figure(row.name, getattr(row, name), row.rated(*RATED_BY[name]), series=MEASURES[name])
        for row in {row.name: row for row in result.autoraters}.values()
        for name in ("f1", "accuracy")
    )
    if all(item.value is None for item in items):
        return None
    return Intervals(
        name="sufficiency-autoraters",
        title="Autoraters of sufficient context against people",
        caption=(
            f"F1 of sufficient context, and accuracy, on the questions of {result.project} that people labelled too "
            f"({result.reference_title.lower()}), {counted(items, 'questions')}. 95 % bootstrap intervals over "
            "questions."
        ),
        alt=f"F1 and accuracy by autorater. {values_of(items)}.",
        items=items,
        values=Axis("Value", 0.0, 1.0),
        rows_title="Autorater",
        series_title="Measure",
    )


def share_pictures(result: Sufficiency) -> list[Intervals]:
    drawn = (_share_picture(result, outcome, words) for outcome, words in OUTCOME_WORDS.items())
    return [picture for picture in drawn if picture is not None]


def _share_picture(result: Sufficiency, outcome: str, words: str) -> Intervals | None:
    items = tuple(
        IntervalRow.of_figure(
            row.title,
            share,
            answers_filter(result, row.title, outcome, group) if share.n else None,
            series=f"{group} context",
        )
        for row in result.systems
        for group in GROUPS
        for share in (getattr(getattr(row.groups, group), outcome),)
    )
    if all(item.value is None for item in items):
        return None
    return Intervals(
        name=f"sufficiency-{outcome}",
        title=f"Share of {words}, by sufficiency of the context",
        caption=(
            f"Answers of {result.grades} to the questions of {result.project}, graded by {result.judge}, by whether "
            f"the context suffices according to {result.by_title}, {counted(items, 'answers')}. 95 % bootstrap "
            "intervals over questions."
        ),
        alt=f"Share of {words} by model and sufficiency. {values_of(items)}.",
        items=items,
        values=Axis("Share of answers", 0.0, 1.0),
        rows_title="Model",
        series_title="Context",
        style="bars",
    )


def curve_picture(result: Sufficiency) -> Lines | None:
    drawn = [row for row in result.curves if row.line][:MOST_LINES]
    # With a single system "all" is the same line again.
    drawn = drawn[1:] if len(drawn) == 2 else drawn
    if not drawn:
        return None
    n = "; ".join(f"{row.title} {row.overall.n_pairable:,}" for row in drawn)
    means = "; ".join(
        f"{row.title}: {row.overall.estimate:.3f} of all answers, {row.area.estimate:.3f} on average" for row in drawn
    )
    return Lines(
        name="sufficiency-accuracy-coverage",
        title="Accuracy of the answers that are given, by how many are given",
        caption=(
            f"Answers of {result.grades} to the questions of {result.project}, graded by {result.judge} (n: {n}), "
            f"given where {result.score_title} is at least a threshold. Coverage is of all questions; models that "
            "abstain do not reach 1."
        ),
        alt=f"Accuracy against coverage. {means}.",
        series=tuple(Series(row.title, tuple(row.line)) for row in drawn),
        x=Axis("Coverage", 0.0, 1.0),
        y=Axis("Accuracy of answers given", 0.0, 1.0),
        series_title="Model",
    )
