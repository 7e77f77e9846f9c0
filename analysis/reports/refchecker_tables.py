"""The RefChecker report as tables, pictures and sentences."""

from __future__ import annotations

from analysis.pictures import Axis, Interval, Intervals, Picture
from analysis.reports.people_tables import estimate, intervals
from analysis.reports.tabular import Cell, Linked, Table
from annotation.task_types import TaskType

LEVEL = ("accuracy", "factual_f1", "non_factual_f1", "pearson", "spearman", "strict_accuracy", "strict_macro_f1")
LEVEL_TITLES = ("Accuracy", "Factual F1", "Non-factual F1", "Pearson", "Spearman", "Strict accuracy", "Strict macro-F1")
MEAN = "mean of models"
MEAN_OF_SETTINGS = "mean of settings"
FROM = {"memory": "From memory, against the reference", "context": "From the reference", "neither": "From neither"}


def body(result: dict) -> list[Table | Picture]:
    return [
        *_rates(result),
        *_pieces(result),
        *_answers(result),
        *_rankings(result),
        *_granularity(result),
        *_copying(result),
        *_knowledge(result),
        *_masked(result),
    ]


def _titles(result: dict) -> list[str]:
    return [label["title"] for label in result["labels"]]


def _linked(figure: dict, key: str) -> tuple[Cell, ...]:
    value, low, high = estimate(figure)
    return _link(value, key), low, high


def _link(value: Cell, key: str) -> Cell:
    """There are items behind a number above 0 only."""
    return Linked(value, key) if isinstance(value, int | float) and value else value


def _rates(result: dict) -> list[Table | Picture]:
    parts: list[Table | Picture] = []
    labels = [label["label"] for label in result["labels"]]
    for one in result["rates"]:
        setting = one["setting"]
        for rule in one["rules"]:
            is_soft = rule["rule"] == "soft"
            columns = ("Model", "Answers that count", *intervals(*_titles(result)))
            rows: list[tuple[Cell, ...]] = []
            for place, row in enumerate(rule["models"]):
                cells = [
                    _linked(row["shares"][label], f"people/{label}/{setting}/{row['model']}")
                    if is_soft
                    else estimate(row["shares"][label])
                    for label in labels
                ]
                n = row["shares"][labels[0]]["n_pairable"]
                silent = estimate(one["abstained"]["models"][place]) if is_soft else ()
                rows.append((row["model"], n, *sum(cells, ()), *silent))
            silent = estimate(one["abstained"]["mean"]) if is_soft else ()
            mean = sum((estimate(rule["mean"][label]) for label in labels), ())
            rows.append((MEAN, rule["n_counted"], *mean, *silent))
            words = f"{one['n_responses']:,} answers, {_abstained(one, 'abstained')}"
            parts.append(
                Table(
                    f"{setting}: label rates of models, {result['rules'][rule['rule']]}",
                    columns + (intervals("Abstained") if is_soft else ()),
                    rows,
                    f"{words}, {rule['n_not_counted']:,} without enough labels.",
                )
            )
            if is_soft:
                parts.append(_rates_picture(result, one, rule, len(parts)))
    return parts


def _abstained(one: dict, words: str) -> str:
    """How many answers abstained, where a selection left them among the answers."""
    return "those that abstained left out" if one["n_abstained"] is None else f"{one['n_abstained']:,} {words}"


def _rates_picture(result: dict, one: dict, rule: dict, place: int) -> Picture:
    items = tuple(
        Interval(
            row=row["model"],
            value=row["shares"][label["label"]]["estimate"],
            low=row["shares"][label["label"]]["low"],
            high=row["shares"][label["label"]]["high"],
            n=row["shares"][label["label"]]["n_pairable"],
            series=label["title"],
            undefined=row["shares"][label["label"]]["undefined"],
            figure=f"people/{label['label']}/{one['setting']}/{row['model']}",
        )
        for row in rule["models"]
        for label in result["labels"]
    )
    words = ", ".join(
        f"{row['model']} {row['shares'][result['labels'][-1]['label']]['estimate'] or 0:.1%}" for row in rule["models"]
    )
    return Intervals(
        name=f"label-rates-{place}",
        title=f"Label rates of models, {one['setting']}",
        caption=(
            f"Mean over each model's answers of the share of {result['unit_words']} with each label, "
            f"{result['project']}, {one['setting']}, {rule['n_counted']:,} answers; 95 % bootstrap intervals over "
            "questions."
        ),
        alt=f"{result['labels'][-1]['title']} rate by model: {words}.",
        items=items,
        values=Axis("Share", 0, 1),
        rows_title="Model",
        series_title="Label",
    )


