"""A person comes from a panel, consents, answers questions, labels and takes a code back."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from annotation.models import Annotation, Assignment, Participation, Project
from annotation.participation import consent, links, questionnaires
from annotation.projects import label_sets, managing
from tests import factories
from tests.participation.test_questionnaires import ABOUT
from tests.web.looks import faults
from tests.web.pages import LabellingPage, eventually

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser]


@pytest.fixture
def study():
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 3)
    project = factories.make_project(dataset)
    row = label_sets.save_label_set(project.created_by, ABOUT)
    text = "# Harbours\n\nWe store what you answer. You are paid 2 euros."
    consent.publish(project, project.created_by, text, consent.KEEP)
    questionnaires.publish(project, project.created_by, "screening", row.identifier, {"language": ["other"]})
    values = {"panel": "prolific", "endings": {"complete": "C0DE1"}, "most_items": 2, "group": "crowd"}
    return links.make_link(project, project.created_by, title="Harbours, first wave", places=50, **values)


def test_a_participant_from_the_panel_to_the_code(study, open_context):
    page = open_context(color_scheme="dark").new_page()
    page.goto(f"/join/{study.token}/?PROLIFIC_PID=p1&STUDY_ID=s1&SESSION_ID=v1")
    assert faults(page, "join") == []
    page.get_by_role("button", name="Join the study").click()
    page.get_by_role("link", name="Read and decide").first.click()
    assert faults(page, "consent") == []
    page.get_by_role("button", name="I consent", exact=True).click()
    expect(page.get_by_role("heading", name="About you")).to_be_visible()
    assert faults(page, "questions") == []
    page.get_by_label("English").check()
    page.get_by_label("Age", exact=True).fill("41")
    page.get_by_label("News").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="I have read them").click()
    expect(page.locator("[data-panel]")).to_be_visible()
    for _ in range(2):
        expect(page.locator("[data-panel]")).to_be_visible()
        expect(page.get_by_text("Your part is done")).to_have_count(0)
        first = page.locator("[data-panel]").element_handle()
        page.keyboard.press("2")
        page.keyboard.press("Control+Enter")
        first.wait_for_element_state("hidden")
    page.get_by_role("link", name="Finish the study").click()
    page.get_by_role("button", name="Finish the study").click()
    assert faults(page, "finish") == []
    expect(page.locator("#code")).to_have_text("C0DE1")
    expect(page.get_by_role("link", name="Back to the panel")).to_have_attribute(
        "href", "https://app.prolific.com/submissions/complete?cc=C0DE1"
    )
    assert Participation.objects.get().state == "complete"


def test_a_researcher_sets_it_up_and_plays(study, open_context):
    page = open_context(study.created_by, color_scheme="dark").new_page()
    for name in ("study-links", f"study-links/{study.uuid}", "consent", "questionnaires"):
        page.goto(f"/projects/{study.project.slug}/{name}/")
        assert faults(page, name.replace("/", "-")) == []
    page.goto(f"/projects/{study.project.slug}/study-links/{study.uuid}/")
    page.get_by_role("button", name="Play as participant").click()
    expect(page.get_by_text("You play a participant")).to_be_visible()
    assert faults(page, "play") == []
    page.goto(f"/projects/{study.project.slug}/taking-part/")
    assert faults(page, "taking-part") == []
    page.get_by_role("button", name="End").click()
    expect(page.get_by_role("heading", name="Harbours, first wave")).to_be_visible()


@pytest.mark.parametrize("whose", ["group", "project"])
def test_answers_given_offline_before_a_last_day_are_stored_after_it_and_the_code_is_reached(whose, open_context):
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 8)
    project = factories.make_project(dataset, items_ahead=3)
    values = {"panel": "prolific", "endings": {"complete": "C0DE1"}, "group": "crowd"}
    link = links.make_link(project, project.created_by, title="Harbours", places=5, **values)
    context = open_context()
    page = context.new_page()
    page.goto(f"/join/{link.token}/?PROLIFIC_PID=p1&STUDY_ID=s1&SESSION_ID=v1")
    page.get_by_role("button", name="Join the study").click()
    who = LabellingPage(page, project).open()
    eventually(page, lambda: Assignment.objects.filter(state="leased").count(), 4)
    context.set_offline(True)
    for _ in range(2):
        who.answer("2")
    yesterday = timezone.localdate() - timedelta(days=1)
    day = {"group_quotas": f"crowd: until {yesterday}"} if whose == "group" else {"last_day": yesterday}
    Project.objects.filter(pk=project.pk).update(**day)
    managing.end_last_days()
    context.set_offline(False)
    expect(page.locator('[data-notice="back"]')).to_contain_text("2 answers were sent: 2 stored.")
    for n in (3, 4):  # what they hold is theirs to answer
        expect(page.locator("[data-panel]")).to_be_visible()
        page.keyboard.press("2")
        page.keyboard.press("Control+Enter")
        eventually(page, lambda n=n: Annotation.objects.filter(is_surplus=False).count(), n)
    expect(page.locator("#stage")).to_contain_text("Your part is done")
    page.get_by_role("link", name="Finish the study").click()
    page.get_by_role("button", name="Finish the study").click()
    expect(page.locator("#code")).to_have_text("C0DE1")
    assert Project.objects.get().state == ("open" if whose == "group" else "paused")
