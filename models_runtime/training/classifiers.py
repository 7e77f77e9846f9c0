"""Small classifiers of scikit-learn behind one function, on standardised features, with calibrated probabilities.

A feature is scaled to mean 0 and variance 1 over what is trained on; then every measure of shared words is multiplied
by `LEXICAL_WEIGHT`, since twenty of them compete with some 1,500 numbers of embeddings and would hardly count by a
distance. Features are rounded to single precision, which is how they are stored.

Probabilities come from Platt's sigmoid per label, fitted on scores of inputs that the classifier had not seen (inner
folds that keep groups together), and made to sum to 1; the label is the most probable one. With `balanced`, inputs
weigh inversely to how frequent their label is, both for the classifier (k-NN takes no weights) and for its calibration.

`ensemble` is the mean of the probabilities of `ENSEMBLE`. Features that fall into parts (layers of a language model)
get a classifier for each part, and the mean of those counts.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.utils.class_weight import compute_sample_weight

from .ridge import KernelRidgeClassifier
from .settings import ENSEMBLE, Settings, TooLittle

LEXICAL_WEIGHT = 6.0
INNER_FOLDS = 3


@dataclass(frozen=True, slots=True)
class Data:
    """What is learnt from: features (n by d), a label and a group per row, and the place where the measures of shared
    words begin among the features (d where there are none). Groups are claims or questions. The features fall into
    `parts` of equal width."""

    features: np.ndarray
    labels: Sequence[str]
    groups: Sequence[str]
    lexical_from: int
    parts: int = 1
    columns: dict[str, np.ndarray] = field(init=False)

    def __post_init__(self) -> None:
        if not len(self.features) == len(self.labels) == len(self.groups):
            raise ValueError("features, labels and groups are of different lengths")
        columns = {"labels": np.array(self.labels, dtype=object), "groups": np.array(self.groups, dtype=object)}
        object.__setattr__(self, "columns", columns)

    def part(self, places: np.ndarray) -> Data:
        return Data(
            self.features[places],
            self.columns["labels"][places].tolist(),
            self.columns["groups"][places].tolist(),
            self.lexical_from,
            self.parts,
        )

    def spans(self) -> list[tuple[int, int]]:
        """Where each part of the features begins and ends."""
        width = self.features.shape[1] // self.parts
        return [(place * width, (place + 1) * width) for place in range(self.parts)]


@dataclass(frozen=True, slots=True)
class Scaling:
    """(value - centre) * factor, rounded to single precision."""

    centre: np.ndarray
    factor: np.ndarray

    @classmethod
    def of(cls, features: np.ndarray, lexical_from: int) -> Scaling:
        features = np.asarray(features, dtype=np.float64)
        spread = features.std(axis=0)
        factor = np.where(spread > 1e-12, 1 / np.maximum(spread, 1e-12), 0.0)
        if 0 < lexical_from < len(factor):
            factor[lexical_from:] *= LEXICAL_WEIGHT
        return cls(features.mean(axis=0), factor)

    def __call__(self, features: np.ndarray) -> np.ndarray:
        return ((features - self.centre) * self.factor).astype(np.float32).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Member:
    """One trained classifier on the features from `start` to `end`: scikit-learn's own object."""

    classifier: str
    start: int
    end: int
    scaling: Scaling
    calibrated: Any  # CalibratedClassifierCV with one classifier

    def probabilities(self, features: np.ndarray) -> np.ndarray:
        return self.calibrated.predict_proba(self.scaling(features[:, self.start : self.end]))


@dataclass(frozen=True, slots=True)
class Fitted:
    """What was trained, alive until it is stored: the mean of its members counts."""

    labels: tuple[str, ...]
    members: tuple[Member, ...]

    def probabilities(self, features: np.ndarray) -> np.ndarray:
        """n by labels; rows sum to 1."""
        return sum(member.probabilities(features) for member in self.members) / len(self.members)


