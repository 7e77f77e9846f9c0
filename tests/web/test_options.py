"""Adapting the questions in Chromium, and labelling what was adapted by keyboard."""

import json

import pytest
from django.core.management import call_command
from playwright.sync_api import expect

from annotation.projects.options import set_options
from tests import factories
from tests.web.looks import grave_problems, picture, scrolls_sideways
from tests.web.pages import LabellingPage, spans, stored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def researcher():
    return factories.make_user("rosa", is_staff=True)


@pytest.fixture
def annotator():
    return factories.make_user("anna")


@pytest.fixture
def project(researcher, annotator):
    dataset = factories.make_dataset(researcher)
    factories.make_claim_evidence(dataset, 3, texts=["Alpha beta gamma.", "Delta epsilon zeta.", "Eta theta iota."])
    return factories.make_project(
        dataset, "claim-evidence/three-way/1", overlap=1, annotators=[annotator], order="file"
    )


def is_in_order(page, *labels: str) -> None:
    part = page.locator("section", has=page.get_by_role("heading", name="Stance", exact=True))
    expect(part.locator(".label-rows > li code")).to_have_text(labels)


def test_a_project_asks_in_its_own_way_and_stores_what_the_task_stores(
    open_context, researcher, annotator, project, tmp_path
):
    page = open_context(researcher).new_page()
    page.goto(f"/projects/{project.slug}/settings/")
    page.get_by_role("link", name="Questions").click()
    page.wait_for_url("**/questions/")  # loaded: what is typed before the scripts listen is not previewed
    preview = page.locator("#options-preview")
    expect(preview.locator("[data-dimension=relevance]")).to_be_visible()
    page.get_by_label("Do not ask this: Relevance").check()
    page.get_by_label("Title of refutes").fill("Contra")
    page.get_by_label("Title of supports").fill("Pro")
    page.get_by_label("Highlights").select_option("Required")
    words = page.locator("section", has=page.get_by_role("heading", name="Free-text question"))
    words.get_by_label("Question").fill("Which words decide?")
    words.get_by_label("An answer is required").check()
    # The preview follows the form before anything is saved.
    expect(preview.get_by_text("Which words decide?")).to_be_visible()
    expect(preview.get_by_text("Contra", exact=True)).to_be_visible()
    expect(preview.locator("[data-dimension=relevance]")).to_have_count(0)
    # The whole order turned round, one press after the other, with what was typed still there.
    for value, place in (("supports", 1), ("supports", 0), ("not_enough_info", 1)):
        button = page.get_by_role("button", name=f"Move {value} up")
        button.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".label-rows").last.locator("li code").nth(place)).to_have_text(value)
        expect(button).to_be_focused()
    expect(page.get_by_text("Not saved yet")).to_be_visible()
    is_in_order(page, "supports", "not_enough_info", "refutes")
    expect(page.get_by_label("Title of refutes")).to_have_value("Contra")
    assert project.options_versions.count() == 0
    picture(page, "project_options-adapted")
    assert not grave_problems(page) and not scrolls_sideways(page)
    page.get_by_role("button", name="Save").last.click()
    expect(page.get_by_text("Version 1 is used from everyone's next item on")).to_be_visible()

    work = LabellingPage(open_context(annotator).new_page(), project).open()
    expect(work.page.locator("[data-dimension=relevance]")).to_have_count(0)
    assert [one.split("\n")[:2] for one in work.page.locator(".choice").all_inner_texts()] == [
        ["1", "Pro"], ["2", "Not enough information"], ["3", "Contra"],
    ]  # fmt: skip
    answers = []
    for key, text in (("1", "The first word."), ("3", "Also the first.")):
        before = work.assignment  # is on the screen
        work.press(key, "Enter")  # no highlight, no words: not sent
        work.at(before)
        work.press("h", "ArrowRight", "Enter", "Escape")
        box = work.page.get_by_label("Which words decide?")
        box.focus()
        work.page.keyboard.type(text)
        work.page.keyboard.press("Control+Enter")
        work.gone(before)
        answers.append(before)
    work.is_saved()
    assert [stored(one, annotator) for one in answers] == [{"stance": "supports"}, {"stance": "refutes"}]
    assert all(len(spans(one, annotator)) == 1 for one in answers)

    call_command("export_dataset", project.slug, str(tmp_path / "out"), verbosity=0)
    lines = [json.loads(line) for line in (tmp_path / "out" / "annotations.jsonl").read_text().splitlines()]
    assert {one["label"] for line in lines for one in line["judgements"]} == {"supports", "refutes"}
    assert {line["options_version"] for line in lines} == {1}
    assert [line["free_text"] for line in lines] == [
        {"question": "Which words decide?", "answer": "The first word."},
        {"question": "Which words decide?", "answer": "Also the first."},
    ]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["options_versions"]["1"]["order"]["stance"] == ["supports", "not_enough_info", "refutes"]
    stance = next(one for one in manifest["labels"] if one["dimension"] == "stance")
    assert [label["value"] for label in stance["labels"]] == ["refutes", "not_enough_info", "supports"]


