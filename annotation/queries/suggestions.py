"""Reads of what checkers said: a run's answers for some units, and a run as a whole in numbers."""

from collections import defaultdict
from collections.abc import Iterable

from django.db.models import Avg, Count, Max, Min

from annotation.models import CheckerRun, RunFailure, Score, Suggestion


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
    """A run in numbers, as its job keeps them once it is done; three queries over all of its rows.

    `labels`: dimension -> label -> units; `scores`: name -> n, undefined, mean, low, high (None where n is 0);
    `failures`: rows of reason, is_permanent, n; `failed`: units without an answer.
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
