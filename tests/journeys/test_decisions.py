"""Two people disagree on pairs; an adjudicator decides some of these by keyboard, and a rule settles the rest."""

import uuid

import pytest
from playwright.sync_api import expect

from annotation.access import assignment_for
from annotation.jobs import lifecycle
from annotation.models import Decision, Job, Membership
from annotation.work import assigning
from annotation.work.annotating import submit
from tests.factories import join, make_claim_evidence, make_dataset, make_project, make_user
from tests.web.looks import grave_problems, picture, resize, scrolls_sideways

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# What Ann and Ben say of each pair: far apart, near, or the same.
STANCES = (
    ("supports", "refutes"),
    ("refutes", "supports"),
    ("supports", "insufficient-supports"),
    ("refutes", "insufficient-refutes"),
    ("supports", "refutes"),
    ("insufficient-neutral", "insufficient-neutral"),
    ("supports", "supports"),
    ("refutes", "refutes"),
)


def say(project, person, stance) -> None:
    assignment = assigning.take(project, person)
    said = [
        {"unit": assignment.item.key, "dimension": "relevance", "label": "relevant"},
        {"unit": assignment.item.key, "dimension": "stance", "label": stance},
    ]
    body = {"client_id": str(uuid.uuid4()), "judgements": said}
    submit(assignment_for(person, assignment.uuid), person, body)


@pytest.fixture
def world(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    ann, ben, judge = (make_user(name) for name in ("ann", "ben", "judge"))
    dataset = make_dataset()
    make_claim_evidence(dataset, len(STANCES))
    project = make_project(
        dataset, overlap=2, order="file", annotators=[ann, ben], slug="ports", guidelines="", shows_decisions=True
    )
    join(project, judge, Membership.Role.ADJUDICATOR)
    for stances in STANCES:
        for person, stance in zip((ann, ben), stances, strict=True):
            say(project, person, stance)
    return project, judge, ann


def work_off_jobs() -> None:
    for job in Job.objects.filter(state=Job.State.QUEUED):
        lifecycle.run_here(job)


def looked_at(page, name: str) -> None:
    """Light, dark and on a phone: nothing that axe calls serious, and nothing that scrolls sideways."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        picture(page, f"{name}-{scheme}", full_page=True)
        assert grave_problems(page) == []
    resize(page, {"width": 390, "height": 800})
    picture(page, f"{name}-phone", full_page=True)
    assert not scrolls_sideways(page)
    resize(page, {"width": 1280, "height": 800})
    page.emulate_media(color_scheme="light")


def test_from_disagreement_to_a_label_for_every_pair(open_context, world):
    project, judge, ann = world
    page = open_context(judge).new_page()
    page.goto("/")
    page.get_by_role("link", name="Adjudicate 5 items").click()
    for left in (4, 3):
        page.locator("[data-item]").wait_for()
        page.keyboard.press("Shift+A")
        page.keyboard.press("Enter")
        expect(page.locator("[data-waiting]")).to_have_text(str(left))
    by_hand = dict(Decision.objects.in_force().filter(dimension="stance").values_list("unit__key", "label"))
    assert len(by_hand) == 2
    page.goto(f"/projects/{project.slug}/adjudication/?order=posterior")
    page.locator("[data-item]").wait_for()
    looked_at(page, "queue-by-posterior")
    # A rule for the rest, seen before it decides.
    page.goto(f"/projects/{project.slug}/")
    page.get_by_role("link", name="Results").click()
    page.get_by_role("link", name="Rules").click()
    looked_at(page, "rules")
    page.get_by_role("link", name="DRUID's rule").click()
    page.get_by_label("Name").fill("small-ones")
    page.get_by_label("Steps of the scale").fill("5")
    looked_at(page, "rule-form")
    page.get_by_role("button", name="Preview", exact=True).click()
    expect(page.get_by_role("heading", name="small-ones: preview")).to_be_visible()
    work_off_jobs()
    stance = page.get_by_role("region", name="Stance").first
    expect(stance).to_contain_text("without what was dropped")
    assert not Decision.objects.filter(method="rule").exists()
    looked_at(page, "rule-preview")
    page.get_by_role("button", name="Run this rule").click()
    expect(page.get_by_role("heading", name="small-ones: run")).to_be_visible()
    work_off_jobs()
    expect(page.get_by_role("heading", name="small-ones", exact=True)).to_be_visible()
    looked_at(page, "rule")
    rule = Decision.objects.in_force().filter(dimension="stance").of_set("rule:small-ones")
    assert rule.filter(outcome="dropped").count() == 3 and rule.count() >= 6
    people = Decision.objects.in_force().filter(dimension="stance", method="adjudicated")
    assert dict(people.values_list("unit__key", "label")) == by_hand
    page.goto("/")
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()
    expect(page.get_by_role("link", name="Adjudicate")).to_have_count(0)  # nothing waits
    # How far each annotator agrees with what was decided.
    page.goto(f"/projects/{project.slug}/agreement/?reference=adjudicated")
    work_off_jobs()
    page.reload()
    section = page.locator("details.section", has=page.get_by_role("heading", name="Stance: against decisions"))
    section.locator("summary").first.click()
    expect(section.get_by_role("row", name="Everybody")).to_contain_text("0.500")
    looked_at(page, "agreement-against-decisions")
    # The verdicts' table, the sets that an export can take, and an item's page.
    page.goto(f"/projects/{project.slug}/rules/new/lift/?question=stance")
    looked_at(page, "rule-table")
    page.goto(f"/projects/{project.slug}/exports/")
    page.get_by_text("Other formats and labels").click()
    page.get_by_role("combobox", name="Labels").select_option("rule:small-ones")
    page.get_by_label("Units without a label").select_option("leave-out")
    page.get_by_role("button", name="Export").click()
    expect(page.get_by_role("heading", name="Export of")).to_be_visible()
    with page.expect_navigation():  # the page notices by itself
        work_off_jobs()
    # Of the three that the rule dropped, an adjudicator had decided two.
    expect(page.get_by_role("main")).to_contain_text("Stance, without a label: 1 dropped")
    looked_at(page, "exports")
    page.goto(f"/projects/{project.slug}/items/{project.items.first().uuid}/")
    looked_at(page, "item")
    # Ann sees what was decided of her items, since the project says so.
    own = open_context(ann).new_page()
    own.goto(f"/projects/{project.slug}/work/")
    own.keyboard.press("ArrowLeft")
    expect(own.get_by_role("region", name="Decision")).to_contain_text("by a rule")
    looked_at(own, "own-decision")
