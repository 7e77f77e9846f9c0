"""From labels to a release that others cite: its card, freezing, reading it without Assay, in and out again with the
same hash, a second release compared with the first, and the page for everybody."""

import json
import uuid
import zipfile

import pytest
from django.core.management import call_command
from playwright.sync_api import expect

from analysis.models import Release
from annotation.access import assignment_for
from annotation.decisions import adjudicating
from annotation.jobs import lifecycle
from annotation.models import Job
from annotation.work import annotating, assigning
from tests.exporting.test_cards import readers_load
from tests.exporting.test_release_round_trip import through_an_empty_assay
from tests.factories import join, make_claim_evidence, make_dataset, make_project, make_user
from tests.web.looks import grave_problems, picture, resize, scrolls_sideways
from tests.world.labels import items_of

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

ALPHA = "Krippendorff's alpha, nominal"


def work_off_jobs() -> None:
    for job in Job.objects.filter(state=Job.State.QUEUED):
        assert lifecycle.run_here(job).state == Job.State.DONE


def looked_at(page, name: str) -> None:
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        picture(page, f"{name}-{scheme}", full_page=True)
        assert grave_problems(page) == []
    resize(page, {"width": 390, "height": 800})
    picture(page, f"{name}-phone", full_page=True)
    assert not scrolls_sideways(page)
    resize(page, {"width": 1280, "height": 800})
    page.emulate_media(color_scheme="light")


def answer(project, person, stance: str) -> None:
    assignment = assigning.take(project, person)
    said = [
        {"unit": assignment.item.key, "dimension": "relevance", "label": "relevant"},
        {"unit": assignment.item.key, "dimension": "stance", "label": stance},
    ]
    body = {"client_id": str(uuid.uuid4()), "judgements": said}
    annotating.submit(assignment_for(person, assignment.uuid), person, body)


def agreement_in(path, capsys) -> dict:
    call_command("report", str(path), "agreement", from_files=True, format="json")
    return json.loads(capsys.readouterr().out)


def test_a_release_is_frozen_read_brought_in_again_compared_and_shown(
    open_context, tmp_path, settings, request, capsys
):
    settings.MEDIA_ROOT = tmp_path / "media"
    people = [make_user(name) for name in ("ann", "ben")]
    dataset = make_dataset()
    make_claim_evidence(dataset, 8)
    project = make_project(dataset, overlap=2, order="file", annotators=people)
    judge = join(project, make_user("judge"), "adjudicator")
    for place in range(8):
        for person in people:
            answer(project, person, "refutes" if place < 4 and person == people[0] else "supports")
    adjudicating.decide(project, judge, items_of(project)[0].anchor, "stance", "refutes", "Looked twice.")
    page = open_context(project.created_by).new_page()
    page.goto(f"/projects/{project.slug}/releases/")
    page.get_by_text("3 units tied and undecided").get_by_role("link", name="Items").click()
    expect(page.locator("main tbody tr")).to_have_count(3)
    page.go_back()
    expect(page.get_by_text("No licence: without one nobody may use the data")).to_be_visible()
    page.get_by_role("link", name="Edit the data set card").click()
    page.get_by_label("Licence").fill("CC-BY-4.0")
    page.get_by_label("Authors").fill("Okafor, Ada")
    page.get_by_label("Purpose").fill("To see whether ports freeze.")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Releases", exact=True).click()
    expect(page.get_by_text("No licence")).to_have_count(0)
    page.get_by_label("Purpose").fill("The first.")
    page.get_by_role("button", name="Freeze the labels as they are now").click()
    expect(page.get_by_text("Cancel")).to_be_visible()
    work_off_jobs()
    expect(page.get_by_role("heading", name="Contents", exact=True)).to_be_visible()
    looked_at(page, "release")
    with page.expect_download() as download:
        page.get_by_role("link", name=f"{project.slug}-release-1.zip").click()
    path = tmp_path / "first.zip"
    download.value.save_as(path)
    # Others read it, compute its agreement, and bring it in: the hash stays.
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "first")
    found = readers_load(tmp_path / "first", tmp_path, request.config)
    assert found["labels"] == found["pandas"] == 8 and found["judgements"] == 32 and found["errors"] == []
    agreement = agreement_in(tmp_path / "first", capsys)["dimensions"]
    frozen = json.loads((tmp_path / "first" / "figures.json").read_text())["agreement"]
    alpha = next(one for one in agreement[1]["figures"] if one["title"] == ALPHA)
    of_card = next(one for one in frozen[1]["figures"] if one["title"] == ALPHA)
    assert alpha["estimate"] == pytest.approx(of_card["estimate"], abs=1e-6) and alpha["estimate"] not in (0, 1)
    again = through_an_empty_assay(path, tmp_path / "second", project.slug)
    release = Release.objects.get()
    assert json.loads((again / "manifest.json").read_text())["release"]["sha256"] == release.sha256
    assert agreement_in(again, capsys)["dimensions"] == agreement
    # A second release, compared with the first.
    for item in items_of(project)[1:4]:
        adjudicating.decide(project, judge, item.anchor, "stance", "supports")
    page.goto(f"/projects/{project.slug}/releases/")
    page.get_by_role("button", name="Freeze the labels as they are now").click()
    expect(page.get_by_text("Cancel")).to_be_visible()
    work_off_jobs()
    page.get_by_role("link", name="Changes since release 1").click()
    page.get_by_role("button", name="Compare them").click()
    expect(page.get_by_text("Cancel")).to_be_visible()
    work_off_jobs()
    moves = page.get_by_role("region", name="Stance: labels before and after")
    expect(moves.get_by_role("row", name="none supports 3")).to_be_visible()
    looked_at(page, "changes")
    # A public page.
    page.goto(f"/projects/{project.slug}/releases/2/")
    page.get_by_role("button", name="Open the page").click()
    work_off_jobs()
    page.reload()
    address = page.get_by_role("link", name="the public page").get_attribute("href")
    public = open_context().new_page()
    public.goto(address)
    expect(public.get_by_text("To see whether ports freeze.")).to_be_visible()
    looked_at(public, "public-release")
    page.goto(f"/projects/{project.slug}/releases/2/hub/")
    looked_at(page, "hub")
