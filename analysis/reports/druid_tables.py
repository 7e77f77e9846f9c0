"""The tables of the report on DRUID's analyses, from its plain data alone."""

from __future__ import annotations

from analysis.reports.people_tables import estimate, intervals
from analysis.reports.tabular import Cell, Linked, Table
from analysis.sources.splits import as_heading, in_words, split_in

SHOWN_SOURCES = 12  # columns that still fit beside each other; every source has rows in other tables
ANSWERS = ("False", "None", "True")
SIGNS = {1: "+", -1: "-"}


def stance_titles(result: dict) -> dict[str, str]:
    return {"": "all relevant"} | {one["name"]: one["title"] for one in result["stances"]}


def content_tables(result: dict) -> list[Table]:
    found = result["content"]
    unlisted, split = found["n_sources_not_listed"], split_in(result.get("made_from", {}))
    sources = Table(
        f"Claims and evidence by {in_words(split)} (tables 1 and 2)",
        (as_heading(split), "Claims", "Pairs", "Gold evidence", "Pairs per claim")
        + intervals(*(f"Alpha, {name}" for name in found["metrics"])),
        [
            (
                Linked(row["source"] or "all", f"source/{row['source']}"),
                *(row["n_claims"], row["n_pairs"], row["n_gold"]),
                row["n_pairs"] / row["n_claims"] if row["n_claims"] else None,
                *sum((estimate(one) for one in row["alpha"]), ()),
            )
            for row in found["sources"]
        ],
        note=f"{unlisted} further {'groups' if split else 'sources'} are in the first row only." if unlisted else "",
    )
    conflicts = Table(
        f"Claims with conflicting evidence by {in_words(split)} (table 3)",
        (as_heading(split), "Claims", "With two stances or more", "In conflict", *intervals("Share")),
        [
            (
                row["source"] or "all",
                *(row["n_claims"], row["n_claims_with_both"]),
                Linked(row["conflicts"]["n"], f"conflicts/{row['source']}"),
                *estimate(row["conflicts"]),
            )
            for row in found["sources"]
        ],
        note="In conflict: one piece of evidence supports the claim and another refutes it. The share is of claims of "
        "which at least two pieces of evidence have a stance.",
    )
    verdicts = Table(
        "Claims by verdict",
        ("Verdict", "Claims"),
        [(row["verdict"] or "none", row["n_claims"]) for row in found["verdicts"]],
        note=f"{found['n_verdicts_not_listed']} further verdicts." if found["n_verdicts_not_listed"] else "",
    )
    return [sources, verdicts, conflicts, *(_labels(result, one) for one in found["dimensions"])]


def _labels(result: dict, dimension: dict) -> Table:
    names = [row["source"] for row in result["content"]["sources"] if row["source"]]
    names = names[:SHOWN_SOURCES] if len(names) > 1 else []
    slug = dimension["dimension"]
    rows: list[tuple[Cell, ...]] = [
        (row["title"], Linked(row["n"], f"label/{slug}/{row['label']}"), row["share"], *row["by_source"][: len(names)])
        for row in dimension["labels"]
    ]
    rows += [
        (f"no label: {row['title']}", Linked(row["n"], f"label/{slug}/{row['reason']}"), None, *[None] * len(names))
        for row in dimension["without"]
    ]
    title = f"{dimension['title']} of evidence (tables 8 and 9)"
    return Table(title, ("Label", "Pairs", "Share", *names), rows, note=f"{result['reference_title']}.")


