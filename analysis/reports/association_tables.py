"""Tables of correlations on the comparison: tested against chance, and at segment and system level."""

from __future__ import annotations

from analysis.reports.associations import OF_MODELS, PARTIAL, WITHIN
from analysis.reports.intervals import estimate, intervals
from analysis.reports.numbers import either, n_of
from analysis.reports.run_tables import TEST_COLUMNS, adjusted
from analysis.reports.tabular import Cell, Table, linked
from analysis.sources.splits import in_words, split_in


def associations(result: dict, title: str, found: dict) -> list[Table]:
    tables = [_tests(result, title, found)] if found["tests"] else []
    if found["levels"]:
        tables.append(_levels(result, title, found))
    return tables


def _opening(n: int, found: dict) -> Cell:
    """A count of units with a label and a score opens them; models, and units of some strata alone, it does not."""
    return linked(n, found["figure"]) if n == found["n_scored"] else n


def _levels(result: dict, title: str, found: dict) -> Table:
    levels = found["levels"]
    return Table(
        f"{title}: segment and system level, {result['score']}",
        ("Level", "Over", "Coefficient", "Interval draws", "n", *intervals("Value"), *TEST_COLUMNS, "Permutations"),
        [
            (
                row["level"],
                over_in_words(result, row),
                row["coefficient"],
                row["drawn"],
                _opening(row["n_pairable"], found) if row["level"] == "segment" else row["n_pairable"],
                *estimate(row),
            )
            + ((*adjusted(row["test"]), row["test"]["n_permutations"]) if row["test"] else (None,) * 4)
            for row in levels
        ],
        " ".join(
            [
                "Of the score with the label's place on its scale. Segment level: over units. System level: over the "
                "models' means.",
                *_about_tests(result, levels),
            ]
        ),
    )


def _about_tests(result: dict, levels: list[dict]) -> list[str]:
    """What was permuted, and what p values are adjusted for."""
    notes, families = [], result["families"]
    within = [row for row in levels if row["test"] and row["test"]["name"] == WITHIN]
    if within:
        notes.append(f"p within strata: two-sided; {within[0]['test']['null']}.")
    # The same units stay whichever coefficient is tested.
    stay = {over_in_words(result, row).removesuffix(PARTIAL): row["test"]["n_fixed"] for row in within}
    notes += [
        f"{n_of(n, 'units')} {either(n, 'is', 'are')} in clusters that no other equals in size {over}, and "
        f"{either(n, 'stays', 'stay')}."
        for over, n in stay.items()
        if n
    ]
    if any(row["test"] and row["test"]["name"] == OF_MODELS for row in levels):
        notes.append("p at system level permutes the models' means.")
    counts = [(families["within"], "within strata"), (families["systems"], "at system level")]
    for_all = [f"all {n_of(n, 'tests')} {of}" for n, of in counts if n > 1]
    return [*notes, f"Adjusted for {' and for '.join(for_all)} of this page."] if for_all else notes


def over_in_words(result: dict, row: dict) -> str:
    """Sources are called by what they are split by."""
    split = split_in(result.get("made_from", {}))
    return row["over"].replace("sources", f"groups by {in_words(split)}") if split else row["over"]


def _tests(result: dict, title: str, found: dict) -> Table:
    tests = found["tests"]
    fixed = tests[0]["n_fixed"]
    stay = ""
    if fixed:
        said = (either(fixed, "is", "are"), either(fixed, "stays", "stay"))
        stay = f" {n_of(fixed, 'units')} {said[0]} in clusters that no other equals in size, and {said[1]}."
    return Table(
        f"{title}: could the correlations with {result['score']} be chance?",
        ("Coefficient", "n", "Value", *TEST_COLUMNS, "Permutations"),
        [
            (
                test["title"],
                _opening(test["n_items"], found),
                test["statistic"],
                *adjusted(test),
                test["n_permutations"],
            )
            for test in tests
        ],
        f"Two-sided; {tests[0]['null']}.{stay} Adjusted for all "
        f"{n_of(result['families']['associations'], 'correlations')} of this page.",
    )
