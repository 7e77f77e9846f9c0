"""Tables of correlations on the comparison: tested against chance, and at segment and system level."""

from __future__ import annotations

from analysis.reports.people_tables import estimate, intervals
from analysis.reports.run_tables import TEST_COLUMNS, adjusted
from analysis.reports.tabular import Table


def associations(result: dict, title: str, found: dict) -> list[Table]:
    tables = [_tests(result, title, found["tests"])] if found["tests"] else []
    if found["levels"]:
        tables.append(
            Table(
                f"{title}: segment and system level, {result['score']}",
                ("Level", "Over", "Coefficient", "Interval draws", "n", *intervals("Value"), "p (permutation)"),
                [
                    (row["level"], row["over"], row["coefficient"], row["drawn"], row["n_pairable"])
                    + (*estimate(row), row["p_value"])
                    for row in found["levels"]
                ],
                "Of the score with the label's place on its scale. Segment level: over units. System level: over the "
                "models' means; p permutes these.",
            )
        )
    return tables


def _tests(result: dict, title: str, tests: list[dict]) -> Table:
    fixed = tests[0]["n_fixed"]
    stay = f" {fixed:,} units are in clusters that no other equals in size, and stay." if fixed else ""
    return Table(
        f"{title}: could the correlations with {result['score']} be chance?",
        ("Coefficient", "n", "Value", *TEST_COLUMNS, "Permutations"),
        [
            (test["title"], test["n_items"], test["statistic"], *adjusted(test), test["n_permutations"])
            for test in tests
        ],
        f"Two-sided; {tests[0]['null']}.{stay} Adjusted for all {result['families']['associations']} correlations of "
        "this page.",
    )
