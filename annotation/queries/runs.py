"""Reads of checker runs for their pages: the list, how far a run has come, and some of its answers with their texts."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Min, QuerySet, Sum
from django.utils import timezone

from annotation.models import CheckerRun, Chunk, Job, Project, Suggestion
from annotation.queries.jobs import time_left
from annotation.queries.suggestions import scores_by_unit, suggestions_by_unit, summary
from annotation.services.checker_inputs import checker_inputs
from annotation.services.jobs import FINISH_INDEX
from annotation.task_types import TaskType
from models_runtime import registry
from models_runtime.contracts import CheckerInfo, UnknownCheckerError

# The rate is that of the last minutes, so that a pause or a slow start does not spoil the forecast.
RATE_WINDOW = timedelta(minutes=2)
# Above this many inputs an unfinished run's numbers are not counted on every look at its page.
LIVE_SUMMARY_LIMIT = 60_000
SAMPLE_SIZE = 20


def runs_of(project: Project) -> QuerySet[CheckerRun]:
    """The project's runs, newest first, with how many of their inputs failed."""
    return (
        CheckerRun.objects.filter(project=project)
        .select_related("job", "created_by")
        .annotate(failed=Count("failures"))
        .order_by("-pk")
    )


@dataclass(frozen=True)
class Progress:
    """Inputs done of all, how many per second (None: cannot be said yet), and failures by reason."""

    done: int
    total: int
    rate: float | None
    left: str  # "" where nothing can be said
    failures: list[dict]

    @property
    def failed(self) -> int:
        return sum(row["n"] for row in self.failures)

    @property
    def can_be_retried(self) -> int:
        return sum(row["n"] for row in self.failures if not row["is_permanent"])


def progress_of(run: CheckerRun) -> Progress:
    """Two queries; failures by reason are those so far."""
    job = run.job
    rate, left = None, ""
    if job.state == Job.State.RUNNING:
        now = timezone.now()
        recent = Chunk.objects.filter(job=job, state=Chunk.State.DONE, done_at__gte=now - RATE_WINDOW).aggregate(
            inputs=Sum("size"), begun=Min("started_at")
        )
        if recent["inputs"]:
            rate = recent["inputs"] / max((now - recent["begun"]).total_seconds(), 0.001)
            left = time_left(max(0, job.progress_total - job.progress_done) / rate)
    elif job.state == Job.State.DONE and job.started_at and job.finished_at > job.started_at:
        rate = job.progress_total / (job.finished_at - job.started_at).total_seconds()
    failures = list(
        run.failures.values("reason", "is_permanent").annotate(n=Count("pk"), message=Min("message")).order_by("-n")
    )
    return Progress(job.progress_done, job.progress_total, rate, left, failures)


def numbers_of(run: CheckerRun) -> dict | None:
    """The run's `summary`: as stored when it is done, counted now while it is not; None while that would take long."""
    if run.job.state == Job.State.DONE:
        return run.job.result
    if run.job.progress_done > LIVE_SUMMARY_LIMIT:
        return None
    return summary(run)


def info_of(run: CheckerRun) -> CheckerInfo | None:
    """What the registry says about the run's checker, if it still has it."""
    try:
        return registry.get_info(run.checker)
    except UnknownCheckerError:
        return None


def score_rows(run: CheckerRun, numbers: dict) -> list[dict]:
    """Every score's numbers under its title, in the registry's order; those that it no longer lists come last."""
    info = info_of(run)
    titles = {score.name: score.title for score in info.scores} if info else {}
    names = [name for name in titles if name in numbers["scores"]]
    names += [name for name in numbers["scores"] if name not in titles]
    return [{"name": name, "title": titles.get(name, name)} | numbers["scores"][name] for name in names]


def facts_of(run: CheckerRun) -> list[tuple[str, str]]:
    """The run's provenance, flat, for reading."""
    return [("parameters", _flat(run.parameters))] + [
        (name.replace("_", " "), _flat(value)) for name, value in run.provenance.items() if name != "parameters"
    ]


def _flat(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_flat(inner)}" for name, inner in value.items()) or "–"
    if isinstance(value, list | tuple):
        return "; ".join(_flat(inner) for inner in value) or "–"
    return "–" if value in (None, "") else str(value)


@dataclass(frozen=True)
class LabelShare:
    title: str
    n: int
    percent: float  # of the units that the dimension was answered for


def label_shares(numbers: dict, task_type: TaskType) -> list[tuple[str, int, list[LabelShare]]]:
    """Per dimension its title, the number of answers and every label's share, labels never given included."""
    rows = []
    for dimension in task_type.dimensions:
        counts = numbers["labels"].get(dimension.slug, {})
        total = sum(counts.values())
        if dimension.role:
            shares = [
                LabelShare(label.title, counts.get(label.value, 0), 100 * counts.get(label.value, 0) / max(total, 1))
                for label in dimension.labels
            ]
            rows.append((dimension.title, total, shares))
    return rows


@dataclass(frozen=True)
class SampledAnswer:
    key: str
    claim: str
    passages: list[tuple[str, list[tuple[str, bool]]]]  # field, and its text in pieces: (text, inside a span)
    answers: list[tuple[str, str, Suggestion]]  # titles of dimension and label
    scores: dict[str, float | None]


def sample_of(run: CheckerRun, task_type: TaskType, size: int = SAMPLE_SIZE) -> list[SampledAnswer]:
    """Some of the run's answers, drawn by the run's id from the chunks that are done, so that a reload shows the same.
    Seven queries at most."""
    draw = random.Random(run.uuid.int)
    done = Chunk.objects.filter(job=run.job, state=Chunk.State.DONE).exclude(index=FINISH_INDEX)
    indices = list(done.order_by("index").values_list("index", flat=True))
    chosen = draw.sample(indices, min(size, len(indices)))
    payloads = done.filter(index__in=chosen).order_by("index").values_list("payload", flat=True)
    candidates = [unit for payload in payloads for unit in payload["units"]]
    unit_ids = sorted(draw.sample(candidates, min(size, len(candidates))))
    suggestions = suggestions_by_unit(run.pk, unit_ids)
    scores = scores_by_unit(run.pk, unit_ids)
    inputs = checker_inputs(task_type.unit_kind, unit_ids)
    keys = dict(Suggestion.objects.filter(run=run, unit__in=unit_ids).values_list("unit_id", "unit__key"))
    return [
        SampledAnswer(
            key=keys[unit_id],
            claim=inputs[unit_id].fields["claim"],
            passages=_marked_passages(inputs[unit_id].fields, suggestions[unit_id]),
            answers=[_titled(task_type, suggestion) for suggestion in suggestions[unit_id]],
            scores=scores.get(unit_id, {}),
        )
        for unit_id in unit_ids
        if unit_id in suggestions and unit_id in inputs
    ]


def _titled(task_type: TaskType, suggestion: Suggestion) -> tuple[str, str, Suggestion]:
    dimension = task_type.dimension(suggestion.dimension)
    return dimension.title, dimension.label(suggestion.label).title, suggestion


def _marked_passages(fields: dict, suggestions: list[Suggestion]) -> list[tuple[str, list[tuple[str, bool]]]]:
    texts = {"evidence": fields["evidence"]} if "evidence" in fields else {}
    texts |= {f"passages[{index}]": text for index, text in enumerate(fields.get("passages", ()))}
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
