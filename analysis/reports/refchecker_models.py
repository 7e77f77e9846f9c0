"""Models by what people say of their answers: label and abstain rates by three rules, and how checkers rank them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.figures import RESAMPLES, figure, is_quick, number, plain_figure, unknown_figure
from analysis.reports.refchecker_data import Study

if TYPE_CHECKING:
    import numpy as np

RULES = {
    "soft": "soft: the label's share of each answer's pieces",
    "strict": "strict: answers by the worst label among their pieces",
    "major": "major: answers by the most frequent label among their pieces",
}
TIES = {"worst": "The worst of the tied labels", "undecided": "No label"}
# Seven models have 5,040 orders, which are then all tried.
PERMUTATIONS = 9_999
NO_RATE = "none of its answers has a label that counts"


def labels_by_rule(study: Study, codes: np.ndarray, ties: str) -> dict[str, np.ndarray]:
    """The label of each response by the rules that give it one, (n_responses,): NONE where a piece has no label."""
    import numpy as np

    from analysis.stats import most_frequent

    whole = np.where(study.complete(codes)[:, None], study.counts(codes), 0)
    return {"strict": study.worst_labels(codes), "major": most_frequent(whole, study.worst_first, ties)[0]}


def values_by_rule(study: Study, codes: np.ndarray, by_rule: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What each response adds to its model's rates, (n_responses, n_labels) by rule; nan where it does not count.

    The soft rule counts the pieces that have a label; the others have one label of `by_rule` for each response.
    """
    import numpy as np

    from analysis.stats import label_shares

    found = {"soft": label_shares(study.counts(codes))}
    for rule, code in by_rule.items():
        one_of = (code[:, None] == np.arange(len(study.labels))).astype(float)
        found[rule] = np.where(code[:, None] >= 0, one_of, np.nan)
    return found


def rates(study: Study, codes: np.ndarray, by_rule: dict[str, np.ndarray]) -> list[dict]:
    """Per setting, rates of every model and their unweighted mean, by each rule; `by_rule` as of `labels_by_rule`."""
    values = values_by_rule(study, codes, by_rule)
    return [_setting(study, setting, values) for setting in study.settings]


def _setting(study: Study, setting: str, by_rule: dict[str, np.ndarray]) -> dict:
    from analysis.stats import system_means

    where = (study.responses["setting"] == setting).to_numpy()
    responses = study.responses[where]
    model, item = responses["model"].tolist(), responses["item"].tolist()
    models = sorted(set(model))
    has_units = responses["n_units"].to_numpy() > 0
    abstained = system_means((~has_units).astype(float), model, item, models)
    return {
        "setting": setting,
        "n_responses": len(responses),
        "n_abstained": None if study.abstained_unknown else int((~has_units).sum()),
        "models": models,
        "abstained": {
            "models": [unknown_figure(one, study.abstained_unknown) for one in abstained.means],
            "mean": unknown_figure(abstained.mean, study.abstained_unknown),
        },
        "rules": [_rule(study, rule, values[where], model, item, has_units) for rule, values in by_rule.items()],
    }


def _rule(
    study: Study, rule: str, values: np.ndarray, model: list[str], item: list[str], has_units: np.ndarray
) -> dict:
    import numpy as np

    from analysis.stats import system_means

    counted = ~np.isnan(values[:, 0])
    # A response that abstained is no item of its model's shares.
    rows = np.flatnonzero(has_units)
    names = sorted(set(model))
    means = [
        system_means(values[rows, place], [model[row] for row in rows], [item[row] for row in rows], names)
        for place in range(len(study.labels))
    ]
    return {
        "rule": rule,
        "n_counted": int(counted.sum()),
        "n_not_counted": int((has_units & ~counted).sum()),
        "models": [
            {
                "model": name,
                "shares": {label: figure(of.means[row]) for label, of in zip(study.labels, means, strict=True)},
            }
            for row, name in enumerate(names)
        ],
        "mean": {label: figure(of.mean) for label, of in zip(study.labels, means, strict=True)},
    }


