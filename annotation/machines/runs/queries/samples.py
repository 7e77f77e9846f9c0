"""Some of a run's answers and failures with the texts judged, the prompts as sent and the raw answers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.core.paginator import Page, Paginator

from annotation.machines.runs.checker_inputs import Reader, checker_inputs, reader_of
from annotation.machines.runs.queries.suggestions import scores_by_unit, suggestions_by_unit
from annotation.machines.runs.retrieved import RetrievedPassages
from annotation.models import CheckerRun, RunFailure, RunSample, Suggestion
from annotation.task_types import TaskType
from models_runtime.contracts import CheckerInput

PER_PAGE = 10
EXAMPLES_PER_REASON = 3


@dataclass(frozen=True)
class SampledUnit:
    """One unit of the sample. `passages` are fields with their texts in pieces: (text, inside a span)."""

    key: str
    prompt: list[tuple[str, str]]  # role ("" where there is none) and text as sent
    output: str
    is_cut: bool
    claims: list[str] = field(default_factory=list)  # alternatives where there are several
    passages: list[tuple[str, list[tuple[str, bool]]]] = field(default_factory=list)
    answers: list[tuple[str, str, Suggestion]] = field(default_factory=list)  # titles of dimension and label
    scores: dict[str, float | None] = field(default_factory=dict)
    message: str = ""  # of a failure


def answers_of(run: CheckerRun, task_type: TaskType, page: str | int | None = 1) -> Page:
    """A page of the sampled answers. Seven queries at most."""
    rows = RunSample.objects.filter(run=run, reason="").select_related("unit").order_by("pk")
    found = Paginator(rows, PER_PAGE).get_page(page)
    found.object_list = _with_texts(run, task_type, list(found.object_list))
    return found


def failures_of(run: CheckerRun, task_type: TaskType) -> dict[str, list[SampledUnit]]:
    """Some failures of each reason. Six queries at most."""
    by_reason: dict[str, list[RunSample]] = {}
    # Without their prompts, which may be long, until it is known which ones are shown.
    ids = RunSample.objects.filter(run=run).exclude(reason="").order_by("pk").values_list("pk", "reason")
    for pk, reason in ids:
        chosen = by_reason.setdefault(reason, [])
        if len(chosen) < EXAMPLES_PER_REASON:
            chosen.append(pk)
    wanted = [pk for chosen in by_reason.values() for pk in chosen]
    rows = list(RunSample.objects.filter(pk__in=wanted).select_related("unit").order_by("pk"))
    messages = dict(
        RunFailure.objects.filter(run=run, unit_id__in=[row.unit_id for row in rows]).values_list("unit_id", "message")
    )
    shown = zip(rows, _with_texts(run, task_type, rows, messages), strict=True)
    found: dict[str, list[SampledUnit]] = {reason: [] for reason in by_reason}
    for row, sampled in shown:
        found[row.reason].append(sampled)
    return found


def _with_texts(
    run: CheckerRun, task_type: TaskType, rows: list[RunSample], messages: dict[int, str] | None = None
) -> list[SampledUnit]:
    reader = reader_of(task_type)
    unit_ids = [row.unit_id for row in rows]
    inputs = checker_inputs(task_type, unit_ids, retrieved=RetrievedPassages.of(run)) if reader else {}
    suggestions = suggestions_by_unit(run.pk, unit_ids)
    scores = scores_by_unit(run.pk, unit_ids)
    return [
        SampledUnit(
            key=row.unit.key,
            prompt=list(prompt_parts(row.prompt)),
            output=row.output,
            is_cut=row.is_cut,
            answers=[_titled(task_type, suggestion) for suggestion in suggestions.get(row.unit_id, ())],
            scores=scores.get(row.unit_id, {}),
            message=(messages or {}).get(row.unit_id, ""),
            **_texts(reader, inputs.get(row.unit_id), suggestions.get(row.unit_id, [])),
        )
        for row in rows
    ]


def prompt_parts(prompt: object) -> Iterable[tuple[str, str]]:
    """A stored prompt as messages, each with who speaks; anything else as one text."""
    if prompt is None:
        return
    if isinstance(prompt, list) and all(isinstance(one, dict) and "content" in one for one in prompt):
        for one in prompt:
            yield str(one.get("role", "")), _as_text(one["content"])
    else:
        yield "", _as_text(prompt)


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def _texts(reader: Reader | None, item: CheckerInput | None, suggestions: list[Suggestion]) -> dict:
    """None are left of what was replaced or withdrawn."""
    if reader is None or item is None:
        return {}
    return {"claims": _claims(item.fields), "passages": _marked_passages(reader, item.fields, suggestions)}


def _titled(task_type: TaskType, suggestion: Suggestion) -> tuple[str, str, Suggestion]:
    dimension = task_type.dimension(suggestion.dimension)
    return dimension.title, dimension.title_of(suggestion.label), suggestion


def _claims(fields: dict) -> list[str]:
    return [fields["claim"]] if "claim" in fields else list(fields["claims"])


def _marked_passages(
    reader: Reader, fields: dict, suggestions: list[Suggestion]
) -> list[tuple[str, list[tuple[str, bool]]]]:
    texts = {reader.page_field("evidence"): fields["evidence"]} if "evidence" in fields else {}
    texts |= {reader.page_field(f"passages[{index}]"): text for index, text in enumerate(fields.get("passages", ()))}
    spans = [span for suggestion in suggestions for span in suggestion.spans]
    return [
        (field, marked(text, [(span["start"], span["end"]) for span in spans if span["field"] == field]))
        for field, text in texts.items()
    ]


def marked(text: str, spans: list[tuple[int, int]]) -> list[tuple[str, bool]]:
    """The text in pieces that are inside a span or outside of all; joined they are the text again."""
    borders = sorted({0, len(text), *(point for span in spans for point in span if 0 <= point <= len(text))})
    return [
        (text[start:end], any(low <= start and end <= high for low, high in spans))
        for start, end in zip(borders, borders[1:], strict=False)
    ]
