"""Reports that read the labels of a second project: who may see them, and when they are stale."""

import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.models import StoredReport
from analysis.releases import freezing
from analysis.releases.kept import start_freezing
from analysis.reports import stored
from annotation.jobs import lifecycle
from annotation.models import Decision, Job, Project
from tests.analysis.test_sufficiency import GRADE, SUFFICIENCY, N, records
from tests.factories import join, make_dataset, make_project, make_user
from tests.kinds import bring_in
from tests.world.planted import decide

pytestmark = pytest.mark.django_db


@pytest.fixture
def both():
    dataset = make_dataset()
    bring_in(dataset, records())
    first, second = make_project(dataset, SUFFICIENCY), make_project(dataset, GRADE)
    decide(first, {f"q{n:02}": "sufficient" if n < 20 else "insufficient" for n in range(N)}, "sufficiency")
    decide(second, {f"q{n:02}/bold-rag": "perfect" if n < 15 else "incorrect" for n in range(N)}, "grade")
    return first, second


def page_of(client, project, **query):
    return client.get(reverse("project_report", args=[project.slug, "sufficiency"]), {"reference": "imported", **query})


def compute():
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)


def files_of(report, picture):
    project, asked = report.project.slug, {"report": report.parameters_hash}
    yield reverse("project_report_tables", args=[project, "sufficiency"]), asked
    yield reverse("project_picture", args=[project, "sufficiency", picture, "svg"]), asked
    yield (
        reverse("project_behind", args=[project, "sufficiency"]),
        asked | {"figure": "system0.correct=yes&context=sufficient"},
    )


def test_only_who_may_see_both_projects_sees_what_joins_them(client, both):
    first, second = both
    client.force_login(first.created_by)
    page_of(client, first, grades=second.slug)
    compute()
    report = StoredReport.objects.get(project=first)
    page = page_of(client, first, grades=second.slug).content.decode()
    assert "Answers by sufficiency, graded by people" in page and f'<option value="{second.slug}" selected>' in page
    for address, asked in files_of(report, "sufficiency-correct"):
        assert client.get(address, asked).status_code == 200, address
    other = join(first, make_user("one-project"), "researcher")
    client.force_login(other)
    assert page_of(client, first).status_code == 200
    assert second.slug not in page_of(client, first).content.decode()
    assert page_of(client, first, grades=second.slug).status_code == 404
    for address, asked in files_of(report, "sufficiency-correct"):
        assert client.get(address, asked).status_code == 404, address


def test_labels_of_the_second_project_make_it_stale(client, both):
    first, second = both
    client.force_login(first.created_by)
    page_of(client, first, grades=second.slug)
    compute()
    report = StoredReport.objects.get(project=first)
    assert not stored.is_stale(report)
    Project.objects.filter(pk=second.pk).update(label_version=second.label_version + 1)
    assert stored.is_stale(report)


def test_the_command_joins_projects_and_releases_alike(both, tmp_path):
    first, second = both

    def printed(*arguments):
        out = io.StringIO()
        call_command("report", *arguments, "sufficiency", "--grades", second.slug, "--format", "json", stdout=out)
        return json.loads(out.getvalue())

    for project in both:
        freezing.write_release(project, tmp_path / project.slug)
    found = printed(first.slug)
    files = printed(str(tmp_path / first.slug), "--from-files", "--beside", str(tmp_path / second.slug))
    assert found.pop("made_from") != files.pop("made_from") and found == files
    assert found["systems"][0]["groups"]["sufficient"]["correct"]["n"] == 15  # by decisions
    with pytest.raises(CommandError, match="grades is one of"):
        printed(str(tmp_path / first.slug), "--from-files")
    with pytest.raises(CommandError, match="--beside is for files"):
        printed(first.slug, "--beside", str(tmp_path / second.slug))


def test_a_release_is_joined_with_the_last_one_before_it(both, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    first, second = both

    def freeze(project):
        lifecycle.run_here(start_freezing(project, project.created_by).job)

    def hits(subject):
        out = io.StringIO()
        options = ("--reference", "imported", "--grades", second.slug, "--format", "json")
        call_command("report", subject, "sufficiency", *options, stdout=out)
        return json.loads(out.getvalue())["systems"][0]["groups"]["all"]["correct"]["n"]

    freeze(first)
    with pytest.raises(CommandError, match="grades is one of"):
        hits(f"{first.slug}@1")
    freeze(second)
    freeze(first)
    Decision.objects.filter(project=second).update(label="perfect")
    freeze(second)
    assert (hits(first.slug), hits(f"{first.slug}@2")) == (40, 15)
