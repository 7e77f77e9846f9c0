"""The verdict on a labeller on a scale as a sentence, the same in the command and on pages."""

from __future__ import annotations

import math

from analysis.stats.scale.errors import ScaleError
from analysis.stats.scale.standing import (
    AS_CLOSE,
    CLOSER,
    FARTHER,
    NOT_USABLE,
    UNDECIDED,
    USABLE,
    ScaleStanding,
)


def number(value: float, digits: int = 3) -> str:
    return "undefined" if math.isnan(value) else f"{value:.{digits}f}"


def with_ends(value: float, low: float, high: float, reason: str = "") -> str:
    ends = f" [{number(low)}, {number(high)}]" if not math.isnan(low) else f" ({reason})" if reason else ""
    return number(value) + ends


def kappa_words(standing: ScaleStanding) -> str:
    return with_ends(standing.kappa.estimate, standing.kappa_low, standing.kappa_high, standing.kappa_undefined)


def scale_sentences(name: str, scale: str, standing: ScaleStanding, error: ScaleError, what: str = "row") -> str:
    """The verdict on the scale, such as 1 to 5, and whether the labeller is above or below people. `what` has one value
    of each."""
    if not standing.n:
        needed = "a person" if standing.gap is None else "two people"
        return f"{name}: no {what} has a value of it and of {needed}, so there is no verdict."
    why = _of_one_person(standing) if standing.gap is None else _of_several(standing)
    if standing.verdict == UNDECIDED and not math.isnan(standing.kappa_low):
        why += _more(standing, what)
    return f"{name} is {standing.verdict} on the scale {scale}: {why}. {bias_words(error)}"


def _of_one_person(standing: ScaleStanding) -> str:
    kappa, floor = f"its weighted kappa with people, {kappa_words(standing)},", f"{standing.bound:g}"
    if math.isnan(standing.kappa_low):
        return f"its weighted kappa with people is {kappa_words(standing)}"
    if standing.verdict != UNDECIDED:
        return f"{kappa} lies {'above' if standing.verdict == USABLE else 'below'} {floor}"
    return f"the interval of {kappa} contains {floor}"


def _of_several(standing: ScaleStanding) -> str:
    if standing.kappa_undefined and not standing.kappa.undefined:
        return f"{standing.kappa_undefined} (weighted kappa {number(standing.kappa.estimate)})"
    if not standing.is_above_chance:
        return f"it is not shown to agree with people beyond chance (weighted kappa {kappa_words(standing)})"
    gap, margin = standing.gap, f"the margin of {standing.margin:g}"
    figures = (
        f"mean distance {with_ends(gap.labeller, *gap.labeller_ends)} against "
        f"{with_ends(gap.people, *gap.people_ends)}, "
        f"difference {with_ends(gap.estimate, gap.low, gap.high, gap.undefined)}"
    )
    words = {
        CLOSER: "it is closer to a person than people are to each other",
        AS_CLOSE: f"it is as close to a person as people are to each other, within {margin}",
        FARTHER: "it is farther from a person than people are from each other, "
        + {USABLE: f"by less than {margin}", NOT_USABLE: f"by more than {margin}"}.get(
            standing.verdict, f"and whether by more than {margin} cannot be said"
        ),
    }.get(standing.closeness, "whether it is as close to a person as people are to each other cannot be said")
    return f"{words} ({figures})"


def _more(standing: ScaleStanding, what: str) -> str:
    if standing.n_more is None:
        return "; it is too near the bound for any number of rows to decide soon"
    where = "" if standing.n_clusters is None else ", in other clusters,"
    return f"; about {standing.n_more:,} more labelled {what}{'' if standing.n_more == 1 else 's'}{where} would decide"


def bias_words(error: ScaleError) -> str:
    """Whether the mean error differs from 0."""
    figure = with_ends(error.mean, error.low, error.high, error.undefined)
    if error.low > 0 or error.high < 0:
        return f"Its values are {'above' if error.low > 0 else 'below'} people's on average (mean error {figure})."
    return f"No bias is shown (mean error {figure})."


def at_the_ends(who: str) -> str:
    return (
        f"At the ends of the scale errors can go one way only, so even a {who} without bias is above people at the "
        "lowest value and below them at the highest."
    )


def scale_rule(
    standing: ScaleStanding, floor: str = "", margin: str = "", who: str = "judge", what: str = "row"
) -> str:
    """The rule; `floor` and `margin` name the options that choose the bounds, where there are any."""
    floor = f" ({floor})" if floor else ""
    if standing.gap is None:
        return (
            f"Rule: usable where the 95 % interval of weighted kappa (quadratic weights) lies above {standing.bound:g}"
            f"{floor}, not usable where it lies below. The interval allows for one more {what} that differs "
            "by the whole scale."
        )
    step = "" if standing.step == 1 else f"a step is {standing.step:g}"
    more = f" ({noted})" if (noted := "; ".join(filter(None, (margin, step)))) else ""
    people = "other people too" if standing.gap.is_of_people else "these people, not others"
    return (
        f"Rule: the {who} and the other people are compared with the same person on the same {what}s. Usable where "
        "the 95 % interval of the difference of their mean distances lies below "
        f"{standing.bound:g} step{'' if standing.bound == 1 else 's'}{more}, not usable where it lies above, and only "
        f"if weighted kappa is above 0. The interval is about {people}."
    )
