"""A kind of runs is declared once, in its folder: its pages, its routes of the API and its command follow."""

import io
import sys
from dataclasses import replace
from types import ModuleType

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class
from django.urls import include, path, reverse

from annotation.api import machines as api
from annotation.jobs import lifecycle
from annotation.machines import kinds, views
from annotation.management.commands import extract
from annotation.models import AtomicClaim, ExtractionRun, Job
from config import urls
from tests.api.programs import Program
from tests.world import client_of
from tests.world.drafts import CLAIMS, make_drafting_project

pytestmark = pytest.mark.django_db
PLACE = f"{__name__}.OUTLINE"


class OutlineCommand(extract.Command):
    kind_name = "outline"


@pytest.fixture
def outline(settings, monkeypatch):
    """A kind that Assay does not have, in the table: nothing but its declaration names it."""
    found = kinds.run_kinds()["extraction"]
    outline = replace(
        found, name="outline", list_url="project_outlines", list_path="projects/<slug:slug>/outlines/", path="outlines/"
    )
    outline = replace(outline, crumb="project_outlines", pages=(), described="Outlines.")
    monkeypatch.setattr(sys.modules[__name__], "OUTLINE", outline, raising=False)
    monkeypatch.setattr(kinds, "DECLARED", (PLACE, *kinds.DECLARED))
    kinds.run_kinds.cache_clear()
    addresses = ModuleType("addresses_with_outlines")
    routes, pages = api.routes_of(outline), views.pages_of(outline)
    addresses.urlpatterns = [path("api/v1/", include(routes)), path("", include(pages)), *urls.urlpatterns]
    monkeypatch.setitem(sys.modules, addresses.__name__, addresses)
    settings.ROOT_URLCONF = addresses.__name__
    yield outline
    monkeypatch.undo()
    kinds.run_kinds.cache_clear()


@pytest.fixture
def project():
    return make_drafting_project(CLAIMS, slug="claims")


def test_its_pages_start_a_run_and_show_it(outline, project):
    client, page = client_of(project.created_by), reverse("project_outlines", args=[project.slug])
    assert reverse("outline_estimate", args=[project.slug, "fake-extractor"]).startswith(page)
    assert 'name="extractor" value="fake-extractor"' in client.get(page).content.decode()
    fields = {"fake-extractor-seed": 1, "fake-extractor-most": 2, "fake-extractor-omitted_share": 0}
    fields |= {"fake-extractor-failure_share": 0, "fake-extractor-permanent_failure_share": 0}
    started = client.post(page, fields | {"extractor": "fake-extractor"})
    run = ExtractionRun.objects.get()
    assert started.url == reverse("outline_detail", args=[run.uuid])
    assert lifecycle.run_here(run.job).result["pieces"] == 6
    shown = client.get(started.url).content.decode()
    assert f'href="{page}"' in shown and "<dd>6</dd>" in shown
    assert client.get(reverse("outline_progress", args=[run.uuid]))["HX-Refresh"] == "true"
    assert client.post(reverse("outline_retry", args=[run.uuid])).url == started.url
    assert client.post(reverse("outline_limits", args=[run.uuid]), {"limit_tokens": 5}).url == started.url
    run.refresh_from_db()
    assert run.job.parameters["limits"] == {"tokens": 5, "money": None}


def test_programs_start_list_estimate_and_publish(outline, project):
    program = Program(project.created_by)
    asked = {"extractor": "fake-extractor", "parameters": {"most": 2, "omitted_share": 0}}
    started = program.send("projects/claims/outlines/", asked)
    assert started.status_code == 202, started.content
    run = started.json()
    assert started["Location"] == f"/api/v1/outlines/{run['uuid']}/"
    lifecycle.run_here(ExtractionRun.objects.get().job)
    assert program.read(f"outlines/{run['uuid']}/")["numbers"]["pieces"] == 6
    listed = program.read("projects/claims/outlines/", extractor="fake-extractor")["results"]
    assert [one["uuid"] for one in listed] == [run["uuid"]]
    assert program.send("projects/claims/outlines/estimate/", asked).status_code == 409  # no server is asked
    again = program.send("projects/claims/outlines/", asked)
    assert again.status_code == 409 and again.json()["run"] == run["uuid"]
    assert program.send("projects/claims/outlines/", asked | {"checker": "x"}).status_code == 400
    published = program.send(f"outlines/{run['uuid']}/publish/", {"piece_set": "fake"})
    assert published.status_code == 202, published.content
    assert lifecycle.run_here(Job.objects.get(uuid=published.json()["uuid"])).state == "done"
    assert set(AtomicClaim.objects.published().values_list("piece_set", flat=True)) == {"fake"}


def test_its_command_runs_here_or_in_workers(outline, project):
    out = io.StringIO()
    call_command(OutlineCommand(), "claims", "fake-extractor", "--param", "most=2", "--limit-tokens", "9", stdout=out)
    run = ExtractionRun.objects.get()
    assert f"Run {run.uuid}: 3 responses on the queue cpu" in out.getvalue()
    assert run.job.parameters["limits"]["tokens"] == 9
    with pytest.raises(CommandError, match="has no extractor 'nothing'"):
        call_command(OutlineCommand(), "claims", "nothing")


def test_each_kind_has_a_command():
    modules = [name for name, app in get_commands().items() if app == "annotation"]
    named = {getattr(load_command_class("annotation", name), "kind_name", None) for name in modules}
    assert named >= set(kinds.run_kinds())
