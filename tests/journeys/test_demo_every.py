"""On the demo one click runs a checker of every kind that the machine can serve, its worker finishes them, and what the
others need stands beside it."""

import pytest
from playwright.sync_api import Page, expect

from annotation.demo.sets import PROJECTS, DemoProject
from annotation.machines.runs.checker_inputs import why_not
from annotation.task_types import task_type

from .browser import JOB_MS, person
from .demo import Demo, made_before, running_demo

pytestmark = [pytest.mark.slow, pytest.mark.browser]

JUDGED = [project for project in PROJECTS if not why_not(task_type(project.task_type))]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    with running_demo(made_before(tmp_path_factory, "every")) as demo:
        yield demo


@pytest.fixture(scope="module")
def researcher(chromium, demo):
    with person(chromium, demo.address, "Researcher") as page:
        yield page


@pytest.mark.parametrize("project", JUDGED, ids=[project.slug for project in JUDGED])
def test_one_click_runs_what_can_run_and_says_what_the_others_need(demo: Demo, researcher: Page, project: DemoProject):
    page = researcher
    page.goto(f"{demo.address}/projects/{project.slug}/runs/")
    page.get_by_role("button", name="Run all available checkers").click()
    answer = page.get_by_role("status").filter(has=page.get_by_role("heading", name="Started runs"))
    rows = answer.locator("tbody tr")
    expect(rows).to_have_count(len(task_type(project.task_type).checkers))
    of = {slug: answer.locator(f"[data-checker={slug}]") for slug in task_type(project.task_type).checkers}
    expect(of["lexical"]).to_contain_text("reused")  # the demo came with it
    expect(of["embedding"]).to_contain_text("started")
    expect(of["llm"]).to_contain_text("ASSAY_LLM_ENDPOINTS")
    expect(of["trained"].get_by_role("link", name="train a checker")).to_be_visible()
    runs = [link.get_attribute("href") for link in answer.get_by_role("link", name="the run").all()]
    assert runs
    for address in runs:
        page.goto(demo.address + address)
        expect(page.locator("#run-progress .badge.ok")).to_have_text("done", timeout=JOB_MS)
    page.goto(f"{demo.address}/projects/{project.slug}/runs/")
    page.get_by_role("button", name="Run all available checkers").click()
    expect(page.locator("tr[data-checker]").filter(has_text="reused")).to_have_count(len(runs) + 1)


def test_the_list_of_all_checkers_is_one_click_away(demo: Demo, researcher: Page):
    page = researcher
    page.goto(f"{demo.address}/projects/{JUDGED[0].slug}/runs/")
    page.get_by_role("link", name="All checkers").click()
    expect(page.locator("tr#lexical")).to_contain_text("yes")
    expect(page.locator("tr#llm")).to_contain_text("ASSAY_LLM_ENDPOINTS")
