"""The making of pairs as a job: one chunk makes and stages them, the end publishes them all at once."""

from __future__ import annotations

from annotation.imports.pairs.pairing import Pairing, PairRequest
from annotation.imports.staged_job import close_staging, found_in, publish_staged, stage, take_back
from annotation.jobs.lifecycle import Lease
from annotation.models import Chunk, Job


class PairHandler:
    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        job = Job.objects.select_related("dataset").get(pk=chunk.job_id)
        request = PairRequest.from_json(job.parameters)
        is_dry_run = job.parameters["is_dry_run"]
        pairing = Pairing(job.dataset, request)
        records = pairing.records(lambda done, total: lease.progress(done, total, "Dividing documents into sentences"))
        findings = stage(job, records, lease, is_dry_run=is_dry_run)
        result = findings.as_json() if is_dry_run else found_in(job, findings, request.on_judged, "made")
        close_staging(job, result | pairing.as_json(), lease)

    def finish(self, job: Job, lease: Lease) -> dict:
        job = Job.objects.select_related("dataset").get(pk=job.pk)
        if not job.parameters["is_dry_run"]:
            publish_staged(job, PairRequest.from_json(job.parameters).on_judged, lease)
            job.refresh_from_db(fields=["result"])
        return job.result

    def clean_up(self, job: Job) -> None:
        take_back(job)


HANDLER = PairHandler()
