"""From WMT's published error annotations to system scores and agreement per category, with ten segments marked anew."""

import csv
from collections import defaultdict

import numpy as np
import pytest
from playwright.sync_api import expect

from analysis.reports.metrics import get_report
from annotation.models import Annotation, Span
from tests.factories import join, make_user
from tests.importing.tools.files import export, import_by_command
from tests.stats.samples import shared
from tests.web.pages import LabellingPage
from tests.world.labels import of_dimension

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

SEGMENTS = 10
# The table of systems in the README of google/wmt-mqm-human-evaluation, where eTranslation's 1.9688 is cut off.
PUBLISHED = {
    "ref": 0.91, "Facebook-AI": 1.06, "Online-W": 1.12, "VolcTrans-AT": 1.24, "metricsystem3": 1.44,
    "VolcTrans-GLAT": 1.49, "HuaweiTSC": 1.50, "metricsystem1": 1.63, "metricsystem2": 1.69,
    "metricsystem5": 1.72, "UEdin": 1.77, "metricsystem4": 1.78, "eTranslation": 1.97, "Nemo": 2.14,
}  # fmt: skip


def system_scores(path) -> dict[str, float]:
    """Means of the published scores of segments, which are minus the weights."""
    scores = defaultdict(list)
    with path.open(encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            system, score, _ = line.split()
            if score != "None":
                scores[system].append(float(score))
    return {system: np.mean(of) for system, of in scores.items()}


def test_systems_are_scored_as_published_and_people_mark_ten_segments(open_context, tmp_path):
    path = shared("wmt", "mqm_ted_ende.tsv")
    project = import_by_command(path, format="wmt-mqm", slug="ted", overlap=1)
    result = get_report("errors").compute(project, quick=True)
    found = {one["system"]: one["score"]["estimate"] for one in result["systems"]}
    published = system_scores(shared("wmt", "mqm_ted_ende.avg_seg_scores.tsv"))
    assert {name: found[name.removesuffix("-A")] for name in published} == pytest.approx(published, abs=1e-6)
    assert {name: round(-score, 2) for name, score in found.items()} == PUBLISHED

    anna = join(project, make_user("anna"))
    work = LabellingPage(open_context(anna).new_page(), project).open()
    marked = [mark_as_published(work) for _ in range(SEGMENTS)]
    work.is_saved()
    assert any(marked), "some segments have errors of whole words"
    assert Span.objects.filter(judgement__revision__annotation__rater__user=anna).count() == sum(marked)
    assert Annotation.objects.filter(rater__user=anna).count() == SEGMENTS
    spans = of_dimension(get_report("spans").compute(project, quick=True), "errors")
    by_category = {one["label"]: one for one in spans["labels"]}
    mine = set(Span.objects.filter(judgement__revision__annotation__rater__user=anna).values_list("label", flat=True))
    assert mine <= set(by_category) and {one["label"] for one in spans["severities"]} >= {"Minor", "Major"}
    export(project, "wmt-mqm", tmp_path / "out")
    with (tmp_path / "out" / "mqm.tsv").open(encoding="utf-8") as lines:
        rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len({tuple(row[:5]) for row in rows[1:]}) == Annotation.objects.count()


def mark_as_published(work: LabellingPage) -> bool:
    """Answers the segment on the page: with its published error where that is one of whole words in the target, and
    else with none. Whether an error was marked."""
    page = work.page
    spans = Span.objects.filter(judgement__revision__annotation__item=work.held.item_id, field="response")
    text = work.text("response")
    error = next((one for one in spans if is_whole(text, one)), None)
    if error is None:
        work.press("2")
    else:
        work.press("1")
        work.drag("response", error.start, error.end)
        bar = page.get_by_role("toolbar", name="Highlight")
        bar.get_by_role("button", name=error.label, exact=True).click()
        bar.get_by_role("button", name=error.severity, exact=True).click()
        page.keyboard.press("Escape")
        expect(page.locator("[data-chips] li")).to_have_count(1)
    work.answer()
    return error is not None


def is_whole(text: str, span: Span) -> bool:
    around = f" {text} "[span.start], f" {text} "[span.end + 1]
    return text[span.start : span.end] == span.quote.strip() and all(not one.isalnum() for one in around)