def _pieces(result: dict) -> list[Table]:
    if not result["checkers"]:
        return []
    columns = ("Checker", "Setting", "By both", "By people", "All labels", "Untouched labels")
    rows: list[tuple[Cell, ...]] = []
    confusions = []
    for one in result["checkers"]:
        counts = one["n_labels_all"], one["n_labels_untouched"]
        for found in one["pieces"]["settings"]:
            figures = estimate(found["accuracy"]) + estimate(found["macro_f1"])
            rows.append(
                (one["title"], found["setting"], found["accuracy"]["n_pairable"], found["n_people"], *counts, *figures)
            )
            confusions.append(_confusion(result, one, found))
        if mean := one["pieces"]["mean"]:
            figures = estimate(mean["accuracy"]) + estimate(mean["macro_f1"])
            rows.append((one["title"], MEAN_OF_SETTINGS, mean["accuracy"]["n_pairable"], None, *counts, *figures))
    title = f"Checkers against people, {result['unit_words']}"
    return [Table(title, columns + intervals("Accuracy", "Macro-F1"), rows), *confusions]


def _confusion(result: dict, one: dict, found: dict) -> Table:
    names = [(label["label"], label["title"]) for label in result["labels"]]
    rows = [
        (
            title,
            *(
                _link(n, f"cell/{label}/{said}/{one['run']}/{found['setting']}")
                for n, (said, _) in zip(counts, names, strict=True)
            ),
        )
        for counts, (label, title) in zip(found["confusion"], names, strict=True)
    ]
    columns = ("People", *(f"{title} by the checker" for _, title in names))
    return Table(f"{found['setting']}: what people and {one['title']} say of {result['unit_words']}", columns, rows)


def _answers(result: dict) -> list[Table]:
    if not result["checkers"]:
        return []
    columns = ("Checker", "Answers", "Factual by people", "Factual by the checker", *intervals(*LEVEL_TITLES))
    left_out = f" Left out: {', '.join(result['without'])}." if result["without"] else ""
    tables = []
    for place, one in enumerate(result["checkers"][0]["answers"]):
        rows = []
        for checker in result["checkers"]:
            found = checker["answers"][place]
            figures = sum((estimate(found[name]) for name in LEVEL), ())
            rows.append((checker["title"], found["n"], found["n_factual"], found["n_predicted_factual"], *figures))
        tables.append(
            Table(
                f"{one['setting']}: checkers against people, answers",
                columns,
                rows,
                f"Of {one['n_responses']:,} answers, {_abstained(one, 'of them without ' + result['unit_words'])}. "
                f"Factual: all {result['unit_words']} are {result['labels'][0]['title'].lower()}. Correlations are of "
                f"the shares that are not. Strict: an answer has the worst label among its pieces.{left_out}",
            )
        )
    return tables


def _rankings(result: dict) -> list[Table]:
    if not result["checkers"]:
        return []
    columns = ("Checker", "Setting", "Models ranked by rate of", "Models", *intervals("Spearman"))
    columns += ("low, other models too", "high, other models too", "p (permutation)", "p (Holm)")
    rows: list[tuple[Cell, ...]] = []
    for one in result["checkers"]:
        for found in one["rankings"]["settings"]:
            for of in found["labels"]:
                both = of["by_both"]["low"], of["by_both"]["high"]
                about = one["title"], found["setting"], of["title"], of["n_models"]
                rows.append((*about, *estimate(of["by_item"]), *both, of["p_value"], of["p_holm"]))
        mean = one["rankings"]["mean"]
        for label in result["labels"] if mean else ():
            about = one["title"], MEAN_OF_SETTINGS, label["title"], None
            rows.append((*about, *estimate(mean[label["label"]]), None, None, None, None))
    note = (
        "System level. Intervals draw questions; those for other models too draw models and questions. Every order of "
        "up to seven models is tried for p; Holm's adjustment is over all tests of this table."
    )
    tables = [Table("Do checkers rank models as people do?", columns, rows, note)]
    worst = result["labels"][-1]
    for place, setting in enumerate(one["setting"] for one in result["checkers"][0]["rankings"]["settings"]):
        rows = [
            (one["title"], row["model"], row["n"])
            + tuple(row[worst["label"]][name] for name in ("people", "people_rank", "checker", "checker_rank"))
            for one in result["checkers"]
            for row in one["rankings"]["settings"][place]["models"]
        ]
        columns = ("Checker", "Model", "Answers", "By people", "Rank", "By the checker", "Rank by the checker")
        tables.append(Table(f"{setting}: models by {worst['title'].lower()} rate, the lowest first", columns, rows))
    return tables


