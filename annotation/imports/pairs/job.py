"""The making of pairs as a job: one chunk makes and stages them, the end publishes them all at once."""

from __future__ import annotations

from django.db import transaction
from django.db.models import F

from annotation.imports.importing import ImportProblem
from annotation.imports.pairs.pairing import Pairing, PairRequest
from annotation.imports.staged_job import found_in, guard_of, open_batch, publish_staged, take_back
from annotation.imports.staging import ContentPass, read_all
from annotation.jobs.lifecycle import JobError, Lease
from annotation.models import Chunk, Job


class PairHandler:
    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        job = Job.objects.select_related("dataset").get(pk=chunk.job_id)
        request = PairRequest.from_json(job.parameters)
        is_dry_run = job.parameters["is_dry_run"]
        pairing = Pairing(job.dataset, request)
        try:
            batch = None if is_dry_run else open_batch(job, lease)
        except ImportProblem as error:
            raise JobError(str(error)) from error
        content = ContentPass(job.dataset, batch=batch, guard=guard_of(lease))
        findings = read_all(
            pairing.records(lambda done, total: lease.progress(done, total, "Dividing documents into sentences")),
            content,
            lease.beat,
        )
        result = findings.as_json() if is_dry_run else found_in(job, findings, request.on_judged, "made")
        with transaction.atomic():
            Job.objects.filter(pk=job.pk).update(result=result | pairing.as_json(), progress_done=F("progress_total"))
            lease.complete()

    def finish(self, job: Job, lease: Lease) -> dict:
        job = Job.objects.select_related("dataset").get(pk=job.pk)
        if not job.parameters["is_dry_run"]:
            publish_staged(job, PairRequest.from_json(job.parameters).on_judged, lease)
            job.refresh_from_db(fields=["result"])
        return job.result

    def clean_up(self, job: Job) -> None:
        take_back(job)


HANDLER = PairHandler()
