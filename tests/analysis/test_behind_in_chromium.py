"""The items behind a figure in a browser, the page that refuses a choice, and forms with nothing to choose."""

import re
from functools import partial

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from analysis.models import StoredReport
from annotation.models import Decision, Evidence
from tests.analysis.looks import is_fit_to_be_seen, opened, unfold
from tests.analysis.test_prefill_trial import show
from tests.factories import make_suggestions
from tests.kinds import answer_all, make_kind_project
from tests.web.looks import PHONE, resize
from tests.web.pages import eventually
from tests.world.labels import items_of, make_rater, make_scores, project_of, say
from tests.world.study import study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
YES, NO = "relevant", "not_relevant"
LONG = "The harbour master wrote down every ship that lay in the ice that winter, and when it left again.\n" * 40


@pytest.fixture
def project():
    project = project_of(6)
    run = make_suggestions(project, labels={"relevance": YES, "stance": "supports"})
    people = [make_rater(project, name) for name in ("Anna Beispiel", "Ben Exempel", "Cleo")]
    for number, item in enumerate(items_of(project)):
        for person in people[: 2 + number % 2]:
            say(item, person, NO)
        if number % 2:
            show(say(item, people[number % 3], YES, "insufficient-supports", shown=True), run, "after")
        Decision.objects.create(
            project=project, unit=item.anchor, dimension="relevance", label=NO, method="adjudicated", seen={"runs": []}
        )
    make_scores(run, "overlap", {item.anchor_id: 0.125 for item in items_of(project)})
    Evidence.objects.filter(pk=items_of(project)[1].anchor.evidence_id).update(text=LONG)
    return project


def boxes(page) -> list[dict]:
    return [page.locator(f".beside > {part}").first.bounding_box() for part in (".words", "dl")]


def test_text_and_answers_stand_side_by_side(open_context, client, project):
    comparison = reverse("project_comparison", args=[project.slug])
    addresses = {"majority": f"{comparison}?reference=majority", "decisions": f"{comparison}?reference=adjudicated"}
    for name, page in opened(open_context, client, project.created_by, addresses):
        reference = "majority" if name == "majority" else "adjudicated"
        report = StoredReport.objects.get(parameters__reference=reference)
        unfold(page)
        cell = page.get_by_role("region", name="Relevance: confusion of people").locator("a")
        expect(cell).to_have_count(1)  # people say no, and the checker yes
        expect(cell).to_have_attribute("href", re.compile(f"report={report.parameters_hash}&figure="))
        page.goto(cell.get_attribute("href"))
        is_fit_to_be_seen(page, f"behind-{name}")
        words, answers = boxes(page)
        assert answers["x"] >= words["x"] + words["width"] and answers["y"] == words["y"]
        wide = page.viewport_size
        resize(page, PHONE)
        words, answers = boxes(page)
        assert answers["y"] >= words["y"] + words["height"] and answers["x"] == words["x"]
        resize(page, wide)
        long = page.get_by_role("region", name="Text of")
        assert long.count() == 1 and long.evaluate("one => one.scrollHeight > one.clientHeight")
        long.focus()
        page.keyboard.press("End")
        eventually(page, partial(long.evaluate, "one => one.scrollTop > 0"), True)


def test_what_cannot_be_chosen_and_what_is_missing_look_right(open_context):
    project = study(8)
    page = open_context(project.created_by, color_scheme="dark").new_page()
    address = reverse("project_prevalence", args=[project.slug])
    page.goto(f"{address}?touched=1&reference=nobody&since=2026-06-02&until=2026-06-01")
    expect(page.get_by_role("alert")).to_contain_text("“People's labels” is one of")
    expect(page.get_by_role("alert")).to_contain_text(
        "since (2026-06-02) is later than until (2026-06-01)", ignore_case=True
    )
    expect(page.get_by_label("Labels that the checker touched")).to_be_checked()
    is_fit_to_be_seen(page, "refused")
    page.get_by_role("link", name="Show it without these choices").click()
    expect(page).to_have_url(f"{page.url.partition('/projects')[0]}{address}?touched=1")
    expect(page.get_by_role("alert")).to_have_count(0)
    answers = make_kind_project("aspect-coverage/-/1", n=1)
    answer_all(answers, people=1)
    page = open_context(answers.created_by, color_scheme="dark").new_page()
    page.goto(reverse("project_report", args=[answers.slug, "icat"]))
    unfold(page)
    expect(page.get_by_text("start the checker “Facts and aspects (ICAT)” first")).to_be_visible()
    is_fit_to_be_seen(page, "nothing-to-choose")
