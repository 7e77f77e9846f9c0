"""Errors with a category and a severity, marked by keyboard and by mouse, and read back in the export."""

import json

import pytest
from django.core.management import call_command
from playwright.sync_api import expect

from annotation.models import Span
from tests import factories
from tests.projects.test_severities import MQM, TEXTS
from tests.web.looks import grave_problems, picture
from tests.web.pages import LabellingPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_error_gets_its_category_and_severity(open_context, tmp_path, scheme):
    project = factories.make_label_set_project(MQM, TEXTS, overlap=1)
    anna = factories.join(project, factories.make_user("anna"))
    work = LabellingPage(open_context(anna, color_scheme=scheme).new_page(), project).open()
    page, chips = work.page, work.page.locator("[data-chips] li")
    expect(page.get_by_text("Minor Fluency/Punctuation 0.1")).to_be_visible()

    # By keyboard: a digit adds the error with its category, Shift and a digit say how grave it is.
    work.press("h", "Home", "2")
    expect(chips).to_have_count(1)
    expect(chips.locator(".severity")).to_have_text("Neutral")
    work.press("Shift+Digit3")
    expect(chips.locator(".severity")).to_have_text("Major")
    expect(page.locator("mark[data-badge*='Major']")).to_have_text("Das")
    # The next one has that severity too; ] turns to the next category.
    work.press("ArrowRight", "]", "Enter", "Shift+Digit2", "Escape")
    expect(chips).to_have_count(2)
    assert grave_problems(page) == []

    # By mouse the bar asks for what is missing.
    work.drag("claim", 10, 15)
    bar = page.get_by_role("toolbar", name="Highlight")
    expect(bar).to_be_visible()
    bar.get_by_role("button", name="Fluency/Punctuation").click()
    bar.get_by_role("button", name="Major").click()
    bar.get_by_label("Reason for the highlight").fill("Komma")
    bar.get_by_label("Reason for the highlight").press("Tab")
    expect(chips.locator(".reason")).to_have_text("Komma")
    picture(page, f"severities-{scheme}")
    assert grave_problems(page) == []
    bar.get_by_label("Reason for the highlight").fill("Komma fehlt")
    page.keyboard.press("Escape")  # what is being written is kept
    expect(bar).to_be_hidden()
    expect(chips.locator(".reason")).to_have_text("Komma fehlt")

    first = work.answer()
    work.is_saved()
    stored = Span.objects.filter(judgement__revision__annotation__assignment__uuid=first)
    wanted = [
        (0, 3, "Accuracy/Mistranslation", "Major", ""),
        (4, 9, "Non-translation", "Minor", ""),
        (10, 15, "Fluency/Punctuation", "Major", "Komma fehlt"),
    ]
    assert sorted(stored.values_list("start", "end", "label", "severity", "reason")) == wanted
    call_command("release", project.slug, str(tmp_path / "out"), verbosity=0)
    [line] = (tmp_path / "out" / "annotations.jsonl").read_text().splitlines()
    found = json.loads(line)["judgements"][0]["spans"]
    assert [
        tuple(one.get(name, "") for name in ("start", "end", "label", "severity", "reason")) for one in found
    ] == wanted
