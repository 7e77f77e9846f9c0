"""Pictures of leakage: shares of matched generations, and measures of retrievals by group of claims."""

from __future__ import annotations

from analysis.figures.items import Filter
from analysis.figures.pictures import Axis, IntervalRow, Intervals
from analysis.papers.leakage.result import Leakage
from analysis.papers.leakage.tables import GROUPS, claims_filter, measure_title, measured_families
from analysis.reports.words.captions import counted, values_of


def proportions_picture(result: Leakage) -> Intervals | None:
    items = tuple(
        IntervalRow.of_figure(
            row.title,
            row.sides[side].share,
            Filter({"generator": str(place), f"generation.{side}": "matched"}) if row.sides[side].matched else None,
            series=side,
        )
        for place, row in enumerate(result.generators)
        for side in result.sides
    )
    if all(item.value is None for item in items):
        return None
    return Intervals(
        name="leakage-matched",
        title="Share of generations that contain gold evidence",
        caption=(
            f"Generations in {result.project}, {counted(items, 'generations')}. Means over repetitions; 95 % bootstrap "
            "intervals over claims."
        ),
        alt=values_of(items),
        items=items,
        values=Axis("Share matched", 0.0, 1.0),
        rows_title="Generator",
        series_title="According to",
    )


def measure_picture(result: Leakage, measure: str) -> Intervals | None:
    items = tuple(
        IntervalRow.of_figure(
            family.title,
            means,
            claims_filter(place, measure, group) if means.n_claims else None,
            series=words,
            n=means.n_claims,
        )
        for place, family, measured in measured_families(result, measure)
        for group, words in GROUPS.items()
        for means in (getattr(measured.groups, group),)
    )
    if all(item.value is None for item in items):
        return None
    title = measure_title(result, measure)
    return Intervals(
        name=f"leakage-{measure.replace('@', '-')}",
        title=f"{title} of matched and unmatched claims",
        caption=(
            f"{title} in {result.project}, for all claims and for those whose generations do and do not contain gold "
            f"evidence according to {result.by_title}, {counted(items, 'claims')}. Means over repetitions; 95 % "
            "bootstrap intervals over claims."
        ),
        alt=values_of(items),
        items=items,
        values=Axis(title),
        rows_title="Retrieval",
        series_title="Claims",
    )
