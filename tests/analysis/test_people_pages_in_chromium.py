"""The pages on trials and planning, and the sections on selection, time and known answers, in a browser."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import Decision
from tests.analysis.looks import in_every_look, is_fit_to_be_seen, opened, unfold
from tests.analysis.test_drift_and_attention import START, truth
from tests.analysis.test_prefill_trial import show
from tests.analysis.test_selected import ask_for_more, draw
from tests.factories import make_suggestions
from tests.world.labels import make_rater, project_of, say

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
N = 30


@pytest.fixture
def project():
    """Three people, who see suggestions of every second item; some items are asked for once more, some are known."""
    project = project_of(N, claims=N, overlap=2)
    run = make_suggestions(project)
    raters = [make_rater(project, name) for name in ("Anna", "Ben", "Cleo")]
    for number, item in enumerate(draw(project, 0.5, set(range(0, N, 2)))):
        if number % 5 == 1:
            ask_for_more(item)
        if number % 3 == 0:
            Decision.objects.create(
                project=project, unit=item.anchor, dimension="relevance", label=truth(number), method="imported"
            )
        for place, rater in enumerate(raters):
            seen = (number + place) % 2 == 0
            label = truth(number + (number + 3 * place) % 7 // 6)
            moment = START.replace(hour=number % 24, minute=place)
            fields = {"submitted_at": moment, "guideline_version": 1 + number // 15, "active_ms": 3000 + 200 * number}
            revision = say(item, rater, label, shown=seen, **fields)
            if seen:
                show(revision, run)
    return project


def pages_of(project) -> dict[str, str]:
    return {
        "prefill-trial": reverse("project_report", args=[project.slug, "prefill-trial"]),
        "planning": reverse("project_report", args=[project.slug, "planning"]) + "?target=0.1",
        "selection": reverse("project_agreement", args=[project.slug]),
        "time": reverse("project_annotators", args=[project.slug]),
    }


@in_every_look
def test_pages_look_right(open_context, client, project, scheme, width):
    headings = {"selection": "Relevance: without the choice of items", "time": "Relevance: over time"}
    for name, page in opened(open_context, client, project.created_by, pages_of(project), scheme, width):
        if name == "planning":
            expect(page.get_by_role("region", name="The pilot: labels so far")).to_be_visible()
        else:
            expect(page.get_by_role("heading", name=headings.get(name, "Answers compared")).first).to_be_visible()
        unfold(page)
        is_fit_to_be_seen(page, name, scheme, width)
    page.goto(reverse("project_detail", args=[project.slug]))
    page.get_by_role("link", name="How many more labels?").click()
    expect(page).to_have_url(re.compile(r"target=0\.1"))
    expect(page.get_by_role("heading", name="How many more labels?")).to_be_visible()
