"""A trained classifier as arrays, and its probabilities from them, without a pickle.

`arrays_of` takes scikit-learn's object apart; `Predictor` computes the same probabilities from the arrays (equal to
scikit-learn's to 1e-6; features are rounded to single precision before either sees them, so storing loses nothing).

| classifier | arrays, in addition to `centre`, `factor` (scaling) and `slope`, `offset` (sigmoid per label) |
|---|---|
| logistic | `coefficients` (labels by d), `intercepts`; with two labels one row, for the second |
| svm | `vectors` (m by d), `dual` (labels - 1 by m), `intercepts` (per pair of labels), `counts` (per label), `gamma` |
| ridge | `vectors` (m by d), `dual` (labels by m; with two labels one row), `intercepts`, `gamma` |
| knn | `examples` (n by d), `codes` (n: the label's place), `neighbours` |
| mlp | `weights_0`, `biases_0`, `weights_1`, `biases_1` |

Support vectors of more rows than `KERNEL_ROWS` are stored as the ridge that they are. Where there are several members,
names begin with the member's number (`0/`, `1/`, ...), and `columns` holds where its features begin and end.
"""  # fmt: skip

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, softmax
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel

from .classifiers import Fitted, Member, Scaling
from .settings import ENSEMBLE

Arrays = dict[str, np.ndarray]

# Distances to this many inputs at a time, so that memory stays small whatever is asked at once.
AT_ONCE = 256


def arrays_of(fitted: Fitted, classifier: str) -> Arrays:
    """Everything that `Predictor` needs. float64, but for examples and vectors, which are single precision exactly."""
    if len(fitted.members) == 1:
        return _arrays_of_member(fitted.members[0])
    arrays = {}
    for number, member in enumerate(fitted.members):
        columns = {"columns": np.array([member.start, member.end], dtype=np.float64)}
        arrays |= {f"{number}/{name}": one for name, one in (_arrays_of_member(member) | columns).items()}
    return arrays


def _arrays_of_member(member: Member) -> Arrays:
    (inner,) = member.calibrated.calibrated_classifiers_
    arrays = _TAKE_APART[member.classifier](inner.estimator)
    arrays["centre"], arrays["factor"] = member.scaling.centre, member.scaling.factor
    arrays["slope"] = np.array([one.a_ for one in inner.calibrators])
    arrays["offset"] = np.array([one.b_ for one in inner.calibrators])
    single = ("vectors", "examples")
    return {
        name: np.ascontiguousarray(value, dtype=np.float32 if name in single else np.float64)
        for name, value in arrays.items()
    }


@dataclass(frozen=True, slots=True)
class Predictor:
    labels: tuple[str, ...]
    classifier: str
    arrays: Arrays

    def probabilities(self, features: np.ndarray) -> np.ndarray:
        """n by labels; rows sum to 1."""
        kinds = ENSEMBLE if self.classifier == "ensemble" else (self.classifier,)
        if "centre" in self.arrays:
            return self._of_member(features, kinds[0], self.arrays)
        members: dict[int, Arrays] = {}
        for name, value in self.arrays.items():
            number, _, rest = name.partition("/")
            members.setdefault(int(number), {})[rest] = value
        total = 0
        for number, arrays in members.items():
            start, end = arrays["columns"].astype(int)
            total = total + self._of_member(features[:, start:end], kinds[number % len(kinds)], arrays)
        return total / len(members)

    def _of_member(self, features: np.ndarray, classifier: str, arrays: Arrays) -> np.ndarray:
        scaled = Scaling(arrays["centre"], arrays["factor"])(features)
        scores = _SCORES[classifier](scaled, arrays, len(self.labels))
        probabilities = expit(-(arrays["slope"] * scores + arrays["offset"]))
        if len(self.labels) == 2:
            return np.column_stack([1 - probabilities[:, 0], probabilities[:, 0]])
        total = probabilities.sum(axis=1, keepdims=True)
        # As scikit-learn does where every label is impossible.
        return np.where(total > 0, probabilities / np.where(total > 0, total, 1), 1 / len(self.labels))


# ---- logistic regression ----


def _take_logistic(estimator) -> Arrays:
    return {"coefficients": estimator.coef_, "intercepts": estimator.intercept_}


def _logistic(features, arrays: Arrays, n_labels: int):
    return features @ arrays["coefficients"].T + arrays["intercepts"]


# ---- support vectors, kernel ridge ----


