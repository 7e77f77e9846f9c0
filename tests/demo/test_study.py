"""The demo's study: its participants went the ways that it shows."""

from collections import Counter

import pytest

from annotation.demo import making, study
from annotation.demo.sets import DATASETS, PROJECTS
from annotation.models import Assignment, Project

pytestmark = pytest.mark.django_db(transaction=True)


def test_participants_went_every_way_and_saw_every_arm(settings, tmp_path, monkeypatch):
    settings.DEMO, settings.MEDIA_ROOT = True, tmp_path
    described = next(one for one in PROJECTS if one.participants)
    monkeypatch.setattr(making, "PROJECTS", [described])
    monkeypatch.setattr(making, "DATASETS", [one for one in DATASETS if one.slug == described.dataset])
    making.make_demo()
    project = Project.objects.get(slug=study.STUDY)
    ways = Counter(project.participations.values_list("state", flat=True))
    assert ways == {"complete": 3, "active": 1, "failed": 1, "screened-out": 1}
    done = Assignment.objects.filter(project=project, state="done")
    assert set(done.values_list("prefill_arm", flat=True)) == {"off", "shown", "after"}
    assert {"training", "qualification", "check", "further"} < set(done.values_list("reason", flat=True))
    assert study.link().places_used == 5, "who was screened out freed the place"
