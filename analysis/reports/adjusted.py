"""Several tests on one page: p values beside what they are worth when all of them are looked at."""

from __future__ import annotations

from collections.abc import Sequence


def adjust_by_kind(tests: Sequence[dict]) -> int:
    """Adjust each kind of test (McNemar, Williams of Spearman, ...) as a family of its own: two kinds of test of one
    hypothesis are not two hypotheses. Returns how many tests the largest family has."""
    kinds: dict[tuple[str, str], list[dict]] = {}
    for test in tests:
        kinds.setdefault((test["name"], test.get("of", "")), []).append(test)
    return max((_adjust(family) for family in kinds.values()), default=0)


def _adjust(tests: Sequence[dict]) -> int:
    """Put Holm's and Benjamini and Hochberg's adjusted p values into these tests, which are one family.

    Each has a `p_value`, None where it is undefined; such a test is not counted. Returns how many are.
    """
    import numpy as np

    from analysis.reports.figures import number
    from analysis.stats import benjamini_hochberg, holm

    raw = np.array([np.nan if test["p_value"] is None else test["p_value"] for test in tests])
    for test, by_holm, by_bh in zip(tests, holm(raw).tolist(), benjamini_hochberg(raw).tolist(), strict=True):
        test |= {"holm": number(by_holm), "benjamini_hochberg": number(by_bh)}
    return int((~np.isnan(raw)).sum())
