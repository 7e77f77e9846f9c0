"""A question with several labels, from the form to the answer: keys toggle, Enter goes on, undo and the way back."""

import pytest
from playwright.sync_api import expect

from annotation.jobs import lifecycle
from annotation.models import Claim, Project, Unit
from tests import factories
from tests.web.pages import LabellingPage, stored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_several_labels_are_chosen_by_key_and_mouse(open_context):
    rosa, anna = factories.make_user("rosa", is_staff=True), factories.make_user("anna")
    dataset = factories.make_dataset(rosa, slug="claims")
    factories.make_claim_evidence(dataset, 3, claims=3)
    base = {"dataset": dataset, "batch": factories.make_batch(dataset), "kind": "claim"}
    Unit.objects.bulk_create(Unit(**base, key=claim.key, claim=claim) for claim in Claim.objects.order_by("pk"))

    page = open_context(rosa).new_page()
    page.goto("/label-sets/new/")
    page.fill("[name='name']", "Topics")
    page.fill("[name='questions.1.title']", "Topics")
    hidden = page.get_by_label("A text may be left empty")
    expect(hidden).to_be_hidden()
    page.select_option("[name='questions.1.answer']", "text")
    expect(hidden).to_be_visible()
    page.select_option("[name='questions.1.answer']", "labels")
    page.fill("[name='questions.1.labels.1.title']", "Health")
    page.fill("[name='questions.1.labels.2.title']", "Sport")
    page.get_by_role("button", name="Save").last.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Topics")
    page.get_by_role("link", name="New project").click()
    page.fill("[name=title]", "Topics of claims")
    page.get_by_label("As in the file").check()
    page.get_by_role("button", name="Create the project").click()
    page.wait_for_url("**/projects/topics-of-claims/")
    project = Project.objects.get(slug="topics-of-claims")
    lifecycle.run_here(project.jobs.get())
    factories.join(project, anna)

    work = LabellingPage(open_context(anna).new_page(), project).open()
    status = work.page.locator("[data-status]")
    box = {name: work.page.get_by_role("checkbox", name=name) for name in ("Health", "Sport", "None of these")}
    work.press("2", "1", "1")  # a key adds a label and takes it back
    expect(box["Sport"]).to_be_checked()
    expect(box["Health"]).not_to_be_checked()
    work.press("2")
    expect(status).to_have_text("Choose: Topics")  # nothing is said yet, which is not the same as none
    work.press("0")
    expect(box["None of these"]).to_be_checked()
    expect(status).to_have_text("Complete")
    work.press("1")
    expect(box["None of these"]).not_to_be_checked()
    work.press("z")
    expect(box["None of these"]).to_be_checked()
    first = work.answer()
    for name in ("Sport", "Health"):
        box[name].locator("..").click()
    expect(status).to_have_text("Complete")
    second = work.answer()
    work.is_saved()
    assert (stored(first, anna), stored(second, anna)) == ({"topics": "(none)"}, {"topics": "health|sport"})
    # The way back shows what was stored, and a change is sent.
    work.press("ArrowLeft")
    expect(box["Health"]).to_be_checked()
    expect(box["Sport"]).to_be_checked()
    work.press("1", "Enter")
    work.is_saved()
    assert stored(second, anna) == {"topics": "sport"}
