"""The report on marked passages in Chromium: fit to be seen, and a count opens the passages that people marked."""

import random

import pytest
from playwright.sync_api import expect

from annotation.jobs import lifecycle
from annotation.models import Job, Span
from tests.factories import make_claim_evidence, make_dataset, make_project
from tests.web.looks import grave_problems, picture, scrolls_sideways
from tests.world.labels import items_of, make_rater, say

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TEXT = "The harbour froze over in the winter of that year, and carts crossed it. " * 3
PHONE = {"width": 375, "height": 740}


@pytest.fixture
def project():
    """Twelve pairs, three people whose marks are near each other or not, in two stances."""
    chance = random.Random(5)
    dataset = make_dataset()
    make_claim_evidence(dataset, 12, claims=4, texts=[TEXT] * 12)
    project = make_project(dataset, order="file", slug="harbour")
    people = [make_rater(project, name) for name in ("Anna Brandt", "Benedikt Okafor", "Chiara Lindqvist")]
    for item in items_of(project):
        begin, stance = chance.randrange(100), chance.choice(("supports", "refutes"))
        for rater in people:
            start = begin + chance.randrange(12)
            said = stance if chance.random() < 0.8 else "refutes"
            say(item, rater, "relevant", said, spans=(("evidence", start, start + 40, TEXT[start : start + 40]),))
    return project


def test_the_page_is_fit_to_be_seen_and_opens_what_was_marked(open_context, project):
    page = open_context(project.created_by, viewport=PHONE, color_scheme="dark").new_page()
    page.goto(f"/projects/{project.slug}/reports/spans/")
    expect(page.get_by_text("for the first time")).to_be_visible()
    for job in Job.objects.filter(state="queued"):
        lifecycle.run_here(job)
    expect(page.get_by_text("no label has changed since")).to_be_visible()
    picture(page, "spans-phone-dark")
    assert grave_problems(page) == []
    assert not scrolls_sideways(page)
    page.get_by_role("table").first.get_by_role("link").first.click()
    page.locator("ol.plain .card a").first.click()
    expect(page.get_by_role("heading", name="Answers", exact=True)).to_be_visible()
    key = page.get_by_role("heading", level=1).inner_text()
    quotes = Span.objects.filter(judgement__unit__key=key).values_list("quote", flat=True)
    assert len(quotes) == 3
    for quote in quotes:
        expect(page.get_by_role("row", name="Stance")).to_contain_text(quote.strip())
    assert grave_problems(page) == []
