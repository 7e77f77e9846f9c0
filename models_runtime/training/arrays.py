"""A trained classifier as arrays, and its probabilities from them: numpy only, no pickle, scikit-learn not needed.

`arrays_of` takes scikit-learn's object apart; `Predictor` computes the same probabilities from the arrays (equal to
scikit-learn's to 1e-6; features are rounded to single precision before either sees them, so storing loses nothing).

| classifier | arrays, beside `centre`, `factor` (scaling) and `slope`, `offset` (sigmoid per label) |
|---|---|
| logistic | `coefficients` (labels by d), `intercepts`; with two labels one row, for the second |
| svm | `vectors` (m by d), `dual` (labels - 1 by m), `intercepts` (per pair of labels), `counts` (per label), `gamma` |
| knn | `examples` (n by d), `codes` (n: the label's place), `neighbours` |
| mlp | `weights_0`, `biases_0`, `weights_1`, `biases_1` |
"""  # fmt: skip

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .classifiers import Fitted, Scaling

if TYPE_CHECKING:
    import numpy as np

    Arrays = dict[str, np.ndarray]

# Distances to this many inputs at a time, so that memory stays small whatever is asked at once.
AT_ONCE = 256


def arrays_of(fitted: Fitted, classifier: str) -> Arrays:
    """Everything that `Predictor` needs. float64, but for examples and vectors, which are single precision exactly."""
    import numpy as np

    (inner,) = fitted.calibrated.calibrated_classifiers_
    found = _TAKE_APART[classifier](inner.estimator)
    found["centre"], found["factor"] = fitted.scaling.centre, fitted.scaling.factor
    found["slope"] = np.array([one.a_ for one in inner.calibrators])
    found["offset"] = np.array([one.b_ for one in inner.calibrators])
    single = ("vectors", "examples")
    return {
        name: np.ascontiguousarray(value, dtype=np.float32 if name in single else np.float64)
        for name, value in found.items()
    }


@dataclass(frozen=True, slots=True)
class Predictor:
    labels: tuple[str, ...]
    classifier: str
    arrays: Arrays

    def probabilities(self, features: np.ndarray) -> np.ndarray:
        """n by labels; rows sum to 1."""
        import numpy as np

        scaling = Scaling(self.arrays["centre"], self.arrays["factor"])
        scores = _SCORES[self.classifier](scaling(features), self.arrays, len(self.labels))
        found = _sigmoid(-(self.arrays["slope"] * scores + self.arrays["offset"]))
        if len(self.labels) == 2:
            return np.column_stack([1 - found[:, 0], found[:, 0]])
        total = found.sum(axis=1, keepdims=True)
        # As scikit-learn does where every label is impossible.
        return np.where(total > 0, found / np.where(total > 0, total, 1), 1 / len(self.labels))


def _sigmoid(values: np.ndarray) -> np.ndarray:
    import numpy as np

    return 1 / (1 + np.exp(-np.clip(values, -700, 700)))


# ---- logistic regression ----


def _take_logistic(estimator) -> Arrays:
    return {"coefficients": estimator.coef_, "intercepts": estimator.intercept_}


def _logistic(features, arrays: Arrays, n_labels: int):
    return features @ arrays["coefficients"].T + arrays["intercepts"]


# ---- support vectors ----


def _take_svm(estimator) -> Arrays:
    import numpy as np

    given = callable(estimator.kernel)  # scikit-learn keeps no vectors then, but what it was trained on
    return {
        "vectors": estimator._BaseLibSVM__Xfit[estimator.support_] if given else estimator.support_vectors_,
        "dual": estimator.dual_coef_,
        "intercepts": estimator.intercept_,
        "counts": estimator.n_support_,
        "gamma": np.array([estimator.kernel.keywords["gamma"] if given else estimator.gamma]),
    }


def _svm(features, arrays: Arrays, n_labels: int):
    import numpy as np

    vectors, dual = arrays["vectors"].astype(np.float64), arrays["dual"]
    gamma, intercepts = arrays["gamma"][0], arrays["intercepts"]
    ends = np.concatenate([[0], np.cumsum(arrays["counts"]).astype(int)])
    found = np.empty((len(features), 1 if n_labels == 2 else n_labels))
    squares = (vectors**2).sum(axis=1)
    for start in range(0, len(features), AT_ONCE):
        part = features[start : start + AT_ONCE]
        distance = (part**2).sum(axis=1)[:, None] + squares - 2 * part @ vectors.T
        kernel = np.exp(-gamma * np.maximum(distance, 0))
        if n_labels == 2:
            found[start : start + AT_ONCE, 0] = kernel @ dual[0] + intercepts[0]
        else:
            found[start : start + AT_ONCE] = _votes(kernel, dual, intercepts, ends, n_labels)
    return found


def _votes(kernel, dual, intercepts, ends, n_labels: int):
    """One score per label from the decisions of every pair of labels: pairs won, and ties broken by how clearly."""
    import numpy as np

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
    import numpy as np

    return {
        "examples": estimator._fit_X,
        "codes": estimator._y,
        "neighbours": np.array([estimator.n_neighbors]),
    }


def _knn(features, arrays: Arrays, n_labels: int):
    import numpy as np

    examples, codes = arrays["examples"].astype(np.float64), arrays["codes"].astype(int)
    neighbours = int(arrays["neighbours"][0])
    squares = (examples**2).sum(axis=1)
    shares = np.zeros((len(features), n_labels))
    for start in range(0, len(features), AT_ONCE):
        part = features[start : start + AT_ONCE]
        distance = (part**2).sum(axis=1)[:, None] + squares - 2 * part @ examples.T
        nearest = np.argsort(distance, axis=1, kind="stable")[:, :neighbours]
        for place in range(neighbours):
            shares[start + np.arange(len(part)), codes[nearest[:, place]]] += 1 / neighbours
    return shares[:, 1:] if n_labels == 2 else shares


# ---- neural network ----


def _take_mlp(estimator) -> Arrays:
    (first, second), (bias_first, bias_second) = estimator.coefs_, estimator.intercepts_
    return {"weights_0": first, "biases_0": bias_first, "weights_1": second, "biases_1": bias_second}


def _mlp(features, arrays: Arrays, n_labels: int):
    import numpy as np

    hidden = np.maximum(features @ arrays["weights_0"] + arrays["biases_0"], 0)
    outputs = hidden @ arrays["weights_1"] + arrays["biases_1"]
    if n_labels == 2:
        return _sigmoid(outputs)
    raised = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


_TAKE_APART = {"logistic": _take_logistic, "svm": _take_svm, "knn": _take_knn, "mlp": _take_mlp}
_SCORES = {"logistic": _logistic, "svm": _svm, "knn": _knn, "mlp": _mlp}
