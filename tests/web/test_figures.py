"""Pages of figures and exports in Chromium: legible in light and dark and on a phone, usable by keyboard alone, and
they refresh themselves."""

import random
import re

import pytest
from playwright.sync_api import expect

from annotation.jobs import lifecycle
from annotation.models import Job
from tests.analysis.looks import unfold
from tests.conftest import PATIENCE_MS
from tests.factories import make_suggestions
from tests.web.looks import faults
from tests.world.labels import items_of, make_rater, make_scores, project_of, say

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

STANCES = (
    "refutes",
    "insufficient-refutes",
    "insufficient-contradictory",
    "insufficient-neutral",
    "insufficient-supports",
    "supports",
)
CONFUSION = "svg.plot[aria-labelledby*=confusion]"


@pytest.fixture
def project():
    """Sixty pairs, three people who agree often, a checker that is right half of the time."""
    chance = random.Random(3)
    project = project_of(60, claims=20, slug="harbour")
    people = [make_rater(project, name) for name in ("Anna Brandt", "Benedikt Okafor", "Chiara Lindqvist")]
    run = make_suggestions(project, checker="lexical", labels={"relevance": "relevant"})
    items = items_of(project)
    scores = {}
    for item in items:
        truth = chance.choice(STANCES)
        for rater in people:
            if chance.random() < 0.15:
                say(item, rater, "not_relevant")
            else:
                say(item, rater, "relevant", truth if chance.random() < 0.7 else chance.choice(STANCES))
        guess = truth if chance.random() < 0.6 else chance.choice(STANCES)
        run.suggestions.filter(unit=item.anchor, dimension="stance").update(label=guess)
        scores[item.anchor_id] = STANCES.index(guess) + chance.random()
    make_scores(run, "overlap", scores)
    return project


def compute():
    for job in Job.objects.filter(state="queued"):
        lifecycle.run_here(job)


def opened(context, project, name):
    """The page with its figures, which a worker computes while it is open."""
    page = context.new_page()
    page.goto(f"/projects/{project.slug}/{name}/")
    expect(page.get_by_text("for the first time")).to_be_visible()
    compute()
    expect(page.get_by_text("no label has changed since")).to_be_visible()
    return page


@pytest.mark.slow
def test_pages_are_fit_to_be_seen(open_context, project):
    context = open_context(project.created_by, color_scheme="dark")
    for name in ("agreement", "comparison"):
        page = opened(context, project, name)
        if name == "comparison":
            unfold(page)
            expect(page.get_by_role("region", name="Stance: people (rows) and checker")).to_be_visible()
        assert faults(page, name) == []
    page.goto(page.locator(f"{CONFUSION} a").first.get_attribute("href"))
    assert faults(page, "behind") == []


def test_the_page_of_exports_is_fit_to_be_seen_and_follows_its_job(open_context, project, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    page = open_context(project.created_by, color_scheme="dark").new_page()
    page.goto(f"/projects/{project.slug}/exports/")
    page.get_by_role("button", name="Export", exact=True).click()
    expect(page.get_by_text("waiting for a worker")).to_be_visible()
    assert faults(page, "exports-waiting") == []
    compute()
    link = page.get_by_role("link", name=f"{project.slug}-claims.tsv")
    expect(link).to_be_visible()
    assert faults(page, "exports") == []
    with page.expect_download() as download:
        link.click()
    content = download.value.path().read_text()
    assert download.value.suggested_filename == f"{project.slug}-claims.tsv" and content.count("\n") == 61


def test_a_cell_of_the_picture_is_reached_and_opened_by_keyboard(open_context, project):
    page = opened(open_context(project.created_by), project, "comparison")
    unfold(page)
    svg = page.locator(CONFUSION).last
    assert svg.locator("a").count() > 6
    page.get_by_role("region", name=re.compile("confusion of people.*picture")).last.focus()
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('svg') !== null"):
            break
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    count = int(re.search(r": (\d+) \(", label)[1])
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=f"{count} unit")).to_be_visible()
    units = page.get_by_role("main").get_by_role("listitem").filter(has=page.locator(".text"))
    expect(units).to_have_count(count)
    page.get_by_role("link", name="Back to the figures").click()
    expect(page.get_by_role("heading", name="A checker against people")).to_be_visible()


def test_new_labels_appear_without_a_reload_and_what_is_open_stays_until_then(open_context, project):
    page = opened(open_context(project.created_by), project, "agreement")
    page.evaluate("window.before = document.querySelector('#figures table')")
    say(items_of(project)[0], make_rater(project, "Dana New"), "relevant", "supports")
    expect(page.get_by_text("are being computed again")).to_be_visible(timeout=2 * PATIENCE_MS)  # asked every 10 s
    assert page.evaluate("window.before.isConnected")  # only the line about their state was replaced
    compute()
    expect(page.get_by_text("4 raters (everyone who labelled)").first).to_be_visible(timeout=2 * PATIENCE_MS)
