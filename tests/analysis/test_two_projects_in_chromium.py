"""The pages of reports that join projects, in a browser: nothing that axe calls grave, in light and dark."""

import os
from urllib.parse import urlencode

import pytest
from django.urls import reverse

from annotation.jobs import lifecycle
from annotation.models import Job
from tests.analysis.test_sufficiency import GRADE, SUFFICIENCY, N, records
from tests.factories import make_dataset, make_project
from tests.kinds import bring_in
from tests.web.looks import grave_problems
from tests.world.leaked import leaked, pair_labels, retrieve
from tests.world.planted import decide, suggest

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def sufficiency():
    dataset = make_dataset()
    bring_in(dataset, records())
    first, second = make_project(dataset, SUFFICIENCY), make_project(dataset, GRADE)
    labels = {f"q{n:02}": "sufficient" if n < 20 else "insufficient" for n in range(N)}
    decide(first, labels, "sufficiency")
    suggest(first, labels, "sufficiency", {f"q{n:02}": {"sufficient": 1 - n / N} for n in range(N)})
    grades = {
        f"q{n:02}/{name}": ("perfect", "incorrect", "missing")[(n + place) % (3 if n > 19 else 2)]
        for n in range(N)
        for place, name in enumerate(("bold-rag", "bold-closed", "shy-rag"))
    }
    decide(second, grades, "grade")
    return first, {"reference": "imported", "grades": second.slug, "withhold": "confidence"}


def leakage():
    project = make_project(leaked(), "nli/two-way/1")
    labels = pair_labels("entailment", "non-entailment")
    decide(project, labels, "entailment")
    run = suggest(project, labels, "entailment")
    for repetition in (None, 0, 1):
        retrieve(project, repetition)
    return project, {"reference": "imported", "run": str(run.uuid)}


@pytest.mark.parametrize("make", [sufficiency, pytest.param(leakage, marks=pytest.mark.slow)])
def test_the_page_is_readable_in_light_and_dark(open_context, client, make):
    project, asked = make()
    address = f"{reverse('project_report', args=[project.slug, make.__name__])}?{urlencode(asked)}"
    client.force_login(project.created_by)
    client.get(address)
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)
    for scheme in ("light", "dark"):
        page = open_context(project.created_by, color_scheme=scheme).new_page()
        page.goto(address)
        assert page.locator("#figures svg").count() >= 3 and page.locator("#figures table").count() >= 4
        assert grave_problems(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        if folder := os.environ.get("SCREENSHOTS"):
            page.screenshot(path=f"{folder}/{make.__name__}-{scheme}.png", full_page=True)