def characteristics_tables(result: dict) -> list[Table]:
    found = result["described"]
    if not found:
        return []
    titles, columns = stance_titles(result), found["columns"]
    everything = next(row for row in found["groups"] if row["by"] == "all")
    tables = [
        Table(
            "Characteristics of evidence (table 10)",
            ("Characteristic", *intervals("Mean"), "SD", "Pairs", "Undefined", "Measured by"),
            [
                (one["title"], *_mean(cell), Linked(cell["n_undefined"], f"without/{one['title']}"), one["checker"])
                for one, cell in zip(columns, everything["cells"], strict=True)
            ],
            note="Means of what is 0 or 1 are shares of pairs: "
            + ", ".join(one["title"].lower() for one in columns if one["scale"] == "share")
            + ".",
        )
    ]
    split = split_in(result.get("made_from", {}))
    for by, title, words in (("stance", "Stance", "stance"), ("source", as_heading(split), in_words(split))):
        groups = [row for row in found["groups"] if row["by"] == by]
        if len(groups) < 2:
            continue
        rows = [
            (one["title"], titles.get(row["group"], row["group"]) if by == "stance" else row["group"])
            + (*_mean(row["cells"][place]), row["cells"][place]["n_undefined"])
            for place, one in enumerate(columns)
            for row in groups
            if row["n"]
        ]
        heads = ("Characteristic", title, *intervals("Mean"), "SD", "Pairs", "Undefined")
        tables.append(Table(f"Characteristics of evidence by {words}", heads, rows))
    return tables


def beside_tables(result: dict) -> list[Table]:
    found = result["beside"]
    titles = list(dict.fromkeys(one["title"] for data in found for one in data["characteristics"]))
    rows = []
    for title in titles:
        for data in found:
            cell = next((one for one in data["characteristics"] if one["title"] == title), None)
            measured = (*_mean(cell), cell["n_undefined"]) if cell else ("not measured", None, None, None, 0, None)
            rows.append((title, data["title"], *measured))
    columns = ("Characteristic", "Data", *intervals("Mean"), "SD", "Pairs", "Undefined")
    note = "; ".join(f"{data['title']}: {data['n_pairs']:,} pairs, {data['n_claims']:,} claims" for data in found)
    return [Table("Characteristics of several data sets side by side (figure 2)", columns, rows, note=f"{note}.")]


def _mean(cell: dict) -> tuple[Cell, ...]:
    return *estimate(cell), cell["sd"], cell["n"]


def usage_tables(result: dict) -> list[Table]:
    found = result["usage"]
    if not found:
        return []
    titles = stance_titles(result)
    changes = ("dP(False)", "dP(None)", "dP(True)")
    means, signed = [], []
    for model in found["models"]:
        for row in model["stances"]:
            name = titles[row["stance"]]
            pairs = Linked(row["acu_mean"]["n"], f"usage/{model['model']}/{row['stance']}")
            undefined = row["acu_mean"]["n_undefined"]
            of_mean, of_sum = row["acu_mean"], row["acu_sum"]
            means.append(
                (model["model"], name, *estimate(of_mean), of_mean["sd"], *estimate(of_sum), of_sum["sd"])
                + (pairs, undefined)
            )
            cells = sum(((*estimate(row[key]), row[key]["sd"]) for key in ("dp_false", "dp_none", "dp_true")), ())
            signed.append((model["model"], name, _signs(row["desired"]), *cells, of_sum["estimate"], pairs))
    undefined = [
        (model["model"], row["reason"], Linked(row["n"], f"undefined/{model['model']}/{place}"))
        for model in found["models"]
        for place, row in enumerate(model["undefined"])
    ]
    return [
        Table(
            "Accumulated context usage by stance (table 11, figure 3)",
            ("Model", "Stance", *intervals("acu_mean"), "acu_mean, SD", *intervals("acu_sum"), "acu_sum, SD")
            + ("Pairs", "Undefined"),
            means,
            note="acu_mean is the mean of three signed changes (-1 to 1), as the paper defines it; acu_sum is their "
            "sum (-3 to 3), as its tables print it. Below 0 a model moves away from what the evidence says.",
        ),
        Table(
            "Difference of context usage between models, on the same pairs",
            ("Model", "minus", "Stance", *intervals("acu_mean", "acu_sum"), "Pairs"),
            [
                (one["a"], one["b"], titles[row["stance"]], *estimate(row["acu_mean"]), *estimate(row["acu_sum"]))
                + (row["acu_mean"]["n"],)
                for one in found["differences"]
                for row in one["rows"]
            ],
        ),
        Table(
            "Change of probabilities when evidence is given, by stance (table 22)",
            ("Model", "Stance", "Desired: False, None, True")
            + sum(((*intervals(name), f"{name}, SD") for name in changes), ())
            + ("acu_sum", "Pairs"),
            signed,
        ),
        *_shifts(result, titles),
        Table("Pairs without context usage", ("Model", "Reason", "Pairs"), undefined),
    ]