def grouped_folds(data: Data, folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """(places to train on, places to test on) of each fold: no group in both, labels spread as evenly as that allows.

    TooLittle where a fold would leave a label out of what is trained on.
    """

    labels, groups = data.columns["labels"].astype(str), data.columns["groups"].astype(str)
    if len(set(labels)) < 2:
        raise TooLittle("There must be two labels to tell apart")
    if len(set(groups)) < folds:
        raise TooLittle(f"{len(set(groups))} claims or questions cannot make {folds} folds")
    rare, label = min((int((labels == one).sum()), one) for one in set(labels))
    if rare < folds:
        raise TooLittle(f"“{label}” was given {rare} times, which cannot be spread over {folds} folds")
    split = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    splits = list(split.split(np.zeros((len(labels), 1)), labels, groups))
    for train, test in splits:
        absent = set(labels) - set(labels[train])
        if absent or not len(test):
            raise TooLittle(f"{', '.join(sorted(absent))} would be left out of a fold: it occurs in too few claims")
    return splits


def fit(data: Data, settings: Settings) -> Fitted:
    """Train on all of `data`. Deterministic: the same data in the same order and settings give the same classifier."""
    folds = grouped_folds(data, INNER_FOLDS, settings.seed)
    classifiers = ENSEMBLE if settings.classifier == "ensemble" else (settings.classifier,)
    members = tuple(
        _fit_member(data, replace(settings, classifier=classifier), span, folds)
        for span in data.spans()
        for classifier in classifiers
    )
    return Fitted(tuple(map(str, np.unique(np.array(data.labels, dtype=str)))), members)


def _fit_member(data: Data, settings: Settings, span: tuple[int, int], folds: list) -> Member:

    features = data.features[:, slice(*span)]
    scaling = Scaling.of(features, data.lexical_from - span[0])
    labels = np.array(data.labels, dtype=str)
    weights = compute_sample_weight("balanced", labels) if settings.balanced else None
    scaled = scaling(features)
    calibrated = CalibratedClassifierCV(_estimator(settings, scaled), method="sigmoid", cv=folds, ensemble=False)
    with warnings.catch_warnings():
        # That the network stopped at its limit is meant; that k-NN takes no weights is documented above.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="Since .* does not appear to accept sample_weight")
        calibrated.fit(scaled, labels, sample_weight=weights)
    return Member(settings.classifier, *span, scaling, calibrated)


# Up to so many rows all kernel values are computed, by the linear algebra library and not one by one as libsvm does.
# Beyond it, time and memory would grow with the square and the cube of the rows: support vectors give way to the ridge,
# and the ridge to one on `LANDMARKS` of the rows.
KERNEL_ROWS = 6000
LANDMARKS = 2000


def _estimator(settings: Settings, scaled: np.ndarray):

    n = len(scaled)
    if settings.classifier in ("svm", "ridge"):
        gamma = 1 / (scaled.shape[1] * max(float(scaled.var()), 1e-12))
        if settings.classifier == "svm" and n <= KERNEL_ROWS:
            return SVC(C=settings.strength, kernel=functools.partial(rbf_kernel, gamma=gamma))
        landmarks = LANDMARKS if n > KERNEL_ROWS else None
        return KernelRidgeClassifier(2 / settings.strength, gamma, landmarks, settings.seed)
    if settings.classifier == "logistic":
        # Some 1,500 features and few labels: a strength of 1 stands for C = 0.001.
        return LogisticRegression(C=settings.strength / 1000, max_iter=2000)
    if settings.classifier == "knn":
        # In the inner folds there are fewer to choose from.
        neighbours = max(1, min(settings.neighbours, n // INNER_FOLDS))
        return KNeighborsClassifier(neighbours, algorithm="brute")
    return MLPClassifier((settings.hidden,), alpha=1.0, early_stopping=False, max_iter=30, random_state=settings.seed)
