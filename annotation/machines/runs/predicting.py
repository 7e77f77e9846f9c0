"""Asking a checker about the inputs of a chunk: in slices that suit the machine, so that cancelling takes effect in
between, and so that what breaks on one input answers the others."""

from __future__ import annotations

import contextlib
import functools
import math
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
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
MAX_SLICE_SIZE = 2048
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
    ask, ahead = ask or checker.predict, ask is None and getattr(checker, "works_ahead", False)
    answered, broken = 0, None
    least, job = getattr(checker, "slice_at_least", 1), lease.chunk.job.uuid

    def slices() -> Iterator[list[CheckerInput]]:
        start = 0
        while start < len(inputs):
            part = inputs[start : start + max(_slice_sizes.get(job, SLICE_SIZE), least)]
            start += len(part)
            yield part

    with contextlib.closing(_ahead(checker, slices()) if ahead else _in_turn(ask, slices())) as asked:
        for part, result in asked:
            lease.beat()
            try:
                found, seconds = result()
                yield from _of_the_slice(part, found, seconds, measures_time)
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
                        yield from _of_the_slice([item], *_timed(ask, [item]), measures_time)
                        answered += 1
                    except Exception as own_error:
                        if is_interruption(own_error) or isinstance(own_error, STOPS):
                            raise
                        broken = own_error
                        yield Prediction(item.id, error=PredictionError("checker-broke", _message(own_error), False))
            else:
                if len(part) >= max(_slice_sizes.get(job, SLICE_SIZE), least):
                    _slice_sizes[job] = next_size(len(part), seconds)
    lease.beat()
    if broken is not None and not answered:
        raise broken


Result = Callable[[], tuple[list, float]]  # the answers of a slice, and the seconds that they took


def _in_turn(ask: Callable[[list], list], slices: Iterable[list]) -> Iterator[tuple[list, Result]]:
    return ((part, functools.partial(_timed, ask, part)) for part in slices)


def _ahead(checker: Checker, slices: Iterator[list]) -> Iterator[tuple[list, Result]]:
    """The same with two threads: while the answers of a slice are stored, the model judges the next one, and the texts
    of the one after it are prepared. So a GPU waits for neither."""
    pool = ThreadPoolExecutor(2, thread_name_prefix="checker")

    def prepared() -> tuple[list, Future] | None:
        part = next(slices, None)
        return part and (part, pool.submit(checker.prepare, part))

    def judged(part: list, ready: Future) -> tuple[list, float]:
        inputs = ready.result()
        return _timed(functools.partial(checker.predict, ready=inputs), part)

    try:
        before, upcoming = None, prepared()
        while upcoming:
            part, ready = upcoming
            asked = pool.submit(judged, part, ready)
            upcoming = prepared()
            if before:
                yield before
            before = part, asked.result
        if before:
            yield before
    finally:
        pool.shutdown(cancel_futures=True)


# By a job's UUID, since its number may come again in another database: what its inputs allow on this machine. A worker
# process meets few jobs in its life.
_slice_sizes: dict[UUID, int] = {}


def next_size(size: int, seconds: float) -> int:
    quick, slow = SLICE_SECONDS
    if seconds < quick:
        return min(size * 2, MAX_SLICE_SIZE)
    return max(size // 2, 1) if seconds > slow else size


def _timed(ask: Callable[[list], list], part: list) -> tuple[list, float]:
    begun = time.perf_counter()
    return ask(part), time.perf_counter() - begun


def _of_the_slice(part: list, predictions: list, seconds: float, measures_time: bool) -> list[Prediction]:
    if [prediction.id for prediction in predictions] != [item.id for item in part]:
        raise ValueError(f"{len(part)} inputs went in, and other ones came out")
    if not measures_time or any(prediction.usage and prediction.usage.device_seconds for prediction in predictions):
        return predictions
    share = Usage(device_seconds=seconds / len(part))
    return [replace(prediction, usage=(prediction.usage or Usage()) + share) for prediction in predictions]


def _message(error: Exception) -> str:
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