def _shifts(result: dict, titles: dict[str, str]) -> list[Table]:
    answers = sum(((name, f"{name}, change") for name in ANSWERS), ())
    rows, paper = [], []
    for model in result["usage"]["models"]:
        name, of_stance = model["model"], {row["stance"]: row for row in model["stances"]}
        for row in model["shifts"]["rows"]:
            counts = [
                cell
                for answer, after, change in zip(ANSWERS, row["after"], row["change"], strict=True)
                for cell in (Linked(after, f"answer/{name}/{row['stance']}/{answer.lower()}"), change)
            ]
            found = of_stance[row["stance"]]
            decided = row["stance"] in ("refutes", "supports")
            conflicts = row["memory_conflicts"]
            rows.append(
                (name, titles[row["stance"]], _signs(row["desired"]), row["n"], *counts, row["desired_moves"])
                + estimate(found["desired_move"])
                + (Linked(conflicts, f"conflict/{name}/{row['stance']}") if decided else conflicts,)
                + estimate(found["memory_conflict"])
            )
        for row in model["shifts"]["paper"]:
            pairs = zip(row["after"], row["change"], strict=True)
            share = row["memory_conflicts"] / row["n"] if row["n"] else None
            paper.append(
                (name, ", ".join(titles[one] for one in row["stances"]), row["n"], *sum(pairs, ()))
                + (row["desired_moves"], share)
            )
    return [
        Table(
            "Answers with evidence, and the change against none, by stance (table 21)",
            ("Model", "Stance", "Desired: False, None, True", "Pairs", *answers, "Desired moves")
            + intervals("per pair")
            + ("Memory conflicts", *intervals("Share")),
            rows,
            note="The answer is the most probable one. Desired moves: changes towards desired answers minus changes "
            "towards others. In a memory conflict the answer without evidence is decided and the evidence opposes it.",
        ),
        Table(
            "The same in the three rows of the paper's table 21",
            ("Model", "Evidence", "Pairs", *answers, "Desired moves", "Memory conflicts, share"),
            paper,
            note="The middle row leaves out evidence that leans in favour, as the paper's does.",
        ),
    ]


def _signs(desired: list[int] | None) -> str:
    return " ".join(SIGNS[sign] for sign in desired) if desired else ""


def correlation_tables(result: dict) -> list[Table]:
    titles = stance_titles(result)
    columns = ("Stance", "Characteristic", "Pairs", "Claims")
    for name in ("Spearman", "Pearson"):
        tests = ("p", "p by Holm", "p by Benjamini-Hochberg", "p with pairs as independent")
        columns += (*intervals(name), *(f"{name}, {one}" for one in tests))
    return [
        Table(
            f"Correlation of characteristics with context usage, {found['model']} (figure 4)",
            columns,
            [
                (titles[row["stance"]], row["feature"], row["n"], row["n_clusters"])
                + _correlation(row["spearman"])
                + _correlation(row["pearson"])
                for row in found["rows"]
            ],
            note=f"Corrected for {found['n_tests']['spearman']} tests.",
        )
        for found in result["correlations"]
    ]


def _correlation(cell: dict) -> tuple[Cell, ...]:
    p_value = cell["p_value"] if not cell["no_p_value"] else f"undefined: {cell['no_p_value']}"
    return *estimate(cell), p_value, cell["p_holm"], cell["p_bh"], cell["p_units"]
