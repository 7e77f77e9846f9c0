"""The page, the words and the methods of the report on leakage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.behind_sets import either, opens
from analysis.reports.captions import counted
from analysis.reports.intervals import estimate, intervals
from analysis.reports.leakage_behind import CELLS, DECIDED, EVERY
from analysis.reports.leakage_matching import GENERATOR
from analysis.reports.tabular import Cell, Linked, Table

if TYPE_CHECKING:
    from analysis.pictures import Picture

# The cells that a figure of a comparison is computed from.
COUNTED = {
    "f1": tuple(CELLS),
    "precision": ("both", "checker"),
    "recall": ("both", "people"),
    "accuracy": tuple(CELLS),
    "kappa": tuple(CELLS),
}
GROUPS = {"all": "all claims", "matched": "matched", "unmatched": "unmatched"}


def body(result: dict) -> list[Table | Picture]:
    parts: list[Table | Picture] = [_proportions(result)]
    if result["comparisons"]:
        parts += [_agreement(result), _cells(result)]
    for measure, title in result["measures"].items():
        if result["families"]:
            parts += [_groups(result, measure, title), _tests(result, measure, title)]
    return parts + _pictures(result)


def _name(generator: dict) -> str:
    return "/".join(generator.get(name) or "-" for name in GENERATOR)


def _proportions(result: dict) -> Table:
    columns = ["Generator", "Documents", "Claims", "Repetitions"]
    for side in result["sides"]:
        columns += [f"{side}: {name}" for name in ("matched", "unmatched", "undecided")]
        columns += [*intervals(f"{side}: share matched"), f"{side}: SE over repetitions"]
    rows = []
    for row in result["generators"]:
        whole = f"{row['figure']}/{result['sides'][0]}/{EVERY}"
        cells: list[Cell] = [_name(row), *(Linked(row[name], whole) for name in ("n_documents", "n_claims"))]
        cells.append(row["n_repetitions"])
        for side in result["sides"]:
            found = row["sides"][side]
            names = ("matched", "unmatched", "undecided")
            cells += [Linked(found[name], f"{row['figure']}/{side}/{name}") for name in names]
            decided = f"{row['figure']}/{side}/{DECIDED}" if found["matched"] + found["unmatched"] else ""
            cells += [*_opening(found["share"], decided), found["standard_error"]]
        rows.append(tuple(cells))
    return Table(
        "Generations that hold gold evidence",
        tuple(columns),
        rows,
        "A generation is what one generator wrote for one claim in one repetition. Undecided ones, where a label is "
        "missing that could still make them matched, are left out of the share.",
    )


def _agreement(result: dict) -> Table:
    columns = ("Level", "Reference", "Against it", "n")
    names = {"f1": "F1", "precision": "Precision", "recall": "Recall", "accuracy": "Accuracy", "kappa": "Cohen's kappa"}
    return Table(
        "Matching against people's labels",
        (*columns, *intervals(*names.values(), "Matched by the reference", "Matched by the other")),
        [
            (row["level"], row["people"], row["checker"], opens(row["f1"]["n_pairable"], _cells_of(row, *CELLS)))
            + sum((_opening(row[name], _cells_of(row, *cells)) for name, cells in COUNTED.items()), ())
            + _opening(row["share_people"], _cells_of(row, *COUNTED["recall"]))
            + _opening(row["share_checker"], _cells_of(row, *COUNTED["precision"]))
            for row in result["comparisons"]
        ],
        "F1, precision and recall are of matched. Units or documents without a label on either side are left out.",
    )


def _cells_of(row: dict, *cells: str) -> str:
    """The key of these cells of a comparison, where there is anything in them."""
    return f"{row['figure']}/{either(*cells)}" if any(row["counts"][cell] for cell in cells) else ""


def _opening(found: dict, figure: str) -> tuple[Cell, Cell, Cell]:
    """An estimate that opens what it was computed from, with its interval."""
    value, low, high = estimate(found)
    return opens(value, figure), low, high


def _cells(result: dict) -> Table:
    rows = []
    for row in result["comparisons"]:
        cells = [Linked(row["counts"][cell], f"{row['figure']}/{cell}") for cell in CELLS]
        alone = {"people_alone": row["n_people_only"], "checker_alone": row["n_checker_only"]}
        cells += [Linked(n, f"{row['figure']}/{name}") for name, n in alone.items()]
        rows.append((row["level"], row["people"], row["checker"], *cells))
    return Table(
        "Who calls what matched",
        ("Level", "Reference", "Against it", "Both", "Reference only", "Other only", "Neither")
        + ("Without the other's label", "Without a reference"),
        rows,
    )


def _groups(result: dict, measure: str, title: str) -> Table:
    rows = []
    for family in result["families"]:
        for group, words in GROUPS.items():
            found = family["measures"][measure]["groups"][group]
            behind = _group(family, measure, group) if found["n_claims"] else ""
            rows.append(
                (family["title"], words, opens(found["n_claims"], behind), *_opening(found, behind))
                + (found["standard_error"], found["n_repetitions"])
            )
    columns = ("Retrieval", "Claims", "n", *intervals(_title(result, title)), "SE over repetitions", "Repetitions")
    return Table(_title(result, title), columns, rows)


def _group(family: dict, measure: str, group: str) -> str:
    """The key of a group's claims for which there is the measure."""
    return family["measures"][measure]["figures"][EVERY if group == "all" else group]


