"""The RefChecker report as tables, pictures and sentences."""

from __future__ import annotations

from analysis.pictures import Axis, Interval, Intervals, Picture
from analysis.reports.intervals import estimate, intervals
from analysis.reports.numbers import either, n_of
from analysis.reports.refchecker_behind import key
from analysis.reports.refchecker_cells import count, over, share
from analysis.reports.refchecker_text_tables import copying, knowledge, masked
from analysis.reports.tabular import Cell, Table

# Figures over answers, and the answers from which an F1 is computed: those of its class by either side.
LEVEL = {
    "Accuracy": ("accuracy", ""),
    "Factual F1": ("factual_f1", "either"),
    "Non-factual F1": ("non_factual_f1", "not"),
    "Pearson": ("pearson", ""),
    "Spearman": ("spearman", ""),
    "Strict accuracy": ("strict_accuracy", ""),
    "Strict macro-F1": ("strict_macro_f1", ""),
}
MEAN = "mean of models"
MEAN_OF_SETTINGS = "mean of settings"


def body(result: dict) -> list[Table | Picture]:
    return [
        *_rates(result),
        *_pieces(result),
        *_answers(result),
        *_rankings(result),
        *_granularity(result),
        *copying(result),
        *knowledge(result),
        *masked(result),
    ]


def _titles(result: dict) -> list[str]:
    return [label["title"] for label in result["labels"]]


def _rates(result: dict) -> list[Table | Picture]:
    parts: list[Table | Picture] = []
    labels = [label["label"] for label in result["labels"]]
    for one in result["rates"]:
        setting = one["setting"]
        for rule in one["rules"]:
            is_soft = rule["rule"] == "soft"
            of = "people" if is_soft else rule["rule"]
            columns = ("Model", "Answers that count", *intervals(*_titles(result)))
            rows: list[tuple[Cell, ...]] = []
            for place, row in enumerate(rule["models"]):
                where = setting, row["model"]
                cells = (share(row["shares"][label], of, label, *where) for label in labels)
                n = count(row["shares"][labels[0]]["n_pairable"], "counted", rule["rule"], *where)
                silent = share(one["abstained"]["models"][place], "abstained", *where) if is_soft else ()
                rows.append((row["model"], n, *sum(cells, ()), *silent))
            silent = share(one["abstained"]["mean"], "abstained", setting) if is_soft else ()
            mean = sum((share(rule["mean"][label], of, label, setting) for label in labels), ())
            rows.append((MEAN, count(rule["n_counted"], "counted", rule["rule"], setting), *mean, *silent))
            words = f"{n_of(one['n_responses'], 'answers')}, {_abstained(one, 'abstained')}"
            parts.append(
                Table(
                    f"{setting}: label rates of models, {result['rules'][rule['rule']]}",
                    columns + (intervals("Abstained") if is_soft else ()),
                    rows,
                    f"{words}, {rule['n_not_counted']:,} without enough labels.",
                )
            )
            if is_soft and rule["n_counted"]:
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
            figure=key("people", label["label"], one["setting"], row["model"])
            if row["shares"][label["label"]]["estimate"]
            else "",
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
            f"{result['project']}, {one['setting']}, {n_of(rule['n_counted'], 'answers')}; 95 % bootstrap intervals "
            "over questions."
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
    columns = ("Checker", "Setting", "By both", "Differ", "By people", "All labels", "Untouched labels")
    rows: list[tuple[Cell, ...]] = []
    confusions = []
    for one in result["checkers"]:
        settings = one["pieces"]["settings"]
        parts = [((found["setting"],), found) for found in settings]
        if mean := one["pieces"]["mean"]:
            sums = {name: sum(found[name] for found in settings) for name in ("n_people", "n_differ")}
            parts.append(((), mean | sums))
        for where, found in parts:
            rows.append((one["title"], *(where or (MEAN_OF_SETTINGS,)), *_of_pieces(one, found, where)))
        confusions += [_confusion(result, one, found) for found in settings]
    title = f"Checkers against people, {result['unit_words']}"
    return [Table(title, columns + intervals("Accuracy", "Macro-F1"), rows), *confusions]


def _of_pieces(one: dict, found: dict, where: tuple[str, ...]) -> tuple[Cell, ...]:
    of = "checker", one["run"]
    return (
        count(found["accuracy"]["n_pairable"], *of, "both", *where),
        count(found["n_differ"], *of, "differ", *where),
        count(found["n_people"], *of, "people", *where),
        count(one["n_labels_all"], "labelled"),
        count(one["n_labels_untouched"], *of, "untouched"),
        *over(found["accuracy"], *of, "both", *where),
        *over(found["macro_f1"], *of, "both", *where),
    )


