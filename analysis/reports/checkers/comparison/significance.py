"""Tests as results hold them: of one difference or correlation, of equivalence, and adjusted for how many there are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.figures.results import number
from analysis.reports.checkers.comparison.result import ALPHA, OF_MODELS, WITHIN, Equivalent, Significance
from analysis.reports.estimates import RESAMPLES
from analysis.stats import Estimate, PairedTest, benjamini_hochberg, equivalence, holm


def significance(test: PairedTest, **more: str) -> Significance:
    return Significance.taking(test, n_permutations=test.n_permutations or None, **more)


def equivalent(difference: Estimate, margin: float, n_resamples: int = RESAMPLES) -> Equivalent:
    """Whether the difference is shown to be smaller than `margin`, at level ALPHA."""
    test = equivalence(difference, margin, ALPHA, n_resamples)
    return Equivalent(
        margin=test.margin,
        alpha=ALPHA,
        low=number(test.interval.low),
        high=number(test.interval.high),
        equivalent=test.equivalent,
        undefined=difference.undefined or test.interval.undefined,
    )


def adjust(rows: Sequence[dict]) -> dict[str, int]:
    """Adjust tests of one kind for all of that kind, over every dimension and checker; how many those are.

    `found` has the parts of every dimension (`ComparedDimension`) by name, None for what there is none of.
    """
    associated = [one["associations"] for one in rows if one["associations"]]
    levels = [row.test for one in associated for row in one.levels if row.test]
    families = {
        "versus": [test for one in rows if one["versus"] for test in one["versus"].tests],
        "several": [test for one in rows if one["several"] for test in one["several"].tests],
        "rivals": [test for one in rows for other in one["rivals"] or () for test in other.tests],
        "people": [row.test for one in rows if one["labellers"] for row in one["labellers"].with_people],
        "baseline": [one["baseline"].test for one in rows if one["baseline"]],
        "scores": [test for one in rows for row in one["scores"] or () for test in row.tests],
        "associations": [test for one in associated for test in one.tests],
        "within": [test for test in levels if test.name == WITHIN],
        "systems": [test for test in levels if test.name == OF_MODELS],
    }
    return {name: _adjust_by_kind(tests) for name, tests in families.items()}


def _adjust_by_kind(tests: Sequence[Significance]) -> int:
    """Adjust each kind of test (McNemar, Williams of Spearman, ...) as a family of its own: two kinds of test of one
    hypothesis are not two hypotheses. Returns how many tests the largest family has; undefined ones do not count."""
    kinds: dict[tuple, list[Significance]] = {}
    for test in tests:
        kinds.setdefault((test.name, test.of), []).append(test)
    for family in kinds.values():
        raw = np.array([np.nan if test.p_value is None else test.p_value for test in family])
        for test, by_holm, by_bh in zip(family, holm(raw).tolist(), benjamini_hochberg(raw).tolist(), strict=True):
            test.holm, test.benjamini_hochberg = number(by_holm), number(by_bh)
    return max((sum(test.p_value is not None for test in family) for family in kinds.values()), default=0)
