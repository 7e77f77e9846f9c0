"""Tables of leakage: generations, two sides against each other, and retrievals by group of claims."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from analysis.figures.items import Filter
from analysis.figures.results import Figure
from analysis.figures.tables import Column, Table
from analysis.papers.leakage.result import Leakage, MeasuredGroups, RepeatedFigure, RetrievalFamily, SidesCompared

GROUPS = {"all": "all claims", "matched": "matched", "unmatched": "unmatched"}
STATUS = ("matched", "unmatched", "undecided")
CELLS = {"both": "Both", "people": "Reference only", "checker": "Other only", "neither": "Neither"}
ALONE = {
    "people_alone": ("Without the other's label", "n_people_only"),
    "checker_alone": ("Without a reference", "n_checker_only"),
}
# The cells that a figure of a comparison is computed from.
COUNTED = {
    "f1": ("F1", tuple(CELLS)),
    "precision": ("Precision", ("both", "checker")),
    "recall": ("Recall", ("both", "people")),
    "accuracy": ("Accuracy", tuple(CELLS)),
    "kappa": ("Cohen's kappa", tuple(CELLS)),
    "share_people": ("Matched by the reference", ("both", "people")),
    "share_checker": ("Matched by the other", ("both", "checker")),
}
Measured = tuple[int, RetrievalFamily, MeasuredGroups]  # a family with its place, and one measure of it


def proportions_table(result: Leakage) -> Table:
    def such(place: int, **more: str | tuple[str, ...]) -> Filter:
        return Filter({"generator": str(place)} | {f"generation.{side}": status for side, status in more.items()})

    def of_side(side: str) -> list[Column]:
        def status(name: str) -> Column:
            return Column(
                f"{side}: {name}",
                lambda one: getattr(one[1].sides[side], name),
                items=lambda one: such(one[0], **{side: name}),
                counts="generation",
            )

        def decided(one) -> Filter | None:
            is_any = one[1].sides[side].share.n_pairable
            return such(one[0], **{side: ("matched", "unmatched")}) if is_any else None

        share = Column(
            f"{side}: share matched", lambda one: one[1].sides[side].share, True, decided, counts="generation"
        )
        error = Column(f"{side}: SE over repetitions", lambda one: one[1].sides[side].standard_error)
        return [*map(status, STATUS), share, error]

    columns = [
        Column("Generator", lambda one: one[1].title),
        Column("Documents", lambda one: one[1].n_documents, items=lambda one: such(one[0]), counts="document"),
        Column("Claims", lambda one: one[1].n_claims, items=lambda one: such(one[0]), counts="claim"),
        Column("Repetitions", lambda one: one[1].n_repetitions),
        *(column for side in result.sides for column in of_side(side)),
    ]
    note = (
        "A generation is what one generator wrote for one claim in one repetition. It is undecided while a missing "
        "label could still make it matched; undecided generations are left out of the share."
    )
    return Table("Generations that contain gold evidence", columns, list(enumerate(result.generators)), note)


# ---- comparisons ----


def comparison_tables(result: Leakage) -> list[Table]:
    """Figures of every comparison, and what is in its cells."""

    def counts(one: tuple[int, SidesCompared]) -> str:
        return "document" if one[1].level == "documents" and result.unit == "pairs" else ""

    def in_cells(one: tuple[int, SidesCompared], cells: tuple[str, ...]) -> Filter | None:
        is_any = any(getattr(one[1].counts, cell) for cell in cells)
        return Filter({f"comparison{one[0]}": cells}) if is_any else None

    def figure(name: str, title: str, cells: tuple[str, ...]) -> Column:
        return Column(
            title,
            lambda one: getattr(one[1], name),
            interval=True,
            items=lambda one: in_cells(one, cells),
            counts=counts if cells == tuple(CELLS) else None,
        )

    def count(title: str, cell: str, value: Callable[[SidesCompared], int]) -> Column:
        return Column(
            title, lambda one: value(one[1]), items=lambda one: Filter({f"comparison{one[0]}": cell}), counts=counts
        )

    rows = list(enumerate(result.comparisons))
    who = [
        Column("Level", lambda one: one[1].level),
        Column("Reference", lambda one: one[1].people),
        Column("Compared with it", lambda one: one[1].checker),
    ]
    n = Column("n", lambda one: one[1].f1.n_pairable, items=lambda one: in_cells(one, tuple(CELLS)), counts=counts)
    figures = [figure(name, title, cells) for name, (title, cells) in COUNTED.items()]
    cells = [count(title, cell, lambda row, cell=cell: getattr(row.counts, cell)) for cell, title in CELLS.items()]
    alone = [count(title, cell, lambda row, n=n: getattr(row, n)) for cell, (title, n) in ALONE.items()]
    note = (
        "F1, precision and recall are those of the label “matched”. Units or documents that lack a label on either "
        "side are left out."
    )
    return [
        Table("Matching against people's labels", [*who, n, *figures], rows, note),
        Table("What each side calls matched", [*who, *cells, *alone], rows),
    ]


# ---- retrievals ----


def claims_filter(place: int, measure: str, group: str) -> Filter:
    return Filter({f"retrieval{place}.{measure}.{group}": "yes"})


def measure_title(result: Leakage, measure: str) -> str:
    similarity = f"{result.similarity_title.partition(' (')[0]}, best assignment "
    return result.measures[measure].replace("Similarity", similarity)


def measured_families(result: Leakage, measure: str) -> list[Measured]:
    return [(place, family, family.measures[measure]) for place, family in enumerate(result.families)]


def groups_table(result: Leakage, measure: str) -> Table:
    def means(one: tuple[Measured, str]) -> RepeatedFigure:
        return getattr(one[0][2].groups, one[1])

    def claims(one: tuple[Measured, str]) -> Filter | None:
        return claims_filter(one[0][0], measure, one[1]) if means(one).n_claims else None

    title = measure_title(result, measure)
    columns = [
        Column("Retrieval", lambda one: one[0][1].title),
        Column("Claims", lambda one: GROUPS[one[1]]),
        Column("n", lambda one: means(one).n_claims, items=claims, counts="claim"),
        Column(title, means, interval=True, items=claims, counts=None),
        Column("SE over repetitions", lambda one: means(one).standard_error),
        Column("Repetitions", lambda one: means(one).n_repetitions),
    ]
    return Table(title, columns, [(row, group) for row in measured_families(result, measure) for group in GROUPS])


def tests_table(result: Leakage, measure: str) -> Table:
    def both(one: Measured) -> Filter | None:
        test = one[2].test
        return claims_filter(one[0], measure, "decided") if test.n_matched + test.n_unmatched else None

    def rank_biserial(one: Measured) -> Figure:
        """Twice the probability minus 1, and so are the ends of its interval."""
        effect = one[2].test.effect
        low, high = (None if end is None else 2 * end - 1 for end in (effect.low, effect.high))
        return msgspec.structs.replace(effect, estimate=one[2].test.rank_biserial, low=low, high=high)

    def count(title: str, name: str) -> Column:
        return Column(
            title,
            lambda one: getattr(one[2].test, f"n_{name}"),
            items=lambda one: claims_filter(one[0], measure, name),
            counts="claim",
        )

    columns = [
        Column("Retrieval", lambda one: one[1].title),
        Column("Difference", lambda one: one[2].difference, interval=True, items=both, counts=None),
        Column("Mann-Whitney U", lambda one: one[2].test.u),
        Column("p", lambda one: one[2].test.p_value),
        Column("p (Holm)", lambda one: one[2].test.p_holm),
        Column("P(matched > unmatched)", lambda one: one[2].test.effect, interval=True, items=both, counts=None),
        Column("Rank-biserial", rank_biserial, interval=True),
        count("n matched", "matched"),
        count("n unmatched", "unmatched"),
        count("In both", "in_both"),
    ]
    title = f"{measure_title(result, measure)}: matched minus unmatched"
    note = "The test compares whether each claim's verdict is right." if measure.startswith("verdict") else ""
    return Table(title, columns, measured_families(result, measure), note)
