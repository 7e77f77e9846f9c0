"""How answers say whether two groups differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analysis.figures.page import Rule
from analysis.figures.results import Figure
from analysis.reports.words.sentences import no_interval


def difference_rules(
    difference_of: Callable[[Any], Figure], describe_groups: Callable[[Any], str], what: str = ""
) -> tuple[Rule, ...]:
    """The last rules of a table, for a difference that is defined: both groups in words, and whether they differ."""
    return (
        Rule(
            "without interval",
            lambda result: difference_of(result).low is None,
            lambda result: f"{describe_groups(result)} ({no_interval(difference_of(result))}).",
        ),
        Rule(
            "difference",
            lambda result: difference_of(result).excludes_zero,
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
