"""Files of a release over several projects: who gets them, and for which projects the access is noted."""

import pytest
from django.test import Client

from analysis.releases.kept import start_comparing, start_freezing, start_public_page
from analysis.sources.releases.archives import archive_of
from annotation.jobs import lifecycle
from annotation.models import Artifact, LabelAccess, Shown
from tests.factories import join, make_project, make_user
from tests.kinds import answer_all, make_kind_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def shared():
    """Two projects on one data set, and two releases of both together."""
    first = make_kind_project("claim-evidence/six-way/1", overlap=3)
    second = make_project(first.dataset, "claim-evidence/three-way/1", overlap=3, slug="second", order="file")
    for project in (first, second):
        answer_all(project, people=1)
    releases = [start_freezing(first, first.created_by, note, others=[second]) for note in ("one", "two")]
    for release in releases:
        assert lifecycle.run_here(release.job).state == "done"
        release.refresh_from_db()
    return first, second, releases


def client_of(person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def addresses(release) -> list[str]:
    artifacts = Artifact.objects.filter(job=release.job)
    prefixes = ("/artifacts", "/api/v1/files")
    found = [f"{prefix}/{artifact.uuid}/" for artifact in artifacts for prefix in prefixes]
    return [*found, f"/api/v1/projects/{release.project.slug}/releases/{release.number}/file/"]


def test_who_still_labels_in_another_project_of_the_file_does_not_get_it(shared):
    first, second, [release, _] = shared
    person = join(first, make_user(), "researcher")
    for roles, status in (((), 404), (("annotator",), 403), (("annotator", "researcher"), 403)):
        if roles:
            join(second, person, *roles)
        client = client_of(person)
        for address in addresses(release):
            assert client.get(address).status_code == status, (roles, address)
        if not roles:  # nor are such releases, with their notes, listed to who does not know all projects in them
            listed = client.get(f"/projects/{first.slug}/releases/").content.decode()
            assert f"releases/{release.number}/" not in listed
            assert client.get(f"/api/v1/projects/{first.slug}/releases/").json()["results"] == []
    assert not LabelAccess.objects.exists() and not Shown.objects.exists()


def test_access_is_noted_for_each_project_of_the_file(shared):
    first, second, [release, _] = shared
    person = make_user()
    for project in (first, second):
        join(project, person, "researcher")
    client = client_of(person)
    for address in addresses(release):
        LabelAccess.objects.all().delete()
        Shown.objects.all().delete()
        b"".join(client.get(address))
        assert set(LabelAccess.objects.values_list("project", "channel")) == {
            (first.pk, "file"),
            (second.pk, "file"),
        }, address
        if address.endswith("/file/"):
            assert set(Shown.objects.values_list("project", flat=True)) == {first.pk, second.pk}
    page = f"/projects/{first.slug}/releases/{release.number}/"
    assert client.get(page).status_code == 200


def test_files_of_a_public_page_are_checked_as_the_release_is(shared):
    first, second, [release, _] = shared
    lifecycle.run_here(start_public_page(release, first.created_by, with_comments=False))
    release.refresh_from_db()
    archive = archive_of(release.public_job)
    person = join(first, make_user(), "researcher")
    assert client_of(person).get(f"/artifacts/{archive.uuid}/").status_code == 404
    join(second, person, "annotator", "researcher")
    assert client_of(person).get(f"/artifacts/{archive.uuid}/").status_code == 403


def test_a_comparison_is_not_shown_by_its_job_to_who_does_not_see_its_page(shared):
    first, second, [before, after] = shared
    job = lifecycle.run_here(start_comparing(first, first.created_by, before, after))
    person = join(first, make_user(), "researcher")
    client = client_of(person)
    address = f"/projects/{first.slug}/releases/{after.number}/changes/{before.number}/"
    for roles, status in (((), 404), (("annotator", "researcher"), 403)):
        if roles:
            join(second, person, *roles)
        assert client.get(address).status_code == status
        shown = client.get(f"/api/v1/jobs/{job.uuid}/").json()
        assert shown["result"] == {} and shown["state"] == "done"
    assert not LabelAccess.objects.exists()
    second.assignments.filter(state="open").update(state="cancelled")
    assert client.get(f"/api/v1/jobs/{job.uuid}/").json()["result"]["agreement"]
    assert set(LabelAccess.objects.values_list("project", "channel")) == {(first.pk, "api"), (second.pk, "api")}
