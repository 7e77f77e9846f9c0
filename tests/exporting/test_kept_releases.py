"""What becomes of a release after it was frozen: compared with another one, and withdrawn."""

import io
import json

import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.models import Release
from analysis.releases.kept import archive_path, start_freezing
from annotation.jobs import lifecycle
from annotation.models import Decision, Evidence, Job, Project
from annotation.projects import guidelines
from tests.factories import join, make_user
from tests.world import client_of
from tests.world.labels import items_of, make_rater, project_of, say

pytestmark = pytest.mark.django_db


def freeze(project: Project, version: str, note: str = "") -> Release:
    release = start_freezing(project, project.created_by, note, version)
    assert lifecycle.run_here(release.job).state == "done"
    release.refresh_from_db()
    return release


@pytest.fixture
def two(tmp_path, settings) -> tuple[Release, Release]:
    """Of six items; afterwards one text is corrected, one item retired, a third person answers and differs on one item,
    an adjudicator decides another, and the guidelines change."""
    settings.MEDIA_ROOT = tmp_path
    project = project_of(6)
    items = items_of(project)
    for name in ("Anna", "Ben"):
        rater = make_rater(project, name)
        for place, item in enumerate(items):
            say(item, rater, "relevant" if place or name == "Anna" else "not_relevant", "supports" if place else None)
    first = freeze(project, "1.0.0", "The first.")
    evidence = Evidence.objects.get(pk=items[1].anchor.evidence_id)
    evidence.text += " Corrected."
    evidence.save()
    items[5].state = "retired"
    items[5].save()
    late = make_rater(project, "Cleo")
    say(items[0], late, "not_relevant")
    say(items[2], late, "relevant", "refutes")
    decided = {"project": project, "unit": items[3].anchor, "dimension": "stance", "method": "adjudicated"}
    Decision.objects.create(**decided, label="refutes")
    guidelines.publish(project, project.created_by, "Read twice.")
    return first, freeze(project, "2.0.0", "Corrected.")


def test_two_releases_are_compared_in_the_browser_by_the_api_and_by_command(two):
    first, second = two
    project = first.project
    client = client_of(project.created_by)
    here = reverse("project_release_changes", args=[project.slug, 2, 1])
    api = f"/api/v1/projects/{project.slug}/releases/2/changes/1/"
    assert here in client.get(reverse("project_release", args=[project.slug, 2])).content.decode()
    assert "Not compared yet" in client.get(here).content.decode() and client.get(api).status_code == 404
    assert client.post(here).url == here
    job = Job.objects.get(kind="changes")
    assert client.post(api).json()["job"] == str(job.uuid) and "Cancel" in client.get(here).content.decode()
    assert lifecycle.run_here(job).state == "done"
    assert client.post(api).status_code == 200 and Job.objects.filter(kind="changes").count() == 1
    found = client.get(api).json()["result"]
    assert (found["before"]["version"], found["after"]["version"], found["is_same"]) == ("1.0.0", "2.0.0", False)
    retired = items_of(project)[5].key
    assert (found["units"]["added"], found["units"]["removed_keys"]) == (0, [retired])
    [evidence] = [one for one in found["texts"] if one["kind"] == "evidence"]
    [change] = evidence["changes"]
    assert change["name"] == "text" and change["after"] == change["before"] + " Corrected."
    relevance, stance = found["labels"]
    assert relevance["moves"] == [{"before": None, "after": "not_relevant", "units": 1}] and relevance["gained"] == 1
    assert stance["moves"] == [{"before": "supports", "after": "refutes", "units": 1}] and stance["same"] == 4
    assert stance["changes"][0]["by"] == "adjudicated"
    assert (found["judgements"]["added"], found["judgements"]["changed"]) == (3, 0)
    assert (found["annotators"]["added"], found["guidelines"]["changed"]) == (1, True)
    alpha = next(one for one in found["agreement"] if one["dimension"] == "stance" and "alpha" in one["figure"])
    assert alpha["before"]["estimate"] is None and alpha["after"]["estimate"] < 1
    html = client.get(here).content.decode()
    assert "0 units were added and 1 removed" in html and " Corrected." in html and alpha["after"]["words"] in html
    out = io.StringIO()
    files = [archive_path(one) for one in two]
    call_command("release", compare=files, json=True, stdout=out)
    assert json.loads(out.getvalue()) == found
    call_command("release", compare=[files[0], files[0]], stdout=(out := io.StringIO()))
    assert "The same: both have one hash." in out.getvalue()


def test_a_withdrawn_release_says_so_everywhere_and_keeps_its_files(two):
    first, second = two
    project = first.project
    researcher, adjudicator = client_of(project.created_by), client_of(join(project, make_user(), "adjudicator"))
    place = reverse("project_release_withdraw", args=[project.slug, 1])
    assert adjudicator.post(place, {"reason": "No"}).status_code == 403
    assert "nothing was withdrawn" in researcher.post(place, {"reason": " "}, follow=True).content.decode()
    assert not Release.objects.exclude(withdrawn_at=None).exists()
    researcher.post(place, {"reason": "Labels of <b> a test."})
    researcher.post(place, {"reason": "Another"})
    api = f"/api/v1/projects/{project.slug}/releases/"
    for address in ("project_release", "project_release_changes"):
        html = researcher.get(reverse(address, args=[project.slug, *((2, 1) if "changes" in address else (1,))]))
        assert "Labels of &lt;b&gt; a test." in html.content.decode(), address
    assert "withdrawn</span>" in researcher.get(reverse("project_releases", args=[project.slug])).content.decode()
    assert ">Withdraw" not in researcher.get(reverse("project_release", args=[project.slug, 1])).content.decode()
    page = researcher.get(reverse("project_agreement", args=[project.slug]), {"release": 1}).content.decode()
    assert "Labels of &lt;b&gt; a test." in page
    said = {one["number"]: one["withdrawal"] for one in researcher.get(api).json()["results"]}
    assert said == {1: "Labels of <b> a test.", 2: ""}
    file = researcher.get(f"{api}1/file/")
    assert file.status_code == 200 and "release-1-WITHDRAWN.zip" in file["Content-Disposition"]
    assert "WITHDRAWN" not in researcher.get(f"{api}2/file/")["Content-Disposition"]
    err = io.StringIO()
    call_command("report", f"{project.slug}@1", "agreement", stdout=io.StringIO(), stderr=err)
    assert "is withdrawn" in err.getvalue()
    for verb in ("put", "patch", "delete"):
        assert getattr(researcher, verb)(f"{api}1/").status_code == 405
