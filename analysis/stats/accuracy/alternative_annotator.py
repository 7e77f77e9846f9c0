"""May a model's labels stand in for a person's? The alternative annotator test (Calderon, Reichart and Dror 2025)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy

from analysis.stats.labels import Labels, code_column
from analysis.stats.resampling.bootstrap import Estimate, Interval, SumSample, divide
from analysis.stats.resampling.joint import joint_intervals

SHARE_OF_TESTS = (
    "a share of tests that are passed: the interval says what other samples of this size would give, not what more "
    "units would"
)
TOO_FEW = "nobody has {} units that another person and the model labelled too"


@dataclass(frozen=True, kw_only=True)
class PersonTest:
    """The model against one person. `model_wins` and `person_wins` are the shares of units on which either is at least
    as close to the other people as its rival is; a tie counts for both.

    `n_needed` is the number of units at which a difference like this one would be found with a power of 0.8; None where
    it was found, or where more units would not help because the model does no better than the discount allows.
    `unit` are the codes of the person's units, `model_ahead` says where the model was closer than the person, and
    `person_ahead` where the person was; neither is true of a tie.
    """

    person: str
    n_units: int
    model_wins: float
    person_wins: float
    p_value: float
    rejected: bool
    n_needed: int | None
    unit: np.ndarray = field(repr=False, compare=False)
    model_ahead: np.ndarray = field(repr=False, compare=False)
    person_ahead: np.ndarray = field(repr=False, compare=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class AlternativeTest:
    """`passes`: the model wins against at least half of the people, so its labels may stand in for a person's.

    `units_of_left_out` names the people with too few units, with how many they have.
    """

    epsilon: float
    q: float
    scoring: str
    people: tuple[PersonTest, ...]
    winning_rate: Estimate
    advantage: Estimate
    left_out_people: dict[str, int]
    units_of_left_out: dict[str, int]

    @property
    def passes(self) -> bool | None:
        """None where the test is undefined."""
        return None if self.winning_rate.undefined else self.winning_rate.estimate >= 0.5

    def person_intervals(
        self, n_resamples: int = 1000, level: float = 0.95, seed: int = 0, clusters: bool = True
    ) -> tuple[tuple[Interval, Interval], ...]:
        """For each of `people` the intervals of `model_wins` and `person_wins`, all from the resamples of the winning
        rate; see `joint_intervals`."""
        n_people = len(self.people)
        intervals = joint_intervals(
            replace(self.advantage.sample, statistic=_shares_of_wins),
            [share for one in self.people for share in (one.model_wins, one.person_wins)],
            lambda sums: np.repeat(sums[:, ::4] > 0, 2, axis=1),
            n_resamples=n_resamples,
            level=level,
            seed=seed,
            clusters=clusters,
        )
        return tuple((intervals[2 * place], intervals[2 * place + 1]) for place in range(n_people))


def alternative_annotator_test(
    labels: Labels,
    model: Sequence[int] | np.ndarray,
    *,
    epsilon: float = 0.1,
    q: float = 0.05,
    scoring: str = "equal",
    values: Sequence[float] | None = None,
    min_units: int = 30,
) -> AlternativeTest:
    """The alternative annotator test of one model.

    Each person j in turn is set against the model on the units that j, the model and at least one other person
    labelled. Either is scored by its closeness to the *other* people of the unit: `equal` takes the share of equal
    labels, `rmse` minus the root mean squared difference. ``W_model = 1`` where the model's score is at least j's,
    ``W_j = 1`` where j's is at least the model's. H0 is ``mean(W_model) <= mean(W_j) - epsilon``, tested by a one-sided
    paired t test; H0s are rejected by Benjamini and Yekutieli at the false discovery rate q. The winning rate is the
    share of people rejected for, the average advantage probability the mean over people of ``mean(W_model)``.

    Parameters
    ----------
    labels : Labels
        Of people; any pattern of missing labels.
    model : (n_units,) int array
        The model's codes, -1 where it has none.
    epsilon : float
        The discount for the machine being cheaper: the paper takes 0.2 for experts, 0.15 for skilled annotators, 0.1
        for crowd workers.
    q : float
    scoring : {'equal', 'rmse'}
    values : sequence of float, one per category, optional
        For `rmse`: numbers behind the categories, by default the categories read as numbers.
    min_units : int
        People with fewer units are left out, and counted in `left_out_people`.

    Returns
    -------
    AlternativeTest
        `winning_rate` and `advantage` have intervals by resampling units, or clusters. Both are undefined where nobody
        has enough units. Differences that are all equal have p 0 or 1, by which side of epsilon they lie on.

    Raises
    ------
    ValueError
        Exchangeable raters, unknown scoring, values that are not numbers, epsilon outside 0..1, q outside (0, 1).

    References
    ----------
    Calderon, Reichart and Dror (2025), ACL, arXiv:2501.10970, section 3. Benjamini and Yekutieli (2001), Annals of
    Statistics 29(4), 1165-1188; doi:10.1214/aos/1013699998.
    """
    labels.refuse_exchangeable()
    if not 0 <= epsilon <= 1 or not 0 < q < 1 or min_units < 2:
        raise ValueError("epsilon lies in 0..1, q between 0 and 1, and min_units is at least 2")
    codes = code_column(model, len(labels.categories), "model")
    if codes.shape != (labels.n_units,):
        raise ValueError(f"model has {len(codes)} codes for {labels.n_units} units")
    wins = _wins(labels, codes, _distance(labels.categories, scoring, values))
    enough = {person: rows for person, rows in wins.items() if len(rows[0]) >= min_units}
    sample = _sample(labels, list(enough.values()), epsilon, q)
    people = _people(labels, enough, epsilon, q)
    unit_count = len(sample.pattern)
    common = {
        "undefined": "" if enough else TOO_FEW.format(min_units),
        "n_units": labels.n_units,
        "n_pairable": unit_count,
        "n_labels": sum(len(rows[0]) for rows in enough.values()),
        "left_out": _left_out(labels.n_units, unit_count, wins),
    }
    advantage = SumSample(sample.features, sample.pattern, sample.cluster, lambda sums: _advantage(sums, len(people)))
    return AlternativeTest(
        epsilon=epsilon,
        q=q,
        scoring=scoring,
        people=people,
        winning_rate=Estimate(
            estimate=sample.value() if enough else np.nan, sample=sample, note=SHARE_OF_TESTS, **common
        ),
        advantage=Estimate(estimate=advantage.value() if enough else np.nan, sample=advantage, **common),
        left_out_people={"too few units": len(wins) - len(enough)} if len(wins) > len(enough) else {},
        units_of_left_out={
            labels.rater_name(person): len(rows[0]) for person, rows in wins.items() if person not in enough
        },
    )


def benjamini_yekutieli(p_values: Sequence[float] | np.ndarray, q: float) -> np.ndarray:
    """Which hypotheses are rejected at the false discovery rate q under any dependence, (..., m) bools.

    Rejects the k smallest with the largest k for which ``p_(k) <= k q / (m sum_{i<=m} 1/i)``; nan is never rejected.
    """
    p = np.asarray(p_values, dtype=float)
    m = p.shape[-1]
    if not m:
        return np.zeros(p.shape, dtype=bool)
    ranked = np.sort(np.where(np.isnan(p), np.inf, p), axis=-1)
    threshold = np.arange(1, m + 1) * q / (m * (1 / np.arange(1, m + 1)).sum())
    below = ranked <= threshold
    last = m - 1 - np.argmax(below[..., ::-1], axis=-1)
    cut = np.where(below.any(axis=-1), np.take_along_axis(ranked, last[..., None], axis=-1)[..., 0], -np.inf)
    return np.where(np.isnan(p), np.inf, p) <= cut[..., None]


def _distance(categories: tuple[str, ...], scoring: str, values: Sequence[float] | None) -> np.ndarray:
    """What two labels add to the distance from the other people, (q, q)."""
    if scoring == "equal":
        return 1.0 - np.eye(len(categories))
    if scoring != "rmse":
        raise ValueError(f"scoring must be 'equal' or 'rmse', not {scoring!r}")
    try:
        value = np.array([float(each) for each in (categories if values is None else values)])
    except ValueError:
        raise ValueError(f"categories {list(categories)} are not numbers; give values") from None
    if len(value) != len(categories) or not np.isfinite(value).all():
        raise ValueError("values must be one finite number per category")
    return (value[:, None] - value[None, :]) ** 2


def _wins(labels: Labels, model: np.ndarray, distance: np.ndarray) -> dict[int, tuple[np.ndarray, ...]]:
    """Per person: units, W_model and W_person. Mean distances order like both scores (one falls as the other grows)."""
    counts = np.zeros((labels.n_units, len(labels.categories)))
    np.add.at(counts, (labels.unit, labels.value), 1)
    wins = {}
    for person in range(labels.n_raters):
        rows = np.flatnonzero(labels.rater == person)
        unit, own = labels.unit[rows], labels.value[rows]
        others = counts[unit].copy()
        others[np.arange(len(unit)), own] -= 1
        usable = (others.sum(axis=1) > 0) & (model[unit] >= 0)
        unit, own, others = unit[usable], own[usable], others[usable]
        model_distance = (others * distance[model[unit]]).sum(axis=1)
        person_distance = (others * distance[own]).sum(axis=1)
        near = 1e-9 * (1 + person_distance)  # equal in exact arithmetic
        wins[person] = (unit, model_distance <= person_distance + near, person_distance <= model_distance + near)
    return wins


def _left_out(n_units: int, n_used: int, wins: dict[int, tuple[np.ndarray, ...]]) -> dict[str, int]:
    """Units that do not count, by reason: those without the labels, and those that only people left out have."""
    n_comparable = len(np.unique(np.concatenate([rows[0] for rows in wins.values()]))) if wins else 0
    reasons = {
        "without a model's label or two people's": n_units - n_comparable,
        "of people with too few units only": n_comparable - n_used,
    }
    return {reason: n for reason, n in reasons.items() if n}


def _sample(labels: Labels, people: list[tuple[np.ndarray, ...]], epsilon: float, q: float) -> SumSample:
    """Per unit and person: whether it counts, W_model, the difference W_person - W_model, and its square."""
    features = np.zeros((labels.n_units, 4 * len(people)))
    for place, (unit, model_wins, person_wins) in enumerate(people):
        difference = person_wins.astype(float) - model_wins
        features[unit, 4 * place : 4 * place + 4] = np.column_stack(
            [np.ones(len(unit)), model_wins, difference, difference**2]
        )
    used = features[:, ::4].any(axis=1) if people else np.zeros(labels.n_units, dtype=bool)
    pattern, index = np.unique(features[used], axis=0, return_inverse=True)
    cluster = None if labels.cluster is None else labels.cluster[used]

    def winning_rate(sums: np.ndarray) -> np.ndarray:
        if not people:
            return np.full(len(sums), np.nan)
        return benjamini_yekutieli(_p_values(sums.reshape(len(sums), -1, 4), epsilon), q).mean(axis=1)

    return SumSample(pattern, index, cluster, winning_rate, work_per_row=12 * max(len(people), 1))


def _advantage(sums: np.ndarray, n_people: int) -> np.ndarray:
    if not n_people:
        return np.full(len(sums), np.nan)
    by_person = sums.reshape(len(sums), n_people, 4)
    return divide(by_person[..., 1], by_person[..., 0]).mean(axis=1)


def _shares_of_wins(sums: np.ndarray) -> np.ndarray:
    """W_model and W_person of each person, (n, 2 n_people)."""
    n, model_wins, difference = sums[:, ::4], sums[:, 1::4], sums[:, 2::4]
    return np.stack([divide(model_wins, n), divide(model_wins + difference, n)], axis=-1).reshape(len(sums), -1)


def _p_values(sums: np.ndarray, epsilon: float) -> np.ndarray:
    """One-sided p of 'the mean difference is below epsilon', from n, ..., sum and sum of squares."""
    n, total, squares = sums[..., 0], sums[..., 2], sums[..., 3]
    mean = divide(total, n)
    variance = divide(np.maximum(squares - n * np.nan_to_num(mean) ** 2, 0), n - 1)
    error = np.sqrt(divide(variance, n))
    is_constant = np.isclose(error, 0, atol=1e-12)
    t = divide(mean - epsilon, np.where(is_constant, 0, error))
    p = scipy.special.stdtr(np.maximum(n - 1, 1), t)
    return np.where(n < 2, np.nan, np.where(is_constant, (mean >= epsilon).astype(float), p))


def _people(
    labels: Labels, wins: dict[int, tuple[np.ndarray, ...]], epsilon: float, q: float
) -> tuple[PersonTest, ...]:
    sums = np.array(
        [
            [len(unit), model.sum(), (person.astype(float) - model).sum(), ((person.astype(float) - model) ** 2).sum()]
            for unit, model, person in wins.values()
        ]
    ).reshape(-1, 4)
    p = _p_values(sums, epsilon)
    rejected = benjamini_yekutieli(p, q)
    return tuple(
        PersonTest(
            person=labels.rater_name(code),
            n_units=len(unit),
            model_wins=float(model.mean()),
            person_wins=float(person.mean()),
            p_value=float(p[place]),
            rejected=bool(rejected[place]),
            n_needed=None if rejected[place] else _n_needed(person.astype(float) - model, epsilon, q, len(wins)),
            unit=unit,
            model_ahead=~person,
            person_ahead=~model,
        )
        for place, (code, (unit, model, person)) in enumerate(wins.items())
    )


def _n_needed(difference: np.ndarray, epsilon: float, q: float, n_people: int, power: float = 0.8) -> int | None:
    """Units for the given power, at the threshold of the rejection that makes half of the people (normal theory)."""
    gap, spread = epsilon - float(difference.mean()), float(difference.std(ddof=1))
    if gap <= 0 or spread == 0:
        return None
    rank = math.ceil(n_people / 2)
    alpha = rank * q / (n_people * sum(1 / i for i in range(1, n_people + 1)))
    z = scipy.special.ndtri(1 - alpha) + scipy.special.ndtri(power)
    return max(len(difference) + 1, math.ceil((z * spread / gap) ** 2))
