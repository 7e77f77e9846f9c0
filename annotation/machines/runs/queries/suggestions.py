"""Reads of what checkers said: a run's answers for some units, and a run as a whole in numbers."""

from collections import defaultdict
from collections.abc import Iterable

from django.db.models import Avg, Case, Count, F, FloatField, Max, Min, Value, When
from django.db.models.functions import Floor, Greatest, Least

from annotation.models import CheckerRun, Decision, Judgement, Project, RunFailure, Score, Suggestion
from annotation.task_types import TaskType
from models_runtime.registry import list_infos

HISTOGRAM_BARS = 20


def asked_anyway(project: Project, task_type: TaskType) -> list[str]:
    """Questions that people answered although nobody answered the one that they depend on, as in a file that has
    stances and says nothing of relevance. A checker that left them out where it says no to the other could be compared
    with nobody there."""

    def is_answered(dimension: str) -> bool:
        return (
            Judgement.objects.filter(revision__annotation__item__project=project, dimension=dimension).exists()
            or Decision.objects.filter(project=project, dimension=dimension).exists()
        )

    return [
        dimension.slug
        for dimension in task_type.asked_dimensions
        if dimension.asked_when and is_answered(dimension.slug) and not is_answered(dimension.asked_when.dimension)
    ]


def suggestions_by_unit(run_id: int, unit_ids: Iterable[int]) -> dict[int, list[Suggestion]]:
    """The run's suggestions for each unit that has some."""
    found = defaultdict(list)
    for suggestion in Suggestion.objects.filter(run_id=run_id, unit_id__in=list(unit_ids)).order_by("pk"):
        found[suggestion.unit_id].append(suggestion)
    return dict(found)


def scores_by_unit(run_id: int, unit_ids: Iterable[int]) -> dict[int, dict[str, float | None]]:
    """The run's scores for each unit that has some, by name."""
    found = defaultdict(dict)
    rows = Score.objects.filter(run_id=run_id, unit_id__in=list(unit_ids)).order_by("pk")
    for unit_id, name, value in rows.values_list("unit_id", "name", "value"):
        found[unit_id][name] = value
    return dict(found)


def summary(run: CheckerRun) -> dict:
    """A run in numbers, as its job keeps them once it is done; four queries over all of its rows.

    `labels`: dimension -> label -> units; `scores`: name -> n, undefined, mean, low, high (None where n is 0) and
    `histogram` (low, high and the counts between them, in bars of equal width; None where n is 0); `failures`: rows of
    reason, is_permanent, n; `failed`: units without an answer.
    """
    labels = defaultdict(dict)
    counts = Suggestion.objects.filter(run=run).values_list("dimension", "label").annotate(n=Count("pk"))
    for dimension, label, n in counts.order_by("dimension", "label"):
        labels[dimension][label] = n
    scores = {
        row["name"]: {
            "n": row["n"],
            "undefined": row["rows"] - row["n"],
            "mean": row["mean"],
            "low": row["low"],
            "high": row["high"],
        }
        for row in Score.objects.filter(run=run)
        .values("name")
        .annotate(rows=Count("pk"), n=Count("value"), mean=Avg("value"), low=Min("value"), high=Max("value"))
        .order_by("name")
    }
    for name, histogram in _histograms(run, scores).items():
        scores[name]["histogram"] = histogram
    failures = list(
        RunFailure.objects.filter(run=run)
        .values("reason", "is_permanent")
        .annotate(n=Count("pk"))
        .order_by("-n", "reason")
    )
    return {
        "labels": dict(labels),
        "scores": scores,
        "failures": failures,
        "failed": sum(row["n"] for row in failures),
    }


def _histograms(run: CheckerRun, scores: dict[str, dict]) -> dict[str, dict | None]:
    """How each score's values lie, over its range where that is known and what occurs is all within it."""
    ranges = _ranges(run, scores)
    if not ranges:
        return dict.fromkeys(scores)
    widths = {name: (high - low) / HISTOGRAM_BARS for name, (low, high) in ranges.items()}
    bar = Case(
        *(
            When(name=name, then=Floor((F("value") - Value(low)) / Value(widths[name])))
            if widths[name]
            else When(name=name, then=Value(0.0))
            for name, (low, _) in ranges.items()
        ),
        output_field=FloatField(),
    )
    # The highest value belongs into the last bar, and rounding must not lead out of the first.
    inside = Greatest(Least(bar, Value(HISTOGRAM_BARS - 1.0)), Value(0.0))
    rows = Score.objects.filter(run=run, name__in=list(ranges), value__isnull=False).annotate(bar=inside)
    counts = {name: [0] * (HISTOGRAM_BARS if widths[name] else 1) for name in ranges}
    for name, bar_index, n in rows.values_list("name", "bar").annotate(n=Count("pk")).order_by():
        counts[name][int(bar_index)] += n
    found = {name: {"low": low, "high": high, "counts": counts[name]} for name, (low, high) in ranges.items()}
    return {name: found.get(name) for name in scores}


def _ranges(run: CheckerRun, scores: dict[str, dict]) -> dict[str, tuple[float, float]]:
    info = next((info for info in list_infos() if info.slug == run.checker), None)
    known = {score.name: (score.low, score.high) for score in info.scores} if info else {}
    ranges = {}
    for name, numbers in scores.items():
        if not numbers["n"]:
            continue
        low, high = known.get(name, (None, None))
        if None in (low, high) or not low <= numbers["low"] <= numbers["high"] <= high:
            low, high = numbers["low"], numbers["high"]
        ranges[name] = (float(low), float(high))
    return ranges
