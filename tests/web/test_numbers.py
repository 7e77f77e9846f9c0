"""A number is typed where a label is chosen: a digit begins it, Enter goes on, one step takes it back."""

import pytest
from playwright.sync_api import expect

from annotation.models import Suggestion
from tests import factories
from tests.projects.test_numbers import ESTIMATES
from tests.web.looks import grave_problems
from tests.web.pages import LabellingPage, stored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_number_is_typed_and_told_when_it_does_not_fit(open_context):
    project = factories.make_label_set_project(ESTIMATES, ("It rained.", "It froze."), overlap=1, prefill="shown")
    run = factories.make_suggestions(project)
    for suggestion in run.suggestions.all():
        Suggestion.objects.create(run=run, unit=suggestion.unit, dimension="share", label="33.5")
    anna = factories.join(project, factories.make_user("anna"))
    work = LabellingPage(open_context(anna).new_page(), project).open()
    status, field = work.page.locator("[data-status]"), work.page.locator("[data-number]")
    work.press("1", "1", "2")  # the label, and the keyboard goes on to the number
    expect(field).to_have_value("12")
    expect(status).to_have_text("Complete")
    work.press(".", "2")
    expect(status).to_have_text("Share: type a number from 0 to 100 in steps of 0.5")
    field.fill("12.0000000001")
    expect(status).to_have_text("Share: type a number from 0 to 100 in steps of 0.5")
    field.blur()
    work.press("a")
    expect(field).to_have_value("33.5")
    field.fill("12.5")
    expect(field).to_have_value("12.5")
    expect(status).to_have_text("Complete")
    assert grave_problems(work.page) == []
    first = work.answer()
    work.is_saved()
    assert stored(first, anna) == {"clear": "yes", "share": "12.5"}
    work.press("ArrowLeft")
    expect(field).to_have_value("12.5")
    field.fill("40")
    field.blur()
    work.press("z")
    expect(field).to_have_value("12.5")
