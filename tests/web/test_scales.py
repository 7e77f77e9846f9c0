"""A scale with anchors is a slider that has no number until one is chosen; `j` answers that one cannot judge; a rubric
and a tree of labels are gone through by keyboard."""

import pytest
from playwright.sync_api import expect

from annotation.formats.records import QuestionRecord, ResponseRecord
from annotation.projects import label_sets
from annotation.projects.presets import PRESETS
from tests.factories import join, make_dataset, make_label_set_project, make_project, make_user
from tests.kinds import bring_in
from tests.projects.test_scales import SCALES, tree
from tests.web.looks import grave_problems
from tests.web.pages import LabellingPage, stored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def opened(open_context, description, *texts, **options):
    anna = make_user("anna")
    project = make_label_set_project(description, texts or ("It rained.", "It froze.", "It hailed."), slug="scales")
    join(project, anna)
    return LabellingPage(open_context(anna, **options).new_page(), project).open(), anna


def test_a_number_is_chosen_by_digits_arrows_and_pointer_and_there_is_none_before(open_context):
    work, anna = opened(open_context, SCALES)
    page, status = work.page, work.page.locator("[data-status]")
    slider, field = page.get_by_role("slider", name="Score"), page.get_by_role("spinbutton", name="Score")
    expect(slider).to_have_attribute("aria-valuetext", "no number yet")
    work.press("1")
    expect(status).to_have_text("Score: type a number from 0 to 100 in steps of 1")
    work.press("5", "0")
    expect(slider).to_have_attribute("aria-valuetext", "50 (Half of it)")
    expect(slider).to_have_value("50")
    expect(status).to_have_text("Complete")
    assert grave_problems(page) == []
    first = work.answer()
    expect(slider).to_have_attribute("aria-valuetext", "no number yet")
    work.press("2")
    slider.focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    expect(field).to_have_value("99")
    page.keyboard.press("Escape")
    second = work.answer()
    work.press("2")
    box = slider.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)  # where an empty slider stands
    expect(field).to_have_value("50")
    field.fill("500")
    expect(status).to_have_text("Score: type a number from 0 to 100 in steps of 1")
    expect(slider).to_have_attribute("aria-valuetext", "no number yet")
    field.fill("7")
    field.blur()
    third = work.answer()
    work.is_saved()
    found = [stored(one, anna) for one in (first, second, third)]
    assert found == [{"tone": one, "score": n} for one, n in (("calm", "50"), ("loud", "99"), ("loud", "7"))]


def test_a_finger_chooses_a_number(open_context):
    work, _ = opened(open_context, SCALES, has_touch=True)
    slider = work.page.get_by_role("slider", name="Score")
    box = slider.bounding_box()
    work.page.touchscreen.tap(box["x"] + box["width"] - 9, box["y"] + box["height"] / 2)
    expect(slider).to_have_attribute("aria-valuetext", "100 (All of it)")


def test_a_key_says_that_one_cannot_judge(open_context):
    work, anna = opened(open_context, SCALES)
    tone, score = (work.page.locator(f'[data-dimension="{name}"] [data-cannot-judge]') for name in ("tone", "score"))
    work.press("j")  # and the keyboard goes on
    expect(tone).to_be_checked()
    work.press("4", "Escape", "j")
    expect(score).to_be_checked()
    expect(work.page.locator("[data-number]").first).to_have_value("")
    work.press("z")
    expect(score).not_to_be_checked()
    expect(work.page.locator("[data-number]").first).to_have_value("4")
    work.press("ArrowUp", "2")
    expect(tone).not_to_be_checked()
    work.press("j")
    first = work.answer()
    work.is_saved()
    assert stored(first, anna) == {"tone": "loud", "score": "(cannot judge)"}


def test_a_rubric_is_answered_by_digits_alone(open_context):
    anna, dataset = make_user("anna"), make_dataset()
    rubric = label_sets.save_label_set(dataset.owner, PRESETS["rubric"])
    records = [QuestionRecord("q", "Why is the sky blue?"), ResponseRecord("r", "It scatters light.", question="q")]
    bring_in(dataset, records)
    project = make_project(dataset, rubric.identifier)
    join(project, anna)
    work = LabellingPage(open_context(anna).new_page(), project).open()
    work.press("5", "4", "j", "2")
    expect(work.page.locator("[data-status]")).to_have_text("Complete")
    first = work.answer()
    work.is_saved()
    found = {"correctness": "5", "completeness": "4", "clarity": "(cannot judge)", "helpfulness": "2"}
    assert stored(first, anna) == found


def test_a_tree_is_folded_and_searched(open_context):
    work, anna = opened(open_context, tree())
    page = work.page
    expect(page.locator("[data-label-group]:visible")).to_have_text(["card", "cash", "machine", "branch"])
    cash = page.get_by_role("button", name="cash")
    cash.click()
    expect(page.locator("[data-label-group]:visible")).to_have_text(["card", "cash"])
    expect(page.locator(".many .choice:visible")).to_have_text(["Lost", "Broken", "Other"])
    work.press("t")
    page.keyboard.type("cash fee")
    expect(page.locator("[data-label-group]:visible")).to_have_text(["cash", "machine"])
    assert grave_problems(page) == []
    work.press("Enter")
    expect(page.locator(".many .choice:visible")).to_have_text(["Lost", "Broken", "Fee", "Other"])
    first = work.answer()
    work.is_saved()
    assert stored(first, anna) == {"intent": "fee"}