def _take_svm(estimator) -> Arrays:
    if hasattr(estimator, "dual_"):
        return _take_ridge(estimator)
    return {
        # With a kernel of its own scikit-learn keeps no vectors, but what it was trained on.
        "vectors": estimator._BaseLibSVM__Xfit[estimator.support_],
        "dual": estimator.dual_coef_,
        "intercepts": estimator.intercept_,
        "counts": estimator.n_support_,
        "gamma": np.array([estimator.kernel.keywords["gamma"]]),
    }


def _take_ridge(estimator) -> Arrays:
    # Of two labels only the second one's score counts.
    first = 1 if len(estimator.classes_) == 2 else 0
    return {
        "vectors": estimator.vectors_,
        "dual": estimator.dual_[first:],
        "intercepts": estimator.intercepts_[first:],
        "gamma": np.array([estimator.gamma]),
    }


def _svm(features, arrays: Arrays, n_labels: int):
    dual, intercepts = arrays["dual"], arrays["intercepts"]
    decisions = np.empty((len(features), 1 if n_labels == 2 else n_labels))
    for start, kernel in _kernels(features, arrays):
        if "counts" not in arrays or n_labels == 2:
            decisions[start : start + AT_ONCE] = kernel @ dual.T + intercepts
        else:
            ends = np.concatenate([[0], np.cumsum(arrays["counts"]).astype(int)])
            decisions[start : start + AT_ONCE] = _votes(kernel, dual, intercepts, ends, n_labels)
    return decisions


def _kernels(features, arrays: Arrays):
    """The radial kernel of a few rows with all vectors, and where these rows begin."""
    vectors, gamma = arrays["vectors"].astype(np.float64), arrays["gamma"][0]
    for start in range(0, len(features), AT_ONCE):
        yield start, rbf_kernel(features[start : start + AT_ONCE], vectors, gamma=gamma)


def _votes(kernel, dual, intercepts, ends, n_labels: int):
    """One score per label from the decisions of every pair of labels: pairs won, and ties broken by how clearly."""
    votes, clearness = np.zeros((2, len(kernel), n_labels))
    pair = 0
    for i in range(n_labels):
        for j in range(i + 1, n_labels):
            of_i, of_j = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
            # libsvm keeps the weights of label i against label j in row j - 1, and those of j against i in row i.
            decision = kernel[:, of_i] @ dual[j - 1, of_i] + kernel[:, of_j] @ dual[i, of_j] + intercepts[pair]
            clearness[:, i] += decision
            clearness[:, j] -= decision
            votes[:, i] += decision >= 0
            votes[:, j] += decision < 0
            pair += 1
    return votes + clearness / (3 * (np.abs(clearness) + 1))


# ---- nearest neighbours ----


def _take_knn(estimator) -> Arrays:
    return {
        "examples": estimator._fit_X,
        "codes": estimator._y,
        "neighbours": np.array([estimator.n_neighbors]),
    }


def _knn(features, arrays: Arrays, n_labels: int):
    examples, codes = arrays["examples"].astype(np.float64), arrays["codes"].astype(int)
    neighbours = int(arrays["neighbours"][0])
    shares = np.zeros((len(features), n_labels))
    for start in range(0, len(features), AT_ONCE):
        part = features[start : start + AT_ONCE]
        nearest = np.argsort(euclidean_distances(part, examples, squared=True), axis=1, kind="stable")[:, :neighbours]
        for place in range(neighbours):
            shares[start + np.arange(len(part)), codes[nearest[:, place]]] += 1 / neighbours
    return shares[:, 1:] if n_labels == 2 else shares


# ---- neural network ----


def _take_mlp(estimator) -> Arrays:
    (first, second), (bias_first, bias_second) = estimator.coefs_, estimator.intercepts_
    return {"weights_0": first, "biases_0": bias_first, "weights_1": second, "biases_1": bias_second}


def _mlp(features, arrays: Arrays, n_labels: int):
    hidden = np.maximum(features @ arrays["weights_0"] + arrays["biases_0"], 0)
    outputs = hidden @ arrays["weights_1"] + arrays["biases_1"]
    if n_labels == 2:
        return expit(outputs)
    return softmax(outputs, axis=1)


_TAKE_APART = {
    "logistic": _take_logistic,
    "svm": _take_svm,
    "ridge": _take_ridge,
    "knn": _take_knn,
    "mlp": _take_mlp,
}
_SCORES = {"logistic": _logistic, "svm": _svm, "ridge": _svm, "knn": _knn, "mlp": _mlp}
