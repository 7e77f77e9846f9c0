"""`/metrics`: numbers for Prometheus, in its text format. All but the requests are from the database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate

from django.db.models import Count
from django.utils import timezone

from annotation import __version__
from annotation.jobs import workers
from annotation.models import Assignment, Chunk, Revision, WebhookDelivery
from config.health import requests
from config.health.workers import oldest_waiting

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True)
class MetricSample:
    value: float
    labels: dict[str, str] = field(default_factory=dict)
    suffix: str = ""  # of the metric's name

    def line(self, name: str) -> str:
        labels = ",".join(f'{label}="{_escaped(value)}"' for label, value in self.labels.items())
        return f"{name}{self.suffix}{f'{{{labels}}}' if labels else ''} {self.value:.15g}\n"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _requests(counts: list[float]) -> Iterator[MetricSample]:
    for status, count in zip(requests.STATUS_CLASSES, counts, strict=False):
        yield MetricSample(count, {"status": status})


def _durations(counts: list[float]) -> Iterator[MetricSample]:
    in_buckets = list(accumulate(counts[requests.FIRST_BUCKET : requests.SUM]))
    for bound, count in zip([*map(str, requests.BUCKETS), "+Inf"], in_buckets, strict=True):
        yield MetricSample(count, {"le": bound}, "_bucket")
    yield MetricSample(counts[requests.SUM], suffix="_sum")
    yield MetricSample(in_buckets[-1], suffix="_count")


def _chunks() -> Iterator[MetricSample]:
    for row in Chunk.objects.values("job__queue", "state").annotate(n=Count("pk")).order_by("job__queue", "state"):
        yield MetricSample(row["n"], {"queue": row["job__queue"], "state": row["state"]})


def _leases() -> Iterator[MetricSample]:
    for name, model in (("assignment", Assignment), ("chunk", Chunk)):
        held = model.objects.filter(state=model.State.LEASED, lease_expires_at__gte=timezone.now())
        yield MetricSample(held.count(), {"of": name})


def _deliveries() -> Iterator[MetricSample]:
    states = (WebhookDelivery.State.WAITING, WebhookDelivery.State.FAILED)
    counts = dict(
        WebhookDelivery.objects.filter(state__in=states).values_list("state").annotate(n=Count("pk")).order_by("state")
    )
    yield from (MetricSample(counts.get(state, 0), {"state": state}) for state in states)


def _workers() -> Iterator[MetricSample]:
    now = timezone.now()
    for one in workers.alive():
        labels = {"worker": one.name, "queues": ",".join(one.queues), "version": one.version}
        yield MetricSample((now - one.beat_at).total_seconds(), labels)


def metrics() -> Iterator[tuple[str, str, str, Iterable[MetricSample]]]:
    """Name, type, what it is, samples."""
    counts = requests.totals()
    answers = Revision.objects.count()
    waits = [
        MetricSample(age.total_seconds(), {"queue": queue}) for queue, (_, age) in sorted(oldest_waiting().items())
    ]
    yield "assay_info", "gauge", "The version of the web process.", [MetricSample(1, {"version": __version__})]
    yield "assay_requests_total", "counter", "Requests to the web processes of this machine.", _requests(counts)
    yield "assay_request_seconds", "histogram", "Time until an answer began, in seconds.", _durations(counts)
    yield "assay_answers_total", "counter", "Answers stored, each edit counted.", [MetricSample(answers)]
    yield "assay_oldest_waiting_chunk_seconds", "gauge", "How long a chunk that a worker could take waits.", waits
    yield "assay_chunks", "gauge", "Chunks of jobs.", _chunks()
    yield "assay_open_leases", "gauge", "Assignments held by people, and chunks held by workers.", _leases()
    yield "assay_webhook_deliveries", "gauge", "Deliveries of webhooks that wait or have failed.", _deliveries()
    yield "assay_worker_beat_age_seconds", "gauge", "Time since a worker's last sign of life.", _workers()


def as_text() -> str:
    parts = []
    for name, kind, what, samples in metrics():
        parts.append(f"# HELP {name} {what}\n# TYPE {name} {kind}\n")
        parts += [sample.line(name) for sample in samples]
    return "".join(parts)
