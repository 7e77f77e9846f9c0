"""From questions typed in the browser to labels, agreement and a release: no line of code on the way."""

import json

import pytest
from django.core.management import call_command
from playwright.sync_api import expect

from annotation.jobs import lifecycle
from annotation.models import Claim, LabelSet, Project, Unit
from tests import factories
from tests.web.pages import LabellingPage, stored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def make_label_set(page) -> None:
    """Two questions: a claim's topic, and of politics how far it leans, on a scale with highlights."""
    page.goto("/label-sets/new/")
    page.fill("[name='name']", "Leaning of claims")
    page.fill("[name='questions.1.title']", "Topic")
    page.fill("[name='questions.1.labels.1.title']", "Politics")
    page.fill("[name='questions.1.labels.2.title']", "Sport")
    page.get_by_role("button", name="Add a label").click()
    page.fill("[name='questions.1.labels.3.title']", "Weather")
    page.locator("[name='questions.1.labels.3.key']").locator("xpath=ancestor::details[1]/summary").click()
    page.fill("[name='questions.1.labels.3.key']", "w")
    page.get_by_role("button", name="Add a question").click()
    page.fill("[name='questions.2.title']", "Leaning")
    page.select_option("[name='questions.2.answer']", "number")
    expect(page.locator("[name='questions.2.level']")).to_be_hidden()
    expect(page.locator("[name='questions.2.number_level']")).to_be_visible()
    page.select_option("[name='questions.2.answer']", "")
    page.select_option("[name='questions.2.level']", "ordinal")
    page.fill("[name='questions.2.labels.1.title']", "Left")
    page.fill("[name='questions.2.labels.2.title']", "Centre")
    page.get_by_role("button", name="Add a label").last.click()
    page.fill("[name='questions.2.labels.3.title']", "Right")
    page.get_by_text("When it is asked, highlights, checkers").last.click()
    page.get_by_label("Topic: Politics").check()
    page.locator("[name='questions.2.spans.fields']").check()
    page.get_by_role("button", name="Save").last.click()


def test_a_label_set_made_in_the_browser_is_labelled_measured_and_released(open_context, tmp_path):
    rosa = factories.make_user("rosa", is_staff=True)
    annotators = [factories.make_user("anna"), factories.make_user("ben")]
    dataset = factories.make_dataset(rosa, slug="claims")
    factories.make_claim_evidence(dataset, 3, claims=3)
    base = {"dataset": dataset, "batch": factories.make_batch(dataset), "kind": "claim"}
    Unit.objects.bulk_create(Unit(**base, key=claim.key, claim=claim) for claim in Claim.objects.order_by("pk"))

    page = open_context(rosa).new_page()
    make_label_set(page)
    # What is missing is said at its field, and nothing that was typed is gone.
    expect(page.get_by_role("alert")).to_contain_text("Nothing is saved")
    page.fill("[name='questions.2.spans.title']", "What shows it")
    page.get_by_role("button", name="Save").last.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Leaning of claims")
    page.get_by_role("link", name="New project").click()
    page.fill("[name=title]", "Leanings")
    expect(page.get_by_role("radio", name="Leaning of claims")).to_be_checked()
    page.get_by_label("As in the file").check()
    page.get_by_role("button", name="Create the project").click()
    page.wait_for_url("**/projects/leanings/")
    project = Project.objects.get(slug="leanings")
    lifecycle.run_here(project.jobs.get())
    for person in annotators:
        factories.join(project, person)

    given = (("1", "3"), ("2",), ("w",)), (("1", "2"), ("2",), ("2",))
    for person, answers in zip(annotators, given, strict=True):
        work = LabellingPage(open_context(person).new_page(), project).open()
        for keys in answers:
            work.press(*keys)
            if len(keys) > 1:
                work.press("h", "ArrowRight", "Enter", "Escape")
            expect(work.page.locator("[data-status]")).to_have_text("Complete")
            first = work.answer()
            if keys == answers[0]:
                work.is_saved()
                said = stored(first, person)
                assert said == {"topic": "politics", "leaning": {"3": "right", "2": "centre"}[keys[1]]}
        work.is_saved()

    page.goto("/projects/leanings/agreement/")
    lifecycle.run_here(project.jobs.get(kind="report"))
    page.goto("/projects/leanings/agreement/")
    # Topics: politics 2, sport 3, weather 1 of six; D_o 2/6, D_e 22/30.
    expect(page.locator("main")).to_contain_text("Krippendorff's alpha (nominal)")
    expect(page.locator("main")).to_contain_text("0.545")
    call_command("release", "leanings", str(tmp_path / "release"), verbosity=0)
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text())
    assert manifest["label_set"] == LabelSet.objects.get().description
    assert manifest["counts"]["annotations"] == 6
