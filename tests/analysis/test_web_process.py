"""The web process shows what workers computed, and loads none of what they compute with."""

import json
import os
import subprocess
import sys
from functools import cache
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from analysis.models import StoredReport
from analysis.reports.metrics import REPORTS
from annotation.jobs import lifecycle
from annotation.models import Job, Project
from tests.test_architecture import HEAVY
from tests.world import client_of, study

# By words that stand in their addresses: the files of a report's tables, the numbers of a picture, the items behind a
# figure.
FILES = [rf"/tables/[^\"]*format={form}" for form in ("md", "csv", "latex")]
PICTURE, ITEMS = r"/pictures/[^\"]*\.csv", r"/behind/[^\"]*figure="


def stored(name: str, patch: pytest.MonkeyPatch) -> tuple[Project, str, list[str]]:
    """A report as a worker computed it: its project, its page's address, and what that links to."""
    project, options = study.WORLDS[name]()
    report = REPORTS[name]
    address = reverse(report.page, args=report.address(project.slug)) + "?" + urlencode(options)
    client_of(project.created_by).get(address)
    found = StoredReport.objects.filter(computed_at=None)
    found.update(computed_at=timezone.now())  # nobody looks meanwhile, so first figures need not be computed
    # Pages show pictures as workers drew them, whatever they drew.
    patch.setattr("analysis.figures.pictures.themed.themed", lambda picture, address: "<svg></svg>")
    lifecycle.run_here(Job.objects.get(kind=Job.Kind.REPORT, state="queued"))
    has_pictures = bool(StoredReport.objects.get(project=project, name=name).pictures)
    return project, address, [*FILES, ITEMS, *([PICTURE] if has_pictures else [])]


@pytest.mark.slow
@pytest.mark.django_db
def test_what_shows_reports_loads_no_library_that_computes(tmp_path, monkeypatch):
    """Every report's page, its files and the items behind a figure, and where projects and releases mention reports.
    In one process: whatever loads a library is named by the first address that did."""
    if connection.vendor != "sqlite":
        pytest.skip("what is loaded does not hang on the database")
    once, visits = cache(study.study), []
    for name in study.WORLDS:
        with monkeypatch.context() as patch:
            if name != "druid":  # which adds scores to it
                patch.setattr(study, "study", once)
            project, address, links = stored(name, patch)
        visits.append((project.created_by_id, address, links))
        if name == "planning":
            pages = ("project_detail", "project_reports", "project_releases")
            visits += [(project.created_by_id, reverse(page, args=[project.slug]), []) for page in pages]
    (tmp_path / "assay.sqlite3").write_bytes(connection.connection.serialize())
    done = subprocess.run(
        [sys.executable, "-m", "tests.analysis.visiting", *HEAVY],
        input="\n".join(map(json.dumps, visits)),
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings", "ASSAY_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {}
