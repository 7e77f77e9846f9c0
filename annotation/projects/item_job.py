"""The job that makes a project's items, so that a large data set does not keep the browser waiting."""

from __future__ import annotations

from django.db import transaction
from django.db.models import F

from annotation.jobs import lifecycle
from annotation.models import Chunk, Job, Project
from annotation.projects import item_making
from annotation.webhooks import events


def start_item_job(project: Project, user) -> Job:
    """Make, in the background, the items that the project lacks; a project in preparation opens at the end."""
    total = item_making.count_anchors(project)
    job = lifecycle.create_job(Job.Kind.ITEMS, user, chunks=[({}, 0)], project=project, dataset=project.dataset)
    Job.objects.filter(pk=job.pk).update(progress_total=total)
    job.progress_total = total
    return job


class ItemHandler:
    """One chunk makes them all: making is resumable by itself."""

    def run_chunk(self, chunk: Chunk, lease: lifecycle.Lease) -> None:
        project = chunk.job.project
        total = item_making.count_anchors(project)
        made = item_making.plan(
            project, on_progress=lambda seen: lease.progress(seen, total, f"{seen:,} of {total:,} items")
        )
        with transaction.atomic():
            Job.objects.filter(pk=chunk.job_id).update(
                progress_done=total,
                result={
                    "items": made.items,
                    "assignments": made.assignments,
                    "without_units": made.without_units,
                },
            )
            lease.complete()

    def finish(self, job: Job, lease: lifecycle.Lease) -> dict:
        with transaction.atomic():
            # New items may lie behind annotators' cursors.
            Project.objects.filter(pk=job.project_id).update(
                queue_epoch=F("queue_epoch") + 1, label_version=F("label_version") + 1
            )
            preparing = Project.objects.filter(pk=job.project_id, state=Project.State.PREPARING)
            if preparing.update(state=Project.State.OPEN):
                events.project_moved(Project.objects.get(pk=job.project_id))
        job.refresh_from_db(fields=["result"])
        return job.result

    def clean_up(self, job: Job) -> None:
        """Items that were made stay: they are complete, and making goes on where it stopped."""


HANDLER = ItemHandler()
