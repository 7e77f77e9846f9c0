"""Checkers trained on people's labels: frozen features, a small classifier, evaluation, storage without pickle."""

from . import store
from .classifiers import CLASSIFIERS, Settings, TooLittle
from .features import REPRESENTATIONS
from .learning import Example, Trained, train

__all__ = ["CLASSIFIERS", "REPRESENTATIONS", "Example", "Settings", "TooLittle", "Trained", "store", "train"]
