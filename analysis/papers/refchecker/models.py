"""Models by what people say of their answers: label and abstain rates by three rules, and how checkers rank them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from msgspec.structs import replace

from analysis.figures.results import Figure, number
from analysis.papers.refchecker.data import Study
from analysis.papers.refchecker.result import (
    Abstained,
    RankCorrelation,
    RankedRate,
    Rankings,
    RankingsOfSetting,
    RatesByRule,
    RatesOfSetting,
    Shares,
)
from analysis.reports.estimates import RESAMPLES, plain_figure, to_figure, unknown_figure
from analysis.stats import (
    Estimate,
    correlation_test,
    grouped_means,
    holm,
    label_shares,
    mean_of,
    most_frequent,
    system_correlation,
    system_means,
)

# Seven models have 5,040 orders, which are then all tried.
PERMUTATIONS = 9_999
NO_RATE = "none of its answers has a label that counts"


def labels_by_rule(study: Study, codes: np.ndarray, ties: str) -> dict[str, np.ndarray]:
    """The label of each response by the rules that give it one, (n_responses,): NONE where a piece has no label."""
    whole = np.where(study.complete(codes)[:, None], study.counts(codes), 0)
    return {"strict": study.worst_labels(codes), "major": most_frequent(whole, study.worst_first, ties)[0]}


def values_by_rule(study: Study, codes: np.ndarray, by_rule: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What each response adds to its model's rates, (n_responses, n_labels) by rule; nan where it does not count.

    The soft rule counts the pieces that have a label; the others have one label of `by_rule` for each response.
    """
    values = {"soft": label_shares(study.counts(codes))}
    for rule, code in by_rule.items():
        one_of = (code[:, None] == np.arange(len(study.labels))).astype(float)
        values[rule] = np.where(code[:, None] >= 0, one_of, np.nan)
    return values


def rates(study: Study, codes: np.ndarray, by_rule: dict[str, np.ndarray], *, quick: bool) -> list[RatesOfSetting]:
    """Per setting, rates of every model and their unweighted mean, by each rule; `by_rule` as of `labels_by_rule`."""
    values = values_by_rule(study, codes, by_rule)
    return [_setting(study, setting, values, quick=quick) for setting in study.settings]


def _setting(study: Study, setting: str, by_rule: dict[str, np.ndarray], *, quick: bool) -> RatesOfSetting:
    where = (study.responses["setting"] == setting).to_numpy()
    responses = study.responses[where]
    model, item = responses["model"].tolist(), responses["item"].tolist()
    models = sorted(set(model))
    has_units = responses["n_units"].to_numpy() > 0
    abstained = system_means((~has_units).astype(float), model, item, models)
    unknown = study.abstained_unknown
    return RatesOfSetting(
        setting=setting,
        n_responses=len(responses),
        n_abstained=None if unknown else int((~has_units).sum()),
        models=models,
        abstained=Abstained(
            models=[unknown_figure(one, unknown, quick=quick) for one in abstained.means],
            mean=unknown_figure(abstained.mean, unknown, quick=quick),
        ),
        rules=[
            _rule(study, rule, values[where], model, item, has_units, quick=quick) for rule, values in by_rule.items()
        ],
    )


def _rule(
    study: Study,
    rule: str,
    values: np.ndarray,
    model: list[str],
    item: list[str],
    has_units: np.ndarray,
    *,
    quick: bool,
) -> RatesByRule:
    counted = ~np.isnan(values[:, 0])
    # A response that abstained is no item of its model's shares.
    rows = np.flatnonzero(has_units)
    names = sorted(set(model))
    means = [
        system_means(values[rows, place], [model[row] for row in rows], [item[row] for row in rows], names)
        for place in range(len(study.labels))
    ]

    def by_label(estimates: list[Estimate]) -> dict[str, Figure]:
        return {label: to_figure(one, quick=quick) for label, one in zip(study.labels, estimates, strict=True)}

    return RatesByRule(
        rule=rule,
        n_counted=int(counted.sum()),
        n_not_counted=int((has_units & ~counted).sum()),
        models=[Shares(model=name, shares=by_label([of.means[row] for of in means])) for row, name in enumerate(names)],
        mean=by_label([of.mean for of in means]),
    )


