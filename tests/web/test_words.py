"""A question that is answered in words: `t` goes to its field, Ctrl Enter submits, what is optional may be left out."""

import pytest
from playwright.sync_api import expect

from tests import factories
from tests.projects.test_words import WORDS
from tests.web.looks import grave_problems
from tests.web.pages import LabellingPage, stored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_words_are_written_and_an_optional_text_is_left_out(open_context):
    project = factories.make_label_set_project(WORDS, ("It rained.", "It froze."), overlap=1)
    anna = factories.join(project, factories.make_user("anna"))
    work = LabellingPage(open_context(anna).new_page(), project).open()
    status, fields = work.page.locator("[data-status]"), work.page.locator("[data-text]")
    work.press("2")  # not clear: the keyboard goes on to the question that this asks
    expect(status).to_have_text("Write: Why")
    work.press("t")
    expect(fields.first).to_be_focused()
    work.page.keyboard.type("Who is meant, 1 or 2?")
    expect(status).to_have_text("Complete")
    assert grave_problems(work.page) == []
    first = work.assignment
    work.press("Control+Enter")
    work.gone(first)
    work.is_saved()
    assert stored(first, anna) == {"clear": "no", "why": "Who is meant, 1 or 2?"}
    work.press("ArrowLeft")
    work.at(first)
    expect(fields.first).to_have_value("Who is meant, 1 or 2?")
    fields.last.fill("Ada was meant.")
    expect(status).to_have_text("Changed, not sent yet")
    work.press("Control+Enter")
    work.is_saved()
    assert stored(first, anna)["better"] == "Ada was meant."
