"""How answers say whether two groups differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analysis.figures.page import Rule
from analysis.figures.results import Figure
from analysis.reports.words.sentences import no_interval


def difference_rules(
    difference_of: Callable[[Any], Figure],
    describe_groups: Callable[[Any], str],
    what: str = "",
    is_shown: Callable[[Any], bool] | None = None,
) -> tuple[Rule, ...]:
    """The last rules of a table, for a difference that is defined: both groups in words, and whether they differ.
    `is_shown` decides that where there is a test; without one it is whether the interval excludes 0."""
    shown = is_shown or (lambda result: difference_of(result).excludes_zero)
    return (
        Rule(
            "without interval",
            lambda result: difference_of(result).low is None,
            lambda result: f"{describe_groups(result)} ({no_interval(difference_of(result))}).",
        ),
        Rule(
            "difference",
            shown,
            lambda result: f"{describe_groups(result)}: a difference of {difference_of(result).written()}{what}.",
        ),
        Rule(
            "no difference",
            lambda result: True,
            lambda result: (
                f"{describe_groups(result)}; no difference{what} is shown ({difference_of(result).written()})."
            ),
        ),
    )