def rankings(study: Study, people: np.ndarray, checker: np.ndarray, *, quick: bool) -> Rankings:
    """Do people and a checker order the models alike? By each label's soft rate, on answers whose pieces both label.

    `people` and `checker` are codes of pieces. Per setting, and the unweighted mean of settings.
    """
    asked = study.aligned(people, checker)
    whole = study.complete(people) & study.complete(asked)
    shares = []
    for codes in (people, asked):
        counts = np.where(whole[:, None], study.counts(codes), 0)
        shares.append(label_shares(counts))
    settings, estimates = [], {name: [] for name in study.labels}
    for setting in study.settings:
        where = (study.responses["setting"] == setting).to_numpy() & whole
        rankings_here, of_setting = _ranking(study, setting, where, *shares, quick=quick)
        settings.append(rankings_here)
        for name, estimate in of_setting.items():
            estimates[name].append(estimate)
    if len(settings) < 2:
        return Rankings(settings=settings, mean=None)
    means = {
        name: to_figure(mean_of(rankings_here, "setting"), quick=quick) for name, rankings_here in estimates.items()
    }
    return Rankings(settings=settings, mean=means)


def adjusted(rankings: list[Rankings]) -> list[Rankings]:
    """The same with each test's p value as Holm adjusts it among all of them; None where it has none."""
    tests = [test for one in rankings for setting in one.settings for test in setting.labels]
    p_values = iter(holm([np.nan if test.p_value is None else test.p_value for test in tests]))
    return [
        replace(
            one,
            settings=[
                replace(setting, labels=[replace(test, p_holm=number(next(p_values))) for test in setting.labels])
                for setting in one.settings
            ],
        )
        for one in rankings
    ]


def _ranking(
    study: Study, setting: str, where: np.ndarray, people: np.ndarray, checker: np.ndarray, *, quick: bool
) -> tuple[RankingsOfSetting, dict[str, Estimate]]:
    rows = study.responses[where]
    model, item = rows["model"].tolist(), rows["item"].tolist()
    of_models = _rates_of_models(study, where, people, checker, quick=quick)
    rankings, estimates, by_model = [], {}, {}
    for place, (name, title) in enumerate(zip(study.labels, study.titles, strict=True)):
        level = system_correlation(checker[where, place], people[where, place], model, item, "spearman")
        estimates[name] = level.by_item
        test = None
        if not quick:
            test = correlation_test(level.score_means, level.label_means, n_permutations=PERMUTATIONS)
        rankings.append(
            RankCorrelation(
                label=name,
                title=title,
                n_models=len(level.systems),
                by_item=to_figure(level.by_item, quick=quick),
                by_both=to_figure(level.by_both, quick=quick),
                p_value=None if test is None else number(test.p_value),
                n_permutations=None if test is None else test.n_permutations,
            )
        )
        ranks = [pd.Series(means).rank().to_numpy() for means in (level.label_means, level.score_means)]
        for number_of, one in enumerate(level.systems):
            by_people, by_checker = of_models[one]
            by_model.setdefault(one, {"model": one, "n": int(level.n_of_system[number_of])})[name] = RankedRate(
                people=by_people[place],
                people_rank=_rank(ranks[0][number_of]),
                checker=by_checker[place],
                checker_rank=_rank(ranks[1][number_of]),
            )
    models = [by_model[name] for name in sorted(by_model)]
    n = int(where.sum())
    return RankingsOfSetting(setting=setting, n_responses=n, labels=rankings, models=models), estimates


def _rates_of_models(
    study: Study, where: np.ndarray, people: np.ndarray, checker: np.ndarray, *, quick: bool
) -> dict[str, tuple[list[Figure], list[Figure]]]:
    """Of each model the rate of every label by people and by the checker, on the answers that both label. All models
    and labels are resampled together."""
    models = study.responses["model"].to_numpy()[where]
    names = sorted(set(models.tolist()))
    values, groups = np.hstack([people[where], checker[where]]), models[:, None] == np.array(names, dtype=object)
    means = grouped_means(values, groups, study.item_codes()[where])
    intervals = None if quick else means.confidence_intervals(n_resamples=RESAMPLES)
    n_labels = len(study.labels)
    cells = [
        [
            plain_figure(mean, "" if n else NO_RATE, int(n), intervals[row][column] if intervals else None)
            for column, (mean, n) in enumerate(zip(means.mean[row], means.n[row], strict=True))
        ]
        for row in range(len(names))
    ]
    return {name: (row[:n_labels], row[n_labels:]) for name, row in zip(names, cells, strict=True)}


def _rank(rank: float) -> int | float:
    """Models that tie share the mean of their ranks; the others have whole ones."""
    return int(rank) if float(rank).is_integer() else float(rank)