def _granularity(result: dict) -> list[Table]:
    if not result["granularity"]:
        return []
    columns = ("Pieces", "Checker", "Setting", "Answers", *intervals("Accuracy", "Macro-F1"))
    rows = []
    for one in result["granularity"]:
        parts = [(found["setting"], found) for found in one["settings"]]
        parts += [(MEAN_OF_SETTINGS, one["mean"])] if one["mean"] else []
        for setting, found in parts:
            figures = estimate(found["accuracy"]) + estimate(found["macro_f1"])
            rows.append((one["pieces"], one["checker"], setting, found["macro_f1"]["n_pairable"], *figures))
    note = f"An answer has the worst label among its pieces. People's are from {result['unit_words']}."
    return [Table("Granularity: answers by the worst label among their pieces", columns, rows, note)]


def _copying(result: dict) -> list[Table]:
    if result["copying"] is None:
        return []
    tables = []
    for one in result["copying"]["settings"]:
        rows: list[tuple[Cell, ...]] = []
        for label in one["labels"]:
            rows.append((label["title"], "all", label["all"]["n_pairable"], *estimate(label["all"])))
            rows += [
                (label["title"], row["model"], row["rate"]["n_pairable"], *estimate(row["rate"]))
                for row in label["models"]
            ]
        value, low, high = estimate(one["spearman"])
        said = value if isinstance(value, str) else f"{value:.3f}"
        if low is not None:
            said += f" [{low:.3f}, {high:.3f}]"
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


def _knowledge(result: dict) -> list[Table]:
    tables = []
    for one in result["knowledge"]:
        counts = [f"{knows}, {label['title']}" for knows in ("yes", "no", "unsure") for label in result["labels"][::-1]]
        rows = [
            (row["setting"], row["model"], row["n"])
            + sum((estimate(row[kind]) for kind in FROM), ())
            + sum((tuple(row["counts"][knows]) for knows in ("yes", "no", "unsure")), ())
            for row in one["rows"]
        ]
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


def _masked(result: dict) -> list[Table]:
    columns = ("Setting", "Answers of", "n", "Nothing masked", *intervals(*_titles(result)))
    return [
        Table(
            f"What {one['title']} says where the reference does not tell",
            columns,
            [
                (row["setting"], row["model"], row["n"], row["n_without"])
                + sum((estimate(share) for share in row["shares"]), ())
                for row in one["rows"]
            ],
            "With a triplet's subject or object masked in the passages, what is not neutral comes from what the "
            "checker remembers, or from what the mask left standing in other words.",
        )
        for one in result["masked"]
    ]


def methods(result: dict) -> str:
    labels = _titles(result)
    words = result["unit_words"]
    abstain = "" if result.get("abstained_unknown") else "its abstain rate is the share of answers without any; "
    sentences = [
        f"{result['n_responses']:,} answers were judged by {result['n_units']:,} {words} "
        f"({result['reference_title'].lower()}); {result['n_bad']:,} bad {words} were left out.",
        f"A model's rate of a label is the mean, over its answers that have labels, of the label's share among the "
        f"answer's {words}; {abstain}means over models are unweighted.",
        "Under the strict rule an answer has the worst label among its pieces "
        f"({' before '.join(label.lower() for label in labels[::-1])}); under the major rule the most frequent one, "
        + ("of tied ones the worst." if result["major_ties"] == "worst" else "and none where several tie."),
    ]
    if result["checkers"]:
        touched = "all labels" if result["touched"] else "labels that the checker had not touched"
        left_out = f", without {', '.join(result['without'])}" if result["without"] else ""
        sentences += [
            f"Checkers were compared with people on {touched}, by accuracy and macro-F1 over {words} and, over answers"
            f"{left_out}, by accuracy and F1 of factual answers (all {words} {labels[0].lower()}) and of the others, "
            f"and by Pearson's and Spearman's correlation of the shares of {words} that are not {labels[0].lower()}.",
            "Rankings of models were compared by Spearman's correlation of mean rates (system level), with permutation "
            "tests over the models, adjusted by Holm's method.",
        ]
    sentences.append("Intervals are 95 % bootstrap intervals that resample questions.")
    if result["copying"]:
        sentences.append(
            f"The copy rate is the share of 1- to 4-grams of lower-cased words of each of the {words} that occur in a "
            "passage, averaged over the lengths; its correlation with the label was tested by permuting whole "
            "questions, corrected over settings by Holm's method."
        )
    return " ".join(sentences)


def in_words(kind: TaskType, figure: str) -> str:
    """What the items behind a figure are."""
    of, rest = figure.split("/", 1)
    dimension = next(one for one in kind.dimensions if one.role == "entailment")
    words = kind.units_title.lower()
    if of == "people":
        label, setting, model = rest.split("/", 2)
        return f"{words} that people judge {dimension.label(label).title.lower()}, of {model} ({setting})"
    said, found, _, setting = rest.split("/", 3)
    return (
        f"{words} that people judge {dimension.label(said).title.lower()} and the checker "
        f"{dimension.label(found).title.lower()} ({setting})"
    )
