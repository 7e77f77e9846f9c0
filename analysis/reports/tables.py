"""The tables of every report, from its plain data alone: what the command prints and the pages offer as files."""

from __future__ import annotations

from collections.abc import Callable

from analysis.reports import association_tables, attention, drift, pairs, people_tables, run_tables, selected
from analysis.reports.intervals import estimate, intervals
from analysis.reports.numbers import either, n_of
from analysis.reports.tabular import Cell, Table, left_out_words, linked
from analysis.sources.splits import as_heading, in_words, split_in

CLASSIFICATION = (
    ("accuracy", "Accuracy"),
    ("balanced_accuracy", "Balanced accuracy"),
    ("macro_f1", "Macro-F1"),
    ("mcc", "Matthews's correlation"),
)
AGAINST_THE_REST = {
    "percent_agreement": "Agreement",
    "alpha": "Alpha",
    "fleiss_kappa": "Fleiss' kappa",
    "gwet_ac1": "AC1",
    "brennan_prediger": "Brennan-Prediger",
}
MEASURES = ("Measure", "Value", "Low", "High", "n", "Left out")
CHANCE = (
    *("Level", "Alpha", "Mean by chance", "95 % quantile by chance", "p"),
    *("Labels that can move", "Labels", "Permutations", "Null"),
)
CLOSED_FORM = ("Measure", "Value", "Low", "High", "Method")


def tables_of(result: dict) -> list[Table]:
    """Tables of a report's result. Unknown reports raise KeyError."""
    return _BUILDERS[result["report"]](result)


def left_out(figure: dict) -> str:
    return "; ".join(f"{n} {reason}" for reason, n in figure["left_out"].items() if n)


def measure(title: str, figure: dict) -> tuple[Cell, ...]:
    return title, *estimate(figure), figure["n_pairable"], left_out(figure)


def _with_unasked(dimension: dict) -> list[tuple[Cell, ...]]:
    unasked = dimension["with_unasked"]
    if not unasked:
        return []
    return [measure(f"{one['title']}, with {unasked['label']} as a label", one) for one in unasked["figures"]]


def _agreement(result: dict) -> list[Table]:
    tables, split = [], split_in(result.get("made_from", {}))
    for dimension in result["dimensions"]:
        title = dimension["title"]
        rows = [measure(one["title"], one) for one in dimension["figures"]] + _with_unasked(dimension)
        if members := dimension["members_against_imported"]:
            rows.append(measure("Alpha of members minus alpha of imported raters", members))
        tables.append(Table(f"{title}: agreement", MEASURES, rows))
        chance = dimension["chance"]
        statistic = chance["statistic"] if chance["statistic"] is not None else f"undefined: {chance['undefined']}"
        row = (chance["level"], statistic, chance["chance_mean"], chance["chance_high"], chance["p_value"])
        rows = [_closed_form(one["title"], one) for one in dimension["figures"]]
        tables.append(Table(f"{title}: intervals if units were independent", CLOSED_FORM, rows))
        moved = (chance["n_movable"], chance["n_labels"], chance["n_permutations"], chance["null"])
        tables.append(Table(f"{title}: against chance", CHANCE, [(*row, *moved)]))
        tables += [table for table in _agreement_parts(dimension, split) if table.rows] + selected.tables(dimension)
    return tables


def _closed_form(title: str, figure: dict) -> tuple[Cell, ...]:
    closed = figure["analytic"]
    how = "; ".join(filter(None, (closed["method"], closed["note"])))
    return title, estimate(figure)[0], closed["low"], closed["high"], how