def _confusion(result: dict, one: dict, found: dict) -> Table:
    names = [(label["label"], label["title"]) for label in result["labels"]]
    rows = [
        (
            title,
            *(
                count(n, "checker", one["run"], "cell", label, said, found["setting"])
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
    columns = ("Checker", "Answers", "Factual by people", "Factual by the checker", "Factual by one only")
    columns += ("Other worst label", *intervals(*LEVEL))
    left_out = f" Left out: {', '.join(result['without'])}." if result["without"] else ""
    tables = []
    for place, one in enumerate(result["checkers"][0]["answers"]):
        rows = []
        for checker in result["checkers"]:
            found = checker["answers"][place]
            rows.append((checker["title"], *_of_answers(checker["run"], found, result["labels"][0]["label"])))
        tables.append(
            Table(
                f"{one['setting']}: checkers against people, answers",
                columns,
                rows,
                f"Of {n_of(one['n_responses'], 'answers')}, "
                f"{_abstained(one, 'of them without ' + result['unit_words'])}. "
                f"Factual: all {result['unit_words']} are {result['labels'][0]['title'].lower()}. Correlations are of "
                f"the shares that are not. Strict: an answer has the worst label among its pieces.{left_out}",
            )
        )
    return tables


def _of_answers(run: str, found: dict, best: str) -> tuple[Cell, ...]:
    of, setting = ("checker", run), found["setting"]

    def factual(n: int, side: str) -> Cell:
        return count(n, *of, "factual", side, best, setting)

    figures = []
    for name, side in LEVEL.values():
        value, *ends = over(found[name], *of, *(("factual", side, best) if side else ("compared",)), setting)
        figures += [value, *ends] if not side or found[name]["estimate"] is not None else estimate(found[name])
    return (
        count(found["n"], *of, "compared", setting),
        factual(found["n_factual"], "people"),
        factual(found["n_predicted_factual"], "checker"),
        factual(found["n_differ"], "differ"),
        count(found["n_strict_differ"], *of, "otherwise", setting),
        *figures,
    )


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
                value = over(of["by_item"], "checker", one["run"], "ranked", found["setting"])
                rows.append((*about, *value, *both, of["p_value"], of["p_holm"]))
        mean = one["rankings"]["mean"]
        for label in result["labels"] if mean else ():
            about = one["title"], MEAN_OF_SETTINGS, label["title"], None
            value = over(mean[label["label"]], "checker", one["run"], "ranked")
            rows.append((*about, *value, None, None, None, None))
    note = (
        "System level. Intervals draw questions; those for other models too draw models and questions. Every order of "
        "up to seven models is tried for p; Holm's adjustment is over all tests of this table."
    )
    tables = [Table("Do checkers rank models as people do?", columns, rows, note)]
    worst = result["labels"][-1]
    for place, setting in enumerate(one["setting"] for one in result["checkers"][0]["rankings"]["settings"]):
        rows = [
            (one["title"], row["model"], *_ranked(one["run"], row, worst["label"], setting))
            for one in result["checkers"]
            for row in one["rankings"]["settings"][place]["models"]
        ]
        columns = ("Checker", "Model", "Answers", *intervals("By people"), "Rank", *intervals("By the checker"))
        columns += ("Rank by the checker",)
        title = f"{setting}: models by {worst['title'].lower()} rate, the lowest first"
        tables.append(Table(title, columns, rows, "A rate that is the same in all resamples has no interval."))
    return tables


def _ranked(run: str, row: dict, worst: str, setting: str) -> tuple[Cell, ...]:
    of, where, found = ("checker", run), (setting, row["model"]), row[worst]
    return (
        count(row["n"], *of, "ranked", *where),
        *share(found["people"], *of, "rated", "people", worst, *where),
        found["people_rank"],
        *share(found["checker"], *of, "rated", "checker", worst, *where),
        found["checker_rank"],
    )


def _granularity(result: dict) -> list[Table]:
    if not result["granularity"]:
        return []
    columns = ("Pieces", "Checker", "Setting", "Answers", "Differ", *intervals("Accuracy", "Macro-F1"))
    rows = []
    for one in result["granularity"]:
        parts = [((found["setting"],), found) for found in one["settings"]]
        if one["mean"]:
            parts.append(((), one["mean"] | {"n_differ": sum(found["n_differ"] for found in one["settings"])}))
        for where, found in parts:
            every, differ = ((*figure.split("/"), *where) for figure in one["figures"])
            rows.append(
                (one["pieces"], one["checker"], *(where or (MEAN_OF_SETTINGS,)))
                + (count(found["macro_f1"]["n_pairable"], *every), count(found["n_differ"], *differ))
                + (*over(found["accuracy"], *every), *over(found["macro_f1"], *every))
            )
    note = f"An answer has the worst label among its pieces. People's are from {result['unit_words']}."
    return [Table("Granularity: answers by the worst label among their pieces", columns, rows, note)]


def methods(result: dict) -> str:
    labels = _titles(result)
    words = result["unit_words"]
    abstain = "" if result.get("abstained_unknown") else "its abstain rate is the share of answers without any; "
    sentences = [
        f"{n_of(result['n_responses'], 'answers')} {either(result['n_responses'], 'was', 'were')} judged by "
        f"{n_of(result['n_units'], words)} ({result['reference_title'].lower()}); {result['n_bad']:,} bad {words} "
        "were left out.",
        "A model's rate of a label is the mean, over its answers that have labels, of the label's share among the "
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
