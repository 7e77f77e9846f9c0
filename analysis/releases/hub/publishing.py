"""A release on its way to a hub, as a job: the files are made as on the public page, and sent."""

from __future__ import annotations

import shutil
from pathlib import Path

from django.conf import settings
from django.db import transaction

from analysis.models import HubPublication
from analysis.releases.hub import secrets
from analysis.releases.hub.sending import HubRefused, send_folder
from analysis.releases.public import write_public
from analysis.sources.releases.archives import archive_path
from annotation.jobs.leftovers import working_folder
from annotation.jobs.lifecycle import JobError, Lease
from annotation.models import Chunk, Job


class HubHandler:
    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        one = HubPublication.objects.select_related("release__project", "release__job").get(job=chunk.job_id)
        release = one.release
        working = working_folder(Path(settings.MEDIA_ROOT) / "releases", lease.token)
        try:
            token = secrets.decrypt(one.secret)
            working.mkdir(parents=True)
            write_public(archive_path(release), working, with_comments=one.with_comments)
            lease.beat()
            address = send_folder(
                working,
                one.repository,
                token,
                f"{release.project.title}, {release.name}",
                makes=not (one.is_created or one.is_update),
                is_private=one.is_private,
                made=lambda: self._made(one),
            )
        except (HubRefused, secrets.LostSecret) as error:
            raise JobError(str(error)) from None
        finally:
            shutil.rmtree(working, ignore_errors=True)
        with transaction.atomic():
            lease.complete()
            HubPublication.objects.filter(pk=one.pk).update(address=address[:500], secret="")

    def _made(self, one: HubPublication) -> None:
        HubPublication.objects.filter(pk=one.pk).update(is_created=True)

    def finish(self, job: Job, lease: Lease) -> dict:
        return {"address": HubPublication.objects.values_list("address", flat=True).get(job=job)}

    def clean_up(self, job: Job) -> None:
        """A token is kept no longer than it is needed."""
        HubPublication.objects.filter(job=job).update(secret="")


HANDLER = HubHandler()
