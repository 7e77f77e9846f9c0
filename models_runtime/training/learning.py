"""From labelled inputs to a stored checker: features, what is enough, evaluation, the final classifier, storage.

>>> from models_runtime.training import Example, Settings, store, train      # doctest: +SKIP
>>> store.keep_in("models")                                                   # doctest: +SKIP
>>> trained = train(examples, Settings("svm"))                                # doctest: +SKIP
>>> load("trained", STANCE, {"model": trained.id}).predict(inputs)            # doctest: +SKIP
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ..contracts import CheckerInput, ModelError
from ..provenance import versions
from . import store
from .features import MODEL, Features
from .hidden import HiddenStates
from .settings import (
    FINE_TUNED,
    FOLDS,
    MIN_GROUPS_PER_LABEL,
    MIN_PER_LABEL,
    SHARES,
    Settings,
    TooLittle,
    what_is_missing,
)

if TYPE_CHECKING:
    import numpy as np

    from .classifiers import Data

# Inputs are embedded in portions, so that a long job can be stopped in between.
PORTION = 64
# Features that are held at once: 4 GB of hidden states.
MOST_NUMBERS = 1_000_000_000
Beat = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Example:
    """An input with people's labels of it (dimension to label) and its group: the claim or question it is about."""

    input: CheckerInput
    group: str
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Trained:
    id: str  # in the store
    metadata: dict[str, Any]


def input_hash(item: CheckerInput) -> bytes:
    """32 bytes that tell what an input says, whatever its id: SHA-256 of its fields as JSON."""
    fields = {name: value if isinstance(value, str) else list(value) for name, value in item.fields.items()}
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).digest()


