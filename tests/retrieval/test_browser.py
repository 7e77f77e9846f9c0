"""In Chromium, by the keyboard: claims without evidence get passages, which an annotator then finds on the page."""

import pytest
from playwright.sync_api import expect

from annotation.jobs import lifecycle
from annotation.machines.retrieval import index
from annotation.models import Job, RetrievalRun
from tests.factories import make_user
from tests.retrieval.harbour import CLAIMS, EVIDENCE, WHOLE, corpus, harbour, search
from tests.web.looks import grave_problems, picture, resize, scrolls_sideways

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def no_index():
    index.forget()


def test_retrieve_compare_publish_and_judge(open_context, tmp_path, settings):
    corpus(tmp_path, settings)
    annotator = make_user()
    project = harbour(tmp_path, evidence=(), annotators=[annotator])
    page = open_context(project.created_by, color_scheme="dark").new_page()
    page.goto(f"/projects/{project.slug}/")
    pages = page.get_by_role("navigation", name="Pages of this project")
    pages.get_by_role("link", name="Machines").press("Enter")
    pages.get_by_role("link", name="Retrieval").press("Enter")
    page.locator("summary", has_text="bm25 1").press("Enter")
    page.locator("#id_bm25-top").fill("2")
    page.locator("#id_bm25-chunker").select_option("whole")
    picture(page, "retrieval-start")
    page.get_by_role("button", name="Start Shared words (BM25)").press("Enter")
    expect(page.get_by_text("waiting for a worker")).to_be_visible()
    run = RetrievalRun.objects.get()
    assert lifecycle.run_here(run.job).state == "done"
    # The page notices by itself that the run has ended.
    expect(page.get_by_role("heading", name="Publish passages as evidence")).to_be_visible()
    other = search(project, corpus="papers", top=1, parameters=WHOLE)
    page.reload()
    page.get_by_label("Compare with").select_option(str(other.uuid))
    page.get_by_role("button", name="Show", exact=True).press("Enter")
    expect(page.get_by_text("1 of 2 in both").first).to_be_visible()
    assert grave_problems(page) == []
    picture(page, "retrieval-run")
    page.get_by_role("link", name=CLAIMS["light"]).press("Enter")
    expect(page.get_by_text(EVIDENCE[4][2]).first).to_be_visible()
    expect(page.get_by_text("rank 1 in the other run").first).to_be_visible()
    assert grave_problems(page) == []
    picture(page, "retrieval-ranking")
    resize(page, {"width": 360, "height": 740})
    assert not scrolls_sideways(page)
    picture(page, "retrieval-ranking-phone")
    page.go_back()
    assert not scrolls_sideways(page)
    resize(page, {"width": 1280, "height": 800})
    with page.expect_download() as got:
        page.get_by_role("link", name="TREC run file").click()
    assert "light Q0 light/a 1 " in got.value.path().read_text()
    page.get_by_label("Passages per ranking").fill("1")
    page.get_by_role("button", name="Publish").press("Enter")
    expect(page.locator("#job-progress")).to_be_visible()
    assert lifecycle.run_here(Job.objects.get(kind="passages")).state == "done"
    expect(page.get_by_text("3 new pieces of evidence, 3 new items here")).to_be_visible()
    work = open_context(annotator).new_page()
    work.goto(f"/projects/{project.slug}/work/")
    work.get_by_role("button", name="I have read them").click()
    shown = work.locator('[data-field="evidence"]')
    expect(shown).to_be_visible()
    assert shown.inner_text().strip() in {EVIDENCE[0][2], EVIDENCE[2][2], EVIDENCE[4][2]}
