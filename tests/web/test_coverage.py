"""The page of coverage in Chromium: legible in light and dark and on a phone; cells open their aspects by keyboard."""

import random

import pytest
from playwright.sync_api import expect

from annotation.jobs import lifecycle
from annotation.models import Item, Job
from tests.analysis.looks import unfold
from tests.analysis.test_coverage import content, cover
from tests.factories import make_dataset, make_project
from tests.kinds import bring_in
from tests.web.looks import faults
from tests.world.labels import make_rater

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def project():
    """Eight questions of up to seven aspects, two models, three people; the last question has no aspects."""
    chance = random.Random(3)
    dataset = make_dataset()
    bring_in(dataset, content({f"wt-{n}": (n % 7) + 1 for n in range(7)} | {"wt-7": 0}, ("gpt-4", "mixtral-8x22b")))
    project = make_project(dataset, "aspect-coverage/-/1", order="file", slug="web-track")
    people = [make_rater(project, name) for name in ("Anna Brandt", "Benedikt Okafor", "Chiara Lindqvist")]
    for item in Item.objects.filter(project=project, unit_count__gt=0):
        for rater in people[: chance.choice((2, 3, 3))]:
            cover(project, item.key, rater, "".join(chance.choice("++-") for _ in range(item.unit_count)))
    return project


def test_the_page_is_fit_to_be_seen(open_context, project):
    page = open_context(project.created_by, color_scheme="dark").new_page()
    page.goto("/projects/web-track/coverage/")
    expect(page.get_by_text("for the first time")).to_be_visible()
    for job in Job.objects.filter(state="queued"):
        lifecycle.run_here(job)
    expect(page.get_by_text("no label has changed since")).to_be_visible()
    assert faults(page, "coverage") == []
    unfold(page)
    link = page.get_by_role("region", name="Coverage of answers").locator("tbody tr").first.locator("td a").first
    count = int(link.inner_text())
    link.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("behind a figure").first).to_be_visible()
    expect(page.locator("ol.plain > li.card")).to_have_count(count)
    assert faults(page, "coverage-behind") == []


def test_other_choices_show_other_figures(open_context, project):
    page = open_context(project.created_by).new_page()
    page.goto("/projects/web-track/agreement/")
    page.get_by_role("link", name="Coverage of aspects").click()
    page.get_by_label("A tied aspect").select_option("not_covered")
    page.wait_for_url("**ties=not_covered**")
    for job in Job.objects.filter(state="queued"):
        lifecycle.run_here(job)
    expect(page.get_by_text("per aspect; ties count as not covered")).to_be_visible()
    total = page.get_by_role("row", name="all responses")
    expect(total).to_be_visible()
    expect(total).not_to_contain_text("undefined")
