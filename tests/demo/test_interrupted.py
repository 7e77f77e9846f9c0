"""A demo that was interrupted while it was made is completed by the next start, and a complete one stays as it is."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.demo import making, study
from annotation.demo.sets import DATASETS, PROJECTS
from annotation.imports import staging
from annotation.models import Annotation, Chunk, ContentBatch, Dataset, Job, Project

pytestmark = pytest.mark.django_db


class Killed(BaseException):
    """What no handler catches, as a killed process runs none."""


def kill(*args, **more):
    raise Killed


def leases_run_out():
    Chunk.objects.filter(state=Chunk.State.LEASED).update(lease_expires_at=timezone.now() - timedelta(seconds=1))


JUDGED = min((one for one in PROJECTS if any(one.judged)), key=lambda one: sum(one.judged))
STUDY = next(one for one in PROJECTS if one.participants)


@pytest.mark.parametrize("project, answers, labels", [(JUDGED, sum(JUDGED.judged), making), (STUDY, 71, study)])
def test_each_step_that_was_interrupted_is_completed(project, answers, labels, settings, monkeypatch):
    settings.DEMO = True
    monkeypatch.setattr(making, "PROJECTS", [project])
    monkeypatch.setattr(making, "DATASETS", [one for one in DATASETS if one.slug == project.dataset])
    for module, name in (
        (staging, "insert_units"),
        (making.item_job.item_making, "plan"),
        (making.suggesting, "start_run"),
        (labels, "label"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, kill)
            with pytest.raises(Killed):
                making.make_demo()
        leases_run_out()
    assert not Annotation.objects.exists()
    making.make_demo()
    assert ContentBatch.objects.get().state == "published"
    assert Dataset.objects.count() == Project.objects.filter(state="open").count() == 1
    assert Annotation.objects.count() == answers
    jobs = Job.objects.count()
    making.make_demo()
    assert Job.objects.count() == jobs
