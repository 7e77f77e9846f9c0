"""How far a job is, in words for people."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone

from annotation.jobs.kinds import KINDS
from annotation.jobs.lifecycle import FINISH_INDEX
from annotation.models import Chunk, Job


@dataclass(frozen=True, slots=True)
class JobProgress:
    title: str
    done: int
    total: int
    words: str  # how much of how much
    rate: str
    left: str  # "" if it is unknown
    message: str
    failures: tuple[str, ...]  # what went wrong in chunks that are tried again
    can_cancel: bool
    can_resume: bool


def progress_of(job: Job, *, with_failures: bool = True) -> JobProgress:
    as_share = KINDS[job.kind].is_shown_as_share
    is_timed = job.started_at and not job.is_finished and not as_share
    seconds = (timezone.now() - job.started_at).total_seconds() if is_timed else 0
    rate = job.progress_done / seconds if seconds >= 2 else 0
    left = (job.progress_total - job.progress_done) / rate if rate and job.progress_total else 0
    failures = job.chunks.exclude(error="").exclude(state=Chunk.State.DONE).order_by("index")
    return JobProgress(
        title="Dry run" if job.parameters.get("is_dry_run") else KINDS[job.kind].title,
        done=job.progress_done,
        total=job.progress_total,
        words=_words(job, as_share),
        rate=f"{rate:,.1f} per second" if rate else "",
        left=time_left(left) if left else "",
        message=job.message,
        failures=tuple(
            f"{'end' if index == FINISH_INDEX else f'part {index + 1}'}, attempt {attempts}: {error}"
            for index, attempts, error in failures.values_list("index", "attempts", "error")[:5]
            if with_failures
        ),
        can_cancel=not job.is_finished and not job.cancel_requested,
        can_resume=job.state in (Job.State.CANCELLED, Job.State.FAILED),
    )


def _words(job: Job, as_share: bool) -> str:
    if not job.progress_total:
        return ""
    if as_share:
        return f"{min(job.progress_done / job.progress_total, 1):.0%}"
    return f"{job.progress_done:,} of {job.progress_total:,}"


def time_left(seconds: float) -> str:
    if seconds < 90:
        return f"about {max(round(seconds), 1)} s left"
    if seconds < 5400:
        return f"about {round(seconds / 60)} min left"
    return f"about {seconds / 3600:.1f} h left"
