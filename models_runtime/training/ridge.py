"""Kernel ridge regression on the labels (least-squares support vectors), as a classifier of scikit-learn's form.

With a radial kernel k, targets y (1 for the own label, else 0), weights w of mean 1 and b the mean of the targets,

    score(x) = b + sum_i dual_i k(x, x_i),    dual = (K + ridge / w)^-1 (y - b)

Unlike support vectors it is one system of linear equations for all labels, solved once. With `landmarks` fewer rows
than there are stand for all of them (Nyström): with L their kernel among themselves and C that of all rows with them,

    dual = (C' w C + ridge L)^-1 C' w (y - b)
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

# Added to a matrix that rounding may have left not quite positive definite, as a share of its mean diagonal.
JITTER = 1e-8


class KernelRidgeClassifier(ClassifierMixin, BaseEstimator):
    def __init__(self, ridge: float, gamma: float, landmarks: int | None, seed: int) -> None:
        self.ridge, self.gamma, self.landmarks, self.seed = ridge, gamma, landmarks, seed

    def fit(self, X, y, sample_weight=None):
        self.classes_, codes = np.unique(y, return_inverse=True)
        targets = np.eye(len(self.classes_))[codes]
        weights = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        weights = weights / weights.mean()
        self.intercepts_ = targets.mean(axis=0)
        rest = targets - self.intercepts_
        if self.landmarks is None or self.landmarks >= len(X):
            self.vectors_ = X
            ridge = KernelRidge(alpha=self.ridge, kernel="rbf", gamma=self.gamma).fit(X, rest, weights)
            self.dual_ = ridge.dual_coef_.T  # labels by rows
        else:
            drawn = np.random.default_rng(self.seed).choice(len(X), self.landmarks, replace=False)
            self.vectors_ = X[np.sort(drawn)]
            kernel = rbf_kernel(X, self.vectors_, gamma=self.gamma)
            weighted = kernel * weights[:, None]
            system = weighted.T @ kernel + self.ridge * rbf_kernel(self.vectors_, gamma=self.gamma)
            system[np.diag_indices_from(system)] += JITTER * np.trace(system) / len(system)
            self.dual_ = cho_solve(cho_factor(system, overwrite_a=True), weighted.T @ rest).T
        return self

    def decision_function(self, X):
        decisions = rbf_kernel(X, self.vectors_, gamma=self.gamma) @ self.dual_.T + self.intercepts_
        return decisions[:, 1] if len(self.classes_) == 2 else decisions

    def predict(self, X):
        decisions = self.decision_function(X)
        return self.classes_[(decisions > 0.5).astype(int) if decisions.ndim == 1 else decisions.argmax(axis=1)]
