"""Agreement where some items were chosen for more judgements: the choice is undone, and nothing else changes."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.models import StoredReport
from analysis.reports.metrics import get_report
from annotation.jobs import lifecycle
from annotation.models import Assignment, Item, Job
from tests.world.labels import items_of, make_rater, of_dimension, project_of, say

pytestmark = pytest.mark.django_db
YES, NO = "relevant", "not_relevant"
START = datetime(2026, 3, 1, tzinfo=UTC)


def ask_for_more(item: Item) -> None:
    Assignment.objects.create(
        project=item.project, item=item, position=item.position, reason=Assignment.Reason.EXTRA, note="hard"
    )


def draw(project, share: float, drawn: set[int]) -> list[Item]:
    """The items, of which these have two planned judgements and the others one."""
    project.multiple_share = share
    project.save(update_fields=["multiple_share"])
    items = items_of(project)
    for number, item in enumerate(items):
        Item.objects.filter(pk=item.pk).update(is_multiple=number in drawn, planned=2 if number in drawn else 1)
    return items


def say_in_turn(item: Item, raters: list, labels: list[str]) -> None:
    for minute, (rater, label) in enumerate(zip(raters, labels, strict=False)):
        say(item, rater, label, submitted_at=START + timedelta(minutes=minute))


@pytest.fixture
def people_of_three():
    project = project_of(20, claims=20, overlap=2)
    return project, [make_rater(project, name) for name in ("Anna", "Ben", "Cleo")]


def report_of(project, **options) -> dict:
    return of_dimension(get_report("agreement").compute(project, all=True, **options), "relevance")


def rows_of(dimension: dict) -> dict[str, dict]:
    return {row["name"]: row for row in dimension["selected"]["rows"]}


def test_without_a_choice_there_is_no_section(people_of_three):
    project, raters = people_of_three
    for item in draw(project, 0.5, set(range(0, 20, 2))):
        say_in_turn(item, raters, [YES, NO])
    assert report_of(project)["selected"] is None


def test_figures_by_hand(people_of_three):
    """A quarter is drawn: items 0 to 4, of which 0 to 3 agree. Items 5 to 9 are chosen for one more and do not agree.
    The random share agrees in 4 of 5; as they are in 4 of 10; weighted, drawn ones stand for four each and chosen ones
    for themselves: 16 of 25."""
    project, raters = people_of_three
    for number, item in enumerate(draw(project, 0.25, set(range(5)))):
        if 5 <= number < 10:
            ask_for_more(item)
        second = [YES if number < 4 else NO] if number < 10 else []
        say_in_turn(item, raters, [YES, *second])
    dimension = report_of(project)
    rows = rows_of(dimension)
    shares = {name: row["percent_agreement"]["estimate"] for name, row in rows.items()}
    assert shares == pytest.approx({"random": 4 / 5, "naive": 4 / 10, "weighted": 16 / 25})
    assert {name: row["percent_agreement"]["n_pairable"] for name, row in rows.items()} == {
        "random": 5,
        "weighted": 10,
        "naive": 10,
    }
    # (5 * 4 + 5 * 1)^2 / (5 * 16 + 5 * 1)
    assert rows["weighted"]["effective_n"] == pytest.approx(625 / 85, abs=0.05)
    assert (dimension["selected"]["n_drawn"], dimension["selected"]["n_chosen"]) == (5, 5)


def test_an_extra_judgement_of_a_drawn_item_does_not_count_beyond_what_was_planned(people_of_three):
    """Ben and Anna differ on a drawn item; Cleo, who was asked because of that, agrees with Anna."""
    project, raters = people_of_three
    for number, item in enumerate(draw(project, 0.5, {0, 1})):
        if number == 0:
            ask_for_more(item)
            say_in_turn(item, raters, [YES, NO, YES])
        elif number == 1:
            say_in_turn(item, raters, [NO, NO])
    rows = rows_of(report_of(project))
    assert rows["random"]["percent_agreement"]["estimate"] == 0.5
    assert rows["random"]["percent_agreement"]["n_labels"] == 4
    assert rows["naive"]["percent_agreement"]["estimate"] == pytest.approx((1 / 3 + 1) / 2)


def test_a_planted_choice_of_hard_items_is_undone():
    """Half of the items are hard: there two people agree in a fifth of the cases, elsewhere in nine of ten, so in .55
    of all. A third is drawn, and most of the hard ones are asked for once more."""
    rng = np.random.default_rng(12)
    n = 160
    project = project_of(n, claims=n, overlap=2)
    raters = [make_rater(project, name) for name in ("Anna", "Ben")]
    for number, item in enumerate(draw(project, 1 / 3, set(np.flatnonzero(rng.random(n) < 1 / 3).tolist()))):
        is_hard = number % 2 == 0
        chosen = is_hard and rng.random() < 0.8
        if chosen:
            ask_for_more(item)
        item.refresh_from_db()
        first = (YES, NO)[int(rng.random() < 0.5)]
        agree = rng.random() < (0.2 if is_hard else 0.9)
        labels = [first, first if agree else (NO if first == YES else YES)]
        say_in_turn(item, raters, labels if chosen or item.is_multiple else labels[:1])
    rows = rows_of(report_of(project))
    for name in ("random", "weighted"):
        found = rows[name]["percent_agreement"]
        assert found["low"] < 0.55 < found["high"]
    assert rows["naive"]["percent_agreement"]["high"] < 0.55
    assert rows["naive"]["alpha"]["estimate"] < rows["weighted"]["alpha"]["estimate"]


def test_page_command_and_the_items_behind(client, people_of_three, capsys):
    project, raters = people_of_three
    for number, item in enumerate(draw(project, 0.25, set(range(5)))):
        if 5 <= number < 10:
            ask_for_more(item)
        say_in_turn(item, raters, [YES, *([YES if number < 4 else NO] if number < 10 else [])])
    client.force_login(project.created_by)
    address = reverse("project_agreement", args=[project.slug]) + "?all=1"
    client.get(address)
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)
    page = client.get(address).content.decode()
    assert "corrected for the selection of items" in page and "weighted by inverse probability" in page
    call_command("report", project.slug, "agreement", "--all", "--format", "md")
    assert "random share" in capsys.readouterr().out
    call_command("report", project.slug, "agreement", "--all", "--format", "methods")
    assert "Horvitz and Thompson" in capsys.readouterr().out
    stored = StoredReport.objects.get()
    behind = reverse("project_behind", args=[project.slug, "agreement"])
    answer = client.get(behind, {"report": stored.parameters_hash, "figure": "relevance.chosen=yes"}).content.decode()
    assert "5 units" in answer and "chosen for more than one judgement" in answer
