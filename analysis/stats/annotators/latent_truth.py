"""Who can be trusted how far, found without gold labels: Dawid and Skene's confusion model, and MACE."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from analysis.stats.annotators.patterns import RaterPatterns, rater_patterns
from analysis.stats.labels import Labels
from analysis.stats.resampling.bootstrap import divide, one_blas_thread

NO_LABEL = "no unit has a label"
ONE_LABEL = "only one label was used, which does not tell who knows it from who guesses"
# Of so few units of a category, by the posterior, a rater has seen none: their row would be one of rounding.
SEEN = 1e-6
# Starts of MACE that take their steps at once: as many as have so many probabilities together.
CELLS_AT_ONCE = 500_000


@dataclass(frozen=True, eq=False, kw_only=True)
class LatentTruth:
    """What a model of annotators makes of their labels.

    Attributes
    ----------
    posterior : (n_units, n_categories) float array
        Probability of every category being the unit's true one; nan rows for units without labels.
    label : (n_units,) int array
        The most probable category, -1 for units without labels; the first of equally probable ones.
    prevalence : (n_categories,) float array
    competence : (n_raters,) float array
        Dawid-Skene: the chance that the rater labels a unit right, at this prevalence of the categories that the rater
        saw units of: of others nothing is known. MACE: the chance that the rater does not guess. nan for a rater
        without labels.
    confusion : (n_raters, n_categories, n_categories) float array or None
        Dawid-Skene only: row k holds the rater's labels where k is true; nan where the rater saw no such unit.
    log_likelihood : float
    n_iterations : int
    converged : bool
    undefined : str
        Why there is nothing: no unit has a label, or, for MACE, all labels are the same.
    """

    method: str
    posterior: np.ndarray
    label: np.ndarray
    prevalence: np.ndarray
    competence: np.ndarray
    confusion: np.ndarray | None
    rater_names: tuple[str, ...]
    log_likelihood: float
    n_iterations: int
    converged: bool
    undefined: str = ""


def dawid_skene(labels: Labels, max_iterations: int = 500, tolerance: float = 1e-8) -> LatentTruth:
    """Maximum-likelihood confusion table of every rater and posterior of every unit, by EM from the vote shares.

    With T_uk the probability that unit u is of category k: the M step sets ``prevalence_k = mean_u T_uk`` and
    ``confusion_jkl = sum_u T_uk [j gave u the label l] / sum_u T_uk [j labelled u]``; the E step sets
    ``T_uk ~ prevalence_k prod_j confusion_j,k,label``.

    Parameters
    ----------
    labels : Labels
        Any pattern of missing labels. Units without a label take no part.
    max_iterations : int
    tolerance : float
        Stop when the log-likelihood per label grows by less.

    Returns
    -------
    LatentTruth
        The likelihood has several maxima; EM finds the one near the majority. Categories may be renamed by data in
        which most raters are wrong. Undefined where no unit has a label.

    Raises
    ------
    ValueError
        Exchangeable raters: a slot has no competence.

    References
    ----------
    Dawid and Skene (1979), Applied Statistics 28(1), 20-28; doi:10.2307/2346806.
    """
    labels.refuse_exchangeable()
    n_raters, q = labels.n_raters, len(labels.categories)
    if not labels.n_labels:
        return _nothing("Dawid-Skene", labels)
    patterns = rater_patterns(labels)
    times, by_rater = patterns.times, scipy.sparse.csr_array(patterns.one_hot.T)
    # Vote shares: labels of the pattern by category, of all raters.
    counts = patterns.one_hot @ np.tile(np.eye(q), (n_raters, 1))
    pattern_posterior = counts / counts.sum(axis=1, keepdims=True)
    likelihood, converged, iterations = -np.inf, False, 0
    with one_blas_thread():
        while not converged and iterations < max_iterations:
            iterations += 1
            weighted = times[:, None] * pattern_posterior
            prevalence = weighted.sum(axis=0) / times.sum()
            expected = (by_rater @ weighted).reshape(n_raters, q, q)  # rater, label, true category
            total = expected.sum(axis=1, keepdims=True)
            confusion = np.divide(expected, total, out=np.zeros_like(expected), where=total > 0)
            pattern_posterior, log_sum = _normalised(
                _log(prevalence) + patterns.one_hot @ _log(confusion).reshape(-1, q)
            )
            before, likelihood = likelihood, float(times @ log_sum)
            converged = likelihood - before < tolerance * labels.n_labels
    labelled = np.bincount(labels.unit, minlength=labels.n_units) > 0
    posterior = np.tile(prevalence, (labels.n_units, 1))
    posterior[patterns.units] = pattern_posterior[patterns.pattern]
    by_truth = np.where(total > SEEN, confusion, np.nan).transpose(0, 2, 1)
    return LatentTruth(
        method="Dawid-Skene",
        posterior=np.where(labelled[:, None], posterior, np.nan),
        label=_best(posterior, labelled),
        prevalence=prevalence,
        competence=chance_to_be_right(np.einsum("jkk->jk", confusion), total[:, 0] > SEEN, prevalence),
        confusion=by_truth,
        rater_names=tuple(labels.rater_name(code) for code in range(n_raters)),
        log_likelihood=likelihood,
        n_iterations=iterations,
        converged=converged,
    )


def mace(
    labels: Labels,
    n_restarts: int = 10,
    n_iterations: int = 50,
    smoothing: float | None = None,
    seed: int = 0,
) -> LatentTruth:
    """Multi-Annotator Competence Estimation: a rater either knows the true label or guesses by a habit of their own.

    EM over ``P(label of j | truth k) = theta_j [label = k] + (1 - theta_j) habit_j,label`` with equally likely truths;
    of several random starts the one with the greatest likelihood is taken. Expected counts are smoothed by adding
    `smoothing` to both the knowing and each habit of every rater before they are divided.

    Parameters
    ----------
    labels : Labels
    n_restarts, n_iterations : int
        10 and 50 as in the paper.
    smoothing : float, optional
        By default 0.01 / number of categories, as in the authors' program.
    seed : int

    Returns
    -------
    LatentTruth
        `competence` is theta. Undefined where no unit has a label, and where only one label was used: a rater who
        always guesses it gives it as surely as one who knows it, and that all guess is likeliest then, however good
        they are. With units of one label each nothing tells knowing from guessing, and theta ends anywhere that the
        shares of the labels allow, or at 0.

    Raises
    ------
    ValueError
        Exchangeable raters.

    References
    ----------
    Hovy, Berg-Kirkpatrick, Vaswani and Hovy (2013), Learning whom to trust with MACE, NAACL, 1120-1130.
    """
    labels.refuse_exchangeable()
    if not labels.n_labels:
        return _nothing("MACE", labels)
    if (labels.value == labels.value[0]).all():
        return _nothing("MACE", labels, ONE_LABEL)
    q = len(labels.categories)
    smoothing = 0.01 / q if smoothing is None else smoothing
    rng = np.random.default_rng(seed)
    patterns = rater_patterns(labels)
    with one_blas_thread():
        left, best = max(n_restarts, 1), None
        at_once = max(1, CELLS_AT_ONCE // (len(patterns.first) * q))
        while left:
            n_starts = min(left, at_once)
            candidate = _mace_starts(patterns, labels.n_raters, q, n_starts, n_iterations, smoothing, rng)
            best = candidate if best is None or candidate[0] > best[0] else best
            left -= n_starts
    likelihood, pattern_posterior, theta = best
    posterior = np.full((labels.n_units, q), 1 / q)
    posterior[patterns.units] = pattern_posterior[patterns.pattern]
    labelled = np.bincount(labels.unit, minlength=labels.n_units) > 0
    has_labels = np.bincount(labels.rater, minlength=labels.n_raters) > 0
    return LatentTruth(
        method="MACE",
        posterior=np.where(labelled[:, None], posterior, np.nan),
        label=_best(posterior, labelled),
        prevalence=posterior[labelled].mean(axis=0),
        competence=np.where(has_labels, theta, np.nan),
        confusion=None,
        rater_names=tuple(labels.rater_name(code) for code in range(labels.n_raters)),
        log_likelihood=likelihood,
        n_iterations=n_iterations,
        converged=True,
    )


def chance_to_be_right(right: np.ndarray, seen: np.ndarray, prevalence: np.ndarray) -> np.ndarray:
    """Competence by Dawid-Skene: the mean over the categories that a rater saw, weighted by their prevalence.

    Parameters
    ----------
    right : (..., n_categories) float array
        The chance of the right label where each category is true.
    seen : (..., n_categories) bool array
        nan comes of a row without any.
    prevalence : (..., n_categories) float array
    """
    weight = np.where(seen, prevalence, 0)
    return divide((weight * right).sum(axis=-1), weight.sum(axis=-1))


def _mace_starts(
    patterns: RaterPatterns,
    n_raters: int,
    q: int,
    n_starts: int,
    n_iterations: int,
    smoothing: float,
    rng: np.random.Generator,
) -> tuple[float, np.ndarray, np.ndarray]:
    """Of the best of these starts the log-likelihood, each pattern's posterior (n_patterns, q), and theta (n_raters,).

    All of them take their steps at once: most steps are small, and each would wait for the same preparations.
    """
    theta, habit = np.empty((n_raters, n_starts)), np.empty((n_raters, n_starts, q))
    for start in range(n_starts):
        theta[:, start] = rng.uniform(0.25, 0.75, n_raters)
        habit[:, start] = rng.uniform(0.5, 1.5, (n_raters, q))
    habit /= habit.sum(axis=2, keepdims=True)
    one_hot, by_rater, times = patterns.one_hot, patterns.one_hot.T.tocsr(), patterns.times
    knows = np.eye(q)[:, None]
    for _ in range(n_iterations + 1):
        guessed = (1 - theta)[..., None] * habit
        # Rater, label, start, true category.
        chance = guessed.transpose(0, 2, 1)[..., None] + theta[:, None, :, None] * knows
        evidence = (one_hot @ _log(chance).reshape(n_raters * q, -1)).reshape(-1, n_starts, q) - np.log(q)
        posterior, log_sum = _normalised(evidence)
        pattern_posterior = (times[:, None, None] * posterior).reshape(len(times), -1)
        expected = (by_rater @ pattern_posterior).reshape(n_raters, q, n_starts, q)
        # The chance that a label was known: its category is true, and theta explains it rather than the habit.
        share = theta[..., None] + guessed
        known = np.einsum("jlsl->jsl", expected) * np.divide(
            theta[..., None], share, out=np.zeros_like(share), where=share > 0
        )
        knowing = known.sum(axis=2) + smoothing
        guessing = expected.sum(axis=3).transpose(0, 2, 1) - known + smoothing
        theta = knowing / (knowing + guessing.sum(axis=2) - (q - 1) * smoothing)
        habit = guessing / guessing.sum(axis=2, keepdims=True)
    likelihoods = times @ log_sum
    best = int(np.argmax(likelihoods))
    return float(likelihoods[best]), posterior[:, best], theta[:, best]


def _log(probability: np.ndarray) -> np.ndarray:
    """Logarithm in which 0 stays finite, so that a category ruled out by everybody stays comparable."""
    return np.log(np.maximum(probability, 1e-300))


def _normalised(evidence: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    highest = evidence.max(axis=-1, keepdims=True)
    weight = np.exp(evidence - highest)
    total = weight.sum(axis=-1, keepdims=True)
    return weight / total, (highest + np.log(total))[..., 0]


def _best(posterior: np.ndarray, labelled: np.ndarray) -> np.ndarray:
    # Rounding must not decide between categories that are equally probable.
    return np.where(labelled, np.argmax(np.round(posterior, 9), axis=1), -1)


def _nothing(method: str, labels: Labels, reason: str = NO_LABEL) -> LatentTruth:
    q = len(labels.categories)
    return LatentTruth(
        method=method,
        posterior=np.full((labels.n_units, q), np.nan),
        label=np.full(labels.n_units, -1),
        prevalence=np.full(q, np.nan),
        competence=np.full(labels.n_raters, np.nan),
        confusion=None,
        rater_names=tuple(labels.rater_name(code) for code in range(labels.n_raters)),
        log_likelihood=np.nan,
        n_iterations=0,
        converged=False,
        undefined=reason,
    )
