"""The labelling page in German, and turned for a language that is written from right to left."""

import pytest
from django.test import override_settings
from playwright.sync_api import expect

from annotation.models import Judgement, Span, User
from tests.factories import make_claim_evidence, make_dataset, make_project, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_an_item_is_labelled_in_german_and_stored_as_ever(label):
    ann, dataset = make_user(), make_dataset()
    User.objects.filter(pk=ann.pk).update(language="de")
    make_claim_evidence(dataset, 2)
    page = label(make_project(dataset, overlap=1, annotators=[ann]), ann, acknowledges=False)
    page.page.get_by_role("button", name="Ich habe sie gelesen").click()
    expect(page.page.locator("[data-status]")).to_have_text("Wählen Sie: Relevanz")
    page.press("1")
    expect(page.page.locator("[data-status]")).to_have_text("Wählen Sie: Haltung")
    page.press("6", "Enter")
    expect(page.page.locator("[data-save-text]")).to_have_text("Gespeichert")
    expect(page.page.locator("[data-own-bar]")).to_have_attribute("value", "1")
    assert set(Judgement.objects.values_list("label", flat=True)) == {"relevant", "supports"}


@override_settings(LANGUAGES=[("en", "English"), ("he", "עברית")])
@pytest.mark.parametrize("text", ["قال التقرير target إن الميناء بقي مفتوحا", "הדוח אומר target שהנמל נשאר פתוח"])
def test_a_page_from_right_to_left_keeps_offsets_and_fits(label, text):
    ann, dataset = make_user(), make_dataset()
    User.objects.filter(pk=ann.pk).update(language="he")
    make_claim_evidence(dataset, 2, texts=[text] * 2)
    page = label(make_project(dataset, overlap=1, annotators=[ann]), ann)
    assert page.page.evaluate("document.documentElement.dir") == "rtl"
    reader, panel = (page.page.locator(one).first.bounding_box() for one in (".reader", "[data-panel]"))
    assert reader["x"] > panel["x"]
    assert page.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.page.locator('[data-field="evidence"]').evaluate("(one) => getComputedStyle(one).direction") == "rtl"
    start = text.index("target")
    page.press("1", "6")
    page.drag("evidence", start, start + 6)
    page.press("Enter")
    page.is_saved()
    assert list(Span.objects.values_list("start", "end", "quote")) == [(start, start + 6, "target")]
