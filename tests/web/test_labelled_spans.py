"""Highlights with labels: chosen by button or digit, several at one place, shown again on the way back."""

import pytest
from playwright.sync_api import expect

from annotation.models import Span
from tests import factories
from tests.projects.test_labelled_spans import ENTITIES
from tests.web.looks import grave_problems
from tests.web.pages import LabellingPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TEXTS = ("Paris met Ada in Paris.", "Bo was in Rome.")


def test_a_highlight_gets_its_label_by_mouse_and_keyboard(open_context):
    project = factories.make_label_set_project(ENTITIES, TEXTS, overlap=1)
    anna = factories.join(project, factories.make_user("anna"))
    work = LabellingPage(open_context(anna).new_page(), project).open()
    page, chips = work.page, work.page.locator("[data-chips] li")
    person, place = (page.locator("[data-span-label]", has_text=title) for title in ("Person", "Place"))

    # The first label is meant until another one is chosen; the highlight brings the answer along.
    work.drag("claim", 10, 13)
    expect(chips).to_have_count(1)
    place.click()
    expect(place).to_have_attribute("aria-pressed", "true")
    work.drag("claim", 17, 22)
    expect(chips).to_have_count(2)
    # By keyboard: a digit adds what the caret covers, once for each label.
    work.press("h", "Home", "1", "2", "2")
    expect(chips).to_have_count(4)
    expect(person).to_have_attribute("aria-pressed", "false")
    work.press("Delete", "Escape", "z")
    expect(chips).to_have_count(4)
    expect(page.locator("mark[data-numbers='1 2']")).to_have_text("Paris")
    assert work.chosen() == ["yes"]
    assert grave_problems(page) == []
    first = work.answer()
    work.is_saved()
    stored = Span.objects.filter(judgement__revision__annotation__assignment__uuid=first)
    assert sorted(stored.values_list("start", "end", "label")) == [
        (0, 5, "person"),
        (0, 5, "place"),
        (10, 13, "person"),
        (17, 22, "place"),
    ]
    # The label stays chosen from item to item.
    expect(place).to_have_attribute("aria-pressed", "true")
    work.press("ArrowLeft")
    expect(chips).to_have_count(4)
    expect(chips.first.locator(".place")).to_have_text("Person")