def rankings(study: Study, people: np.ndarray, checker: np.ndarray) -> dict:
    """Do people and a checker order the models alike? By each label's soft rate, on answers whose pieces both label.

    `people` and `checker` are codes of pieces. Per setting, and the unweighted mean of settings.
    """
    import numpy as np

    from analysis.stats import label_shares, mean_of

    asked = study.beside(people, checker)
    whole = study.complete(people) & study.complete(asked)
    shares = []
    for codes in (people, asked):
        counts = np.where(whole[:, None], study.counts(codes), 0)
        shares.append(label_shares(counts))
    settings, estimates = [], {name: [] for name in study.labels}
    for setting in study.settings:
        where = (study.responses["setting"] == setting).to_numpy() & whole
        found, of_setting = _ranking(study, where, *shares)
        settings.append({"setting": setting, "n_responses": int(where.sum()), **found})
        for name, estimate in of_setting.items():
            estimates[name].append(estimate)
    mean = {name: figure(mean_of(found, "setting")) for name, found in estimates.items()} if len(settings) > 1 else None
    return {"settings": settings, "mean": mean}


def adjusted(tests: list[dict]) -> None:
    """Gives each test its p value as Holm adjusts it among all of them; None where it has none."""
    import numpy as np

    from analysis.stats import holm

    found = holm([np.nan if test["p_value"] is None else test["p_value"] for test in tests])
    for test, p_value in zip(tests, found, strict=True):
        test["p_holm"] = number(p_value)


def _ranking(study: Study, where: np.ndarray, people: np.ndarray, checker: np.ndarray) -> tuple[dict, dict]:
    import pandas as pd

    from analysis.stats import correlation_test, system_correlation

    rows = study.responses[where]
    model, item = rows["model"].tolist(), rows["item"].tolist()
    of_models = _rates_of_models(study, where, people, checker)
    found, estimates, by_model = [], {}, {}
    for place, (name, title) in enumerate(zip(study.labels, study.titles, strict=True)):
        level = system_correlation(checker[where, place], people[where, place], model, item, "spearman")
        estimates[name] = level.by_item
        test = None
        if not is_quick():
            test = correlation_test(level.score_means, level.label_means, n_permutations=PERMUTATIONS)
        found.append(
            {
                "label": name,
                "title": title,
                "n_models": len(level.systems),
                "by_item": figure(level.by_item),
                "by_both": figure(level.by_both),
                "p_value": None if test is None else number(test.p_value),
                "n_permutations": None if test is None else test.n_permutations,
            }
        )
        ranks = [pd.Series(means).rank().to_numpy() for means in (level.label_means, level.score_means)]
        for number_of, one in enumerate(level.systems):
            by_model.setdefault(one, {"model": one, "n": int(level.n_of_system[number_of])})[name] = {
                "people": of_models[one]["people"][place],
                "people_rank": _rank(ranks[0][number_of]),
                "checker": of_models[one]["checker"][place],
                "checker_rank": _rank(ranks[1][number_of]),
            }
    return {"labels": found, "models": [by_model[name] for name in sorted(by_model)]}, estimates


def _rates_of_models(study: Study, where: np.ndarray, people: np.ndarray, checker: np.ndarray) -> dict[str, dict]:
    """Of each model the rate of every label by either side, on the answers that both label. All models and labels are
    resampled together."""
    import numpy as np

    from analysis.stats import grouped_means

    models = study.responses["model"].to_numpy()[where]
    names = sorted(set(models.tolist()))
    values, groups = np.hstack([people[where], checker[where]]), models[:, None] == np.array(names, dtype=object)
    found = grouped_means(values, groups, study.item_codes()[where])
    intervals = None if is_quick() else found.confidence_intervals(n_resamples=RESAMPLES)
    n_labels = len(study.labels)
    cells = [
        [
            plain_figure(mean, "" if n else NO_RATE, int(n), intervals[row][column] if intervals else None)
            for column, (mean, n) in enumerate(zip(found.mean[row], found.n[row], strict=True))
        ]
        for row in range(len(names))
    ]
    return {name: {"people": row[:n_labels], "checker": row[n_labels:]} for name, row in zip(names, cells, strict=True)}


def _rank(rank: float) -> int | float:
    """Models that tie share the mean of their ranks; the others have whole ones."""
    return int(rank) if float(rank).is_integer() else float(rank)
