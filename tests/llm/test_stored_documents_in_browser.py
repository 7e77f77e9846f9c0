"""In Chromium, by the keyboard: repeated searches with made-up documents, which are stored, and verdicts on what was
found."""

import pytest
from playwright.sync_api import expect

from annotation.jobs import lifecycle
from annotation.models import CheckerRun, Job, Response, RetrievalRun
from tests.factories import make_project
from tests.retrieval.harbour import harbour
from tests.web.looks import grave_problems, picture, resize, scrolls_sideways

from .test_stored_documents import written

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_documents_are_made_up_stored_and_searched_with_again(open_context, tmp_path, serve, scheme):
    serve(written)
    project = harbour(tmp_path, identifier="evidence-inclusion/-/1")
    verdicts = make_project(project.dataset, "claim-verdict/four-way/1", overlap=1)
    page = open_context(project.created_by, color_scheme=scheme).new_page()
    page.goto(f"/projects/{project.slug}/retrieval/")
    page.locator("summary", has_text="bm25 1").press("Enter")
    page.locator("#id_bm25-chunker").select_option("whole")
    page.locator("#id_bm25-expansion").select_option("query2doc")
    page.locator("#id_bm25-repetitions").fill("2")
    assert grave_problems(page) == []
    picture(page, f"expansion-start-{scheme}")
    page.get_by_role("button", name="Start Shared words (BM25)").press("Enter")
    expect(page.get_by_text("waiting for a worker").first).to_be_visible()
    for run in RetrievalRun.objects.select_related("job"):
        assert lifecycle.run_here(run.job).state == "done"
    expect(page.get_by_text("2 searches that differ in the seed alone")).to_be_visible()
    page.get_by_role("button", name="Store documents").press("Enter")
    page.wait_for_url("**/retrieval/*/")
    with page.expect_navigation():  # the page notices by itself
        assert lifecycle.run_here(Job.objects.get(kind="documents")).state == "done"
    expect(page.get_by_text("4 new documents")).to_be_visible()
    assert grave_problems(page) == [] and Response.objects.published().count() == 4
    picture(page, f"expansion-run-{scheme}")
    resize(page, {"width": 360, "height": 740})
    assert not scrolls_sideways(page)
    resize(page, {"width": 1280, "height": 800})
    page.goto(f"/projects/{project.slug}/retrieval/")
    page.locator("summary", has_text="bm25 1").press("Enter")
    expect(page.locator("#id_bm25-documents")).to_contain_text("query2doc, m: 2 repetitions")
    picture(page, f"expansion-stored-{scheme}")

    page.goto(f"/projects/{verdicts.slug}/runs/")
    page.locator("summary", has_text="lexical").first.press("Enter")
    page.locator("#id_lexical-first").fill("2")
    assert grave_problems(page) == []
    picture(page, f"verdict-start-{scheme}")
    page.locator("#id_lexical-first").press("Enter")
    page.wait_for_url("**/runs/*-*/")
    runs = CheckerRun.objects.filter(project=verdicts).select_related("job")
    assert [run.job.parameters["retrieved"]["first"] for run in runs] == [2, 2]
    with page.expect_navigation():
        for run in runs:
            assert lifecycle.run_here(run.job).state == "done"
    assert grave_problems(page) == []
    picture(page, f"verdict-run-{scheme}")
