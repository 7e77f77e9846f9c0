"""Tables of correlations on the comparison: tested against chance, at segment and system level, and of two scores."""

from __future__ import annotations

from analysis.figures.items import Filter
from analysis.figures.tables import Column, Table
from analysis.reports.checkers.comparison.methods import over_in_words
from analysis.reports.checkers.comparison.result import (
    OF_ITEMS,
    OF_MODELS,
    PARTIAL,
    WITHIN,
    Associations,
    ComparedDimension,
    Comparison,
    CorrelationLevel,
)
from analysis.reports.checkers.comparison.tables import (
    about_equivalence,
    about_family,
    equivalence_columns,
    test_columns,
)
from analysis.reports.common import PEOPLE_AS
from analysis.reports.words.numbers import either, n_of
from analysis.reports.words.sentences import sentences

SCORE_TESTS_SUPPOSE = (
    "The permutation test swaps both scores for whole claims or questions. Williams's t and Steiger's Z treat units as "
    "independent, and find too much where a score errs alike on the units of a claim or question."
)


def associations(result: Comparison, dimension: ComparedDimension) -> list[Table]:
    correlations = dimension.associations
    return [_tests(result, dimension, correlations), _levels(result, dimension, correlations)] if correlations else []


def _opening(dimension: ComparedDimension, correlations: Associations, n: int) -> Filter | None:
    """A count of units with a label and a score opens them; models, and units of some strata alone, it does not."""
    return Filter({f"{dimension.dimension}.score": "yes"}) if n == correlations.n_scored else None


def _levels(result: Comparison, dimension: ComparedDimension, correlations: Associations) -> Table:
    return Table(
        f"{dimension.title}: segment and system level, {result.score}",
        [
            Column("Level", "level"),
            Column("Over", lambda row: over_in_words(result, row)),
            Column("Coefficient", "coefficient"),
            Column("Interval draws", "drawn"),
            Column(
                "n",
                "n_pairable",
                items=lambda row: _opening(dimension, correlations, row.n_pairable) if row.level == "segment" else None,
            ),
            Column("Value", lambda row: row, interval=True),
            *test_columns(lambda row: row.test),
        ],
        correlations.levels,
        sentences(
            f"Of the score with {PEOPLE_AS[dimension.rated_by]}. Segment level: over units. System level: over the "
            "models' means.",
            f"The {OF_ITEMS} is of the correlation over what models made of each; it is also called summary level, or "
            "segment level grouped by item."
            if any(row.over == OF_ITEMS for row in correlations.levels)
            else "",
            *_about_tests(result, correlations.levels),
        ),
    )


def _about_tests(result: Comparison, levels: list[CorrelationLevel]) -> list[str]:
    """What was permuted, and what p values are adjusted for."""
    notes, families = [], result.families
    within = [row for row in levels if row.test and row.test.name == WITHIN]
    if within:
        notes.append(f"p within strata: two-sided; {within[0].test.null}.")
    # The same units stay whichever coefficient is tested.
    stay = {over_in_words(result, row).removesuffix(PARTIAL): row.test.n_fixed for row in within}
    notes += [_that_stay(n, f" {over}") for over, n in stay.items() if n]
    if any(row.test and row.test.name == OF_MODELS for row in levels):
        notes.append("p at system level permutes the models' means.")
    counts = [(families["within"], "within strata"), (families["systems"], "at system level")]
    for_all = [f"all {n_of(n, 'tests')} {of}" for n, of in counts if n > 1]
    return [*notes, f"Adjusted for {' and for '.join(for_all)} of this page."] if for_all else notes


def _that_stay(n: int, over: str = "") -> str:
    return (
        f"{n_of(n, 'units')} {either(n, 'is', 'are')} in clusters that no other equals in size{over}, and "
        f"{either(n, 'stays', 'stay')}."
    )


def _tests(result: Comparison, dimension: ComparedDimension, correlations: Associations) -> Table:
    first = correlations.tests[0] if correlations.tests else None
    return Table(
        f"{dimension.title}: could the correlations with {result.score} be chance?",
        [
            Column("Coefficient", "title"),
            Column("n", "n_items", items=lambda row: _opening(dimension, correlations, row.n_items)),
            Column("Value", "statistic"),
            *test_columns(),
        ],
        correlations.tests,
        sentences(
            f"Two-sided; {first.null}.",
            _that_stay(first.n_fixed) if first.n_fixed else "",
            f"Adjusted for all {n_of(result.families['associations'], 'correlations')} of this page.",
        )
        if first
        else "",
    )


def scores(result: Comparison, dimension: ComparedDimension) -> list[Table]:
    """Two scores against the same people."""
    if not dimension.scores:
        return []
    a, b = (" of ".join(filter(None, side)) for side in result.score_pair)
    return [
        Table(
            f"{dimension.title}: {a} and {b} against the same people",
            [
                Column("Correlation", "title"),
                Column(a, "with_a"),
                Column(b, "with_b"),
                Column("Of the two", "between"),
                Column("Difference", lambda row: row, interval=True),
                *equivalence_columns(lambda row: row.equivalence),
                Column("n", "n_pairable", items=lambda row: Filter({f"{dimension.dimension}.scores": "yes"})),
            ],
            dimension.scores,
            about_equivalence(result),
        ),
        Table(
            f"{dimension.title}: tests of the difference between {a} and {b}",
            [
                Column("Correlation", lambda row: row[0].title),
                Column("Test", lambda row: row[1].name),
                *test_columns(lambda row: row[1]),
            ],
            [(row, test) for row in dimension.scores for test in row.tests],
            sentences(SCORE_TESTS_SUPPOSE, about_family(result, "scores")),
        ),
    ]