def _tests(result: dict, measure: str, title: str) -> Table:
    rows = []
    for family in result["families"]:
        found = family["measures"][measure]
        test = found["test"]
        both = _group(family, measure, DECIDED) if test["n_matched"] + test["n_unmatched"] else ""
        rows.append(
            (family["title"], *_opening(found["difference"], both), test["u"], test["p_value"], test["p_holm"])
            + (*_opening(test["effect"], both), *_rank_biserial(test))
            + tuple(opens(test[f"n_{name}"], _group(family, measure, name)) for name in ("matched", "unmatched"))
            + (opens(test["n_in_both"], _group(family, measure, "in both")),)
        )
    columns = ("Retrieval", *intervals("Difference"), "Mann-Whitney U", "p", "p (Holm)")
    columns += (*intervals("P(matched > unmatched)", "Rank-biserial"), "n matched", "n unmatched", "In both")
    note = "The test is of whether each claim's verdict is right." if measure.startswith("verdict") else ""
    return Table(f"{_title(result, title)}: matched minus unmatched", columns, rows, note)


def _rank_biserial(test: dict) -> tuple[Cell, Cell, Cell]:
    """Twice the chance minus 1, and so are the ends of its interval."""
    ends = (None if one is None else 2 * one - 1 for one in (test["effect"]["low"], test["effect"]["high"]))
    return test["rank_biserial"], *ends


def _title(result: dict, title: str) -> str:
    return title.replace("Similarity", result["similarity_title"].partition(" (")[0] + ", best assignment ")


def _pictures(result: dict) -> list[Picture]:
    from analysis.pictures import Axis, Interval, Intervals

    pictures: list[Picture] = []
    for measure, title in result["measures"].items():
        items = [
            Interval(
                family["title"],
                found["estimate"],
                found["low"],
                found["high"],
                n=found["n_claims"],
                series=words,
                undefined=found["undefined"],
                figure=_group(family, measure, group) if found["n_claims"] else "",
            )
            for family in result["families"]
            for group, words in GROUPS.items()
            for found in (family["measures"][measure]["groups"][group],)
        ]
        if not items or all(item.value is None for item in items):
            continue
        name = _title(result, title)
        pictures.append(
            Intervals(
                name=f"leakage-{measure.replace('@', '-')}",
                title=f"{name} of matched and unmatched claims",
                caption=(
                    f"{name} in {result['project']}, for all claims and for those whose generations do and do not "
                    f"hold gold evidence by {result['by_title']}, {counted(items, 'claims')}. Means over repetitions; "
                    "95 % bootstrap intervals over claims."
                ),
                alt="; ".join(
                    f"{item.row}, {item.series}: {'undefined' if item.value is None else f'{item.value:.3f}'}"
                    for item in items
                ),
                items=tuple(items),
                values=Axis(name),
                rows_title="Retrieval",
                series_title="Claims",
            )
        )
    return pictures


def methods(result: dict) -> str:
    by = f"people's labels ({result['reference_title'].lower()})" if result["by"] == "people" else result["checker"]
    sentences = [
        f"A generation (what one generator wrote for one claim in one repetition) counted as matched where any of its "
        f"{result['unit']} was judged to hold gold evidence, and as unmatched where every one was judged not to; "
        f"undecided generations were left out. Claims were split by {by}."
    ]
    if result["run"]:
        touched = (
            "" if result["touched"] else "; labels given after a suggestion of that checker was shown did not count"
        )
        sentences.append(f"Automatic matching was by {result['checker']}{touched}.")
    sentences.append(
        "Shares and measures of agreement have 95 % bootstrap intervals that draw claims; where either side calls "
        "nothing or everything matched, its share has the exact interval of Clopper and Pearson."
        if result["comparisons"]
        else "Shares have 95 % bootstrap intervals that draw claims."
    )
    if result["families"]:
        sentences.append(
            "Recall@k and NDCG@k (binary relevance) were computed with trec_eval through pytrec-eval-terrier, a "
            "document standing at its first passage; claims without gold evidence were left out."
        )
        if any(measure.startswith("similarity") for measure in result["measures"]):
            sentences.append(
                "Retrieved passages and gold evidence were compared by "
                f"{result['similarity_title'].partition(' (')[0]} under the best one-to-one assignment, divided by "
                "the number of pieces of gold evidence."
            )
        if any(measure.startswith("verdict") for measure in result["measures"]):
            sentences.append(
                f"A claim's verdict was the most probable one by the mean of {result['verdict_run']}'s probabilities "
                "over the first k passages that it had judged; macro-F1 is over true, none and false."
            )
        sentences.append(
            "Figures are means over repeated generations with the standard error over repetitions; 95 % bootstrap "
            "intervals draw claims with all their repetitions. Matched and unmatched claims were compared by "
            "two-sided Mann-Whitney U tests on claims' means over repetitions, with Holm's correction over all tests "
            "of the report; the effect size is the chance that a matched claim has the greater value."
        )
    return " ".join(sentences)
