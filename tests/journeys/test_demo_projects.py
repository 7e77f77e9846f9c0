"""Every project of the demo is a working example: its next item is labelled by keyboard, its guidelines can be read
beside it, and its figures are there, with people who differ and a checker to compare them with."""

import re

import pytest
from playwright.sync_api import Page, expect

from annotation.demo.sets import PROJECTS, DemoProject
from annotation.models import Project
from annotation.task_types import task_type

from .browser import figures, person
from .demo import Demo, made_before, running_demo
from .kinds import NEXT

pytestmark = [pytest.mark.slow, pytest.mark.browser]

EACH = pytest.mark.parametrize("project", PROJECTS, ids=[project.slug for project in PROJECTS])
LABELLED = [project for project in PROJECTS if not project.participants]
TO_LABEL = pytest.mark.parametrize("project", LABELLED, ids=[project.slug for project in LABELLED])
WITH_CHECKER = [project for project in PROJECTS if task_type(project.task_type).checkers]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    with running_demo(made_before(tmp_path_factory, "projects")) as demo:
        yield demo


@pytest.fixture(scope="module")
def annotator(chromium, demo):
    with person(chromium, demo.address, "Annotator") as page:
        yield page


@pytest.fixture(scope="module")
def researcher(chromium, demo):
    with person(chromium, demo.address, "Researcher") as page:
        yield page


def any_answer(shown: dict) -> list[str]:
    """The keys of a complete answer: the first label everywhere, or one highlight where labels have keys of their own,
    and the last label of the others."""
    if shown["unit_picks"]:
        (dimension,) = shown["dimensions"]
        first, *others = shown["unit_picks"]
        last = dimension["labels"][-1]["key"]
        marked = ["h", "Shift+ArrowRight", "Shift+ArrowRight", first, "Escape"]
        return marked + [key for pick in others for key in (pick, last)]
    keys = []
    for _ in shown["units"]:
        said = {}
        for dimension in shown["dimensions"]:
            condition = dimension["asked_when"]
            if condition is None or said.get(condition["dimension"]) in condition["labels"]:
                said[dimension["slug"]] = dimension["labels"][0]["value"]
                keys += keys_of_first(dimension)
    return keys


def keys_of_first(dimension: dict) -> list[str]:
    """The keys of the first label; of a ranking those of as many outputs as leave only that one."""
    if not dimension["picks"]:
        return [dimension["labels"][0]["key"]]
    rankings = [value.replace("_-", "") for value in dimension["scale"]]
    outputs, key_of = rankings[0].split("-"), {pick["value"]: pick["key"] for pick in dimension["picks"]}
    n = next(n for n in range(1, 9) if sum(one.startswith("-".join(outputs[:n])) for one in rankings) == 1)
    return [key_of[output] for output in outputs[:n]]


def test_the_list_shows_every_project_on_one_page(demo: Demo, annotator: Page):
    annotator.goto(demo.address)
    titles = annotator.locator(".cards h2").all_text_contents()
    open_ones = [project for project in reversed(PROJECTS) if project.slug != "demo-stance"]
    [finished] = [project for project in PROJECTS if project not in open_ones]  # folded, below the others
    assert titles == [project.title for project in (*open_ones, finished)]
    # In the study, people learn first.
    to_work = re.compile(r"^(Continue labelling|(Start|Continue) the training)")
    assert annotator.get_by_role("link", name=to_work).count() == len(open_ones)


@TO_LABEL
def test_the_next_item_is_labelled_by_keyboard(demo: Demo, annotator: Page, project: DemoProject):
    page = annotator
    page.goto(f"{demo.address}/projects/{project.slug}/work/")
    shown = page.evaluate(NEXT, "")
    if shown is None:
        assert project.slug == "demo-stance"
        expect(page.locator("[data-empty]")).to_be_visible()
        return
    for key in any_answer(shown):
        page.keyboard.press(key)
    expect(page.locator("[data-status]")).to_have_text("Complete")
    page.keyboard.press("Enter")
    if project.prefill == Project.Prefill.AFTER:
        expect(page.locator("[data-submit-text]")).to_have_text("Keep")
        expect(page.locator("[data-suggestion]:visible").first).to_contain_text("suggests")
        page.keyboard.press("Enter")
    expect(page.locator("[data-mine]")).to_have_text(str(project.judged[0] + 1))
    expect(page.locator("[data-save-text]")).to_have_text("Saved")
    following = page.evaluate(NEXT, shown["assignment"])
    assert following and following["item"] != shown["item"]


def test_the_study_asks_for_consent_before_any_work(demo: Demo, annotator: Page):
    [study] = [project for project in PROJECTS if project.participants]
    annotator.goto(f"{demo.address}/projects/{study.slug}/work/")
    expect(annotator.get_by_role("heading", name="Your consent")).to_be_visible()
    expect(annotator.get_by_role("button", name="I consent")).to_be_visible()


@TO_LABEL
def test_its_guidelines_are_one_key_away(demo: Demo, annotator: Page, project: DemoProject):
    annotator.goto(f"{demo.address}/projects/{project.slug}/work/")
    annotator.evaluate(NEXT, "")
    annotator.keyboard.press("g")
    guidelines = annotator.get_by_role("dialog")
    expect(guidelines.get_by_role("heading", name="What you judge")).to_be_visible()
    expect(guidelines).to_contain_text("Everything in this project is made up.")
    expect(guidelines.locator("table, ul").first).to_be_visible()
    annotator.keyboard.press("Escape")
    expect(guidelines).to_be_hidden()


@EACH
def test_its_annotators_agree_and_differ(demo: Demo, researcher: Page, project: DemoProject):
    researcher.goto(f"{demo.address}/projects/{project.slug}/agreement/")
    for dimension in task_type(project.task_type).dimensions:
        found = figures(researcher, dimension.title)
        assert 0 < float(found["Krippendorff's alpha, nominal"][0]) < 1


@pytest.mark.parametrize("project", WITH_CHECKER, ids=[project.slug for project in WITH_CHECKER])
def test_a_checker_can_be_compared_with_them(demo: Demo, researcher: Page, project: DemoProject):
    researcher.goto(f"{demo.address}/projects/{project.slug}/comparison/")
    for dimension in task_type(project.task_type).dimensions:
        assert 0 < float(figures(researcher, f"{dimension.title}: agreement with people")["Accuracy"][0]) < 1


def test_what_follows_from_a_grade_has_figures_of_its_own(demo: Demo, researcher: Page):
    researcher.goto(f"{demo.address}/projects/demo-grades/agreement/")
    outcome = figures(researcher, "Outcome, derived from Grade")
    assert 0 < float(outcome["Krippendorff's alpha, nominal"][0]) < 1