def _agreement_parts(dimension: dict, split: str) -> list[Table]:
    title, ordinal = dimension["title"], dimension["level"] != "nominal"
    weighted = ("linear", "quadratic") if ordinal else ()
    of_pair = ("Agreement", "Kappa", *(f"Kappa, {name}" for name in weighted), "Scott's pi")
    of_part = intervals("Agreement", "Alpha", *(("Alpha, ordinal",) if ordinal else ()))

    def part(row: dict) -> tuple[Cell, ...]:
        alphas = ("alpha_nominal", "alpha_ordinal") if ordinal else ("alpha_nominal",)
        return sum((estimate(row[name]) for name in ("percent_agreement", *alphas)), ())

    return [
        Table(
            f"{title}: each label against the rest",
            ("Label", "Labels", "Units", *intervals(*AGAINST_THE_REST.values())),
            [
                (row["title"], row["n"], row["alpha"]["n_pairable"])
                + sum((estimate(row[name]) for name in AGAINST_THE_REST), ())
                for row in dimension["per_label"]
            ],
        ),
        Table(
            f"{title}: pairs of annotators",
            ("Annotator", "Annotator ", "Units", *intervals(*of_pair)),
            [
                (row["a"], row["b"], row["n_pairable"])
                + sum((estimate(found) for found in _of_pair(row, weighted)), ())
                for row in dimension["pairs"]
            ],
        ),
        pairs.table(dimension),
        Table(
            f"{title}: pairs of annotators, intervals if units were independent",
            ("Annotator", "Annotator ", *CLOSED_FORM),
            [
                (row["a"], row["b"], *_closed_form(name, found))
                for row in dimension["pairs"]
                for name, found in zip(of_pair, _of_pair(row, weighted), strict=True)
            ],
        ),
        Table(
            f"{title}: by {in_words(split)}",
            (as_heading(split), "Units", "With a pair", *of_part, *intervals("Alpha minus the rest's")),
            [
                (row["source"], row["n_units"], row["alpha_nominal"]["n_pairable"])
                + (*part(row), *estimate(row["against_the_rest"]))
                for row in dimension["by_source"]
            ],
        ),
        Table(
            f"{title}: by arm",
            ("Arm", "Units", "Labels", "With a pair", *of_part),
            [
                (row["title"], row["n_units"], row["n_labels"], row["alpha_nominal"]["n_pairable"], *part(row))
                for row in dimension["by_arm"]
            ],
        ),
        Table(
            f"{title}: difference of alpha between arms",
            ("Arm", "minus", "Shared claims or units", *intervals("Difference")),
            [(row["a"], row["b"], row["n_shared"], *estimate(row)) for row in dimension["arm_differences"]],
        ),
        Table(
            f"{title}: by version of the guidelines",
            ("Version", "Units", "Labels", "With a pair", *of_part),
            [
                (str(row["version"]), row["n_units"], row["n_labels"], row["alpha_nominal"]["n_pairable"], *part(row))
                for row in dimension["by_version"]
            ],
            f"{n_of(n, 'labels')} of which the version is not known {either(n, 'is', 'are')} left out."
            if (n := dimension["n_labels_without_version"])
            else "",
        ),
        Table(
            f"{title}: difference of alpha between versions of the guidelines",
            ("Version", "minus", "Shared claims or units", *intervals("Difference")),
            [
                (str(row["version"]), str(row["before"]), row["n_shared"], *estimate(row))
                for row in dimension["version_differences"]
            ],
        ),
    ]


def _of_pair(row: dict, weighted: tuple[str, ...]) -> tuple[dict, ...]:
    """The figures of a pair, in the order of their columns."""
    return row["percent_agreement"], row, *(row[name] for name in weighted), row["scott_pi"]


def _annotators(result: dict) -> list[Table]:
    tables = people_tables.annotators(result)
    for dimension in result["dimensions"]:
        tables += drift.tables(dimension["title"], dimension["drift"]) + attention.tables(dimension)
    return tables


def _comparison(result: dict) -> list[Table]:
    tables = []
    for dimension in result["dimensions"]:
        rows = []
        if result["gives"] != "scores":
            rows += [measure(title, dimension[name]) for name, title in CLASSIFICATION]
        rows += [measure(f"{one['title']} with {result['score']}", one) for one in dimension["correlations"]]
        if result["gives"] != "scores":
            rows += _with_unasked(dimension)
        title = f"{dimension['title']}: {result['checker']} against people"
        tables.append(Table(title, MEASURES, rows, left_out_words(result)))
        if dimension["associations"]:
            tables += association_tables.associations(result, dimension["title"], dimension["associations"])
        tables += run_tables.scores(result, dimension["title"], dimension["scores"] or [])
        if result["gives"] == "scores":
            continue
        columns = ("Label", *intervals("Precision", "Recall", "F1"), "People", "Checker")
        per_label = [
            (row["title"], *estimate(row["precision"]), *estimate(row["recall"]), *estimate(row["f1"]))
            + (row["support"], row["predicted"])
            for row in dimension["per_label"]
        ]
        tables.append(Table(f"{dimension['title']}: per label", columns, per_label))
        tables.append(confusion(f"{dimension['title']}: people (rows) and checker", dimension))
        if dimension["probabilities"]:
            tables += run_tables.probabilities(dimension["title"], dimension["probabilities"])
        if dimension["versus"]:
            tables += run_tables.versus(result, dimension["title"], dimension["versus"])
        if dimension["labellers"]:
            tables += run_tables.rivals(result, dimension["title"], dimension["rivals"], dimension.get("several"))
            tables += run_tables.labellers(result, dimension["title"], dimension["labellers"])
    return tables


def confusion(title: str, dimension: dict) -> Table:
    names = [label["title"] for label in dimension["labels"]]
    rows = [(name, *row) for name, row in zip(names, dimension["confusion"], strict=True)]
    return Table(title, ("", *names), rows)


