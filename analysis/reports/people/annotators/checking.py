"""Checks passed by each person, and Krippendorff's alpha with and without those who failed them."""

from __future__ import annotations

import pandas as pd

from analysis.figures.results import Ends, Figure, number
from analysis.reports.estimates import coded_labels, ends, to_figure
from analysis.reports.labels.raters import NamedRater
from analysis.reports.people.annotators.checks import ANY, USUAL, AgreementBothWays, Checks, RaterChecks
from analysis.stats import krippendorff_alpha, wilson_interval
from annotation.task_types import Dimension


def checks_of(
    passed: pd.DataFrame,
    bar: str,
    labels: pd.DataFrame,
    units: pd.DataFrame,
    dimensions: list[Dimension],
    people: dict[str, NamedRater],
    *,
    quick: bool,
) -> Checks | None:
    """`passed` are the source's checks by rater, `bar` a key of PASSED, `labels` everybody's latest labels. None where
    nobody had checks."""
    rows = [
        _person(people[who], n, n_passed, quick)
        for who, n, n_passed in passed.itertuples(index=False, name=None)
        if who in people
    ]
    if not rows:
        return None
    rows.sort(key=lambda one: (one.share.estimate, one.id))
    checks = Checks(least=USUAL if bar == ANY else int(bar), people=rows, agreement=[])
    failed = {row.id for row in checks.failed}
    if not failed:
        return checks
    rest = labels[~labels["rater"].isin(failed)]
    agreement = [
        AgreementBothWays(
            title=dimension.title,
            everybody=_alpha(dimension, labels, units, quick),
            passed=_alpha(dimension, rest, units, quick),
        )
        for dimension in dimensions
    ]
    return Checks(least=checks.least, people=rows, agreement=agreement)


def _alpha(dimension: Dimension, labels: pd.DataFrame, units: pd.DataFrame, quick: bool) -> Figure:
    coded = coded_labels(labels[labels["dimension"] == dimension.slug], units, dimension.values)
    return to_figure(krippendorff_alpha(coded, dimension.level), quick=quick)


def _person(who: NamedRater, n: int, n_passed: int, quick: bool) -> RaterChecks:
    of_share = ends(None)
    if not quick:
        interval = wilson_interval(n_passed, n)
        how = Ends(method=interval.method, level=interval.level, undefined="")
        of_share = {"low": number(interval.low), "high": number(interval.high), "interval": how}
    share = Figure(estimate=n_passed / n, undefined="", **of_share)
    return RaterChecks(id=who.id, name=who.name, n=n, n_passed=n_passed, share=share)