def test_without_scripts_everything_can_be_adapted_too(open_context, researcher, project):
    page = open_context(researcher, java_script_enabled=False).new_page()
    page.goto(f"/projects/{project.slug}/questions/")
    page.get_by_label("Title of refutes").fill("Contra")
    page.get_by_role("button", name="Move refutes down").click()
    is_in_order(page, "not_enough_info", "refutes", "supports")
    page.get_by_label("Title of supports").fill("Pro")
    page.get_by_role("button", name="Preview").click()
    titles = page.locator("#options-preview [data-dimension=stance] .choice-title")
    expect(titles).to_have_text(["Not enough information", "Contra", "Pro"])
    page.get_by_role("button", name="Save").last.click()
    expect(page.get_by_text("Version 1 is used from everyone's next item on")).to_be_visible()
    project.refresh_from_db()
    assert project.options["order"]["stance"][0] == "not_enough_info"
    page.get_by_role("button", name="Reset to the task's questions").click()
    expect(page.get_by_text("The task's own questions are used again")).to_be_visible()
    project.refresh_from_db()
    assert (project.options, project.options_version) == ({}, 2)


def test_enter_in_a_field_saves_and_moves_nothing(open_context, researcher, project):
    page = open_context(researcher).new_page()
    page.goto(f"/projects/{project.slug}/questions/")
    page.get_by_label("Title of supports").fill("Pro")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Version 1 is used")).to_be_visible()
    project.refresh_from_db()
    assert project.options == {"captions": {"stance": {"labels": {"supports": {"title": "Pro"}}}}}


def test_the_page_before_a_change_can_still_be_sent(open_context, researcher, annotator, project):
    """Two items are in the browser when the questions change: the one before the person and the one fetched ahead."""
    work = LabellingPage(open_context(annotator).new_page(), project).open()
    work._until("performance.getEntriesByName('assay:ahead').length > 0")
    set_options(project, researcher, {"hidden": ["relevance"], "spans": {"stance": "required"}})
    first = work.answer("1", "3")
    second = work.answer("2")
    work.is_saved()
    assert stored(first, annotator) == {"relevance": "relevant", "stance": "supports"}
    assert stored(second, annotator) == {"relevance": "not_relevant"}
    expect(work.page.locator("[data-dimension=relevance]")).to_have_count(0)  # the third asks the new way


def test_required_highlights_do_not_keep_an_answer_without_passages(open_context, annotator):
    dataset = factories.make_dataset()
    factories.make_responses_with_triplets(dataset, 2, triplets=1, passages=0)
    options = {"spans": {"entailment": "required"}}
    project = factories.make_project(dataset, "triplets/-/1", overlap=1, annotators=[annotator], options=options)
    work = LabellingPage(open_context(annotator).new_page(), project).open()
    answered = work.answer("1")
    work.is_saved()
    assert stored(answered, annotator) == {"entailment": "entailment"}