def _rates(result: dict) -> list[Table]:
    tables = []
    for setting in result["settings"]:
        name = setting["setting"] or "no setting"
        parts = [(result["title"], setting, result["has_abstained"])]
        parts += [(part["title"], part, False) for part in setting["derived"]]
        for title, part, has_abstained in parts:
            labels = [label["label"] for label in part["labels"]]
            columns = ("Model", "n", *intervals(*labels, *(("abstained",) if has_abstained else ())))
            rows = [{"name": "mean over models", "n_responses": part["n_responses"], **part["mean"]}, *part["models"]]
            cells = [
                (row["name"] or "no name", row["n_responses"])
                + sum((estimate(row["shares"][label]) for label in labels), ())
                + (estimate(row["abstained"]) if has_abstained else ())
                for row in rows
            ]
            tables.append(Table(f"{title}, {name}", columns, cells))
    return tables


def _coverage(result: dict) -> list[Table]:
    counts = ("n_aspects", "n_votes", "covered", "not_covered", "tied", "undecided")
    titles = ("Aspects", "Votes", "Covered", "Not covered", "Tied", "Undecided")
    models = [{"model": "all responses", **result["all"]}, *result["models"]]
    answers = [
        (row["query"], row["model"] or "no name", _share(row), *(row[count] for count in counts))
        for row in result["responses"]
    ]
    return [
        Table(
            "Coverage by model",
            ("Model", *intervals("Coverage"), "n", *titles),
            [
                (row["model"] or "no name", *estimate(row["coverage"]), row["coverage"]["n_pairable"])
                + tuple(row[count] for count in counts)
                for row in models
            ],
        ),
        Table("Coverage of answers", ("Question", "Model", "Coverage", *titles), answers),
    ]


def _share(row: dict) -> Cell:
    return f"undefined: {row['undefined']}" if row["undefined"] else row["coverage"]


def _matched(result: dict) -> list[Table]:
    rows = []
    named = [("all", result["all"])]
    named += [("/".join(row[part] or "-" for part in ("method", "model", "setting")), row) for row in result["sources"]]
    for title, row in named:
        for side in result["pairs"]:
            for group in ("documents", "claims"):
                found = row[side][group]
                key = f"{row['key']}/{side}/{group}"
                counts = tuple(linked(found[name], f"{key}/{name}") for name in ("matched", "unmatched", "undecided"))
                bounds = (found["lowest"], found["highest"])
                rows.append((title, side, group, *estimate(found["share"]), *counts, *bounds))
    columns = ("Source", "Judged by", "Of", *intervals("Share"), "Matched", "Not", "Undecided", "At least", "At most")
    return [Table("Matched documents and claims", columns, rows, left_out_words(result))]


def _difference(result: dict) -> list[Table]:
    tables = [
        Table(
            "What differs in how they were made",
            ("What", "From", "To"),
            [(row["name"], row["other"], row["run"]) for row in result["made_by"]],
        )
    ]
    for dimension in result["dimensions"]:
        title = dimension["title"]
        rows = [measure(one["title"], one) for one in (dimension["agreement"], dimension["kappa"])]
        tables.append(Table(f"{title}: agreement of the two runs", MEASURES, rows))
        tables.append(confusion(f"{title}: from (rows) to (columns)", dimension))
        if shift := dimension["shift"]:
            means = [(row["title"], *estimate(row["other"]), *estimate(row["run"])) for row in shift["labels"]]
            tables.append(Table(f"{title}: mean probabilities", ("Label", *intervals("From", "To")), means))
            distance = [(shift["n"], *estimate(shift["mean"]))]
            columns = ("Units", *intervals("Total variation"))
            tables.append(Table(f"{title}: how far probabilities moved on average", columns, distance))
            moves = [(f"{row['low']:.2f} to {row['high']:.2f}", row["n"]) for row in shift["bars"]]
            tables.append(Table(f"{title}: how far probabilities moved", ("Total variation", "Units"), moves))
    scores = [
        (row["name"], row["n"], *sum((estimate(row[name]) for name in ("other", "run", "moved", "pearson")), ()))
        for row in result["scores"]
    ]
    if scores:
        columns = ("Score", "n", *intervals("From", "To", "Moved by", "Pearson"))
        tables.append(Table("Scores", columns, scores))
    return tables


_BUILDERS: dict[str, Callable[[dict], list[Table]]] = {
    "agreement": _agreement,
    "comparison": _comparison,
    "rates": _rates,
    "coverage": _coverage,
    "matched": _matched,
    "difference": _difference,
    "annotators": _annotators,
    "alternative-annotator": people_tables.alternative_annotator,
    "prevalence": people_tables.prevalence,
}
