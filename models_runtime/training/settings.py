"""Which classifiers there are, how one is trained and tested, and how much there must be to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

CLASSIFIERS = {
    "svm": "Support vector machine (radial kernel)",
    "ridge": "Kernel ridge regression (radial kernel)",
    "ensemble": "Both of these, averaged",
    "logistic": "Logistic regression",
    "knn": "Nearest neighbours",
    "mlp": "Neural network with one hidden layer",
}
ENSEMBLE = ("svm", "ridge")
FINE_TUNED = "cross-encoder"  # which learns from the texts themselves
# How classifiers are tested, and with which shares of what there is to train on.
FOLDS = 5
SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)
# Fewer than this, and a score of five folds says next to nothing.
MIN_PER_LABEL = 10
MIN_GROUPS_PER_LABEL = 5


class TooLittle(Exception):
    """There is too little to learn from; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Which classifier, and how. `strength` is C of SVM and logistic regression, and twice the reciprocal of the ridge
    (greater: fits closer)."""

    classifier: str = "svm"
    balanced: bool = True
    strength: float = 1.0
    neighbours: int = 15
    hidden: int = 64
    seed: int = 0

    def __post_init__(self) -> None:
        if self.classifier not in (*CLASSIFIERS, FINE_TUNED):
            raise ValueError(f"{self.classifier!r} is not one of {', '.join(CLASSIFIERS)}")

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def what_is_missing(labels: Sequence[str], groups: Sequence[str], minimum: int = MIN_PER_LABEL) -> list[str]:
    """Why this is too little to learn from, in sentences; nothing where it is enough."""
    by_label: dict[str, list[str]] = {}
    for label, group in zip(labels, groups, strict=True):
        by_label.setdefault(label, []).append(group)
    if len(by_label) < 2:
        present = f"only “{next(iter(by_label))}”" if by_label else "no label at all"
        return [f"There must be two labels to tell apart; there is {present}"]
    missing = []
    for label, of_label in sorted(by_label.items()):
        if len(of_label) < minimum:
            missing.append(f"“{label}” was given {len(of_label)} times; at least {minimum} are needed")
        if len(set(of_label)) < MIN_GROUPS_PER_LABEL:
            missing.append(
                f"“{label}” occurs in {len(set(of_label))} claims or questions; "
                f"at least {MIN_GROUPS_PER_LABEL} are needed"
            )
    return missing
