"""Who said what where the other said what, and several checkers at once, in a browser."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.analysis.looks import in_every_look, is_fit_to_be_seen, opened, unfold
from tests.analysis.test_beside import CHECKERS, errs, run_of
from tests.world.labels import items_of, make_rater, project_of, say

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
YES = "relevant"
STANCES = ("refutes", "insufficient-neutral", "supports")
N = 24


@pytest.fixture
def project():
    """Three people, of whom Ben takes a refutation for support now and then; three checkers."""
    project = project_of(N, claims=N)
    raters = {name: make_rater(project, name) for name in ("Anna", "Ben", "Cleo")}
    for number, item in enumerate(items_of(project)):
        for name, rater in raters.items():
            place = number % 3
            say(item, rater, YES, STANCES[2 if name == "Ben" and number % 6 == 0 else place])
    for name, every in CHECKERS.items():
        run_of(project, name, errs(every))
    return project


@in_every_look
def test_pages_look_right(open_context, client, project, scheme, width):
    pages = {
        "pairs": reverse("project_agreement", args=[project.slug]),
        "several": reverse("project_comparison", args=[project.slug]),
    }
    for name, page in opened(open_context, client, project.created_by, pages, scheme, width):
        if name == "several":
            table = page.get_by_role("region", name="Relevance: 3 checkers at once, accuracy")
            expect(table).to_be_hidden()
            unfold(page)
            expect(table.get_by_text("Cochran's Q", exact=True)).to_be_visible()
            is_fit_to_be_seen(page, name, scheme, width)
            continue
        title = "Stance: pairs of annotators"
        table = page.get_by_role("region", name=f"{title}, label by label")
        expect(table).to_be_hidden()
        page.locator("summary", has_text=title).click()
        expect(table).to_be_visible()
        is_fit_to_be_seen(page, name, scheme, width)
        row = table.get_by_role("row").filter(has_text=re.compile(r"Anna.*Ben.*Refutes.*Supports"))
        row.get_by_role("link", name="4", exact=True).click()
        expect(page.get_by_role("heading", name="4 units behind a figure")).to_be_visible()
        words = "Annotator: Anna, Label: Refutes; a judgement with Question: Stance, Annotator: Ben, Label: Supports"
        expect(page.get_by_text(words).first).to_be_visible()
