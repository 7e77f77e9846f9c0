"""What seeing a suggestion does: to the chance of agreeing with it, to the time an answer takes, and to alpha."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from analysis.stats.agreement.two_way import agreement_effect
from analysis.stats.labels import Labels
from analysis.stats.resampling.bootstrap import Estimate
from analysis.stats.resampling.cluster_robust import Effect, clustered_effect, clustered_logit

STRATA = ("all", "right", "wrong")


@dataclass(frozen=True, kw_only=True)
class AgreementWithSuggestion:
    """Seen against not seen in one stratum of suggestions.

    `difference` is of shares (linear probability), `within` the same within each annotator; `odds_ratio` and `marginal`
    are of the logit. `seen` and `unseen` are the shares that agree.
    """

    seen: float
    unseen: float
    n_seen: int
    n_unseen: int
    difference: Effect
    within: Effect
    odds_ratio: Effect
    marginal: Effect


@dataclass(frozen=True, kw_only=True)
class SuggestionEffect:
    """`strata` has the keys 'all', 'right' and 'wrong'; `contrast` is the effect on agreeing with right suggestions
    minus that with wrong ones. `n_unknown` labels have no reference, so they are in 'all' alone."""

    strata: dict[str, AgreementWithSuggestion]
    contrast: Effect
    n_unknown: int


@dataclass(frozen=True, kw_only=True)
class TimeEffect:
    """Seen against not seen: the ratio of times. `seen` and `unseen` are geometric means in seconds."""

    seen: float
    unseen: float
    n_seen: int
    n_unseen: int
    ratio: Effect
    within: Effect


def suggestion_effect(
    agrees: np.ndarray,
    seen: np.ndarray,
    right: np.ndarray,
    annotator: np.ndarray,
    item: np.ndarray,
    level: float = 0.95,
) -> SuggestionEffect:
    """How much likelier a label is to equal the suggestion when the suggestion had been seen.

    Agreeing more with right suggestions is help; agreeing more with wrong ones is what suggestions cost. All intervals
    are clustered by annotator and item (`clustered_effect`, `clustered_logit`).

    Parameters
    ----------
    agrees : (n,) bool array
        One entry per label: whether it equals the suggestion about its unit.
    seen : (n,) bool array
        Whether the suggestion had been seen before the label was given.
    right : (n,) int array
        1 where the suggestion equals a reference that it cannot have touched, 0 where it does not, -1 where there is
        none.
    annotator, item : (n,) columns

    Returns
    -------
    SuggestionEffect
        An effect is undefined in a stratum without labels of both kinds; `within` where no annotator has both. It is
        an effect of seeing only if chance decided who saw what; otherwise a difference.

    Raises
    ------
    ValueError
        Columns of different lengths.

    Examples
    --------
    >>> seen = np.tile([0, 0, 1, 1], 6)
    >>> right = np.tile([0, 1], 12)
    >>> agrees = np.tile([0, 1, 1, 1], 6)
    >>> result = suggestion_effect(agrees, seen, right, np.repeat(np.arange(6), 4), np.tile(np.arange(4), 6))
    >>> {name: round(stratum.difference.estimate, 3) + 0 for name, stratum in result.strata.items()}
    {'all': 0.5, 'right': 0.0, 'wrong': 1.0}
    """
    agrees, seen, right = (np.asarray(column) for column in (agrees, seen, right))
    _check(agrees, seen, right, annotator, item)
    annotator, item = np.asarray(annotator), np.asarray(item)
    known = right >= 0
    both = (seen * right)[known]
    contrast = clustered_effect(
        agrees[known],
        both,
        [annotator[known], item[known]],
        covariates=np.column_stack([seen[known], right[known]]),
        level=level,
    )
    strata = {}
    for name, rows in zip(STRATA, _strata(right), strict=True):
        y, x, groups = agrees[rows].astype(float), seen[rows].astype(float), [annotator[rows], item[rows]]
        odds, marginal = clustered_logit(y, x, groups, level)
        strata[name] = AgreementWithSuggestion(
            **_means(y, x),
            difference=clustered_effect(y, x, groups, level=level),
            within=clustered_effect(y, x, groups, within=groups[0], level=level),
            odds_ratio=odds,
            marginal=marginal,
        )
    return SuggestionEffect(strata=strata, contrast=contrast, n_unknown=int((~known).sum()))


def time_effect(
    seconds: np.ndarray,
    seen: np.ndarray,
    right: np.ndarray,
    annotator: np.ndarray,
    item: np.ndarray,
    level: float = 0.95,
) -> dict[str, TimeEffect]:
    """Ratio of the times of answers given with and without having seen suggestions: exp of the difference of mean logs.

    Parameters
    ----------
    seconds : (n,) float array
        One entry per answer; those that are not above 0 (nan included) are left out and counted.
    seen, right, annotator, item
        As in `suggestion_effect`, one entry per answer.

    Returns
    -------
    dict of TimeEffect
        With the keys 'all', 'right', 'wrong'. Below 1 seeing goes with quicker answers.

    Examples
    --------
    >>> seen = np.tile([0, 1], 4)
    >>> result = time_effect(np.where(seen, 5.0, 10.0), seen, np.ones(8), np.repeat([0, 1], 4), np.arange(8))
    >>> round(result["all"].ratio.estimate, 3), result["wrong"].ratio.undefined
    (0.5, 'there are no observations')
    """
    seconds, seen, right = (np.asarray(column, dtype=float) for column in (seconds, seen, right))
    _check(seconds, seen, right, annotator, item)
    annotator, item = np.asarray(annotator), np.asarray(item)
    timed = seconds > 0
    logs = np.log(seconds, out=np.full(len(seconds), np.nan), where=timed)
    effects = {}
    for name, rows in zip(STRATA, _strata(right), strict=True):
        groups = [annotator[rows], item[rows]]
        plain = clustered_effect(logs[rows], seen[rows], groups, level=level)
        within = clustered_effect(logs[rows], seen[rows], groups, within=groups[0], level=level)
        means = _means(logs[rows & timed], seen[rows & timed])
        means |= {side: float(np.exp(means[side])) for side in ("seen", "unseen")}
        effects[name] = TimeEffect(**means, ratio=plain.exponentiated(), within=within.exponentiated())
    return effects


def alpha_effect(
    measure: Callable[[Labels], Estimate], seen: Labels, unseen: Labels, right: np.ndarray, level: float = 0.95
) -> dict[str, Effect]:
    """Agreement among labels given after seeing suggestions minus that among labels given without.

    Parameters
    ----------
    measure : callable
        Such as `krippendorff_alpha`; see `agreement_effect`.
    seen, unseen : Labels
        Of the same numbered units and with the same codes for annotators.
    right : (n_units,) int array
        1, 0 or -1 as in `suggestion_effect`, per unit.

    Returns
    -------
    dict of Effect
        With the keys 'all', 'right', 'wrong'. Suggestions that everybody follows raise alpha whether right or wrong.
    """
    right = np.asarray(right)
    return {
        name: agreement_effect(measure, seen.select_units(units), unseen.select_units(units), level)
        for name, units in zip(STRATA, _strata(right), strict=True)
    }


def _check(*columns: np.ndarray) -> None:
    if len({len(column) for column in columns}) > 1:
        raise ValueError("the columns differ in length")


def _strata(right: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.ones(len(right), dtype=bool), right == 1, right == 0


def _means(outcome: np.ndarray, seen: np.ndarray) -> dict:
    """Means and numbers of both sides; nan for a side without an entry."""
    means: dict = {}
    for name, side in (("seen", seen == 1), ("unseen", seen == 0)):
        means |= {name: float(outcome[side].mean()) if side.any() else np.nan, f"n_{name}": int(side.sum())}
    return means
