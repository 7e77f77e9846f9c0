"""Units behind the figures of the report on leakage, and what they are in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.behind_sets import OR, either, joined
from analysis.reports.leakage_matching import GENERATION, GENERATOR, Judged, tuples
from analysis.reports.leakage_retrieval import Family
from analysis.reports.opened import UNITS, Behind

if TYPE_CHECKING:
    import pandas as pd

    from annotation.task_types import TaskType

STATUS = {"matched": 1, "unmatched": 0, "undecided": -1}
EVERY, DECIDED = either(*STATUS), either("matched", "unmatched")
CELLS = {"both": "both", "people": "people only", "checker": "checker only", "neither": "neither"}


def behind_generators(found: Judged) -> Behind:
    """By generator and side the units of generations that are matched, unmatched and undecided; and all units."""
    behind, units = {UNITS: found.units["unit"].tolist()}, found.units
    for place, (_, mine) in enumerate(units.groupby(GENERATOR, sort=True)):
        for side in found.sides:
            status = found.verdicts(side, GENERATION).reindex(tuples(mine, GENERATION)).to_numpy()
            for name, code in STATUS.items():
                behind[f"generator{place}/{side}/{name}"] = mine["unit"][status == code].tolist()
    return behind


def behind_comparisons(found: Judged, comparisons: list[dict], is_of_pairs: bool) -> Behind:
    """By cell; a document's cell has all of its units. Takes the cells out of the comparisons."""
    behind, units = {}, found.units
    by_document = {document: mine["unit"].tolist() for document, mine in units.groupby("document", sort=False)}
    level = "pairs" if is_of_pairs else "documents"
    for row in comparisons:
        own = row["level"] == level == "pairs" or row["people"] == "people"
        for cell, keys in row.pop("cells").items():
            behind[f"{row['figure']}/{cell}"] = keys if own else [unit for key in keys for unit in by_document[key]]
    return behind


def behind_retrievals(found: Judged, retrieved: list[Family], made: list[dict], measures: dict[str, str]) -> Behind:
    """By retrieval the units of claims that are matched, unmatched and undecided, and of those for which a measure is
    defined, where these are fewer. Puts the keys into the measures of `made`."""
    behind, units = {}, found.units
    by_claim = {claim: mine["unit"].tolist() for claim, mine in units.groupby("claim", sort=False)}
    for family, row in zip(retrieved, made, strict=True):
        for name, code in STATUS.items():
            claims = dict.fromkeys(family.rows["query"][family.rows["matched"] == code])
            behind[f"{row['figure']}/{name}"] = [unit for claim in claims for unit in by_claim.get(claim, ())]
        for words, names in _defined_together(family.rows, measures).items():
            defined = family.rows[_is_defined(family.rows, names[0])]
            more = "" if len(defined) == len(family.rows) else f"/{words}"
            groups = {name: set(defined["query"][defined["matched"] == code]) for name, code in STATUS.items()}
            groups["in both"] = groups["matched"] & groups["unmatched"]
            for name, claims in groups.items():
                if more or name == "in both":
                    behind[f"{row['figure']}/{name}{more}"] = [
                        unit for claim in sorted(claims) for unit in by_claim.get(claim, ())
                    ]
            keys = {name: f"{row['figure']}/{name}{more}" for name in (*groups, EVERY, DECIDED)}
            for name in names:
                row["measures"][name]["figures"] = keys
    return behind


def _defined_together(rows: pd.DataFrame, measures: dict[str, str]) -> dict[str, list[str]]:
    """Measures that are defined for the very same rows, by their titles."""
    alike: dict[bytes, list[str]] = {}
    for name in measures:
        alike.setdefault(_is_defined(rows, name).to_numpy().tobytes(), []).append(name)
    return {", ".join(measures[name] for name in names): names for names in alike.values()}


def _is_defined(rows: pd.DataFrame, measure: str) -> pd.Series:
    if measure.startswith("verdict"):
        return (rows["verdict"] >= 0) & (rows[measure] >= 0)
    return rows[measure].notna()


def opened(behind: Behind, figure: str) -> list[int] | None:
    return joined(behind, figure, 3)


IN_CELLS = {
    "both": "matched by both sides",
    "people": "matched by the reference only",
    "checker": "matched by the other side only",
    "neither": "matched by neither side",
    either("both", "people"): "matched by the reference",
    either("both", "checker"): "matched by the other side",
    either(*CELLS): "judged by both sides",
    "people_alone": "judged by the reference only",
    "checker_alone": "judged by the other side only",
}


def in_words(kind: TaskType, figure: str) -> str:
    place, _, rest = figure.partition("/")
    if place.startswith("generator"):
        side, _, verdict = rest.partition("/")
        return (
            "all generations of a generator" if verdict == EVERY else f"generations that are {_or(verdict)} by {side}"
        )
    if place.startswith("comparison"):
        return IN_CELLS.get(rest, rest)
    status, _, measures = rest.partition("/")
    claims = {
        EVERY: "all claims of a retrieval",
        "in both": "claims that are matched in one repetition and unmatched in another",
    }.get(status, f"claims that are {_or(status)}")
    return claims + (f", for which there is {measures}" if measures else "")


def _or(names: str) -> str:
    return names.replace(OR, " or ")
