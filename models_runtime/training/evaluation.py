"""How good a trained classifier is on what it did not see: cross-validation that keeps groups together.

Every figure here is about predictions of rows by a classifier that was trained on none of their group (claim or
question): texts of one claim are alike, and a classifier that has met its siblings would look better than it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import mode
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, log_loss

from .classifiers import Data, fit, grouped_folds
from .settings import FOLDS, SHARES, Settings, TooLittle

# A smaller probability of people's label counts as this in the log loss.
LEAST_PROBABILITY = 1e-15


@dataclass(frozen=True, slots=True)
class Scores:
    """Accuracy and macro-F1 (over the labels that occur in what is tested or is predicted), of n rows."""

    n: int
    accuracy: float
    macro_f1: float


@dataclass(frozen=True, slots=True)
class Fold:
    train: int
    test: int
    groups: int  # tested
    scores: Scores
    baseline: Scores  # always the label that is most frequent in what is trained on


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Of the learning curve: with `share` of the groups of every fold's training part, `train` rows on average."""

    share: float
    train: float
    scores: Scores


@dataclass(frozen=True, slots=True)
class Evaluation:
    """`fold_of[i]` tested row i; `probabilities[i]` (in the order of `labels`) are that fold's classifier's."""

    labels: tuple[str, ...]
    fold_of: np.ndarray
    probabilities: np.ndarray
    folds: tuple[Fold, ...]
    scores: Scores
    baseline: Scores
    log_loss: float  # in nats
    confusion: tuple[tuple[int, ...], ...]  # rows: people's labels; columns: predictions
    curve: tuple[CurvePoint, ...]

    def as_json(self) -> dict[str, Any]:
        """All figures; not the predictions."""
        return {
            "labels": list(self.labels),
            "folds": [asdict(fold) for fold in self.folds],
            "scores": asdict(self.scores),
            "baseline": asdict(self.baseline),
            "log_loss": self.log_loss,
            "confusion": [list(row) for row in self.confusion],
            "curve": [asdict(point) for point in self.curve],
        }


def score(labels: Sequence[str], predicted: Sequence[str]) -> Scores:
    labels, predicted = list(map(str, labels)), list(map(str, predicted))
    return Scores(
        len(labels),
        float(accuracy_score(labels, predicted)),
        float(f1_score(labels, predicted, average="macro", zero_division=0.0)),
    )


def cross_validate(
    data: Data,
    settings: Settings,
    *,
    folds: int = FOLDS,
    shares: Sequence[float] = SHARES,
    beat: Callable[[int, int], None] = lambda done, total: None,
    fit: Callable[[Data, Settings], Any] = fit,
) -> Evaluation:
    """Train and test `folds` times, for each share of the training groups; the full share is always among them.

    `beat(done, total)` is called before every training, `fit` trains. TooLittle where folds cannot be made; a share
    that is too small to train on has no point on the curve.
    """
    labels = tuple(sorted(set(map(str, data.labels))))
    of_people = data.columns["labels"].astype(str)
    splits = grouped_folds(data, folds, settings.seed)
    shares = sorted({*shares, 1.0})
    total, done = len(shares) * len(splits), 0
    fold_of = np.full(len(of_people), -1)
    full = np.zeros((len(of_people), len(labels)))
    rows, points = [], []
    for share in shares:
        probabilities, sizes = np.zeros((len(of_people), len(labels))), []
        for index, (train, test) in enumerate(splits):
            beat(done, total)
            done += 1
            part = _share_of(data, train, share, settings.seed + index)
            try:
                trained = fit(data.part(part), settings)
            except TooLittle:
                if share == 1.0:
                    raise
                break
            columns = [labels.index(label) for label in trained.labels]
            probabilities[np.ix_(test, columns)] = trained.probabilities(data.features[test])
            sizes.append(len(part))
            if share == 1.0:
                fold_of[test] = index
                rows.append(_fold(of_people, labels, train, test, probabilities[test], data))
        if len(sizes) == len(splits):
            points.append(CurvePoint(share, float(np.mean(sizes)), score(of_people, _named(labels, probabilities))))
        full = probabilities
    predicted = _named(labels, full)
    return Evaluation(
        labels=labels,
        fold_of=fold_of,
        probabilities=full,
        folds=tuple(rows),
        scores=score(of_people, predicted),
        baseline=_overall_baseline(of_people, splits),
        log_loss=float(log_loss(of_people, np.maximum(full, LEAST_PROBABILITY), labels=labels)),
        confusion=tuple(map(tuple, confusion_matrix(of_people, predicted, labels=labels).tolist())),
        curve=tuple(points),
    )


def nested(
    data: Data, candidates: Sequence[Settings], *, folds: int = FOLDS, inner: int = 3
) -> tuple[Scores, list[Settings]]:
    """Scores where every fold chooses among `candidates` by accuracy plus macro-F1 in a cross-validation of its
    training part alone, and what each chose. So the choice, too, knows nothing of what it is tested on."""
    labels = data.columns["labels"].astype(str)
    predicted, chosen = np.empty(len(labels), dtype=object), []
    for train, test in grouped_folds(data, folds, candidates[0].seed):
        part = data.part(train)

        def worth(settings: Settings, part: Data = part) -> float:
            scores = cross_validate(part, settings, folds=inner, shares=()).scores
            return scores.accuracy + scores.macro_f1

        best = max(candidates, key=worth)
        chosen.append(best)
        trained = fit(part, best)
        predicted[test] = _named(trained.labels, trained.probabilities(data.features[test]))
    return score(labels, predicted), chosen


def _share_of(data: Data, train: np.ndarray, share: float, seed: int) -> np.ndarray:
    """The rows of a random share of the groups in `train`, at least one; smaller shares are parts of greater ones."""
    groups = data.columns["groups"].astype(str)[train]
    distinct = np.random.default_rng(seed).permutation(np.unique(groups))
    return train[np.isin(groups, distinct[: max(1, round(share * len(distinct)))])]


def _named(labels: tuple[str, ...], probabilities: np.ndarray) -> np.ndarray:
    return np.array(labels)[probabilities.argmax(axis=1)]


def most_frequent(labels: Sequence[str]) -> str:
    """The first in the alphabet of equals."""
    return mode(sorted(map(str, labels)))


def _fold(of_people, labels, train, test, probabilities, data: Data) -> Fold:
    return Fold(
        train=len(train),
        test=len(test),
        groups=len(set(data.columns["groups"][test])),
        scores=score(of_people[test], _named(labels, probabilities)),
        baseline=score(of_people[test], [most_frequent(of_people[train])] * len(test)),
    )


def _overall_baseline(labels: np.ndarray, splits) -> Scores:
    predicted = np.empty(len(labels), dtype=object)
    for train, test in splits:
        predicted[test] = most_frequent(labels[train])
    return score(labels, predicted)
