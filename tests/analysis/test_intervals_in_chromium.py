"""Pages on marked passages and on two runs, whose numbers all have intervals, and labels that checkers touched."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.analysis.looks import in_every_look, is_fit_to_be_seen, opened, unfold
from tests.analysis.test_difference import make_run, units_of
from tests.analysis.test_spans_report import mark, marking_project
from tests.world.labels import items_of, make_rater, say
from tests.world.study import measured_evidence

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
N = 24
INTERVAL = re.compile(r"^-?\d\.\d{3} \[-?\d\.\d{3}, -?\d\.\d{3}\]$")


@pytest.fixture
def project():
    """Three people who mark nearly the same; two runs with scores, and one answer given with a suggestion in view."""
    project = marking_project(N)
    raters = [make_rater(project, name) for name in ("Anna", "Ben", "Cleo")]
    for number, item in enumerate(items_of(project)):
        for place, rater in enumerate(raters):
            start = 4 * number + (number * place) % 7
            mark(item, rater, start, start + 20 + 3 * place, "supports" if (number + place) % 4 else "refutes")
    for version in (1, 2):
        sure = {
            unit: (2 + number * 7 % 5 + version * (number % 4 % 3)) / 10
            for number, unit in enumerate(units_of(project))
        }
        make_run(project, sure, version=str(version), scores=[(unit, 10 * share) for unit, share in sure.items()])
    say(items_of(project)[0], make_rater(project, "Dan"), "relevant", shown=True)
    return project


def pages_of(project) -> dict[str, str]:
    first, second = project.checker_runs.order_by("pk")
    return {
        "spans": reverse("project_report", args=[project.slug, "spans"]),
        "difference": reverse("project_difference", args=[project.slug]) + f"?run={second.uuid}&other={first.uuid}",
        "touched": reverse("project_annotators", args=[project.slug]) + "?checkers=with&touched=1",
    }


@in_every_look
def test_pages_whose_numbers_have_intervals_look_right(open_context, client, project, scheme, width):
    for name, page in opened(open_context, client, project.created_by, pages_of(project), scheme, width):
        unfold(page)
        if name == "difference":
            row = page.get_by_role("region", name="Scores of both runs").get_by_role("row").nth(1)
            expect(row.locator("td").filter(has_text=INTERVAL)).to_have_count(4)
        if name == "spans":
            pairs = page.get_by_role("region", name="passages by pair of people")
            heads = pairs.get_by_role("columnheader").all_inner_texts()
            cells = pairs.locator("tbody tr").first.locator("th, td").all_inner_texts()
            assert INTERVAL.match(cells[heads.index("Character F1")]), cells
        if name == "touched":
            expect(page.get_by_label("Labels that these checkers touched")).to_be_checked()
            expect(page.get_by_text("What people last said counts")).to_be_visible()
        is_fit_to_be_seen(page, f"intervals-{name}", scheme, width)


def test_no_table_of_evidence_and_its_use_is_wider_than_the_page(open_context, client):
    project = measured_evidence()
    addresses = {"druid": reverse("project_report", args=[project.slug, "druid"])}
    for name, page in opened(open_context, client, project.created_by, addresses, "dark", 1280):
        unfold(page)
        tables = page.locator(".section .table-wrap:visible")
        assert tables.count() > 15
        wide = "all => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.ariaLabel)"
        assert tables.evaluate_all(wide) == []
        is_fit_to_be_seen(page, name, "dark", 1280)
