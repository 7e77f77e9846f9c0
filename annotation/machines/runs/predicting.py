"""Asking a checker about the inputs of a chunk: in slices that suit the machine, so that cancelling takes effect in
between, and so that what breaks on one input answers the others."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from uuid import UUID

from annotation.jobs import lifecycle
from models_runtime.contracts import (
    Checker,
    CheckerInput,
    LabelSpace,
    ModelError,
    Prediction,
    PredictionError,
    UnavailableError,
    Usage,
)
from models_runtime.failures import is_interruption

# A checker gets this many inputs at once to begin with. Many at once go faster, and cancelling takes effect in between,
# so the number grows while it takes less than the first of these times in seconds, and shrinks above the second.
SLICE_SIZE = 32
MAX_SLICE_SIZE = 256
SLICE_SECONDS = (1.0, 4.0)
# What the checker says of itself.
STOPS = (ModelError, UnavailableError)


def predict(
    checker: Checker,
    inputs: list[CheckerInput],
    lease: lifecycle.Lease,
    *,
    ask: Callable[[list], list] | None = None,
    measures_time: bool = False,
) -> Iterator[Prediction]:
    """Predictions for all inputs. Where a whole slice breaks, its inputs are tried one by one, and those that break
    again fail alone; a checker that breaks on every one of them is itself broken, and its error is raised. So is that
    of one that cannot work, for now or at all, at once, after what it had answered until then: it is no input's fault.

    `ask` is how a machine of another kind is asked. `measures_time`: the checker computes on this machine, so seconds
    that it does not count itself are measured here.
    """
    ask = ask or checker.predict
    answered, broken, start = 0, None, 0
    least, job = getattr(checker, "slice_at_least", 1), lease.chunk.job.uuid
    while start < len(inputs):
        size = max(_slice_sizes.get(job, SLICE_SIZE), least)
        part = inputs[start : start + size]
        start += len(part)
        begun = time.monotonic()
        lease.beat()
        try:
            yield from _predict_slice(ask, part, measures_time)
            answered += len(part)
        except Exception as error:
            if is_interruption(error):
                raise
            if isinstance(error, STOPS):
                yield from error.predictions
                raise
            for item in part:
                lease.beat()
                try:
                    yield from _predict_slice(ask, [item], measures_time)
                    answered += 1
                except Exception as own_error:
                    if is_interruption(own_error) or isinstance(own_error, STOPS):
                        raise
                    broken = own_error
                    yield Prediction(item.id, error=PredictionError("checker-broke", _told(own_error), False))
        if len(part) == size:
            _slice_sizes[job] = next_size(size, time.monotonic() - begun)
    lease.beat()
    if broken is not None and not answered:
        raise broken


# By a job's UUID, since its number may come again in another database: what its inputs allow on this machine. A worker
# process meets few jobs in its life.
_slice_sizes: dict[UUID, int] = {}


def next_size(size: int, seconds: float) -> int:
    quick, slow = SLICE_SECONDS
    if seconds < quick:
        return min(size * 2, MAX_SLICE_SIZE)
    return max(size // 2, 1) if seconds > slow else size


def _predict_slice(ask: Callable[[list], list], part: list, measures_time: bool) -> list[Prediction]:
    begun = time.perf_counter()
    predictions = ask(part)
    seconds = time.perf_counter() - begun
    if [prediction.id for prediction in predictions] != [item.id for item in part]:
        raise ValueError(f"{len(part)} inputs went in, and other ones came out")
    if not measures_time or any(prediction.usage and prediction.usage.device_seconds for prediction in predictions):
        return predictions
    share = Usage(device_seconds=seconds / len(part))
    return [replace(prediction, usage=(prediction.usage or Usage()) + share) for prediction in predictions]


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:2000]


def checked(prediction: Prediction, spaces: tuple[LabelSpace, ...]) -> Prediction:
    """The prediction, or its failure if it says what the task type does not know or what no database stores."""
    if prediction.error:
        return prediction
    values = {space.dimension: space.values for space in spaces}
    for dimension, answer in prediction.labels.items():
        if answer.label not in values.get(dimension, ()):
            return _invalid(prediction, f"{dimension} has no label {answer.label!r}")
        known = [] if answer.probability is None else [answer.probability]
        if not all(map(math.isfinite, [*known, *answer.probabilities.values()])):
            return _invalid(prediction, f"a probability of {dimension} is not finite")
    for name, value in prediction.scores.items():
        if value is not None and not math.isfinite(value):
            return _invalid(prediction, f"the score {name} is {value}")
    return prediction


def _invalid(prediction: Prediction, message: str) -> Prediction:
    return Prediction(
        prediction.id,
        error=PredictionError("invalid-answer", message, True),
        usage=prediction.usage,
        trace=prediction.trace,
    )