def data_hash(examples: Sequence[Example]) -> str:
    """What was trained on: texts, groups and labels, whatever their order."""
    rows = sorted([input_hash(one.input).hex(), one.group, sorted(one.labels.items())] for one in examples)
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def train(
    examples: Sequence[Example],
    settings: Settings,
    *,
    representation: str = "combined",
    hidden: HiddenStates | None = None,
    encoder: str = MODEL,
    minimum: int = MIN_PER_LABEL,
    skip_rare: bool = False,
    device: str = "auto",
    folds: int = FOLDS,
    shares: Sequence[float] = SHARES,
    beat: Beat = lambda done, total, doing: None,
) -> Trained:
    """Evaluate a classifier per dimension by cross-validation, train it on everything, and store it.

    `hidden` names the language model of the representation `hidden-states`, and is given with no other. `encoder` is
    the sentence encoder of those with embeddings, and what is fine-tuned where both settings and representation say
    `cross-encoder`: this takes `folds` + 1 trainings of a network, so its learning curve is its end alone.
    `skip_rare` leaves out labels with too few examples, and dimensions with fewer than two labels then, instead of
    refusing; what was left out is in the metadata. TooLittle says what is missing. `beat(done, total, doing)` is
    called often and may raise to stop; nothing is stored then.
    """
    from . import classifiers
    from .arrays import arrays_of
    from .evaluation import cross_validate

    if (settings.classifier == FINE_TUNED) != (representation == FINE_TUNED):
        raise ValueError(f"the classifier {FINE_TUNED} learns from texts as they are, and nothing else does")
    rows, dimensions = _checked(examples, minimum, skip_rare)
    features = Features(representation, device, hidden, encoder)
    shares = (1.0,) if features.is_fine_tuned else shares
    trainings = len(dimensions) * (len({*shares, 1.0}) * folds + 1)
    portions = -(-len(rows) // PORTION)
    total = portions + trainings
    matrix, failed = _matrix(features, rows, lambda done: beat(done, total, "Reading the texts"))
    kept = [place for place in range(len(rows)) if place not in failed]
    rows = [rows[place] for place in kept]
    groups = _groups(rows)
    done, arrays, figures = portions, {}, {}
    latest: list[tuple[int, int, str]] = []  # a network's training reports it again after each step, and may stop there

    def tell(*now) -> None:
        latest[:] = [now]
        beat(*now)

    fit = classifiers.fit
    if features.is_fine_tuned:
        fit = partial(features.encoder.fit, step=lambda: beat(*latest[0]))
    for dimension, trained in dimensions.items():
        places = [i for i, one in enumerate(rows) if one.labels.get(dimension) in trained.labels]
        data = _data(matrix, rows, groups, places, dimension, features)
        if missing := what_is_missing(data.labels, data.groups, minimum):  # texts without features were left out
            raise TooLittle(f"{dimension}: " + "; ".join(missing))

        def counted(now: int, of: int, base: int = done, name: str = dimension) -> None:
            tell(base + now, total, f"Training and testing: {name}")

        evaluation = cross_validate(data, settings, folds=folds, shares=shares, beat=counted, fit=fit)
        done += len({*shares, 1.0}) * folds
        tell(done, total, f"Training on everything: {dimension}")
        fitted = fit(data, settings)
        done += 1
        stored = fitted.arrays() if features.is_fine_tuned else arrays_of(fitted, settings.classifier)
        arrays |= {f"{dimension}/{name}": one for name, one in stored.items()}
        arrays |= _out_of_fold(dimension, [rows[i] for i in places], evaluation.probabilities)
        figures[dimension] = {
            "labels": list(fitted.labels),
            "n": len(places),
            "groups": len(set(data.groups)),
            "counts": dict(sorted(Counter(data.labels).items())),
            "left_out": trained.left_out,
            "evaluation": evaluation.as_json(),
        }
    metadata = {
        "features": features.describe(),
        "settings": settings.as_json(),
        "minimum": minimum,
        "folds": folds,
        "dimensions": figures,
        "skipped": sorted({name for one in examples for name in one.labels} - set(figures)),
        "without_features": len(failed),
        "data_sha256": data_hash(examples),
        "libraries": versions("scikit-learn", "numpy"),
    }
    beat(total, total, "Storing")
    return Trained(store.write(metadata, arrays), metadata)


@dataclass(frozen=True, slots=True)
class _Dimension:
    labels: frozenset[str]  # that are learnt
    left_out: dict[str, int]  # labels too rare, with their numbers


def _checked(examples: Sequence[Example], minimum: int, skip_rare: bool) -> tuple[list[Example], dict[str, _Dimension]]:
    """The examples that say something, and the dimensions that can be learnt; TooLittle with all that is missing."""
    rows = [one for one in examples if one.labels]
    groups = _groups(rows)
    names = sorted({name for one in rows for name in one.labels})
    if not names:
        raise TooLittle("There are no labels to learn from yet")
    checked, problems = {}, []
    for name in names:
        pairs = [(one.labels[name], group) for one, group in zip(rows, groups, strict=True) if name in one.labels]
        left_out: dict[str, int] = {}
        if skip_rare:
            left_out = _rare(pairs, minimum)
            pairs = [(label, group) for label, group in pairs if label not in left_out]
        missing = what_is_missing([label for label, _ in pairs], [group for _, group in pairs], minimum)
        if missing:
            problems += [f"{name}: {one}" for one in missing]
        else:
            checked[name] = _Dimension(frozenset(label for label, _ in pairs), left_out)
    if not checked or (problems and not skip_rare):
        raise TooLittle("; ".join(problems))
    return rows, checked


def _rare(pairs: Sequence[tuple[str, str]], minimum: int) -> dict[str, int]:
    counts, groups = Counter(label for label, _ in pairs), Counter(label for label, _ in set(pairs))
    return {
        label: counts[label]
        for label in sorted(counts)
        if counts[label] < minimum or groups[label] < MIN_GROUPS_PER_LABEL
    }


def _groups(rows: Sequence[Example]) -> list[str]:
    """The rows' groups, joined where the same texts stand in several: a twin must not be trained on either."""
    parent: dict[str, str] = {}

    def top(group: str) -> str:
        while parent.setdefault(group, group) != group:
            group = parent[group]
        return group

    seen: dict[bytes, str] = {}
    for row in rows:
        first = top(seen.setdefault(input_hash(row.input), row.group))
        parent[top(row.group)] = first
    return [top(row.group) for row in rows]


def _matrix(features: Features, rows: Sequence[Example], beat: Callable[[int], None]) -> tuple[np.ndarray, set[int]]:
    """Features of the rows that have some, in their order, and the places of those that have none."""
    import numpy as np

    read, failed = [], set()
    for portion, start in enumerate(range(0, len(rows), PORTION)):
        beat(portion)
        for place, row in enumerate(features.rows([one.input for one in rows[start : start + PORTION]]), start):
            if isinstance(row, Exception):
                failed.add(place)
            else:
                read.append(row.values)
        if read and len(rows) * len(read[0]) > MOST_NUMBERS:
            raise ModelError(
                f"{len(rows):,} texts with {len(read[0]):,} numbers each are more than the memory is meant for "
                f"({MOST_NUMBERS:,} numbers); choose fewer layers"
            )
    if not read:
        raise TooLittle("None of the labelled texts can be read: each is empty or has nothing to look for")
    return np.array(read), failed


def _data(matrix, rows, groups, places: list[int], dimension: str, features: Features) -> Data:
    from .classifiers import Data

    labels, groups = [rows[i].labels[dimension] for i in places], [groups[i] for i in places]
    return Data(matrix[places], labels, groups, features.lexical_from(matrix.shape[1]), features.parts())


def data_for(
    examples: Sequence[Example],
    dimension: str,
    representation: str = "combined",
    device: str = "auto",
    encoder: str = MODEL,
) -> Data:
    """What a classifier of that dimension is trained on, for experiments; what has no readable text is left out."""
    rows = [one for one in examples if dimension in one.labels]
    features = Features(representation, device, encoder=encoder)
    matrix, failed = _matrix(features, rows, lambda done: None)
    rows = [row for place, row in enumerate(rows) if place not in failed]
    return _data(matrix, rows, _groups(rows), list(range(len(rows))), dimension, features)


def _out_of_fold(dimension: str, rows: Sequence[Example], probabilities: np.ndarray) -> dict[str, np.ndarray]:
    import numpy as np

    keys = np.frombuffer(b"".join(input_hash(row.input) for row in rows), dtype=np.uint8).reshape(-1, 32)
    return {
        f"out_of_fold/{dimension}/keys": keys.copy(),
        f"out_of_fold/{dimension}/values": np.ascontiguousarray(probabilities, dtype=np.float64),
    }
