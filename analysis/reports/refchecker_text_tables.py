"""Tables of what texts and models' own knowledge have to do with labels."""

from __future__ import annotations

from analysis.reports.intervals import estimate, intervals
from analysis.reports.refchecker_cells import count, over, share
from analysis.reports.tabular import Cell, Table

FROM_LABEL = {"memory": 0, "context": 0, "neither": -1}  # the best or the worst label, which tells them apart
FROM = {"memory": "From memory, against the reference", "context": "From the reference", "neither": "From neither"}


def copying(result: dict) -> list[Table]:
    if result["copying"] is None:
        return []
    tables = []
    for one in result["copying"]["settings"]:
        rows: list[tuple[Cell, ...]] = []
        for label in one["labels"]:
            of = "copied", label["label"], one["setting"]
            parts = [("all", label["all"], of)]
            parts += [(row["model"], row["rate"], (*of, row["model"])) for row in label["models"]]
            rows += [
                (label["title"], name, count(rate["n_pairable"], *parts_of), *over(rate, *parts_of))
                for name, rate, parts_of in parts
            ]
        found = one["spearman"]
        value, *_ = estimate(found)
        said = value if isinstance(value, str) else f"{value:.3f}"
        if found["low"] is not None:
            said += f" [{found['low']:.3f}, {found['high']:.3f}]"
            said += f" ({found['interval']['note']})" if found["interval"]["note"] else ""
        if one["test"] and one["test"]["p_value"] is not None:
            said += f", p = {one['test']['p_value']:.3f} (permutation), {one['test']['p_holm']:.3f} after Holm"
        tables.append(
            Table(
                f"{one['setting']}: how much of {result['unit_words']} is copied from the passages",
                ("Label", "Model", "n", *intervals("Copy rate")),
                rows,
                f"Spearman's correlation of copy rate and how bad the label is (segment level): {said}. In a setting "
                "without context the model did not see the passages.",
            )
        )
    return tables


def knowledge(result: dict) -> list[Table]:
    tables = []
    for one in result["knowledge"]:
        counts = [f"{knows}, {label['title']}" for knows in ("yes", "no", "unsure") for label in result["labels"][::-1]]
        rows = [_known(result, one["run"], row) for row in one["rows"]]
        tables.append(
            Table(
                f"What {one['asked']} knows, by what people say of {result['unit_words']}",
                ("Setting", "Answers of", "n", *intervals(*FROM.values()), *counts),
                rows,
                f"It was asked about the {result['unit_words']} alone. Only the rows of its own answers tell where "
                "these come from.",
            )
        )
    return tables


def _known(result: dict, run: str, row: dict) -> tuple[Cell, ...]:
    of, where = ("memory", run), (row["setting"], row["model"])
    labels = [label["label"] for label in result["labels"]]
    return (
        *where,
        count(row["n"], *of, "asked", *where),
        *sum((share(row[kind], *of, kind, labels[place], *where) for kind, place in FROM_LABEL.items()), ()),
        *(
            count(n, *of, knows, label, *where)
            for knows in ("yes", "no", "unsure")
            for n, label in zip(row["counts"][knows], labels[::-1], strict=True)
        ),
    )


def masked(result: dict) -> list[Table]:
    titles = (label["title"] for label in result["labels"])
    columns = ("Setting", "Answers of", "n", "Nothing masked", *intervals(*titles))
    return [
        Table(
            f"What {one['title']} says where the reference does not tell",
            columns,
            [
                (*where, count(row["n"], "masked", one["run"], *where))
                + (count(row["n_without"], "unmasked", one["run"], *where),)
                + sum(
                    (
                        share(found, "masked", one["run"], label["label"], *where)
                        for found, label in zip(row["shares"], result["labels"], strict=True)
                    ),
                    (),
                )
                for row in one["rows"]
                for where in ((row["setting"], row["model"]),)
            ],
            "With a triplet's subject or object masked in the passages, what is not neutral comes from what the "
            "checker remembers, or from what the mask left standing in other words.",
        )
        for one in result["masked"]
    ]
