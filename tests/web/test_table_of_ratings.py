"""A table with three raters, two criteria, three metrics and five systems: from the file to agreement and correlations,
by clicks alone."""

import csv
from statistics import mean

import pytest
from playwright.sync_api import expect
from scipy.stats import kendalltau, spearmanr

from annotation.jobs import lifecycle
from annotation.models import Job, Project
from tests import factories
from tests.web.looks import grave_problems, picture

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FILE = "fixtures/summaries.csv"


def work(page) -> None:
    """What a worker does; the job's page notices by itself."""
    with page.expect_navigation():
        lifecycle.run_here(Job.objects.latest("pk"))


def compute(page) -> None:
    """What a worker does to a report, and a person who looks again."""
    lifecycle.run_here(Job.objects.latest("pk"))
    page.reload()


def test_a_table_becomes_a_project_with_agreement_and_correlations(open_context):
    rosa = factories.make_user("rosa", is_staff=True)
    page = open_context(rosa).new_page()
    page.goto("/datasets/new/")
    page.fill("[name=title]", "Summaries")
    page.fill("[name=slug]", "summaries")
    page.get_by_role("button", name="Create and choose a file").click()
    page.set_input_files("[name=files]", FILE)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Map the columns")
    expect(page.get_by_label("Role of rouge_l")).to_have_value("ratings/score")
    expect(page.get_by_label("Rater or question of coherence_annotator_1")).to_have_value("annotator_1")
    page.get_by_label("Name of rouge_l").fill("ROUGE-L")
    page.get_by_label("Scale or version of rouge_l").fill("1.5.5")
    picture(page, "ratings-columns", full_page=True)
    assert grave_problems(page) == []
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Dry run")
    work(page)
    expect(page.get_by_label("Create a project with the labels in the file")).to_be_checked()
    picture(page, "ratings-dry-run", full_page=True)
    assert grave_problems(page) == []
    page.get_by_role("button", name="Import now").click()
    expect(page.get_by_role("button", name="Import now")).to_have_count(0)
    work(page)
    page.get_by_role("link", name="Go to the project").click()
    project = Project.objects.get()
    address = f"/projects/{project.slug}"
    page.get_by_role("link", name="Results").click()
    page.get_by_role("link", name="Agreement", exact=True).click()
    compute(page)
    expect(page.locator("main")).to_contain_text("Krippendorff's alpha (interval)")

    page.goto(f"{address}/comparison/")
    compute(page)
    page.locator("details.options > summary").click()
    page.select_option("[name=run]", str(project.checker_runs.get(checker="outside:ROUGE-L", version="1.5.5").uuid))
    page.wait_for_url("**/comparison/?*run=*")
    compute(page)
    with open(FILE, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    people = [mean(float(row[f"coherence_annotator_{n}"]) for n in (1, 2, 3)) for row in rows]
    scores = [float(row["rouge_l"]) for row in rows]
    systems = sorted({row["system"] for row in rows})
    means = [
        [mean(one for one, row in zip(side, rows, strict=True) if row["system"] == system) for system in systems]
        for side in (people, scores)
    ]
    picture(page, "ratings-comparison", full_page=True)
    for figure in (spearmanr(people, scores).statistic, kendalltau(*means).statistic):
        expect(page.locator("main")).to_contain_text(f"{figure:.3f}")
    expect(page.locator("main")).to_contain_text("system")
