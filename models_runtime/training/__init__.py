"""Checkers trained on people's labels: frozen features, a small classifier, evaluation, storage without pickle."""

from . import store
from .features import REPRESENTATIONS
from .learning import Example, Trained, train
from .settings import CLASSIFIERS, Settings, TooLittle

__all__ = ["CLASSIFIERS", "REPRESENTATIONS", "Example", "Settings", "TooLittle", "Trained", "store", "train"]
