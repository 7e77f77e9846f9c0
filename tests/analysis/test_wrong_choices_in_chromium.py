"""The page that refuses a choice, forms with nothing to choose, and a button whose table has changed."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.jobs import lifecycle
from annotation.models import Job
from tests.analysis.looks import in_every_look, is_fit_to_be_seen, unfold
from tests.kinds import answer_all, make_kind_project
from tests.world.labels import items_of, make_rater, say
from tests.world.study import study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@in_every_look
def test_what_cannot_be_chosen_and_what_is_missing_look_right(open_context, scheme, width):
    project = study(8)
    page = open_context(project.created_by, color_scheme=scheme, viewport={"width": width, "height": 900}).new_page()
    address = reverse("project_prevalence", args=[project.slug])
    page.goto(f"{address}?touched=1&reference=nobody&since=2026-06-02&until=2026-06-01")
    expect(page.get_by_role("alert")).to_contain_text("“People's labels” is one of")
    expect(page.get_by_role("alert")).to_contain_text(
        "since (2026-06-02) is later than until (2026-06-01)", ignore_case=True
    )
    expect(page.get_by_label("Labels that the checker touched")).to_be_checked()
    is_fit_to_be_seen(page, "refused", scheme, width)
    page.get_by_role("link", name="Show it without these choices").click()
    expect(page).to_have_url(f"{page.url.partition('/projects')[0]}{address}?touched=1")
    expect(page.get_by_role("alert")).to_have_count(0)
    answers = make_kind_project("aspect-coverage/-/1", n=1)
    answer_all(answers, people=1)
    page = open_context(answers.created_by, color_scheme=scheme, viewport={"width": width, "height": 900}).new_page()
    page.goto(reverse("project_report", args=[answers.slug, "icat"]))
    unfold(page)
    expect(page.get_by_text("start the checker “Facts and aspects (ICAT)” first")).to_be_visible()
    is_fit_to_be_seen(page, "nothing-to-choose", scheme, width)


def test_a_button_says_that_the_figures_have_changed(open_context, client):
    project = study(8)
    client.force_login(project.created_by)
    address = reverse("project_agreement", args=[project.slug])

    def compute():
        client.get(address)
        for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
            assert lifecycle.run_here(job).state == "done", job.message

    compute()
    page = open_context(project.created_by, permissions=["clipboard-read", "clipboard-write"]).new_page()
    page.route(
        "**/agreement/", lambda route: route.abort() if route.request.headers.get("hx-request") else route.continue_()
    )
    page.goto(address)
    page.get_by_text("Copy single tables").click()
    button = page.locator("ul.copies > li").first.get_by_role("button", name="as CSV")
    button.click()
    expect(button).to_have_text("Copied")
    expect(button).to_have_text("CSV")
    say(items_of(project)[0], make_rater(project), "relevant", "supports")
    compute()
    button.click()
    expect(button).to_have_text("Changed: load again")
