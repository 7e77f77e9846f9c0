"""Which units stand behind the figures of the comparison: filters over the columns that `compute` adds."""

from __future__ import annotations

from analysis.figures.items import Filter
from analysis.reports.checkers.comparison.result import ComparedDimension


def compared(slug: str) -> Filter:
    return Filter({f"{slug}.people.has": "label", f"{slug}.checker.has": "label"})


def with_unasked(slug: str) -> Filter:
    answered = ("label", "not-asked")
    return Filter({f"{slug}.people.has": answered, f"{slug}.checker.has": answered})


def of_people(slug: str, has: str) -> Filter:
    return Filter({f"{slug}.people.has": has})


def of_cell(slug: str, people: str, checker: str) -> Filter:
    return Filter({f"{slug}.people": people, f"{slug}.checker": checker})


def said_by_people(slug: str, label: str) -> Filter:
    """With a label of the checker as well."""
    return Filter({f"{slug}.people": label, f"{slug}.checker.has": "label"})


def said_by_checker(slug: str, label: str) -> Filter:
    """With a reference label as well."""
    return Filter({f"{slug}.checker": label, f"{slug}.people.has": "label"})


def apart(slug: str, steps: int) -> Filter:
    """Units on which the checker is so many steps of the scale from people, rounded up."""
    return Filter({f"{slug}.distance": str(steps)})


def of_scale_figure(slug: str, name: str) -> Filter:
    """Units behind a measure on the scale: the verdict's rest on those that it counts, kappa with the reference on
    labels, all others on values of both."""
    if name in ("kappa", "checker_distance", "people_distance", "distance_difference"):
        return Filter({f"{slug}.ruled": "yes"})
    return compared(slug) if name == "linear_kappa" else Filter({f"{slug}.rated": "yes"})


def of_value(slug: str, label: str) -> Filter:
    """Units to which people give this value, or one nearest to it, and the checker any."""
    return Filter({f"{slug}.along": label})


def of_versus(column: str, *who_is_right: str) -> Filter:
    """Units that people and two runs label, and that these runs have right; by default any."""
    return Filter({column: who_is_right or ("both", "run", "other", "neither")})


def against_reference(slug: str, who: str) -> Filter:
    return Filter({f"{slug}.right.{who}": ("same", "other")})


def by_two(dimension: ComparedDimension, *two: str) -> Filter:
    """Units that both of two labellers label."""
    labels = tuple(label.label for label in dimension.labels)
    return Filter({f"{dimension.dimension}.by.{who}": labels for who in two})


def reaching(slug: str, label: str, thresholds: list[float], least: float) -> Filter:
    """Units whose probability of the label reaches a threshold."""
    names = tuple(f"{threshold:g}" for threshold in thresholds if threshold >= least)
    return Filter({f"{slug}.probability.{label}": names})
