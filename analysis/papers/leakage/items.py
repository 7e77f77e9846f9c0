"""The items of the report on leakage: units by generator, by what both sides say, and by what was retrieved."""

from __future__ import annotations

import pandas as pd

from analysis.figures.items import Items
from analysis.papers.leakage.choices import GENERATOR
from analysis.papers.leakage.matching import GENERATION, STATUS, Compared, JudgedDocuments, tuples
from analysis.papers.leakage.retrieval import Family

CELLS = {
    "both": "matched by both sides",
    "people": "matched by the reference only",
    "checker": "matched by the other side only",
    "neither": "matched by neither side",
    "people_alone": "judged by the reference only",
    "checker_alone": "judged by the other side only",
}


def add_generations(items: Items, documents: JudgedDocuments, run: str) -> None:
    """The generation, document and claim of a unit, and by side whether the generation is matched."""
    units = documents.units
    for name, columns in (("claim", ["claim"]), ("document", ["document"]), ("generation", GENERATION)):
        codes = units.groupby(columns, sort=True).ngroup().to_numpy()
        items.add(name, name.capitalize(), codes, list(map(str, range(codes.max() + 1))))
    parts = units.groupby(GENERATOR, sort=True)
    titles = ["/".join(name or "-" for name in names) for names, _ in parts]
    items.add("generator", "Generator", parts.ngroup().to_numpy(), list(map(str, range(len(titles)))), titles)
    generations = tuples(units, GENERATION)
    for side in documents.sides:
        status = documents.verdicts(side, GENERATION).reindex(generations).to_numpy()
        parts = {name: status == one for name, one in STATUS.items()}
        of = {"run": run} if side == "checker" else {}
        items.add_parts(f"generation.{side}", f"Generations by {side}", parts, {name: name for name in STATUS}, **of)


def add_comparisons(items: Items, documents: JudgedDocuments, compared: list[Compared], run: str) -> None:
    """By comparison the cell of each unit; of a document all units are in its cell."""
    for place, one in enumerate(compared):
        keys = documents.units["unit"] if one.is_of_units else documents.units["document"]
        parts = {name: keys.isin(mine).to_numpy() for name, mine in one.cells.items()}
        title = f"{one.result.people} and {one.result.checker}, {one.result.level}"
        items.add_parts(f"comparison{place}", title, parts, CELLS, run=run)


def add_retrievals(items: Items, documents: JudgedDocuments, retrieved: list[Family], measures: dict[str, str]) -> None:
    """By retrieval and measure the units of claims for which it is defined: all of them, those that are matched,
    unmatched, either, and both (in different repetitions)."""
    claims = documents.units["claim"]
    for place, family in enumerate(retrieved):
        for name, title in measures.items():
            rows = family.rows[is_defined(family.rows, name)]
            of = {status: set(rows["query"][rows["matched"] == code]) for status, code in STATUS.items()}
            sets = {
                "all": ("all claims", set(rows["query"])),
                "matched": ("matched claims", of["matched"]),
                "unmatched": ("unmatched claims", of["unmatched"]),
                "decided": ("matched and unmatched claims", of["matched"] | of["unmatched"]),
                "in_both": (
                    "claims that are matched in one repetition and unmatched in another",
                    of["matched"] & of["unmatched"],
                ),
            }
            items.add_sets(
                f"retrieval{place}.{name}",
                f"{family.title}, {title}",
                {status: (words, claims.isin(mine).to_numpy()) for status, (words, mine) in sets.items()},
            )


def is_defined(rows: pd.DataFrame, measure: str) -> pd.Series:
    if measure.startswith("verdict"):
        return (rows["verdict"] >= 0) & (rows[measure] >= 0)
    return rows[measure].notna()
