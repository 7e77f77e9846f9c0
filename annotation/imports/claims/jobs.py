"""Reading claims, and publishing those that were chosen, as jobs."""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings
from django.db import transaction
from django.db.models import F

from annotation.formats import FormatError
from annotation.formats.records import ClaimRecord, EvidenceRecord, RowError
from annotation.imports.claims.choosing import ClaimChoice, choose
from annotation.imports.claims.collecting import KEPT_BAD_ROWS, day_of, records_in, row_of
from annotation.imports.publishing import KEEP
from annotation.imports.staged_job import found_in, publish_staged, stage, take_back
from annotation.jobs.lifecycle import JobError, Lease
from annotation.models import Chunk, ClaimCollection, CollectedClaim, Job
from models_runtime.contracts import CheckerError, InputError, UnavailableError
from models_runtime.evidence.summaries import summary_of_page

ROWS_AT_ONCE = 1000


class ReadingHandler:
    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        collection = ClaimCollection.objects.select_related("job").get(job_id=chunk.job_id)
        bad: list[str] = []
        number, rows = 0, []
        try:
            for record in records_in(collection, lambda page: lease.beat()):
                if isinstance(record, RowError):
                    number += 1
                    if len(bad) < KEPT_BAD_ROWS:
                        where = ", ".join(filter(None, (record.file, f"line {record.line}" if record.line else "")))
                        bad.append(f"{where}: {record.column} {record.reason}")
                else:
                    rows.append(row_of(collection, record))
                    if len(rows) % ROWS_AT_ONCE == 0:
                        lease.beat()
        except UnavailableError:
            raise
        except InputError as error:
            raise CheckerError(str(error)) from error  # tried again: the provider may answer better
        except (FormatError, CheckerError) as error:
            raise JobError(str(error)) from error
        with transaction.atomic():
            lease.complete()
            collection.claims.all().delete()  # of an earlier attempt
            CollectedClaim.objects.bulk_create(rows, batch_size=ROWS_AT_ONCE)
            collection.bad_rows = {"number": number, "first": bad} if number else {}
            collection.save(update_fields=["bad_rows"])

    def finish(self, job: Job, lease: Lease) -> dict:
        collection = ClaimCollection.objects.get(job=job)
        choose(collection, ClaimChoice.from_json(collection.choice))
        return {"claims": collection.claims.count(), "bad_rows": collection.bad_rows.get("number", 0)}

    def clean_up(self, job: Job) -> None:
        """Nothing was stored that is not whole."""


class PublishingHandler:
    """Chunks fetch the reviews' summaries; the end stages and publishes all of it."""

    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        claims = list(CollectedClaim.objects.filter(pk__in=chunk.payload["claims"], summary={}).order_by("pk"))
        for claim in claims:
            lease.beat()
            known = claim.metadata.get("summary", "")
            claim.summary = summary_of_page(claim.url, known, settings.PAGE_HOSTS)
        with transaction.atomic():
            lease.complete()
            CollectedClaim.objects.bulk_update(claims, ["summary"])

    def finish(self, job: Job, lease: Lease) -> dict:
        job = Job.objects.select_related("dataset").get(pk=job.pk)
        if not job.result:
            collection = ClaimCollection.objects.get(uuid=job.parameters["collection"])
            findings = stage(job, _records(collection, job.parameters["fetches"]), lease)
            result = found_in(job, findings, KEEP, "published")
            Job.objects.filter(pk=job.pk).update(result=result, progress_done=F("progress_total"))
            job.refresh_from_db(fields=["result"])
        publish_staged(job, KEEP, lease)
        problems = ClaimCollection.objects.get(uuid=job.parameters["collection"]).claims.filter(
            dropped="", summary__has_key="problem"
        )
        return job.result | {"without_summary": problems.count() if job.parameters["fetches"] else 0}

    def clean_up(self, job: Job) -> None:
        take_back(job)


def _records(collection: ClaimCollection, with_summaries: bool) -> Iterator[ClaimRecord | EvidenceRecord]:
    chosen = collection.claims.filter(dropped="").order_by("pk")
    for claim in chosen.iterator(chunk_size=ROWS_AT_ONCE):
        known = {**claim.metadata, "site": claim.site, "verdict": claim.verdict}
        yield ClaimRecord(
            claim.key,
            claim.text,
            claim.claimant,
            claim.date,
            claim.url,
            claim.label,
            {name: value for name, value in known.items() if value and name != "summary"},
        )
        if with_summaries and claim.summary.get("text"):
            yield EvidenceRecord(
                f"{claim.key}/summary",
                claim.summary["text"],
                claim=claim.key,
                url=claim.url,
                publisher=claim.metadata.get("publisher", "") or claim.site,
                date=day_of(claim.metadata.get("review_date", "")) or day_of(claim.summary.get("date", "")),
                is_gold=True,
                metadata={"summary": {name: value for name, value in claim.summary.items() if name != "text"}},
            )


READING, PUBLISHING = ReadingHandler(), PublishingHandler()
