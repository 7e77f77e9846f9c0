"""The tables of the report on DRUID's analyses, from its plain data alone."""

from __future__ import annotations

from analysis.reports.behind_sets import key, opens
from analysis.reports.druid_data import SHOWN_SOURCES
from analysis.reports.intervals import estimate, intervals
from analysis.reports.numbers import n_of
from analysis.reports.tabular import Cell, Linked, Table
from analysis.sources.splits import as_heading, in_words, split_in

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
                Linked(row["source"] or "all", row["figure"]),
                *(Linked(row[name], row["figure"]) for name in ("n_claims", "n_pairs")),
                opens(row["n_gold"], row["gold"]),
                row["n_pairs"] / row["n_claims"] if row["n_claims"] else None,
                *sum((_estimate(one, one["figure"]) for one in row["alpha"]), ()),
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
                Linked(row["source"] or "all", row["figure"]),
                Linked(row["n_claims"], row["figure"]),
                opens(row["n_claims_with_both"], row["with_both"]),
                Linked(row["conflicts"]["n"], key("conflicts", row["source"])),
                *_estimate(row["conflicts"], row["with_both"]),
            )
            for row in found["sources"]
        ],
        note="In conflict: one piece of evidence supports the claim and another refutes it. The share is of claims of "
        "which at least two pieces of evidence have a stance.",
    )
    verdicts = Table(
        "Claims by verdict",
        ("Verdict", "Claims"),
        [
            (row["verdict"] or "none", Linked(row["n_claims"], key("verdict", row["verdict"])))
            for row in found["verdicts"]
        ],
        note=f"{found['n_verdicts_not_listed']} further verdicts." if found["n_verdicts_not_listed"] else "",
    )
    return [sources, verdicts, conflicts, *(_labels(result, one) for one in found["dimensions"])]


def _labels(result: dict, dimension: dict) -> Table:
    names = [row["source"] for row in result["content"]["sources"] if row["source"]]
    names = names[:SHOWN_SOURCES] if len(names) > 1 else []
    slug = dimension["dimension"]
    rows: list[tuple[Cell, ...]] = [
        (row["title"], Linked(row["n"], key("label", slug, row["label"])), *estimate(row["share"]))
        + tuple(map(opens, row["by_source"][: len(names)], row["figures"]))
        for row in dimension["labels"]
    ]
    rows += [
        (f"no label: {row['title']}", Linked(row["n"], key("label", slug, row["reason"])), *[None] * (3 + len(names)))
        for row in dimension["without"]
    ]
    title = f"{dimension['title']} of evidence (tables 8 and 9)"
    note = f"{result['reference_title']}. Shares are of the pairs that have a label."
    return Table(title, ("Label", "Pairs", *intervals("Share"), *names), rows, note)


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
                (one["title"], *_mean(cell), _undefined(cell), one["checker"])
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
            + (*_mean(row["cells"][place]), _undefined(row["cells"][place]))
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
            measured = (*_mean(cell), _undefined(cell)) if cell else ("not measured", None, None, None, 0, None)
            rows.append((title, data["title"], *measured))
    columns = ("Characteristic", "Data", *intervals("Mean"), "SD", "Pairs", "Undefined")
    note = "; ".join(
        f"{data['title']}: {n_of(data['n_pairs'], 'pairs')}, {n_of(data['n_claims'], 'claims')}" for data in found
    )
    return [Table("Characteristics of several data sets side by side (figure 2)", columns, rows, note=f"{note}.")]


def _mean(cell: dict) -> tuple[Cell, ...]:
    """Only pairs of this project can be opened: cells of the data sets beside it have no key."""
    figure = cell.get("figure", "")
    return *_estimate(cell, figure), opens(cell["sd"], figure), opens(cell["n"], figure)


def _undefined(cell: dict) -> Cell:
    return opens(cell["n_undefined"], cell.get("without", ""))


def _estimate(cell: dict, figure: str) -> tuple[Cell, Cell, Cell]:
    """An estimate that opens what it was computed from, with its interval."""
    value, low, high = estimate(cell)
    return opens(value, figure), low, high


def _with_sd(cell: dict) -> tuple[Cell, ...]:
    return *_estimate(cell, cell["figure"]), opens(cell["sd"], cell["figure"])


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
            pairs = Linked(row["acu_mean"]["n"], key("usage", model["model"], row["stance"]))
            undefined = opens(row["acu_mean"]["n_undefined"], row["without"])
            of_sum = row["acu_sum"]
            means.append((model["model"], name, *_with_sd(row["acu_mean"]), *_with_sd(of_sum), pairs, undefined))
            cells = sum((_with_sd(row[change]) for change in ("dp_false", "dp_none", "dp_true")), ())
            mean = opens(of_sum["estimate"], of_sum["figure"])
            signed.append((model["model"], name, _signs(row["desired"]), *cells, mean, pairs))
    undefined = [
        (model["model"], row["reason"], Linked(row["n"], key("undefined", model["model"], str(place))))
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
                (one["a"], one["b"], titles[row["stance"]])
                + sum((_estimate(row[name], row["figure"]) for name in ("acu_mean", "acu_sum")), ())
                + (opens(row["acu_mean"]["n"], row["figure"]),)
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
            found, figures = of_stance[row["stance"]], row["figures"]
            rows.append(
                (name, titles[row["stance"]], _signs(row["desired"]), opens(row["n"], figures["all"]))
                + _answers(row)
                + (opens(row["desired_moves"], figures["moves"]),)
                + _estimate(found["desired_move"], found["desired_move"]["figure"])
                + (opens(row["memory_conflicts"], figures["conflict"]),)
                + _estimate(found["memory_conflict"], found["memory_conflict"]["figure"])
            )
        for row in model["shifts"]["paper"]:
            figures = row["figures"]
            paper.append(
                (name, ", ".join(titles[one] for one in row["stances"]), opens(row["n"], figures["all"]))
                + _answers(row)
                + (opens(row["desired_moves"], figures["moves"]),)
                + _estimate(row["memory_conflict"], figures["conflict"])
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
            ("Model", "Evidence", "Pairs", *answers, "Desired moves", *intervals("Memory conflicts, share")),
            paper,
            note="The middle row leaves out evidence that leans in favour, as the paper's does; its evidence is not "
            "decided, so that it opposes nothing.",
        ),
    ]


def _answers(row: dict) -> tuple[Cell, ...]:
    """For each answer how many pairs have it with the evidence, and how many more than without it."""
    counts = zip(row["after"], row["figures"]["after"], row["change"], row["figures"]["change"], strict=True)
    return tuple(cell for n, with_it, change, moved in counts for cell in (Linked(n, with_it), opens(change, moved)))


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
                (titles[row["stance"]], row["feature"])
                + tuple(opens(row[name], row["figure"]) for name in ("n", "n_clusters"))
                + _correlation(row["spearman"], row["figure"])
                + _correlation(row["pearson"], row["figure"])
                for row in found["rows"]
            ],
            note=f"Corrected for {n_of(found['n_tests']['spearman'], 'tests')}.",
        )
        for found in result["correlations"]
    ]


def _correlation(cell: dict, figure: str) -> tuple[Cell, ...]:
    p_value = cell["p_value"] if not cell["no_p_value"] else f"undefined: {cell['no_p_value']}"
    return *_estimate(cell, figure), p_value, cell["p_holm"], cell["p_bh"], cell["p_units"]
