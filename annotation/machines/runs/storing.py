"""What a run stores of its answers: suggestions, scores, failures, what they cost, and how some of them came about.

Everything here runs inside the transaction that closes the chunk, after the lease was given back. So a chunk that is
worked on twice is stored, and counted, once.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Count

from annotation.machines.runs import workers
from annotation.machines.runs.checker_inputs import Reader
from annotation.models import CheckerRun, RunFailure, RunSample, Score, Suggestion
from models_runtime.contracts import LabelSpace, Prediction

# Of how many units a run keeps how its checker came to the answer, and of how many failures of each reason.
SAMPLE_SIZE = 50
SAMPLES_PER_REASON = 20
# Code points that are kept of one text of a prompt or of the raw answer, and of a whole prompt as JSON.
TEXT_LIMIT = 20_000
PROMPT_LIMIT = 100_000


def sample_of(unit_keys: Mapping[int, str]) -> list[int]:
    """The units whose answers a run keeps in full, by a hash of their keys.

    Whichever worker asks, and in every run: so the samples of two runs can be read side by side, and a run that takes
    answers over from an earlier one finds what that one kept.
    """

    def draw(unit_id: int) -> bytes:
        return hashlib.sha256(unit_keys[unit_id].encode("utf-8", "surrogatepass")).digest()

    return sorted(sorted(unit_keys, key=draw)[:SAMPLE_SIZE])


def store(
    run: CheckerRun,
    predictions: Mapping[int, Prediction],
    spaces: tuple[LabelSpace, ...],
    reader: Reader,
    *,
    input_hashes: Mapping[int, str],
    sampled: Iterable[int],
) -> None:
    """`sampled` are the units that keep their trace even if nothing is wrong with them."""
    workers.add_usage(run, (prediction.usage for prediction in predictions.values()))
    # Those of an earlier attempt, where failed inputs are tried again.
    RunFailure.objects.filter(run=run, unit_id__in=list(predictions)).delete()
    RunSample.objects.filter(run=run, unit_id__in=list(predictions)).delete()
    RunFailure.objects.bulk_create(
        RunFailure(
            run=run,
            unit_id=unit_id,
            reason=prediction.error.reason[:80],
            message=storable(prediction.error.message)[:2000],
            is_permanent=prediction.error.permanent,
        )
        for unit_id, prediction in predictions.items()
        if prediction.error
    )
    answered = {unit_id: prediction for unit_id, prediction in predictions.items() if not prediction.error}
    Suggestion.objects.bulk_create(_suggestions(run, answered, spaces, reader, input_hashes))
    Score.objects.bulk_create(
        Score(run=run, unit_id=unit_id, name=name, value=value)
        for unit_id, prediction in answered.items()
        for name, value in prediction.scores.items()
    )
    RunSample.objects.bulk_create(_samples(run, predictions, set(sampled)))


def _suggestions(
    run: CheckerRun,
    answered: Mapping[int, Prediction],
    spaces: tuple[LabelSpace, ...],
    reader: Reader,
    input_hashes: Mapping[int, str],
) -> Iterable[Suggestion]:
    by_dimension = {space.dimension: space for space in spaces}
    for unit_id, prediction in answered.items():
        for dimension, answer in prediction.labels.items():
            space = by_dimension[dimension]
            yield Suggestion(
                run=run,
                unit_id=unit_id,
                dimension=dimension,
                label=answer.label,
                probability=answer.probability,
                probabilities=dict(answer.probabilities),
                spans=[
                    {
                        "field": reader.page_field(span.field),
                        "start": span.start,
                        "end": span.end,
                        "quote": span.quote,
                        "score": None if span.score is None or not math.isfinite(span.score) else span.score,
                    }
                    for span in prediction.spans
                    # What a person could not mark with this answer is not suggested with it.
                    if space.takes_spans_of(span.field) and space.may_carry(answer.label)
                ],
                explanation=_cut(answer.explanation)[0],
                input_hash=input_hashes.get(unit_id, ""),
            )


def _samples(run: CheckerRun, predictions: Mapping[int, Prediction], sampled: set[int]) -> Iterable[RunSample]:
    """The row of the run is locked by now, so that two chunks do not both fill the last places of a reason."""
    kept = Counter(
        dict(
            RunSample.objects.filter(run=run).exclude(reason="").values_list("reason").annotate(Count("pk")).order_by()
        )
    )
    for unit_id, prediction in predictions.items():
        reason = prediction.error.reason[:80] if prediction.error else ""
        if not reason and unit_id not in sampled:
            continue
        if reason:
            if kept[reason] >= SAMPLES_PER_REASON:
                continue
            kept[reason] += 1
        yield RunSample(run=run, unit_id=unit_id, reason=reason, **kept_trace(prediction.trace))


def kept_trace(trace: Mapping[str, Any] | None) -> dict[str, Any]:
    """What is kept of how an answer came about: `prompt`, `output`, and `is_cut` where one was too long to keep."""
    trace = trace or {}
    prompt, prompt_is_cut = _kept_prompt(trace.get("prompt"))
    output, output_is_cut = _cut(_as_text(trace.get("output")))
    return {"prompt": prompt, "output": output, "is_cut": prompt_is_cut or output_is_cut}


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _cut(text: str) -> tuple[str, bool]:
    return storable(text[:TEXT_LIMIT]), len(text) > TEXT_LIMIT


def _kept_prompt(prompt: Any) -> tuple[Any, bool]:
    """The prompt with its texts cut to size, as what JSON columns hold; where it still is too long, as one text."""
    if prompt is None:
        return None, False
    is_cut = False

    def kept(value: Any) -> Any:
        nonlocal is_cut
        if isinstance(value, dict):
            return {storable(str(name)): kept(inner) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [kept(inner) for inner in value]
        if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
            return value
        text, too_long = _cut(str(value))
        is_cut = is_cut or too_long
        return text

    made = kept(prompt)
    whole = json.dumps(made, ensure_ascii=False)
    return (made, is_cut) if len(whole) <= PROMPT_LIMIT else (whole[:PROMPT_LIMIT], True)


def storable(text: str) -> str:
    """Without NUL and lone surrogates, which PostgreSQL refuses; messages quote the text that failed."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode("utf-8")


def storable_json(value: object) -> object:
    """The same for JSON, however deep; numbers that are none become null."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return {storable(str(name)): storable_json(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [storable_json(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
