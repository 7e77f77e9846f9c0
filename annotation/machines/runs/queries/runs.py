"""Reads of checker runs for their pages: the list, how far a run has come, what it cost, and its answers in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min, QuerySet, Sum
from django.utils import timezone

from annotation.formats.cells import label_order
from annotation.jobs.lifecycle import FINISH_INDEX, next_retry
from annotation.jobs.queries import time_left
from annotation.machines.runs.queries.suggestions import summary
from annotation.models import CheckerRun, Chunk, Job, MachineRun, Project
from annotation.task_types import TaskType
from annotation.task_words import answer_title
from models_runtime import registry
from models_runtime.contracts import CheckerInfo, UnknownCheckerError

# The rate is that of the last minutes, so that a pause or a slow start does not spoil the forecast.
RATE_WINDOW = timedelta(minutes=2)
# Above this many inputs an unfinished run's numbers are not counted on every look at its page.
LIVE_SUMMARY_LIMIT = 60_000
# Of more labels than these, the most frequent ones are shown.
LISTED_LABELS = 40
# How many other runs a run can be compared with from its page.
OTHERS = 50


def runs_of(project: Project) -> QuerySet[CheckerRun]:
    """The project's runs, newest first, with how many of their inputs failed."""
    return (
        CheckerRun.objects.filter(project=project)
        .select_related("job", "created_by")
        .annotate(failed=Count("failures"))
        .order_by("-pk")
    )


@dataclass(frozen=True)
class Retry:
    part: str
    error: str
    at: datetime


@dataclass(frozen=True)
class Progress:
    """Inputs done of all, how many per minute (None: cannot be said yet), failures by reason, and what waits to be
    tried again after an error."""

    done: int
    total: int
    rate: float | None
    left: str  # "" where nothing can be said
    failures: list[dict]
    retry: Retry | None = None

    @property
    def failed(self) -> int:
        return sum(row["n"] for row in self.failures)

    @property
    def can_be_retried(self) -> int:
        return sum(row["n"] for row in self.failures if not row["is_permanent"])


def progress_of(run: MachineRun) -> Progress:
    """Three queries; failures by reason are those so far."""
    job = run.job
    rate, left, retry = None, "", None
    if job.state == Job.State.RUNNING:
        now = timezone.now()
        recent = Chunk.objects.filter(job=job, state=Chunk.State.DONE, done_at__gte=now - RATE_WINDOW).aggregate(
            inputs=Sum("size"), begun=Min("started_at")
        )
        if recent["inputs"]:
            rate = recent["inputs"] / max((now - recent["begun"]).total_seconds(), 0.001)
            left = time_left(max(0, job.progress_total - job.progress_done) / rate)
            rate *= 60
        retry = _retry_of(job)
    elif job.state == Job.State.DONE and job.started_at and job.finished_at > job.started_at:
        rate = 60 * job.progress_total / (job.finished_at - job.started_at).total_seconds()
    failures = list(
        run.failures.values("reason", "is_permanent").annotate(n=Count("pk"), message=Min("message")).order_by("-n")
    )
    return Progress(job.progress_done, job.progress_total, rate, left, failures, retry)


def _retry_of(job: Job) -> Retry | None:
    chunk = next_retry(job)
    if chunk is None or not chunk.error:  # those without one wait for their server
        return None
    return Retry("the end" if chunk.index == FINISH_INDEX else f"part {chunk.index + 1}", chunk.error, chunk.not_before)


def others_of(run: CheckerRun) -> list[CheckerRun]:
    """Other runs of the project that are done, newest first."""
    found = CheckerRun.objects.filter(project_id=run.project_id, job__state=Job.State.DONE).exclude(pk=run.pk)
    return list(found.order_by("-pk")[:OTHERS])


def numbers_of(run: CheckerRun) -> dict | None:
    """The run's `summary`: as its job keeps it, or counted now, while it is not done or if it was imported; None if
    that would take long."""
    if run.job.state == Job.State.DONE and "labels" in run.job.result:
        return run.job.result
    if run.job.progress_done > LIVE_SUMMARY_LIMIT:
        return None
    return summary(run)


def info_of(run: MachineRun) -> CheckerInfo | None:
    """What the registry says about what the run runs, if it still has it."""
    try:
        return registry.get_info(run.entry)
    except UnknownCheckerError:
        return None


def score_rows(run: CheckerRun, numbers: dict) -> list[dict]:
    """Every score's numbers under its title, in the registry's order; those that it no longer lists come last."""
    info = info_of(run)
    titles = {score.name: score.title for score in info.scores} if info else {}
    names = [name for name in titles if name in numbers["scores"]]
    names += [name for name in numbers["scores"] if name not in titles]
    return [
        {"name": name, "title": titles.get(name, name), "bars": bars_of(numbers["scores"][name].get("histogram"))}
        | numbers["scores"][name]
        for name in names
    ]


@dataclass(frozen=True)
class Bar:
    """One bar of a picture 200 wide and 60 high: the values from `low` to `high`, how many there are, and its place."""

    low: float
    high: float
    n: int
    x: float
    y: float
    width: float
    height: float


def bars_of(histogram: dict | None) -> list[Bar]:
    if not histogram:
        return []
    counts, low = histogram["counts"], histogram["low"]
    step, width, most = (histogram["high"] - low) / len(counts), 200 / len(counts), max(counts) or 1
    bars = []
    for index, n in enumerate(counts):
        height = round(60 * n / most, 2)
        x = round(index * width, 2)
        bars.append(Bar(low + index * step, low + (index + 1) * step, n, x, 60 - height, round(width - 1, 2), height))
    return bars


def facts_of(run: MachineRun) -> list[tuple[str, str]]:
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
class SuggestedShare:
    title: str
    n: int
    percent: float  # of the units that the dimension was answered for


def label_shares(numbers: dict, task_type: TaskType) -> list[tuple[str, int, list[SuggestedShare]]]:
    """Per dimension its title, the number of answers and every label's share, labels that no unit has included. Only
    checkers from elsewhere answer questions without a role."""
    rows = []
    for dimension in task_type.dimensions:
        counts = numbers["labels"].get(dimension.slug, {})
        total = sum(counts.values())
        if total or (dimension.role and not dimension.is_hidden):
            values = list(dict.fromkeys((*dimension.values, *sorted(counts, key=label_order))))
            if len(values) > LISTED_LABELS:
                values = sorted(counts, key=counts.__getitem__, reverse=True)[:LISTED_LABELS]
            shares = [
                SuggestedShare(
                    answer_title(dimension, value), counts.get(value, 0), 100 * counts.get(value, 0) / max(total, 1)
                )
                for value in values
            ]
            rows.append((dimension.title, total, shares))
    return rows
